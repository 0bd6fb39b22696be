#pragma once
// Chooses form and coding of an answer from the request's Accept and Accept-Encoding (RFC 9110,
// sections 12.4.2, 12.5.1 and 12.5.3). Pure functions, thread-safe. What cannot be read is passed
// over, so a wrong header falls back to text and identity: a page that the client did not ask for
// is more useful than 406.

#include <string>
#include <string_view>

#include "exporter/exposition.h"
#include "model/http.h"

namespace tidemark::exporter {

/// OpenMetrics when the client prefers it, by quality, to text 0.0.4; at equal quality the one that
/// is named more precisely, then the one that is named first. Wildcards alone give text. Only
/// OpenMetrics 1.0.0 (or no version) and text 0.0.4 (or no version) are on offer; other versions
/// and protobuf are passed over.
ExpositionFormat NegotiateFormat(std::string_view accept);

/// Whether gzip (or x-gzip, or *) is accepted and not less welcome than identity. False when empty.
bool AcceptsGzip(std::string_view accept_encoding);

/// All headers of that name joined with commas, which is what they mean together.
std::string JoinHeaders(const HttpRequest& request, std::string_view name);

/// Compresses `response.body` when the request accepts gzip and the body is worth it; sets
/// Content-Encoding and adds Accept-Encoding to Vary.
void CompressIfAccepted(const HttpRequest& request, HttpResponse& response);

}  // namespace tidemark::exporter
