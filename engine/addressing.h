#pragma once
// How label sets become addresses: which source, which shard, which series.

#include <array>
#include <cstdint>
#include <string_view>

#include "workloads/known_series.h"
#include "workloads/sources.h"

namespace tidemark::engine {

/// What turns label sets into addresses; the secret is of this process, so that a peer cannot aim
/// at one bucket or shard. Immutable.
struct Addressing {
  /// As long as XXH3's own secret, which is what it is fastest with.
  static constexpr size_t kSecretBytes = 192;

  explicit Addressing(const workloads::SourceTable& source_table);

  uint64_t HashNamespace(std::string_view cluster, std::string_view name_space) const;
  workloads::SeriesHash HashSeries(std::string_view label_bytes) const;

  const workloads::SourceTable& sources;
  uint64_t seed;
  std::array<unsigned char, kSecretBytes> secret;
};

}  // namespace tidemark::engine
