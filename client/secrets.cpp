#include "client/secrets.h"

#include <algorithm>
#include <cstdint>

namespace tidemark::client {
namespace {

constexpr size_t kLeastBytes = 4;

/// RFC 4648, 4.
std::string Base64(std::string_view bytes) {
  static constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (size_t at = 0; at < bytes.size(); at += 3) {
    uint32_t group = 0;
    const size_t count = std::min<size_t>(3, bytes.size() - at);
    for (size_t i = 0; i < 3; ++i) {
      group = group << 8 | (i < count ? static_cast<unsigned char>(bytes[at + i]) : 0U);
    }
    for (size_t i = 0; i < 4; ++i) {
      out.push_back(i <= count ? kDigits[group >> (18 - 6 * i) & 63U] : '=');
    }
  }
  return out;
}

}  // namespace

void Secrets::Add(std::string_view secret) {
  if (secret.size() < kLeastBytes) return;
  secrets_.emplace_back(secret);
  // One that is a part of another must not take it apart.
  std::ranges::stable_sort(secrets_, std::ranges::greater(), &std::string::size);
}

void Secrets::AddBasic(std::string_view username, std::string_view password) {
  Add(Base64(std::string(username) + ":" + std::string(password)));
  Add(password);
}

std::string Secrets::Hide(std::string text) const {
  static constexpr std::string_view kHidden = "<hidden>";
  for (const std::string& secret : secrets_) {
    for (size_t at = text.find(secret); at != text.npos; at = text.find(secret, at)) {
      text.replace(at, secret.size(), kHidden);
      at += kHidden.size();
    }
  }
  return text;
}

}  // namespace tidemark::client
