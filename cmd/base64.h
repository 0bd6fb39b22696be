#pragma once
// Base64 (RFC 4648, 4), as kubeconfig files and caBundle fields have it. Stateless, thread-safe.

#include <optional>
#include <string>
#include <string_view>

namespace tidemark::cmd {

std::string EncodeBase64(std::string_view bytes);
/// White space between the digits is skipped (YAML folds long lines); padding is wanted. nullopt
/// for anything else that is no Base64.
std::optional<std::string> DecodeBase64(std::string_view text);

}  // namespace tidemark::cmd
