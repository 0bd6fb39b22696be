#include "engine/addressing.h"

// The hash is the largest single cost of a known series: inlined, it is compiled for the same
// processor as the rest.
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstring>
#include <random>
#include <tuple>

namespace tidemark::engine {

Addressing::Addressing(const workloads::SourceTable& source_table,
                       const storage::StoreIdentity* identity)
    : sources(source_table) {
  if (identity != nullptr) {
    static_assert(sizeof(seed) + kSecretBytes <= std::tuple_size_v<storage::StoreIdentity>);
    std::memcpy(&seed, identity->data(), sizeof seed);
    std::memcpy(secret.data(), identity->data() + sizeof seed, kSecretBytes);
    return;
  }
  std::random_device device;
  seed = (static_cast<uint64_t>(device()) << 32) | device();
  for (unsigned char& byte : secret) byte = static_cast<unsigned char>(device());
}

/// The first seeds the second, so that no two pairs run together.
uint64_t Addressing::HashNamespace(std::string_view cluster, std::string_view name_space) const {
  const uint64_t head = XXH3_64bits_withSeed(cluster.data(), cluster.size(), seed);
  return XXH3_64bits_withSeed(name_space.data(), name_space.size(), head);
}

/// With a secret rather than a seed: of a seed XXH3 makes a new secret for each text of over 240
/// bytes, as most are.
workloads::SeriesHash Addressing::HashSeries(std::string_view label_bytes) const {
  const XXH128_hash_t hash =
      XXH3_128bits_withSecret(label_bytes.data(), label_bytes.size(), secret.data(), secret.size());
  return {hash.low64, hash.high64};
}

}  // namespace tidemark::engine
