#pragma once
// The query API of Prometheus, as Thanos, Mimir and VictoriaMetrics speak it too.

#include <chrono>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "backfill/matrix_reader.h"
#include "backfill/query_fault.h"
#include "client/http_client.h"
#include "model/result.h"

namespace tidemark::backfill {

template <class T>
struct Answered {
  T value{};
  uint64_t bytes = 0;
  std::chrono::milliseconds took{0};
};
template <class T>
using Asked = tl::expected<Answered<T>, QueryFault>;

/// Not thread-safe: one query at a time. Queries travel as forms by POST, since matchers may be
/// long; where a proxy lets only GET pass (405), as GET from then on.
class PrometheusApi {
 public:
  /// kInvalidArgument as client::CheckOptions.
  static Result<std::unique_ptr<PrometheusApi>> Open(const client::HttpClientOptions& options,
                                                     const ReaderLimits& limits);

  Asked<QueryAnswer> Query(std::string_view query, int64_t time_ms, const std::stop_token& stop);
  /// `start_ms` and `end_ms` must be multiples of the step: VictoriaMetrics would move them.
  Asked<QueryAnswer> QueryRange(std::string_view query, int64_t start_ms, int64_t end_ms,
                                int64_t step_ms, const std::stop_token& stop);
  /// Names of labels of series that match, at any time in the range.
  Asked<std::vector<std::string>> LabelNames(std::string_view selector, int64_t start_ms,
                                             int64_t end_ms, const std::stop_token& stop);
  /// Values of one label, likewise.
  Asked<std::vector<std::string>> LabelValues(std::string_view label, std::string_view selector,
                                              int64_t start_ms, int64_t end_ms,
                                              const std::stop_token& stop);

 private:
  enum class How : uint8_t { kGet, kPost };

  PrometheusApi(std::unique_ptr<client::HttpClient> http, std::string url,
                std::chrono::milliseconds timeout, const ReaderLimits& limits);
  tl::expected<client::Response, QueryFault> Send(How how, const std::string& path,
                                                  const client::Parameters& parameters,
                                                  const client::BodyTaker& take,
                                                  const std::stop_token& stop);
  Asked<QueryAnswer> Ask(const std::string& path, client::Parameters parameters,
                         const std::stop_token& stop);
  Asked<std::vector<std::string>> AskForNames(const std::string& path,
                                              const client::Parameters& parameters,
                                              const std::stop_token& stop);

  std::unique_ptr<client::HttpClient> http_;
  std::string url_;
  std::chrono::milliseconds timeout_;
  ReaderLimits limits_;
  bool by_get_ = false;
};

}  // namespace tidemark::backfill
