#include "remote_write/written_counts.h"

#include <algorithm>
#include <string>

#include "remote_write/content_type.h"

namespace tidemark::remote_write {
namespace {

constexpr const char* kSamples = "X-Prometheus-Remote-Write-Samples-Written";
constexpr const char* kHistograms = "X-Prometheus-Remote-Write-Histograms-Written";
constexpr const char* kExemplars = "X-Prometheus-Remote-Write-Exemplars-Written";

}  // namespace

bool IsNegotiatedV2(const HttpRequest& request) {
  return ParseContentType(request.Header("Content-Type")) == Protocol::kV2 &&
         IsSnappyEncoding(request.Header("Content-Encoding"));
}

void AddWrittenCounts(const HttpRequest& request, const WrittenCounts& counts,
                      HttpResponse& response) {
  const auto is_count = [](const HttpHeader& header) { return header.name == kSamples; };
  if (std::any_of(response.headers.begin(), response.headers.end(), is_count)) return;
  if (!IsNegotiatedV2(request)) return;
  response.headers.push_back({kSamples, std::to_string(counts.samples)});
  response.headers.push_back({kHistograms, std::to_string(counts.histograms)});
  response.headers.push_back({kExemplars, std::to_string(counts.exemplars)});
}

}  // namespace tidemark::remote_write
