#pragma once
// Percent-encoding (RFC 3986 section 2.1).

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tidemark {

/// What a '+' stands for: in a path for itself, in a query (a form's encoding) for a blank.
enum class Plus : uint8_t { kLiteral, kBlank };

/// `text` with every %XX replaced by its byte, also %2F and %00; nothing for a malformed or cut
/// escape. Thread-safe.
std::optional<std::string> PercentDecode(std::string_view text, Plus plus);

}  // namespace tidemark
