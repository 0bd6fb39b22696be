#include "server/bcrypt_hash.h"

#include <crypt.h>
#include <openssl/crypto.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace tidemark::server {
namespace {

constexpr size_t kHashSize = 60;
constexpr size_t kPrefixSize = 7;      // "$2y$10$"
constexpr size_t kPasswordBytes = 72;  // bcrypt's key; what is longer is cut off by every reader

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

bool IsBcrypt64(char c) {
  return c == '.' || c == '/' || IsDigit(c) || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

}  // namespace

const char* FindBcryptProblem(std::string_view hash) {
  if (hash.size() < kHashSize) return "it is too short for a bcrypt hash";
  if (hash.size() > kHashSize) return "it is too long for a bcrypt hash";
  if (!hash.starts_with("$2") || hash[3] != '$' ||
      (hash[2] != 'a' && hash[2] != 'b' && hash[2] != 'y')) {
    return "it does not begin as a bcrypt hash";
  }
  if (!IsDigit(hash[4]) || !IsDigit(hash[5]) || hash[6] != '$') return "it has no bcrypt cost";
  if (BcryptCost(hash) < kMinBcryptCost || BcryptCost(hash) > kMaxBcryptCost) {
    return "its bcrypt cost is out of range";
  }
  if (!std::ranges::all_of(hash.substr(kPrefixSize), IsBcrypt64)) {
    return "it has characters that no bcrypt hash has";
  }
  return nullptr;
}

unsigned BcryptCost(std::string_view hash) {
  return static_cast<unsigned>(hash[4] - '0') * 10 + static_cast<unsigned>(hash[5] - '0');
}

std::string UnknownUserHash(unsigned cost) {
  // The last characters of salt and hash carry bits that must be 0: no real hash ends in '9'.
  std::string hash = "$2y$";
  hash.push_back(static_cast<char>('0' + cost / 10));
  hash.push_back(static_cast<char>('0' + cost % 10));
  return hash.append("$").append(21, 'N').append("u").append(30, 'n').append("9");
}

struct BcryptChecker::Memory {
  crypt_data data;
};

BcryptChecker::BcryptChecker() : memory_(std::make_unique<Memory>()) {}

BcryptChecker::~BcryptChecker() { OPENSSL_cleanse(memory_.get(), sizeof(Memory)); }

bool BcryptChecker::Fits(std::string_view password, const std::string& hash) {
  std::array<char, kPasswordBytes + 1> phrase{};  // ends with zero
  const size_t size = std::min(password.size(), kPasswordBytes);
  std::memcpy(phrase.data(), password.data(), size);
  // A zero byte would end the password there, and all that begins alike would fit.
  const bool has_zero = password.find('\0') != std::string_view::npos;
  const char* const computed = crypt_r(phrase.data(), hash.c_str(), &memory_->data);
  OPENSSL_cleanse(phrase.data(), phrase.size());
  if (computed == nullptr || std::strlen(computed) != hash.size() || has_zero) return false;
  return CRYPTO_memcmp(computed, hash.data(), hash.size()) == 0;
}

}  // namespace tidemark::server
