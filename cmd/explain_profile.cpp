#include "cmd/explain_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include "cmd/command_line.h"
#include "cmd/config_forecast.h"
#include "cmd/config_profile_keys.h"
#include "cmd/explain_scaling.h"
#include "cmd/rule_words.h"
#include "cmd/text.h"
#include "model/label.h"
#include "model/quoted.h"

namespace tidemark::cmd {
namespace {

constexpr std::string_view kPodLabelPrefix = "label_";
constexpr std::string_view kContainerLabel = "container";

Result<WorkloadId> WorkloadOf(const std::string& text) {
  const size_t first = text.find('/');
  const size_t second = first == std::string::npos ? first : text.find('/', first + 1);
  WorkloadId id;
  if (second != std::string::npos) {
    id.name_space = text.substr(0, first);
    id.workload_type = text.substr(first + 1, second - first - 1);
    id.workload = text.substr(second + 1);
  }
  const bool lower_case =
      std::ranges::none_of(id.workload_type, [](char c) { return c >= 'A' && c <= 'Z'; });
  if (id.name_space.empty() || id.workload_type.empty() || id.workload.empty() || !lower_case) {
    return WrongFlag("explain",
                     fmt::format("{} is no workload, allowed: NAMESPACE/TYPE/NAME with the type in "
                                 "lower case, as in shop/deployment/web",
                                 Shown(text, text.empty())));
  }
  return id;
}

/// Pod labels are written as a selector that only they match.
Result<std::string> PodLabelsOf(const std::string& text) {
  const auto selector = Selector::Parse(text);
  if (!selector) return WrongFlag("pod-labels", selector.error().message);
  const std::vector<Selector::Part> parts = selector->Parts();
  std::map<std::string_view, std::string_view> values;
  for (const Selector::Part& part : parts) {
    const bool good = part.op == "=" && part.label.starts_with(kPodLabelPrefix) &&
                      values.emplace(part.label, part.value).second;
    if (good) continue;
    return WrongFlag(
        "pod-labels",
        fmt::format("{}{}{} is no pod label, allowed: each label_* once, with its value, as in "
                    "{{label_team=\"checkout\"}}",
                    part.label, part.op, QuotedText(part.value)));
  }
  std::vector<LabelView> labels;
  for (const auto& [name, value] : values) {
    if (!value.empty()) labels.push_back({name, value});
  }
  return EncodeLabels(labels);
}

bool Selects(const Profile& profile, std::string_view label_prefix) {
  return std::ranges::any_of(profile.selector.Parts(), [&](const Selector::Part& part) {
    return part.label.starts_with(label_prefix);
  });
}

/// A selector's matchers but those of containers.
Selector WithoutContainer(const Selector& selector) {
  std::string text = "{";
  for (const Selector::Part& part : selector.Parts()) {
    if (part.label == kContainerLabel) continue;
    fmt::format_to(std::back_inserter(text), "{}{}\"", part.label, part.op);
    for (const char c : part.value) {
      if (c == '"' || c == '\\') text.push_back('\\');
      text.push_back(c);
    }
    text.append("\",");
  }
  return Selector::Parse(text.append("}")).value_or(selector);
}

/// Whether it depends on the container if the profile applies.
bool DependsOnContainer(const Profile& profile, const ProfileSubject& subject) {
  if (!Selects(profile, kContainerLabel)) return false;
  Profile rest;
  rest.selector = WithoutContainer(profile.selector);
  return ProfileSet({rest}, Profile()).Explain(subject).front().matches;
}

/// The profile that applies, and where each of its values comes from.
class Origins {
 public:
  Origins(const Config& config, const Profile& applied)
      : config_(config), applied_(applied), fallback_(config.engine.profiles->fallback()) {
    const std::vector<Profile>& all = config.engine.profiles->profiles();
    const auto found = std::ranges::find(all, applied.name, &Profile::name);
    if (found == all.end()) return;
    own_ = &config.profile_keys[static_cast<size_t>(found - all.begin())];
    inherits_ = !std::ranges::binary_search(*own_, "preset");
  }

  std::string Of(const std::string& path) const {
    if (own_ != nullptr && Has(*own_, path)) return fmt::format("profile {}", applied_.name);
    if (Estimated(path)) return "estimation";
    return path == "preset" ? "default" : fmt::format("preset {}", ToString(applied_.preset));
  }

  std::string Of(Resource resource, const RuleKey& key) const {
    const std::string path = PathOf(applied_, resource, key);
    const bool own = own_ != nullptr ? Has(*own_, path) : Estimated(path);
    // Bounds that do not stand in the file follow the percentile.
    if (!own && key.name.ends_with("_percentile")) {
      const Profile& base = Estimated(path) ? fallback_ : PresetProfile(applied_.preset);
      if (key.write(base.rule(resource), resource) !=
          key.write(applied_.rule(resource), resource)) {
        return "follows percentile";
      }
    }
    return Of(path);
  }

 private:
  static bool Has(const std::vector<std::string>& keys, const std::string& path) {
    return std::ranges::binary_search(keys, path);
  }
  bool Estimated(const std::string& path) const {
    return inherits_ && Has(config_.estimation_keys, path);
  }

