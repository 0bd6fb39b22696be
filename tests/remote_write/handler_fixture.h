#pragma once
// A Handler with a sink that remembers and a clock that stands still.

#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "remote_write/handler.h"
#include "tests/remote_write/recording_sink.h"
#include "tests/remote_write/wire_builder.h"

namespace tidemark::remote_write::test {

inline constexpr int64_t kNowMs = 1'796'004'480'000;

inline HttpRequest WriteRequest(std::string body) {
  HttpRequest request;
  request.method = "POST";
  request.path = "/api/v1/write";
  request.headers = {{"Content-Type", "application/x-protobuf"},
                     {"Content-Encoding", "snappy"},
                     {"User-Agent", "test/1"},
                     {"X-Prometheus-Remote-Write-Version", "0.1.0"}};
  request.content_length = body.size();
  request.body = std::move(body);
  request.peer = "192.0.2.1:4711";
  return request;
}

inline void SetHeader(HttpRequest& request, std::string_view name, std::string value) {
  std::erase_if(request.headers, [&](const HttpHeader& header) { return header.name == name; });
  request.headers.push_back({std::string(name), std::move(value)});
}

inline std::string HeaderOf(const HttpResponse& response, std::string_view name) {
  for (const HttpHeader& header : response.headers) {
    if (header.name == name) return header.value;
  }
  return {};
}

/// A request of 2.0.
inline HttpRequest WriteRequestV2(std::string body) {
  HttpRequest request = WriteRequest(std::move(body));
  SetHeader(request, "Content-Type", "application/x-protobuf;proto=io.prometheus.write.v2.Request");
  SetHeader(request, "X-Prometheus-Remote-Write-Version", "2.0.0");
  return request;
}

/// The three Written headers of an answer.
struct Written {
  uint64_t samples = 0;
  uint64_t histograms = 0;
  uint64_t exemplars = 0;
  friend bool operator==(const Written&, const Written&) = default;
  friend std::ostream& operator<<(std::ostream& out, const Written& written) {
    return out << written.samples << " samples, " << written.histograms << " histograms, "
               << written.exemplars << " exemplars";
  }
};

/// Nothing unless all three stand there once, as plain numbers.
inline std::optional<Written> WrittenOf(const HttpResponse& response) {
  std::vector<uint64_t> counts;
  for (const char* what : {"Samples", "Histograms", "Exemplars"}) {
    const std::string name = "X-Prometheus-Remote-Write-" + std::string(what) + "-Written";
    for (const HttpHeader& header : response.headers) {
      if (header.name != name) continue;
      if (header.value.empty() ||
          header.value.find_first_not_of("0123456789") != std::string::npos) {
        return std::nullopt;
      }
      counts.push_back(std::stoull(header.value));
    }
  }
  if (counts.size() != 3) return std::nullopt;
  return Written{counts[0], counts[1], counts[2]};
}

struct HandlerFixture {
  explicit HandlerFixture(Limits limits = {}, HandlerOptions options = {})
      : handler(sink, clock, limits, counters, std::move(options)) {}

  /// As a server does it: admission, then the handler.
  HttpResponse Send(const HttpRequest& request) {
    const HttpRoute route = handler.Route();
    if (auto answer = route.admission(request)) return *answer;
    return route.handler(request);
  }
  /// Packs and sends a message of 1.0.
  HttpResponse SendMessage(std::string_view message) { return Send(WriteRequest(Pack(message))); }

  HttpResponse SendMessageV2(std::string_view message) {
    return Send(WriteRequestV2(Pack(message)));
  }

  uint64_t Rejected(RejectReason reason) const {
    return counters.samples_rejected[static_cast<size_t>(reason)];
  }
  uint64_t SeriesRejected(RejectReason reason) const {
    return counters.series_rejected[static_cast<size_t>(reason)];
  }
  uint64_t TotalRejected() const { return Sum(counters.samples_rejected); }
  uint64_t TotalIgnored() const { return Sum(counters.samples_ignored); }

  template <size_t kSize>
  static uint64_t Sum(const std::array<Counter, kSize>& counters) {
    uint64_t sum = 0;
    for (const Counter& counter : counters) sum += counter;
    return sum;
  }

  RecordingSink sink;
  ManualClock clock{FromUnixMs(kNowMs)};
  RemoteWriteCounters counters;
  Handler handler;
};

}  // namespace tidemark::remote_write::test
