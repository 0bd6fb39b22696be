#pragma once
// What `tidetool loadgen` is told.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/result.h"

namespace tidemark::loadgen {

enum class Protocol : uint8_t { kV1, kV2 };

/// Where requests go. Plain HTTP only.
struct Target {
  std::string host = "127.0.0.1";  ///< name or address, IPv6 without brackets
  std::string port = "9849";
  std::string path = "/api/v1/write";  ///< with the query
};

/// `http://HOST[:PORT][/PATH]`; the port is 80 without one, the path `/`. Errors are
/// kInvalidArgument.
Result<Target> ParseTarget(std::string_view url);

struct LoadOptions {
  Target target;
  Protocol protocol = Protocol::kV1;
  size_t containers = 1000;  ///< of the cluster; ignored where `series` is set
  size_t series = 0;         ///< as many containers as come next to that many series; 0: unset
  unsigned connections = 4;
  double rate = 0;      ///< samples per second; 0: flat out, each connection waits for its answer
  uint64_t rounds = 0;  ///< 0: no bound
  std::chrono::milliseconds duration{0};       ///< 0: no bound
  std::chrono::milliseconds interval{15'000};  ///< sample time from round to round
  double churn_per_hour = 0;  ///< share of the pods replaced in an hour of sample time
  size_t samples_per_request = 2000;
  std::optional<int64_t> start_ms;  ///< sample time of the first round; absent: see StartOf
  uint64_t seed = 1;
  std::vector<std::pair<std::string, std::string>> headers;  ///< sent besides the protocol's own
  bool retry_on_503 = true;
  std::chrono::milliseconds max_retry_wait{30'000};  ///< bounds what Retry-After asks for
  std::chrono::milliseconds retry_for{60'000};       ///< how long one request is tried again
  bool json = false;
};

}  // namespace tidemark::loadgen
