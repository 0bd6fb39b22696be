#pragma once
// The forecasts that were in use for the last hours at one horizon, with their intervals, to be
// drawn. Amounts are kept in 16 bits (packed_amount.h): 6 bytes for each minute.
//
// A value type, not thread-safe.

#include <array>
#include <cstdint>
#include <vector>

#include "model/byte_codec.h"
#include "model/forecast.h"

namespace tidemark::forecast {

class PastForecasts {
 public:
  static constexpr int64_t kMinutes = 90;

  /// Of a minute later than all before.
  void Put(int64_t minute, float demand, float lower, float upper);
  /// Oldest first; minutes of which there was none are left out.
  std::vector<ForecastPoint> Points() const;

  size_t MemoryBytes() const { return ring_.capacity() * sizeof(Packed); }
  void Save(ByteWriter& out) const;
  /// Fails the reader where it is nothing that Save can have written.
  void Restore(ByteReader& in);

 private:
  static constexpr uint16_t kNone = 0xFFFF;
  struct Packed {
    uint16_t demand = kNone;
    uint16_t lower = kNone;
    uint16_t upper = kNone;
  };

  int64_t newest_ = -1;
  std::vector<Packed> ring_;  // by minute % kMinutes; empty before the first
};

}  // namespace tidemark::forecast
