#include "cmd/config_profiles.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "cmd/config_fields.h"
#include "cmd/config_given.h"
#include "cmd/config_profile_checks.h"
#include "cmd/config_profile_keys.h"
#include "cmd/text.h"

namespace tidemark::cmd {
namespace {

constexpr size_t kMaxProfiles = 1000;
constexpr size_t kMaxNameBytes = 63;  // as a label's value in Kubernetes
constexpr std::string_view kDefaultName = "default";
constexpr std::string_view kPodLabelPrefix = "label_";
constexpr std::array<std::string_view, 5> kSelectorLabels = {
    "cluster", "namespace", "workload_type", "workload", "container"};
constexpr std::array<std::string_view, 4> kRuleSections = {"high_water", "adaptive", "buckets",
                                                           "kills"};

bool IsProfileName(std::string_view text) {
  const auto is_alphanumeric = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  return !text.empty() && text.size() <= kMaxNameBytes && is_alphanumeric(text.front()) &&
         is_alphanumeric(text.back()) && std::ranges::all_of(text, [&](char c) {
           return is_alphanumeric(c) || c == '-' || c == '_' || c == '.';
         });
}

FieldReader Name(std::string& out) {
  return [&out](const YamlValue& value) -> Result<void> {
    auto text = value.ReadText();
    if (!text) return tl::unexpected(text.error());
    if (!IsProfileName(*text)) {
      return value.Wrong(fmt::format(
          "{} is no name of a profile, allowed: 1 to {} letters, digits, - _ and ., a letter or "
          "digit first and last",
          Shown(*text, text->empty()), kMaxNameBytes));
    }
    if (*text == kDefaultName) {
      return value.Wrong(
          "default is what estimation says of all that no profile takes, allowed: another name");
    }
    out = *std::move(text);
    return {};
  };
}

FieldReader ProfileSelector(std::optional<Selector>& out) {
  return [&out](const YamlValue& value) -> Result<void> {
    const auto text = value.ReadText();
    if (!text) return tl::unexpected(text.error());
    auto selector = SelectorOf(value, *text);
    if (!selector) return tl::unexpected(selector.error());
    for (const Selector::Part& part : selector->Parts()) {
      const bool known = std::ranges::find(kSelectorLabels, part.label) != kSelectorLabels.end();
      if (known || part.label.starts_with(kPodLabelPrefix)) continue;
      const auto meant = ClosestName(part.label, kSelectorLabels);
      return value.Wrong(
          fmt::format("profiles cannot be selected by the label {}{}, allowed: {}, and label_* as "
                      "kube_pod_labels has them",
                      Shown(part.label), meant ? fmt::format(" (did you mean {}?)", *meant) : "",
                      Join(kSelectorLabels)));
    }
    out = *std::move(selector);
    return {};
  };
}

/// The keys of a resource's section, or of a section in it.
std::vector<YamlField> RuleFields(Resource resource, std::string_view section, ResourceRule& rule,
                                  GivenKeys& given) {
  std::vector<YamlField> fields;
  for (const RuleKey& key : RuleKeys()) {
    if (key.section != section || !HasKey(resource, key)) continue;
    fields.push_back({key.name, given.Noting(PathOf(resource, key), key.read(rule, resource))});
  }
  return fields;
}

Result<void> ReadRule(const YamlValue& value, Resource resource, ResourceRule& rule,
                      GivenKeys& given) {
  std::vector<YamlField> fields = RuleFields(resource, "", rule, given);
  for (const std::string_view section : kRuleSections) {
    std::vector<YamlField> inner = RuleFields(resource, section, rule, given);
    if (inner.empty()) continue;
    fields.push_back(
        {section, [inner = std::move(inner)](const YamlValue& map) { return map.ReadMap(inner); }});
  }
  return value.ReadMap(fields);
}

/// Bounds that do not stand in the file themselves give way to a percentile beyond them; not those
/// of strict, which has nothing that VPA has not.
void LetBoundsFollow(Profile& profile, const GivenKeys& given) {
  if (profile.strict) return;
  for (const Resource resource : kAllResources) {
    ResourceRule& rule = profile.rule(resource);
    const auto has = [&](std::string_view key) {
      return given.Has(fmt::format("{}.{}", ResourceName(resource), key));
    };
    if (!has("lower_percentile")) {
      rule.lower_percentile = std::min(rule.lower_percentile, rule.percentile);
    }
    if (!has("upper_percentile")) {
      rule.upper_percentile = std::max(rule.upper_percentile, rule.percentile);
    }
  }
}

/// Who asks for a percentile gets it, though what is inherited goes by hours; and with a basis that
/// is no longer the hours, which need none, comes the margin of all others.
void LetBasisFollow(const Profile& inherited, Profile& profile, const GivenKeys& given) {
  for (const Resource resource : kAllResources) {
    ResourceRule& rule = profile.rule(resource);
    const auto has = [&](std::string_view key) {
      return given.Has(fmt::format("{}.{}", ResourceName(resource), key));
    };
    if (inherited.rule(resource).basis != Basis::kAdaptive) continue;
    if (has("percentile") && !has("basis")) rule.basis = Basis::kPercentile;
    if (rule.basis != Basis::kAdaptive && !has("margin")) rule.margin_ratio = kUsualMargin;
  }
}

/// Reads the keys that `estimation:` and profiles have in common into `draft`, which holds what is
/// inherited; `fields` are those that come beside them.
Result<void> ReadDraft(const YamlValue& value, std::vector<YamlField> fields, ProfileDraft& draft) {
  Profile& profile = draft.profile;
  GivenKeys given;
  // Where the values come from is known before any of them is read.
  if (const auto preset = value.Find("preset"); preset) {
    Profile chosen;
    if (auto done = ProfileKeys().front().read(chosen)(*preset); !done) return done;
    profile = PresetProfile(chosen.preset);
  }
  const Profile inherited = profile;
  for (const ProfileKey& key : ProfileKeys()) {
    fields.push_back({key.name, given.Noting(std::string(key.name), key.read(profile))});
  }
  for (const Resource resource : kAllResources) {
    fields.push_back({ResourceName(resource), [&, resource](const YamlValue& section) {
                        return ReadRule(section, resource, profile.rule(resource), given);
                      }});
  }
  if (auto done = value.ReadMap(fields); !done) return done;
  LetBasisFollow(inherited, profile, given);
  LetBoundsFollow(profile, given);
  draft.keys = given.Paths();
  return CheckProfile(profile, given, value);
}

Result<ProfileDraft> ReadProfile(const YamlValue& item, const Profile& defaults) {
  ProfileDraft draft{.profile = defaults, .keys = {}};
  std::string name;
  std::optional<Selector> selector;
  auto done =
      ReadDraft(item, {{"name", Name(name)}, {"selector", ProfileSelector(selector)}}, draft);
  if (!done) return tl::unexpected(done.error());
  if (name.empty()) {
    return item.WrongKey("name", "the key is missing, allowed: what the profile is called");
  }
  if (!selector) {
    return item.WrongKey("selector",
                         "the key is missing, allowed: whom the profile is for, as in "
                         "{namespace=\"shop\"}; {} is everybody");
  }
  draft.profile.name = std::move(name);
  draft.profile.selector = *std::move(selector);
  return draft;
}

/// All keys but name and selector, each line after `indent`.
void DumpKeys(const Profile& profile, std::string_view indent, std::string& out) {
  const auto line = [&](std::string_view more, std::string_view key, std::string_view value) {
    fmt::format_to(std::back_inserter(out), "{}{}{}:{}{}\n", indent, more, key,
                   value.empty() ? "" : " ", value);
  };
  for (const ProfileKey& key : ProfileKeys()) line("", key.name, key.write(profile));
  for (const Resource resource : kAllResources) {
    line("", ResourceName(resource), "");
    std::string_view section;
    for (const RuleKey& key : RuleKeys()) {
      if (!HasKey(resource, key)) continue;
      if (key.section != section && !key.section.empty()) line("  ", key.section, "");
      section = key.section;
      line(section.empty() ? "  " : "    ", key.name, key.write(profile.rule(resource), resource));
    }
  }
}

}  // namespace

Result<ProfileDraft> ReadEstimation(const YamlValue& section) {
  ProfileDraft draft{.profile = PresetProfile(Preset::kTidemark), .keys = {}};
  if (auto done = ReadDraft(section, {}, draft); !done) return tl::unexpected(done.error());
  return draft;
}

Result<std::vector<ProfileDraft>> ReadProfiles(const YamlValue& list, const Profile& defaults) {
  auto items = list.ReadList(kMaxProfiles);
  if (!items) return tl::unexpected(items.error());
  std::vector<ProfileDraft> profiles;
  profiles.reserve(items->size());
  std::map<std::string, int, std::less<>> lines;  // of the names
  for (const YamlValue& item : *items) {
    auto draft = ReadProfile(item, defaults);
    if (!draft) return tl::unexpected(draft.error());
    const auto [first, is_new] = lines.emplace(draft->profile.name, item.line());
    if (!is_new) {
      return item.WrongKey("name", fmt::format("{} stands in line {} already, allowed: each once",
                                               first->first, first->second));
    }
    profiles.push_back(*std::move(draft));
  }
  return profiles;
}

std::string DumpEstimation(const Profile& defaults) {
  std::string out = "estimation:\n";
  DumpKeys(defaults, "  ", out);
  return out;
}

std::string DumpProfiles(const std::vector<Profile>& profiles) {
  if (profiles.empty()) return "profiles: []\n";
  std::string out = "profiles:\n";
  for (const Profile& profile : profiles) {
    fmt::format_to(std::back_inserter(out), "  - name: {}\n    selector: {}\n",
                   YamlQuoted(profile.name), YamlQuoted(profile.selector.text()));
    DumpKeys(profile, "    ", out);
  }
  return out;
}

}  // namespace tidemark::cmd
