#include "remote_write/histogram_check.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "remote_write/wire_fields.h"

namespace tidemark::remote_write {
namespace {

constexpr DecodeError kNone = DecodeError::kNone;
constexpr int32_t kCustomBounds = -53;

constexpr uint32_t kHistogramFields = 0x1fffe;  // 1 to 16
constexpr uint32_t kSpanFields = 0x6;           // 1 and 2

constexpr int64_t Unzigzag(uint64_t value) {
  return static_cast<int64_t>(value >> 1) ^ -static_cast<int64_t>(value & 1);
}
constexpr int32_t Unzigzag32(uint64_t value) {
  return static_cast<int32_t>(Unzigzag(static_cast<uint32_t>(value)));
}

/// The positive or the negative buckets.
struct Side {
  uint64_t spans = 0;
  uint64_t covered = 0;  ///< buckets that the spans cover
  int64_t end = 0;       ///< index after the last covered bucket
  bool negative_offset = false;
  bool first_offset_negative = false;

  uint64_t deltas = 0;
  int64_t current = 0;  ///< the bucket so far: deltas add up
  uint64_t sum = 0;
  bool bad_delta = false;

  uint64_t counts = 0;
  bool bad_count = false;

  // 2^24 spans, the most that 32 MiB hold, cannot take `end` and `covered` past 63 bits.
  void AddSpan(int32_t offset, uint32_t length) {
    if (spans == 0) {
      first_offset_negative = offset < 0;
    } else {
      negative_offset |= offset < 0;
    }
    ++spans;
    covered += length;
    end += int64_t{offset} + length;
  }
  void AddDelta(int64_t delta) {
    ++deltas;
    if (__builtin_add_overflow(current, delta, &current) || current < 0) {
      bad_delta = true;
      current = 0;
      return;
    }
    bad_delta |= __builtin_add_overflow(sum, static_cast<uint64_t>(current), &sum);
  }
  void AddCount(double count) {
    ++counts;
    bad_count |= !(count >= 0);
  }
  bool empty() const { return spans == 0 && deltas == 0 && counts == 0; }
};

struct Facts {
  bool is_float = false;
  uint64_t count_int = 0;
  double count_float = 0;
  double sum = 0;
  int32_t schema = 0;
  double zero_threshold = 0;
  bool zero_is_float = false;
  uint64_t zero_int = 0;
  double zero_float = 0;
  Side negative;
  Side positive;
  uint64_t bounds = 0;
  double last_bound = -std::numeric_limits<double>::infinity();
  bool bad_bound = false;

