#pragma once
// One-shot gzip (RFC 1952).

#include <optional>
#include <string>
#include <string_view>

namespace tidemark::exporter {

/// `data` as one gzip member, without time or name, so that equal input gives equal bytes. `level`
/// is zlib's, 1 to 9. Nothing when zlib refuses (no memory, wrong level). Thread-safe. Takes about
/// 256 KiB beside the output.
std::optional<std::string> Gzip(std::string_view data, int level);

}  // namespace tidemark::exporter
