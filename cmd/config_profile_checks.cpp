#include "cmd/config_profile_checks.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <string>

#include "cmd/config_profile_keys.h"
#include "cmd/units.h"

namespace tidemark::cmd {
namespace {

constexpr double kMaxBuckets = 1000;
/// After so many half-lives a peak weighs 2^-24 of a new one: less than a histogram's smallest
/// weight.
constexpr int64_t kMaxHalfLivesInWindow = 24;

/// One resource of a profile under check.
class RuleCheck {
 public:
  RuleCheck(const Profile& profile, Resource resource, const GivenKeys& given, const YamlValue& at)
      : profile_(profile),
        rule_(profile.rule(resource)),
        resource_(resource),
        given_(given),
        at_(at) {}

  Result<void> Run() const {
    for (const auto check : {&RuleCheck::Percentiles, &RuleCheck::Bounds, &RuleCheck::Buckets,
                             &RuleCheck::Window, &RuleCheck::Strict}) {
      if (auto good = (this->*check)(); !good) return good;
    }
    return {};
  }

 private:
  std::string Path(std::string_view key) const {
    return fmt::format("{}.{}", profile_.names->NameOf(resource_), key);
  }
  std::string Amount(double amount) const { return FormatQuantity(amount, StyleOf(resource_)); }

  Result<void> Percentiles() const {
    if (rule_.lower_percentile > rule_.percentile) {
      return given_.Last({Path("percentile"), Path("lower_percentile")}, at_)
          .Wrong(fmt::format("lower_percentile ({}) is above percentile ({}), allowed: at most as "
                             "much",
                             rule_.lower_percentile, rule_.percentile));
    }
    if (rule_.upper_percentile < rule_.percentile) {
      return given_.Last({Path("percentile"), Path("upper_percentile")}, at_)
          .Wrong(fmt::format("upper_percentile ({}) is below percentile ({}), allowed: at least as "
                             "much",
                             rule_.upper_percentile, rule_.percentile));
    }
    return {};
  }

  Result<void> Bounds() const {
    if (!rule_.ceiling || rule_.floor <= *rule_.ceiling) return {};
    return given_.Last({Path("floor"), Path("ceiling")}, at_)
        .Wrong(fmt::format("floor ({}) is above ceiling ({}), allowed: at most as much",
                           Amount(rule_.floor), Amount(*rule_.ceiling)));
  }

  /// The number of buckets is that of the VPA recommender's layout
  /// (estimators/histogram_options.h).
  Result<void> Buckets() const {
    const BucketLayout& b = rule_.buckets;
    const std::string first = Path("buckets.first");
    const std::string ratio = Path("buckets.ratio");
    const std::string max = Path("buckets.max");
    if (b.max <= b.first) {
      return given_.Last({first, max}, at_)
          .Wrong(fmt::format("max ({}) of buckets is not above first ({}), allowed: more than that",
                             Amount(b.max), Amount(b.first)));
    }
    const double count =
        std::ceil(std::log(b.max * (b.ratio - 1) / b.first + 1) / std::log(b.ratio)) + 1;
    if (count <= kMaxBuckets) return {};
    return given_.Last({first, ratio, max}, at_)
        .Wrong(fmt::format("first ({}), ratio ({}) and max ({}) make {} buckets, allowed: at most "
                           "{}",
                           Amount(b.first), b.ratio, Amount(b.max), count, kMaxBuckets));
  }

  Result<void> Window() const {
    if (rule_.samples != SampleKind::kPeakPerWindow ||
        rule_.half_life_ms >= rule_.window_ms / kMaxHalfLivesInWindow) {
      return {};
    }
    const std::chrono::milliseconds half_life(rule_.half_life_ms);
    const std::chrono::milliseconds window(rule_.window_ms);
    return given_.Last({Path("half_life"), Path("window"), Path("samples")}, at_)
        .Wrong(fmt::format("half_life ({}) is too short for a window of {}: nothing would be left "
                           "of one window's peak in the next, allowed: half_life at least {}",
                           FormatDuration(half_life), FormatDuration(window),
                           FormatDuration(window / kMaxHalfLivesInWindow)));
  }

  /// What the VPA recommender has no flag for must be as its preset has it.
  Result<void> Strict() const {
    if (!profile_.strict) return {};
    const Profile vpa = PresetProfile(Preset::kVpa);
    for (const RuleKey& key : RuleKeys()) {
      if (key.vpa_has_it || !HasKey(resource_, key)) continue;
      const std::string here = key.write(rule_, resource_);
      const std::string there = key.write(vpa.rule(resource_), resource_);
      if (here == there) continue;
      return given_.Last({"strict", PathOf(profile_, resource_, key)}, at_)
          .Wrong(fmt::format("strict goes with what the VPA recommender can be told by its flags, "
                             "and {} ({}) is no such thing, allowed with strict: {}",
                             PathOf(profile_, resource_, key), here, there));
    }
    return {};
  }

  const Profile& profile_;
  const ResourceRule& rule_;
  const Resource resource_;
  const GivenKeys& given_;
  const YamlValue& at_;
};

Result<void> CheckStrict(const Profile& profile, const GivenKeys& given, const YamlValue& at) {
  if (!profile.strict) return {};
  const auto wrong = [&](std::string_view key, std::string_view is, std::string_view allowed) {
    return given.Last({"strict", key}, at)
        .Wrong(fmt::format("strict is as the VPA recommender works, and {} is {}, allowed with "
                           "strict: {} {}",
                           key, is, key, allowed));
  };
  if (profile.preset != Preset::kVpa) return wrong("preset", ToString(profile.preset), "vpa");
  if (profile.level != Level::kContainer) {
    return wrong("level", ToString(profile.level), "container");
  }
  if (profile.mode != PoolMode::kDynamic) return wrong("mode", ToString(profile.mode), "dynamic");
  return {};
}

}  // namespace

Result<void> CheckProfile(const Profile& profile, const GivenKeys& given, const YamlValue& at) {
  if (auto good = CheckStrict(profile, given, at); !good) return good;
  for (const Resource resource : profile.names->all()) {
    if (auto good = RuleCheck(profile, resource, given, at).Run(); !good) return good;
  }
  return {};
}

}  // namespace tidemark::cmd