  void AddBound(double bound) {
    ++bounds;
    bad_bound |= !(bound > last_bound) || !std::isfinite(bound);
    last_bound = bound;
  }
};

bool IsSideConsistent(const Side& side, bool is_float) {
  if (side.negative_offset) return false;
  if (is_float) return side.deltas == 0 && side.counts == side.covered && !side.bad_count;
  return side.counts == 0 && side.deltas == side.covered && !side.bad_delta;
}

bool AreBoundsConsistent(const Facts& facts) {
  if (facts.schema != kCustomBounds) {
    return facts.schema >= -4 && facts.schema <= 8 && facts.bounds == 0;
  }
  if (facts.bad_bound || !facts.negative.empty()) return false;
  if (facts.zero_int != 0 || facts.zero_float != 0 || facts.zero_threshold != 0) return false;
  // One bucket more than bounds: the last goes to infinity.
  return !facts.positive.first_offset_negative &&
         facts.positive.end <= static_cast<int64_t>(facts.bounds) + 1;
}

bool IsConsistent(const Facts& facts) {
  if (!AreBoundsConsistent(facts)) return false;
  if (!IsSideConsistent(facts.negative, facts.is_float)) return false;
  if (!IsSideConsistent(facts.positive, facts.is_float)) return false;
  if (!(facts.zero_threshold >= 0)) return false;
  if (facts.is_float) {
    return facts.count_float >= 0 && facts.zero_float >= 0 &&
           (facts.zero_is_float || facts.zero_int == 0);
  }
  if (facts.zero_is_float && facts.zero_float != 0) return false;
  uint64_t total = facts.zero_int;
  if (__builtin_add_overflow(total, facts.negative.sum, &total)) return false;
  if (__builtin_add_overflow(total, facts.positive.sum, &total)) return false;
  return std::isnan(facts.sum) ? facts.count_int >= total : facts.count_int == total;
}

DecodeError ReadDouble(WireReader& reader, double& value) {
  uint64_t bits = 0;
  const DecodeError error = reader.ReadFixed64(bits);
  value = std::bit_cast<double>(bits);
  return error;
}

DecodeError ReadSpan(WireReader& outer, Side& side) {
  std::string_view message;
  if (const DecodeError error = outer.ReadBytes(message); error != kNone) return error;
  int32_t offset = 0;
  uint32_t length = 0;
  WireReader reader(message);
  while (!reader.AtEnd()) {
    uint32_t key = 0;
    uint64_t value = 0;
    if (const DecodeError error = reader.ReadKey(key); error != kNone) return error;
    DecodeError error = kNone;
    switch (key) {
      case VarintKey(1):
        error = reader.ReadVarint(value);
        offset = Unzigzag32(value);
        break;
      case VarintKey(2):
        error = reader.ReadVarint(value);
        length = static_cast<uint32_t>(value);
        break;
      default: error = SkipUnknown(reader, key, kSpanFields);
    }
    if (error != kNone) return error;
  }
  side.AddSpan(offset, length);
  return kNone;
}

/// One number, or many packed into one field: a parser has to read both.
template <class Read>
DecodeError ReadRepeated(WireReader& reader, uint32_t key, Read read) {
  if (TypeOf(key) != WireType::kBytes) return read(reader);
  std::string_view packed;
  if (const DecodeError error = reader.ReadBytes(packed); error != kNone) return error;
  WireReader numbers(packed);
  while (!numbers.AtEnd()) {
    if (const DecodeError error = read(numbers); error != kNone) return error;
  }
  return kNone;
}

DecodeError ReadDeltas(WireReader& reader, uint32_t key, Side& side) {
  return ReadRepeated(reader, key, [&side](WireReader& from) {
    uint64_t value = 0;
    const DecodeError error = from.ReadVarint(value);
    if (error == kNone) side.AddDelta(Unzigzag(value));
    return error;
  });
}

DecodeError ReadCounts(WireReader& reader, uint32_t key, Side& side) {
  return ReadRepeated(reader, key, [&side](WireReader& from) {
    double value = 0;
    const DecodeError error = ReadDouble(from, value);
    if (error == kNone) side.AddCount(value);
    return error;
  });
}

DecodeError ReadBounds(WireReader& reader, uint32_t key, Facts& facts) {
  return ReadRepeated(reader, key, [&facts](WireReader& from) {
    double value = 0;
    const DecodeError error = ReadDouble(from, value);
    if (error == kNone) facts.AddBound(value);
    return error;
  });
}

DecodeError ReadField(WireReader& reader, uint32_t key, Facts& facts) {
  uint64_t value = 0;
  DecodeError error = kNone;
  switch (key) {
    case VarintKey(1):  // `count` and `zero_count` are oneofs: the last one given counts
      facts.is_float = false;
      facts.count_float = 0;
      return reader.ReadVarint(facts.count_int);
    case Fixed64Key(2):
      facts.is_float = true;
      facts.count_int = 0;
      return ReadDouble(reader, facts.count_float);
    case Fixed64Key(3): return ReadDouble(reader, facts.sum);
    case VarintKey(4):
      error = reader.ReadVarint(value);
      facts.schema = Unzigzag32(value);
      return error;
    case Fixed64Key(5): return ReadDouble(reader, facts.zero_threshold);
    case VarintKey(6):
      facts.zero_is_float = false;
      facts.zero_float = 0;
      return reader.ReadVarint(facts.zero_int);
    case Fixed64Key(7):
      facts.zero_is_float = true;
      facts.zero_int = 0;
      return ReadDouble(reader, facts.zero_float);
    case BytesKey(8): return ReadSpan(reader, facts.negative);
    case BytesKey(9):
    case VarintKey(9): return ReadDeltas(reader, key, facts.negative);
    case BytesKey(10):
    case Fixed64Key(10): return ReadCounts(reader, key, facts.negative);
    case BytesKey(11): return ReadSpan(reader, facts.positive);
    case BytesKey(12):
    case VarintKey(12): return ReadDeltas(reader, key, facts.positive);
    case BytesKey(13):
    case Fixed64Key(13): return ReadCounts(reader, key, facts.positive);
    case VarintKey(14):  // reset hint
    case VarintKey(15):  // time stamp
      return reader.ReadVarint(value);
    case BytesKey(16):
    case Fixed64Key(16): return ReadBounds(reader, key, facts);
    default: return SkipUnknown(reader, key, kHistogramFields);
  }
}

DecodeError ReadStart(WireReader& reader, uint32_t key) {
  return key == VarintKey(17) ? reader.Skip(key) : DecodeError::kWrongWireType;
}

}  // namespace

DecodeError CheckHistogram(std::string_view message, bool& consistent, bool has_start) {
  Facts facts;
  WireReader reader(message);
  while (!reader.AtEnd()) {
    uint32_t key = 0;
    if (const DecodeError error = reader.ReadKey(key); error != kNone) return error;
    const DecodeError error = has_start && FieldNumber(key) == 17 ? ReadStart(reader, key)
                                                                  : ReadField(reader, key, facts);
    if (error != kNone) return error;
  }
  consistent = IsConsistent(facts);
  return kNone;
}

}  // namespace tidemark::remote_write
