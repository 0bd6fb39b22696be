#include "server/sha256.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>

#include <cstdlib>
#include <cstring>
#include <string>

namespace tidemark::server {

Sha256 HashParts(std::initializer_list<std::string_view> parts) {
  std::string text;
  for (const std::string_view part : parts) {
    const uint64_t size = part.size();
    std::array<char, sizeof(size)> bytes{};
    std::memcpy(bytes.data(), &size, sizeof(size));
    text.append(bytes.data(), bytes.size()).append(part);
  }
  Sha256 hash{};
  const bool good =
      EVP_Digest(text.data(), text.size(), hash.data(), nullptr, EVP_sha256(), nullptr) == 1;
  OPENSSL_cleanse(text.data(), text.size());
  if (!good) std::abort();  // out of memory: there is no hash to go on with
  return hash;
}

bool EqualInConstantTime(const Sha256& a, const Sha256& b) {
  return CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

Sha256 RandomBytes() {
  Sha256 bytes{};
  if (RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1) std::abort();
  return bytes;
}

}  // namespace tidemark::server
