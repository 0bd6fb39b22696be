#pragma once
// How label sets become addresses: which source, which shard, which series.

#include <array>
#include <cstdint>
#include <string_view>

#include "storage/store.h"
#include "workloads/known_series.h"
#include "workloads/sources.h"

namespace tidemark::engine {

/// What turns label sets into addresses; with a secret, so that a peer cannot aim at one bucket or
/// shard. Immutable.
struct Addressing {
  /// As long as XXH3's own secret, which is what it is fastest with.
  static constexpr size_t kSecretBytes = 192;

  /// The secret is the store's, so that hashes mean the same after a restart; without a store it is
  /// this process' own. The table must outlive it.
  explicit Addressing(const workloads::SourceTable& source_table,
                      const storage::StoreIdentity* identity = nullptr);

  uint64_t HashNamespace(std::string_view cluster, std::string_view name_space) const;
  workloads::SeriesHash HashSeries(std::string_view label_bytes) const;

  const workloads::SourceTable& sources;
  uint64_t seed;
  std::array<unsigned char, kSecretBytes> secret;
};

}  // namespace tidemark::engine