  const Config& config_;
  const Profile& applied_;
  const Profile& fallback_;
  const std::vector<std::string>* own_ = nullptr;  ///< null: it is `estimation` itself
  bool inherits_ = true;
};

void AppendWhy(const std::vector<ProfileSet::Judgement>& judgements, std::string& out) {
  for (const ProfileSet::Judgement& judgement : judgements) {
    if (!judgement.matches) {
      fmt::format_to(std::back_inserter(out), "  not {}: {}\n", judgement.profile->name,
                     judgement.why);
    } else if (judgement.profile->selector.Parts().empty()) {
      fmt::format_to(std::back_inserter(out), "  {}: takes everything\n", judgement.profile->name);
    } else {
      fmt::format_to(std::back_inserter(out), "  {}: {} matches\n", judgement.profile->name,
                     OneLine(judgement.profile->selector.text()));
    }
  }
}

/// What was taken for granted.
void AppendNotes(const std::vector<ProfileSet::Judgement>& judgements,
                 const ProfileQuestion& question, std::string& out) {
  const auto any_selects = [&](std::string_view prefix) {
    return std::ranges::any_of(judgements, [prefix](const ProfileSet::Judgement& judgement) {
      return Selects(*judgement.profile, prefix);
    });
  };
  if (!question.pod_labels && any_selects(kPodLabelPrefix)) {
    out.append("  note: without --pod-labels the pods are taken to have no labels\n");
  }
  if (question.workload.cluster.empty() && any_selects("cluster")) {
    out.append("  note: without --cluster the workload is taken to be in none\n");
  }
}

void AppendRules(const Profile& profile, const Origins& origins, std::string& out) {
  for (const ProfileKey& key : ProfileKeys()) {
    fmt::format_to(std::back_inserter(out), "{}: {} ({})\n", key.name, key.write(profile),
                   origins.Of(std::string(key.name)));
  }
  for (const Resource resource : profile.names->all()) {
    fmt::format_to(std::back_inserter(out), "\n{}: {}\n", profile.names->NameOf(resource),
                   RuleInWords(profile, resource));
    for (const RuleKey& key : RuleKeys()) {
      if (!HasKey(resource, key)) continue;
      fmt::format_to(std::back_inserter(out), "  {}{}{}: {} ({})\n", key.section,
                     key.section.empty() ? "" : ".", key.name,
                     key.write(profile.rule(resource), resource), origins.Of(resource, key));
    }
  }
}

}  // namespace

Result<std::optional<ProfileQuestion>> ProfileQuestionOf(
    const std::map<std::string, std::string, std::less<>>& flags) {
  const auto given = [&flags](std::string_view name) -> std::optional<std::string> {
    const auto found = flags.find(name);
    return found == flags.end() ? std::nullopt : std::optional(found->second);
  };
  const auto explain = given("explain");
  if (!explain) {
    for (const std::string_view name : {"container", "cluster", "pod-labels"}) {
      if (given(name)) return WrongFlag(name, "it has no meaning alone, allowed: with --explain");
    }
    return std::nullopt;
  }
  auto workload = WorkloadOf(*explain);
  if (!workload) return tl::unexpected(workload.error());
  ProfileQuestion question{
      .workload = *std::move(workload), .container = given("container"), .pod_labels = {}};
  question.workload.cluster = given("cluster").value_or("");
  if (const auto labels = given("pod-labels"); labels) {
    auto encoded = PodLabelsOf(*labels);
    if (!encoded) return tl::unexpected(encoded.error());
    question.pod_labels = *std::move(encoded);
  }
  return question;
}

Result<std::string> ExplainProfile(const Config& config, const ProfileQuestion& question) {
  const ProfileSet& profiles = *config.engine.profiles;
  const std::string container = question.container.value_or("");
  const std::string pod_labels = question.pod_labels.value_or("");
  const ProfileSubject subject{
      .workload = question.workload, .container = container, .pod_labels = pod_labels};
  const std::vector<ProfileSet::Judgement> judgements = profiles.Explain(subject);
  for (const ProfileSet::Judgement& judgement : judgements) {
    if (question.container || !DependsOnContainer(*judgement.profile, subject)) continue;
    return WrongFlag("container",
                     fmt::format("it depends on the container whether profile {} applies, allowed: "
                                 "its name",
                                 judgement.profile->name));
  }
  const Profile& applied = *judgements.back().profile;
  const WorkloadId& id = question.workload;
  std::string out =
      fmt::format("{}{}{}/{}/{}{}{}: profile {}\n", id.cluster, id.cluster.empty() ? "" : "/",
                  id.name_space, id.workload_type, id.workload,
                  container.empty() ? "" : " container ", container, applied.name);
  out = OneLine(out.substr(0, out.size() - 1)) + "\n";
  AppendWhy(judgements, out);
  AppendNotes(judgements, question, out);
  out.append("\n");
  AppendRules(applied, Origins(config, applied), out);
  out.append("\n").append(ForecastLine(*config.engine.forecast, profiles.resources(), id));
  out.append(ScalingLines(config, id));
  return out;
}

}  // namespace tidemark::cmd
