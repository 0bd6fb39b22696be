#include "cmd/replay_policies/drawing.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace tidemark::replay_policies {
namespace {

constexpr float kNothing = std::numeric_limits<float>::quiet_NaN();

using Minutes = std::vector<scaling::ReplayedMinute>;

/// The minutes [first, first + count) of `all` at no more than kMaxPlaces places.
class Places {
 public:
  Places(const Minutes& all, size_t first, size_t count)
      : all_(all), first_(first), count_(count) {}

  template <class Value>  // (place in all) -> Span
  Spans Take(const Value& value) const {
    Spans spans(std::min(kMaxPlaces, count_), {kNothing, kNothing});
    for (size_t i = 0; i < count_; ++i) {
      const Span next = value(first_ + i);
      if (std::isnan(next.low) || std::isnan(next.high)) continue;
      Span& at = spans[i * spans.size() / count_];
      if (!(at.low <= next.low)) at.low = next.low;
      if (!(at.high >= next.high)) at.high = next.high;
    }
    return spans;
  }

  int64_t first_minute() const { return all_[first_].minute; }

 private:
  const Minutes& all_;
  const size_t first_;
  const size_t count_;
};

Span Both(double value) { return {static_cast<float>(value), static_cast<float>(value)}; }

}  // namespace

Drawing Draw(const std::vector<scaling::ReplayedPolicy>& policies, std::vector<size_t> drawn,
             const std::vector<ExpectedBand>& bands, int64_t from_minute, int32_t lead_minutes,
             double base) {
  Drawing drawing;
  drawing.policies = std::move(drawn);
  if (drawing.policies.empty()) return drawing;
  const Minutes& all = policies[drawing.policies.front()].outcome.minutes_kept;
  const auto begin = static_cast<size_t>(
      std::ranges::lower_bound(all, from_minute, {}, &scaling::ReplayedMinute::minute) -
      all.begin());
  if (begin == all.size()) return drawing;
  const auto stretch = [&](size_t first, size_t count) {
    const Places places(all, first, count);
    Stretch made;
    made.first_minute = places.first_minute();
    made.minutes = static_cast<int64_t>(count);
    made.demand = places.Take([&](size_t i) { return Both(all[i].demand); });
    for (const size_t policy : drawing.policies) {
      const Minutes& own = policies[policy].outcome.minutes_kept;
      made.capacity.push_back(places.Take([&](size_t i) { return Both(base * own[i].ready); }));
      made.replicas.push_back(places.Take([&](size_t i) { return Both(own[i].replicas); }));
    }
    if (!bands.empty()) {
      made.band = places.Take([&](size_t i) -> Span {
        const auto lead = static_cast<size_t>(lead_minutes);
        if (i < lead || i - lead >= bands.size()) return {kNothing, kNothing};
        const ExpectedBand& said = bands[i - lead];
        return {said.lower, said.upper};
      });
    }
    return made;
  };
  drawing.whole = stretch(begin, all.size() - begin);
  size_t highest = begin;
  for (size_t i = begin; i < all.size(); ++i) {
    if (!(all[i].demand <= all[highest].demand) && !std::isnan(all[i].demand)) highest = i;
  }
  const size_t width = std::min<size_t>(kPeakMinutes, all.size() - begin);
  const size_t before = std::min(highest - begin, width / 2);
  const size_t first = std::min(highest - before, all.size() - width);
  drawing.peak = stretch(first, width);
  return drawing;
}

}  // namespace tidemark::replay_policies
