#include "remote_write/content_type.h"

#include <algorithm>
#include <optional>
#include <string>

namespace tidemark::remote_write {
namespace {

constexpr std::string_view kMessageV1 = "prometheus.WriteRequest";
constexpr std::string_view kMessageV2 = "io.prometheus.write.v2.Request";

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool EqualNoCase(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return Lower(x) == Lower(y); });
}

bool IsBlank(char c) { return c == ' ' || c == '\t'; }

std::string_view Trim(std::string_view text) {
  while (!text.empty() && IsBlank(text.front())) text.remove_prefix(1);
  while (!text.empty() && IsBlank(text.back())) text.remove_suffix(1);
  return text;
}

bool IsTokenChar(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

/// Reads a header value from front to end.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(Trim(text)) {}

  bool AtEnd() const { return rest_.empty(); }
  bool Take(char c) {
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void SkipBlanks() {
    while (!rest_.empty() && IsBlank(rest_.front())) rest_.remove_prefix(1);
  }
  std::string_view Token() {
    const auto end = std::find_if_not(rest_.begin(), rest_.end(), IsTokenChar);
    const auto length = static_cast<size_t>(end - rest_.begin());
    const std::string_view token = rest_.substr(0, length);
    rest_.remove_prefix(length);
    return token;
  }
  /// A token or a quoted string, without its quotes and backslashes.
  std::optional<std::string> Value() {
    if (!Take('"')) {
      const std::string_view token = Token();
      if (token.empty()) return std::nullopt;
      return std::string(token);
    }
    std::string value;
    while (!rest_.empty()) {
      char c = rest_.front();
      rest_.remove_prefix(1);
      if (c == '"') return value;
      if (c == '\\') {
        if (rest_.empty()) return std::nullopt;
        c = rest_.front();
        rest_.remove_prefix(1);
      }
      value.push_back(c);
    }
    return std::nullopt;
  }

 private:
  std::string_view rest_;
};

}  // namespace

Protocol ParseContentType(std::string_view value) {
  Scanner scanner(value);
  if (scanner.AtEnd()) return Protocol::kV1;
  const std::string_view type = scanner.Token();
  if (!scanner.Take('/')) return Protocol::kUnsupported;
  const std::string_view subtype = scanner.Token();
  if (!EqualNoCase(type, "application") || !EqualNoCase(subtype, "x-protobuf")) {
    return Protocol::kUnsupported;
  }

  std::optional<std::string> message;
  for (scanner.SkipBlanks(); !scanner.AtEnd(); scanner.SkipBlanks()) {
    if (!scanner.Take(';')) return Protocol::kUnsupported;
    scanner.SkipBlanks();
    const std::string_view name = scanner.Token();
    if (name.empty()) continue;  // RFC 9110 lets a parameter be left out between semicolons
    if (!scanner.Take('=')) return Protocol::kUnsupported;
    std::optional<std::string> parameter = scanner.Value();
    if (!parameter) return Protocol::kUnsupported;
    if (!EqualNoCase(name, "proto")) continue;
    if (message && *message != *parameter) return Protocol::kUnsupported;
    message = std::move(parameter);
  }
  if (!message || *message == kMessageV1) return Protocol::kV1;
  return *message == kMessageV2 ? Protocol::kV2 : Protocol::kUnsupported;
}

bool IsSnappyEncoding(std::string_view value) {
  const std::string_view coding = Trim(value);
  return coding.empty() || EqualNoCase(coding, "snappy");
}

}  // namespace tidemark::remote_write
