#pragma once
// The X-Prometheus-Remote-Write-*-Written headers of remote write 2.0: how much of a request was
// taken in. Senders take a header that is missing for 0. 1.0 has none, and senders of it that see
// one trust it instead of the status, so they must never stand there.

#include <cstdint>

#include "model/http.h"

namespace tidemark::remote_write {

/// Taken in, or good and of no use: the sender need not care which.
struct WrittenCounts {
  uint64_t samples = 0;
  uint64_t histograms = 0;
  uint64_t exemplars = 0;
};

/// Whether the headers of `request` say 2.0 in a form that is supported: type and encoding.
bool IsNegotiatedV2(const HttpRequest& request);

/// Gives the answer to a request of 2.0 its headers, unless it has them already; that to any other
/// none. Pure.
void AddWrittenCounts(const HttpRequest& request, const WrittenCounts& counts,
                      HttpResponse& response);

}  // namespace tidemark::remote_write
