#include "forecast/shift_products.h"

#include <array>
#include <cmath>
#include <numbers>
#include <utility>

#include "forecast/cholesky.h"
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

/// A harmonic at a minute, from where it goes on without a division.
class Wheel {
 public:
  Wheel(int64_t minute, int64_t times) : by_(times), at_(minute * times % kMinutesADay) {
    if (at_ < 0) at_ += kMinutesADay;
  }
  const Turn& turn() const { return Turns()[static_cast<size_t>(at_)]; }
  void Forward() { at_ += at_ + by_ >= kMinutesADay ? by_ - kMinutesADay : by_; }
  void Back() { at_ -= at_ < by_ ? by_ - kMinutesADay : by_; }

 private:
  int64_t by_;
  int64_t at_;
};

}  // namespace

void WriteHarmonics(int64_t minute_of_day, size_t harmonics, double* out) {
  *out++ = 1;
  for (size_t m = 1; m <= harmonics; ++m) {
    const Turn& turn = Wheel(minute_of_day, static_cast<int64_t>(m)).turn();
    *out++ = turn.cosine;
    *out++ = turn.sine;
  }
}

ShiftProducts::ShiftProducts(std::vector<int64_t> shifts, size_t harmonics)
    : harmonics_(harmonics), size_(shifts.size() + 1 + 2 * harmonics), sums_(size_ * size_, 0) {
  Plan plan;
  plan.shifts = std::move(shifts);
  plan.rising.resize(plan.shifts.size());
  for (size_t i = 0; i < plan.rising.size(); ++i) plan.rising[i] = i;
  std::sort(plan.rising.begin(), plan.rising.end(),
            [&](size_t a, size_t b) { return plan.shifts[a] < plan.shifts[b]; });
  for (const size_t a : plan.rising) {
    for (const size_t b : plan.rising) {
      if (plan.shifts[b] < plan.shifts[a]) continue;
      plan.pairs.push_back({plan.shifts[b] - plan.shifts[a], plan.shifts[a],
                            std::min(a, b) * size_ + std::max(a, b)});
    }
  }
  std::stable_sort(plan.pairs.begin(), plan.pairs.end(), [](const Pair& left, const Pair& right) {
    return left.distance < right.distance;
  });
  plan_ = std::make_shared<const Plan>(std::move(plan));
}

void ShiftProducts::AddShifts(const double* x, int64_t first, int64_t end, double weight) {
  int64_t distance = -1;
  int64_t shift = 0;  // of the pair before
  double sum = 0;
  for (const Pair& pair : plan_->pairs) {
    if (pair.distance != distance || pair.shift - shift >= end - first) {
      distance = pair.distance;
      shift = pair.shift;
      sum = Dot(x + first - shift, x + first - shift - distance, static_cast<size_t>(end - first));
    }
    for (; shift < pair.shift; ++shift) {  // the window moves back by a minute
      const double* const in = x + first - shift - 1;
      const double* const out = x + end - shift - 1;
      sum += *in * *(in - distance) - *out * *(out - distance);
    }
    sums_[pair.sum] += weight * sum;
  }
}

void ShiftProducts::AddHarmonics(const double* x, int64_t minute_of_day, int64_t first, int64_t end,
                                 double weight) {
  const size_t one = OneAt();
  std::array<double, 64> row{};
  const size_t count = size_ - one;
  for (int64_t t = first; t < end; ++t) {
    WriteHarmonics(minute_of_day + t, harmonics_, row.data());
    for (size_t i = 0; i < count; ++i) {
      for (size_t j = i; j < count; ++j) {
        sums_[(one + i) * size_ + one + j] += weight * row[i] * row[j];
      }
    }
  }
  // x[u] turned by u, summed over the window; turned by the shift it belongs to t = u + shift.
  for (size_t m = 0; m <= harmonics_; ++m) {
    const auto times = static_cast<int64_t>(m);
    Turn sum{};
    int64_t shift = 0;  // of the window that is summed
    bool begun = false;
    for (const size_t index : plan_->rising) {
      const int64_t wanted = plan_->shifts[index];
      if (!begun || wanted - shift >= end - first) {
        begun = true;
        shift = wanted;
        sum = {};
        Wheel wheel(minute_of_day + first - shift, times);
        for (int64_t u = first - shift; u < end - shift; ++u, wheel.Forward()) {
          sum.cosine += x[u] * wheel.turn().cosine;
          sum.sine += x[u] * wheel.turn().sine;
        }
      }
      if (shift < wanted) {
        Wheel in(minute_of_day + first - shift - 1, times);
        Wheel out(minute_of_day + end - shift - 1, times);
        for (; shift < wanted; ++shift, in.Back(), out.Back()) {
          const double coming = x[first - shift - 1];
          const double going = x[end - shift - 1];
          sum.cosine += coming * in.turn().cosine - going * out.turn().cosine;
          sum.sine += coming * in.turn().sine - going * out.turn().sine;
        }
      }
      double* const sums = &sums_[index * size_ + one];
      if (m == 0) {
        sums[0] += weight * sum.cosine;
        continue;
      }
      const Turn by = Wheel(shift, times).turn();
      sums[2 * m - 1] += weight * (sum.cosine * by.cosine - sum.sine * by.sine);
      sums[2 * m] += weight * (sum.sine * by.cosine + sum.cosine * by.sine);
    }
  }
}

void ShiftProducts::Add(std::span<const double> x, int64_t minute_of_day, int64_t first,
                        int64_t end, double weight) {
  if (first >= end) return;
  AddShifts(x.data(), first, end, weight);
  AddHarmonics(x.data(), minute_of_day, first, end, weight);
}

void ShiftProducts::Remove(std::span<const double> x, int64_t minute_of_day, int64_t row,
                           double weight) {
  std::vector<double> values(size());
  for (size_t s = 0; s < plan_->shifts.size(); ++s) {
    values[s] = x[static_cast<size_t>(row - plan_->shifts[s])];
  }
  WriteHarmonics(minute_of_day + row, harmonics_, values.data() + OneAt());
  for (size_t i = 0; i < values.size(); ++i) {
    for (size_t j = i; j < values.size(); ++j) {
      sums_[i * size_ + j] -= weight * values[i] * values[j];
    }
  }
}

void ShiftProducts::Add(const ShiftProducts& other) {
  const auto theirs = [&](size_t i) { return i < OneAt() ? i : i - OneAt() + other.OneAt(); };
  for (size_t i = 0; i < size_; ++i) {
    for (size_t j = i; j < size_; ++j) sums_[i * size_ + j] += other(theirs(i), theirs(j));
  }
}

}  // namespace tidemark::forecast
