#pragma once
// Why a query gave nothing, and what that means for the next one.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "client/fault.h"

namespace tidemark::backfill {

enum class QueryFaultKind : uint8_t {
  kTooLarge,     ///< a limit of the server's, or ours, on one query: ask for less
  kPassing,      ///< overload, time-outs, errors of the server: ask again later
  kUnreachable,  ///< nobody answers
  kDenied,       ///< 401, 403, TLS, files of credentials: asking again does not help
  kNotTheApi,    ///< something else answers: a page, a redirect, 404
  kRefused,      ///< the server does not like this query
  kCancelled,
};

struct QueryFault {
  QueryFaultKind kind = QueryFaultKind::kPassing;
  std::string message{};  ///< one line
  std::optional<std::chrono::seconds> retry_after{};
  /// It took too long: when it does so again, less has to be asked for.
  bool slow = false;
};

QueryFault JudgeFault(const client::Fault& fault);

/// What the server says to a query that asks for too much, by any of the known servers. `status` 0:
/// not known.
bool SaysTooLarge(unsigned status, std::string_view server_text);

}  // namespace tidemark::backfill
