#include "kubernetes/proxied_user.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

namespace tidemark::kubernetes {
namespace {

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool EqualNoCase(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, {}, Lower, Lower);
}

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/// As it stands when an escape in it is broken, as Go does it.
std::string PercentDecoded(const std::string& text) {
  std::string decoded;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      decoded += text[i];
      continue;
    }
    const int high = i + 2 < text.size() ? HexDigit(text[i + 1]) : -1;
    const int low = high < 0 ? -1 : HexDigit(text[i + 2]);
    if (low < 0) return text;
    decoded += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return decoded;
}

/// Calls `take(value)` for each header of one of the names, by the order of the names, until it
/// says that it has enough.
template <class Take>
void ForEach(const std::vector<std::string>& names, const std::vector<HttpHeader>& headers,
             Take take) {
  for (const std::string& name : names) {
    for (const HttpHeader& header : headers) {
      if (!header.value.empty() && EqualNoCase(header.name, name) && take(header.value)) return;
    }
  }
}

std::string First(const std::vector<std::string>& names, const std::vector<HttpHeader>& headers) {
  std::string first;
  ForEach(names, headers, [&](const std::string& value) {
    first = value;
    return true;
  });
  return first;
}

}  // namespace

std::optional<Identity> ReadProxiedUser(const RequestHeaderConfig& config,
                                        const std::vector<HttpHeader>& headers) {
  Identity identity;
  identity.user = First(config.username_headers, headers);
  if (identity.user.empty()) return std::nullopt;
  identity.uid = First(config.uid_headers, headers);
  ForEach(config.group_headers, headers, [&](const std::string& value) {
    identity.groups.push_back(value);
    return false;
  });
  for (const std::string& prefix : config.extra_header_prefixes) {
    for (const HttpHeader& header : headers) {
      if (header.name.size() <= prefix.size()) continue;
      if (!EqualNoCase(std::string_view(header.name).substr(0, prefix.size()), prefix)) continue;
      std::string key = header.name.substr(prefix.size());
      std::ranges::transform(key, key.begin(), Lower);
      identity.extra[PercentDecoded(key)].push_back(header.value);
    }
  }
  identity.by_front_proxy = true;
  return identity;
}

}  // namespace tidemark::kubernetes
