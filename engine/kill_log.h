#pragma once
// The kills of one container for memory that still count.

#include <cstdint>
#include <optional>
#include <vector>

#include "model/byte_codec.h"
#include "model/result.h"

namespace tidemark::engine {

struct KillRecord {
  int64_t time_ms = 0;
  std::optional<double> request;  ///< bytes, in force before the kill
  double needed = 0;              ///< bytes that it asks for
};

/// Keeps the newest kills; one that asks for more than all later ones gives way to none of them.
/// Not thread-safe. Times are event time.
class KillLog {
 public:
  static constexpr size_t kMost = 16;

  void Add(const KillRecord& kill);
  void Merge(const KillLog& other);
  /// Forgets those that ended more than `hold_ms` before `now_ms`.
  void Expire(int64_t now_ms, int64_t hold_ms);

  /// What the kills of the last `hold_ms` ask for: the most of them; 0 without any.
  double Needed(int64_t now_ms, int64_t hold_ms) const;
  /// How many of them count.
  uint32_t Count(int64_t now_ms, int64_t hold_ms) const;
  bool empty() const { return kills_.empty(); }
  /// Newest first.
  const std::vector<KillRecord>& kills() const { return kills_; }

  void Save(ByteWriter& out) const;
  /// kInvalidArgument when it is nothing that Save can have written.
  static Result<KillLog> Restore(ByteReader& in);

 private:
  void DropOne();

  std::vector<KillRecord> kills_;
};

}  // namespace tidemark::engine
