#pragma once
// Which protocol a write request speaks. The Content-Type alone selects the schema
// (Remote-Write 2.0, "Protocol"); the X-Prometheus-Remote-Write-Version header does not. Pure
// functions, thread-safe.

#include <cstdint>
#include <string_view>

namespace tidemark::remote_write {

enum class Protocol : uint8_t {
  kV1,           ///< prometheus.WriteRequest
  kV2,           ///< io.prometheus.write.v2.Request
  kUnsupported,  ///< another media type, another message or not a media type at all
};

/// Judges the value of a Content-Type header as RFC 9110, section 8.3.1, lets it be written: type
/// and parameter names without case, blanks around ';', quoted values, other parameters ignored.
/// Empty (absent) and application/x-protobuf without `proto` mean 1.0. Two `proto` parameters that
/// differ are unsupported.
Protocol ParseContentType(std::string_view value);

/// Whether the value of a Content-Encoding header names one snappy block. Codings have no case (RFC
/// 9110, section 8.4.1); empty (absent) is taken for snappy, as Prometheus takes it.
bool IsSnappyEncoding(std::string_view value);

}  // namespace tidemark::remote_write
