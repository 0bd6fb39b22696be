#include "server/credentials.h"

#include <algorithm>

namespace tidemark::server {
namespace {

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool EqualNoCase(std::string_view text, std::string_view lower) {
  return std::ranges::equal(text, lower, {}, Lower);
}

int Base64Digit(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '+') return 62;
  if (c == '/') return 63;
  return -1;
}

/// The one Authorization header; absent when there is none, empty when there are more.
std::optional<std::string_view> OneHeader(const HttpRequest& request) {
  std::optional<std::string_view> found;
  for (const HttpHeader& header : request.headers) {
    if (!EqualNoCase(header.name, "authorization")) continue;
    if (found) return std::string_view();
    found = header.value;
  }
  return found;
}

}  // namespace

std::optional<std::string> DecodeBase64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  size_t padding = 0;
  while (padding < 2 && !text.empty() && text.back() == '=') {
    text.remove_suffix(1);
    ++padding;
  }
  std::string out;
  out.reserve(text.size() / 4 * 3 + 2);
  uint32_t bits = 0;
  unsigned count = 0;
  for (const char c : text) {
    const int digit = Base64Digit(c);
    if (digit < 0) return std::nullopt;
    bits = bits << 6 | static_cast<uint32_t>(digit);
    count += 6;
    if (count >= 8) {
      count -= 8;
      out.push_back(static_cast<char>(bits >> count & 0xff));
    }
  }
  // What the last digit has beyond whole bytes is 0 in what an encoder writes.
  if ((bits & ((1U << count) - 1)) != 0) return std::nullopt;
  return out;
}

Credentials ReadCredentials(const HttpRequest& request) {
  Credentials credentials;
  const std::optional<std::string_view> header = OneHeader(request);
  if (!header) return credentials;
  credentials.kind = Credentials::Kind::kOther;
  const size_t blank = std::min(header->find(' '), header->size());
  const std::string_view scheme = header->substr(0, blank);
  std::string_view value = header->substr(blank);
  value.remove_prefix(std::min(value.find_first_not_of(' '), value.size()));
  if (value.empty()) return credentials;

  if (EqualNoCase(scheme, "bearer")) {
    credentials.kind = Credentials::Kind::kBearer;
    credentials.token = std::string(value);
  } else if (EqualNoCase(scheme, "basic")) {
    const std::optional<std::string> text = DecodeBase64(value);
    if (!text) return credentials;
    const size_t colon = text->find(':');
    if (colon == std::string::npos) return credentials;
    credentials.kind = Credentials::Kind::kBasic;
    credentials.user = text->substr(0, colon);
    credentials.password = text->substr(colon + 1);
  }
  return credentials;
}

}  // namespace tidemark::server
