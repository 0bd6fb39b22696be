#include "forecast/shift_products.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <utility>

#include "forecast/look_back.h"

namespace tidemark::forecast {
namespace {

struct Turn {
  double cosine;
  double sine;
};

const std::array<Turn, kMinutesADay>& Turns() {
  static const std::array<Turn, kMinutesADay> turns = [] {
    std::array<Turn, kMinutesADay> made{};
    for (size_t i = 0; i < made.size(); ++i) {
      const double angle = 2 * std::numbers::pi * static_cast<double>(i) / double{kMinutesADay};
      made[i] = {std::cos(angle), std::sin(angle)};
    }
    return made;
  }();
  return turns;
}

int64_t MinuteOfDay(int64_t minute) {
  const int64_t rest = minute % kMinutesADay;
  return rest < 0 ? rest + kMinutesADay : rest;
}

/// Four sums at once: the compiler may not reorder one.
double Dot(const double* a, const double* b, int64_t n) {
  std::array<double, 4> sums{};
  int64_t i = 0;
  for (; i + 4 <= n; i += 4) {
    for (int64_t k = 0; k < 4; ++k) sums[static_cast<size_t>(k)] += a[i + k] * b[i + k];
  }
  double sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  for (; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

}  // namespace

void WriteHarmonics(int64_t minute_of_day, size_t harmonics, double* out) {
  *out++ = 1;
  for (size_t m = 1; m <= harmonics; ++m) {
    const Turn& turn =
        Turns()[static_cast<size_t>(MinuteOfDay(minute_of_day * static_cast<int64_t>(m)))];
    *out++ = turn.cosine;
    *out++ = turn.sine;
  }
}

ShiftProducts::ShiftProducts(std::vector<int64_t> shifts, size_t harmonics)
    : shifts_(std::move(shifts)), harmonics_(harmonics), sums_(size() * size(), 0) {
  for (size_t a = 0; a < shifts_.size(); ++a) {
    for (size_t b = 0; b < shifts_.size(); ++b) {
      if (shifts_[b] >= shifts_[a]) pairs_.push_back({shifts_[b] - shifts_[a], a, b});
    }
  }
  std::sort(pairs_.begin(), pairs_.end(), [this](const Pair& left, const Pair& right) {
    if (left.distance != right.distance) return left.distance < right.distance;
    return shifts_[left.a] < shifts_[right.a];
  });
}

void ShiftProducts::Put(size_t i, size_t j, double sum) {
  sums_[i * size() + j] += sum;
  if (i != j) sums_[j * size() + i] += sum;
}

void ShiftProducts::AddShifts(std::span<const double> x, int64_t first, int64_t end) {
  const double* const values = x.data();
  int64_t distance = -1;
  int64_t shift = 0;  // of the pair before
  double sum = 0;
  for (const Pair& pair : pairs_) {
    const int64_t wanted = shifts_[pair.a];
    if (pair.distance != distance || wanted - shift >= end - first) {
      distance = pair.distance;
      sum = Dot(values + first - wanted, values + first - wanted - distance, end - first);
    } else {
      // The window of u = t - shift moves back by as much as the shift has grown.
      for (; shift < wanted; ++shift) {
        const int64_t in = first - shift - 1;
        const int64_t out = end - shift - 1;
        sum += values[in] * values[in - distance] - values[out] * values[out - distance];
      }
    }
    shift = wanted;
    Put(pair.a, pair.b, sum);
  }
}

void ShiftProducts::AddHarmonics(std::span<const double> x, int64_t minute_of_day, int64_t first,
                                 int64_t end) {
  const size_t count = 1 + 2 * harmonics_;
  std::vector<double> row(count);
  std::vector<double> own(count * count, 0);
  std::vector<double> cross(count * shifts_.size(), 0);
  for (int64_t t = first; t < end; ++t) {
    WriteHarmonics(minute_of_day + t, harmonics_, row.data());
    for (size_t i = 0; i < count; ++i) {
      for (size_t j = i; j < count; ++j) own[i * count + j] += row[i] * row[j];
    }
  }
  // One harmonic over the time: its products with all shifts.
  std::vector<double> wave(static_cast<size_t>(end - first));
  for (size_t i = 0; i < count; ++i) {
    const int64_t times = static_cast<int64_t>((i + 1) / 2);
    for (int64_t t = first; t < end; ++t) {
      const Turn& turn = Turns()[static_cast<size_t>(MinuteOfDay((minute_of_day + t) * times))];
      wave[static_cast<size_t>(t - first)] = i % 2 == 1 || i == 0 ? turn.cosine : turn.sine;
    }
    for (size_t s = 0; s < shifts_.size(); ++s) {
      cross[i * shifts_.size() + s] = Dot(wave.data(), x.data() + first - shifts_[s], end - first);
    }
  }
  for (size_t i = 0; i < count; ++i) {
    for (size_t j = i; j < count; ++j) Put(OneAt() + i, OneAt() + j, own[i * count + j]);
    for (size_t s = 0; s < shifts_.size(); ++s) {
      Put(s, OneAt() + i, cross[i * shifts_.size() + s]);
    }
  }
}

void ShiftProducts::Add(std::span<const double> x, int64_t minute_of_day, int64_t first,
                        int64_t end) {
  if (first >= end) return;
  AddShifts(x, first, end);
  AddHarmonics(x, minute_of_day, first, end);
}

void ShiftProducts::Remove(std::span<const double> x, int64_t minute_of_day, int64_t row) {
  std::vector<double> values(size());
  for (size_t s = 0; s < shifts_.size(); ++s) {
    values[s] = x[static_cast<size_t>(row - shifts_[s])];
  }
  WriteHarmonics(minute_of_day + row, harmonics_, values.data() + OneAt());
  for (size_t i = 0; i < values.size(); ++i) {
    for (size_t j = 0; j < values.size(); ++j) {
      sums_[i * values.size() + j] -= values[i] * values[j];
    }
  }
}

void ShiftProducts::Add(const ShiftProducts& other) {
  for (size_t i = 0; i < sums_.size(); ++i) sums_[i] += other.sums_[i];
}

}  // namespace tidemark::forecast
