#include "backfill/prometheus_api.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <utility>

#include "backfill/query_text.h"

namespace tidemark::backfill {
namespace {

constexpr size_t kHeadBytes = 64;
constexpr size_t kMaxNamesBytes = size_t{8} << 20;

tl::unexpected<QueryFault> Wrong(QueryFaultKind kind, std::string message) {
  return tl::unexpected(QueryFault{.kind = kind, .message = std::move(message)});
}

tl::unexpected<QueryFault> NotTheAnswer(const std::string& url, std::string_view head,
                                        std::string_view why) {
  if (client::LooksLikeHtml(head)) {
    return Wrong(QueryFaultKind::kNotTheApi,
                 fmt::format("{}: answered an HTML page instead of JSON; is this the URL of the "
                             "query API, or does a login page stand before it?",
                             url));
  }
  // Cut or garbled by something on the way: may be better the next time.
  return Wrong(QueryFaultKind::kPassing,
               fmt::format("{}: the answer cannot be used: {}", url, why));
}

/// An error that came with a 2xx status.
tl::unexpected<QueryFault> ToldError(const std::string& url, const QueryAnswer& answer) {
  const auto kind =
      SaysTooLarge(0, answer.error) ? QueryFaultKind::kTooLarge : QueryFaultKind::kPassing;
  return Wrong(kind, fmt::format("{}: {}: {}", url, client::OneLineOf(answer.error_type),
                                 client::OneLineOf(answer.error)));
}

Result<std::vector<std::string>> ReadNames(std::string_view body) {
  boost::json::error_code wrong;
  const boost::json::value value =
      boost::json::parse(boost::json::string_view(body.data(), body.size()), wrong);
  const auto fail = [] { return Fail(ErrorCode::kInvalidArgument, "it is no JSON list of names"); };
  if (wrong || !value.is_object()) return fail();
  const boost::json::value* const data = value.get_object().if_contains("data");
  if (data == nullptr || !data->is_array()) return fail();
  std::vector<std::string> names;
  for (const boost::json::value& name : data->get_array()) {
    if (!name.is_string()) return fail();
    names.emplace_back(name.get_string().data(), name.get_string().size());
  }
  return names;
}

}  // namespace

PrometheusApi::PrometheusApi(std::unique_ptr<client::HttpClient> http, std::string url,
                             std::chrono::milliseconds timeout, const ReaderLimits& limits)
    : http_(std::move(http)), url_(std::move(url)), timeout_(timeout), limits_(limits) {}

Result<std::unique_ptr<PrometheusApi>> PrometheusApi::Open(const client::HttpClientOptions& options,
                                                           const ReaderLimits& limits) {
  auto http = client::HttpClient::Open(options);
  if (!http) return tl::unexpected(http.error());
  return std::unique_ptr<PrometheusApi>(
      new PrometheusApi(*std::move(http), options.url, options.timeout, limits));
}

tl::expected<client::Response, QueryFault> PrometheusApi::Send(How how, const std::string& path,
                                                               const client::Parameters& parameters,
                                                               const client::BodyTaker& take,
                                                               const std::stop_token& stop) {
  const client::Request get{.method = "GET", .path = path, .query = parameters};
  const client::Request post{.method = "POST",
                             .path = path,
                             .content_type = "application/x-www-form-urlencoded",
                             .body = client::EncodeForm(parameters)};
  const bool by_get = by_get_ || how == How::kGet;
  auto answer = http_->Fetch(by_get ? get : post, take, stop);
  if (!answer && answer.error().status == 405 && !by_get) {
    by_get_ = true;
    answer = http_->Fetch(get, take, stop);
  }
  if (!answer) return tl::unexpected(JudgeFault(answer.error()));
  return *std::move(answer);
}

Asked<QueryAnswer> PrometheusApi::Ask(const std::string& path, client::Parameters parameters,
                                      const std::stop_token& stop) {
  // The server should give up before we do, and say why.
  const auto patience = std::max<int64_t>(timeout_.count() / 1000 - 2, 1);
  parameters.emplace_back("timeout", fmt::format("{}s", patience));
  parameters.emplace_back("nocache", "1");  // VictoriaMetrics: as it is stored, not as it is cached
  MatrixReader reader(limits_);
  std::string head;
  const auto take = [&](std::string_view piece) {
    if (head.size() < kHeadBytes) head.append(piece.substr(0, kHeadBytes - head.size()));
    return reader.Feed(piece);
  };
  const std::string url = url_ + path;
  auto response = Send(How::kPost, path, parameters, take, stop);
  if (!response && reader.fault() == ReadFault::kNone) return tl::unexpected(response.error());
  if (response) reader.Finish();
  if (reader.fault() == ReadFault::kTooLarge) {
    return Wrong(QueryFaultKind::kTooLarge,
                 fmt::format("{}: the answer is too large: {}", url, reader.message()));
  }
  if (reader.fault() != ReadFault::kNone) return NotTheAnswer(url, head, reader.message());
  QueryAnswer& answer = reader.answer();
  answer.error = http_->WithoutSecrets(std::move(answer.error));
  for (std::string& warning : answer.warnings) {
    warning = http_->WithoutSecrets(std::move(warning));
  }
  if (answer.is_error) return ToldError(url, answer);
  return Answered<QueryAnswer>{
      .value = std::move(answer), .bytes = response->bytes, .took = response->took};
}

Asked<QueryAnswer> PrometheusApi::Query(std::string_view query, int64_t time_ms,
                                        const std::stop_token& stop) {
  return Ask("/api/v1/query", {{"query", std::string(query)}, {"time", SecondsText(time_ms)}},
             stop);
}

Asked<QueryAnswer> PrometheusApi::QueryRange(std::string_view query, int64_t start_ms,
                                             int64_t end_ms, int64_t step_ms,
                                             const std::stop_token& stop) {
  return Ask("/api/v1/query_range",
             {{"query", std::string(query)},
              {"start", SecondsText(start_ms)},
              {"end", SecondsText(end_ms)},
              {"step", SecondsText(step_ms)}},
             stop);
}

Asked<std::vector<std::string>> PrometheusApi::AskForNames(const std::string& path,
                                                           const client::Parameters& parameters,
                                                           const std::stop_token& stop) {
  std::string body;
  bool too_large = false;
  const auto take = [&](std::string_view piece) {
    too_large = body.size() + piece.size() > kMaxNamesBytes;
    if (!too_large) body.append(piece);
    return !too_large;
  };
  auto response = Send(How::kGet, path, parameters, take, stop);
  if (!response) return tl::unexpected(response.error());
  auto names = ReadNames(body);
  if (!names) return NotTheAnswer(url_ + path, body.substr(0, kHeadBytes), names.error().message);
  return Answered<std::vector<std::string>>{
      .value = *std::move(names), .bytes = response->bytes, .took = response->took};
}

Asked<std::vector<std::string>> PrometheusApi::LabelNames(std::string_view selector,
                                                          int64_t start_ms, int64_t end_ms,
                                                          const std::stop_token& stop) {
  return AskForNames("/api/v1/labels",
                     {{"match[]", std::string(selector)},
                      {"start", SecondsText(start_ms)},
                      {"end", SecondsText(end_ms)}},
                     stop);
}

Asked<std::vector<std::string>> PrometheusApi::LabelValues(std::string_view label,
                                                           std::string_view selector,
                                                           int64_t start_ms, int64_t end_ms,
                                                           const std::stop_token& stop) {
  return AskForNames(fmt::format("/api/v1/label/{}/values", label),
                     {{"match[]", std::string(selector)},
                      {"start", SecondsText(start_ms)},
                      {"end", SecondsText(end_ms)}},
                     stop);
}

}  // namespace tidemark::backfill
