#include "cmd/config_sources.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "cmd/config_fields.h"
#include "cmd/config_profile_keys.h"
#include "cmd/text.h"

namespace tidemark::cmd {
namespace {

using workloads::IdentityLabels;
using workloads::Role;
using workloads::Source;

constexpr size_t kMaxNameBytes = 1024;  // as remote write takes by default
constexpr size_t kMaxTypeBytes = 63;
constexpr size_t kMaxPartLabels = 16;
constexpr NumberRange kScaleRange{.low = 0, .low_included = false, .high = 1e18};

bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

/// Names as Prometheus' data model has them, and with the dots, slashes and hyphens that
/// OpenTelemetry brings.
bool IsName(std::string_view text, bool colons) {
  if (text.empty() || text.size() > kMaxNameBytes || IsDigit(text[0])) return false;
  return std::all_of(text.begin(), text.end(), [&](char c) {
    return IsLetter(c) || IsDigit(c) || c == '_' || c == '.' || c == '/' || c == '-' ||
           (colons && c == ':');
  });
}

bool IsWorkloadType(std::string_view text) {
  return !text.empty() && text.size() <= kMaxTypeBytes &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || IsDigit(c) || c == '-' || c == '_';
         });
}

bool IsUsage(Role role) { return role == Role::kUsageCounter || role == Role::kUsageGauge; }

/// What is in the file, before the rules that join several keys are looked at.
struct Given {
  std::optional<std::string> metric;
  std::optional<Role> role;
  std::optional<YamlValue> resource;
  std::optional<std::string> unit;
  std::optional<Selector> selector;
  std::optional<std::string> cluster, name_space, pod, container, workload;
  std::optional<std::string> workload_type;
  std::optional<std::vector<std::string>> part_labels;
  std::optional<double> scale;
};

std::vector<std::string_view> Split(std::string_view joined) {
  std::vector<std::string_view> names;
  constexpr std::string_view kSeparator = ", ";
  while (!joined.empty()) {
    const size_t end = std::min(joined.find(kSeparator), joined.size());
    names.push_back(joined.substr(0, end));
    joined.remove_prefix(std::min(end + kSeparator.size(), joined.size()));
  }
  return names;
}

/// A reader for text that `parse` turns into a T or refuses.
template <class T, class Parse>
FieldReader Parsed(std::optional<T>& out, Parse parse) {
  return [&out, parse](const YamlValue& value) -> Result<void> {
    auto text = value.ReadText();
    if (!text) return tl::unexpected(text.error());
    Result<T> parsed = parse(value, std::move(*text));
    if (!parsed) return tl::unexpected(parsed.error());
    out = std::move(*parsed);
    return {};
  };
}

Result<std::string> MetricName(const YamlValue& value, std::string text) {
  if (!IsName(text, true)) {
    return value.Wrong(fmt::format(
        "{} is not a metric name, allowed: letters, digits and _ : . / -, not beginning "
        "with a digit; labels belong into selector",
        Shown(text, text.empty())));
  }
  return text;
}

Result<std::string> LabelName(const YamlValue& value, std::string text) {
  if (!IsName(text, false)) {
    return value.Wrong(fmt::format(
        "{} is not a label name, allowed: letters, digits and _ . / -, not beginning with "
        "a digit",
        Shown(text)));
  }
  return text;
}

Result<std::string> LabelNameOrNone(const YamlValue& value, std::string text) {
  if (text.empty()) return text;
  return LabelName(value, std::move(text));
}

Result<Role> RoleNamed(const YamlValue& value, const std::string& text) {
  if (const auto role = workloads::ParseRole(text)) return *role;
  const std::string names = workloads::RoleNames();
  return NoSuch(value, "role", text, Split(names));
}

/// A lower-case word that can be a label's value and a key.
bool IsWord(std::string_view text, bool digits) {
  return !text.empty() && text.size() <= kMaxTypeBytes && text[0] >= 'a' && text[0] <= 'z' &&
         std::all_of(text.begin(), text.end(), [digits](char c) {
           return (c >= 'a' && c <= 'z') || c == '_' || (digits && IsDigit(c));
         });
}

Result<std::string> UnitNamed(const YamlValue& value, std::string text) {
  if (IsWord(text, false)) return text;
  return value.Wrong(
      fmt::format("{} is not a unit, allowed: 1 to {} lower-case letters and _, a letter first, as "
                  "in byte_per_second",
                  Shown(text, text.empty()), kMaxTypeBytes));
}

/// The resources that the list names itself, as they come.
class OwnResources {
 public:
  /// The resource of a source; its name may be that of one built in.
  Result<Resource> Of(const YamlValue& item, const Given& given);
  ResourceTable Table() const {
    std::vector<CustomResource> resources;
    for (const Own& one : own_) resources.push_back(one.resource);
    return ResourceTable(std::move(resources));
  }

 private:
  struct Own {
    CustomResource resource;
    Role role;
    int line;
  };
  Result<Resource> Again(const YamlValue& item, const Given& given, size_t place) const;
  Result<Resource> New(const YamlValue& item, const Given& given, std::string name);

  std::vector<Own> own_;
};

Result<Resource> OwnResources::Of(const YamlValue& item, const Given& given) {
  auto name = given.resource->ReadText();
  if (!name) return tl::unexpected(name.error());
  if (const auto built_in = ParseResource(*name)) {
    if (!given.unit) return *built_in;
    return item.WrongKey("unit", fmt::format("it has no meaning with the resource {}, of which the "
                                             "unit is {}, allowed: with a resource of your own",
                                             *name, UnitName(*built_in)));
  }
  for (size_t i = 0; i < own_.size(); ++i) {
    if (own_[i].resource.name == *name) return Again(item, given, i);
  }
  if (given.unit) return New(item, given, *std::move(name));
  std::vector<std::string_view> names;
  for (const Resource resource : kBuiltInResources) names.push_back(ResourceName(resource));
  for (const Own& one : own_) names.push_back(one.resource.name);
  auto error = NoSuch(*given.resource, "resource", *name, names);
  error.value().message += ", or a name of your own beside its unit";
  return error;
}

/// Its minutes would be sums of levels and of increases.
Result<Resource> OwnResources::Again(const YamlValue& item, const Given& given,
                                     size_t place) const {
  const Own& own = own_[place];
  if (given.unit && *given.unit != own.resource.unit) {
    return item.WrongKey("unit", fmt::format("{} is in {} by line {}, allowed: one unit",
                                             own.resource.name, own.resource.unit, own.line));
  }
  if (*given.role != own.role) {
    return item.WrongKey("role",
                         fmt::format("{} is a {} by line {}, allowed: one role", own.resource.name,
                                     workloads::ToString(own.role), own.line));
  }
  return static_cast<Resource>(kBuiltInResourceCount + place);
}

Result<Resource> OwnResources::New(const YamlValue& item, const Given& given, std::string name) {
  if (!IsWord(name, true)) {
    return given.resource->Wrong(
        fmt::format("{} is not a name for a resource, allowed: 1 to {} lower-case letters, digits "
                    "and _, a letter first, as in network_receive",
                    Shown(name, name.empty()), kMaxTypeBytes));
  }
  const auto keys = ProfileKeys();
  const bool is_key = std::any_of(keys.begin(), keys.end(),
                                  [&](const ProfileKey& key) { return key.name == name; });
  if (is_key || name == "name" || name == "selector" || name == "resources" || name == "unknown") {
    return given.resource->Wrong(
        fmt::format("{} has a meaning of its own in profiles, allowed: another name", name));
  }
  if (own_.size() >= kMaxCustomResources) {
    return given.resource->Wrong(fmt::format("{} is one resource too many, allowed: {} of your own",
                                             name, kMaxCustomResources));
  }
  own_.push_back({{std::move(name), *given.unit}, *given.role, item.line()});
  return static_cast<Resource>(kBuiltInResourceCount + own_.size() - 1);
}

Result<std::string> WorkloadType(const YamlValue& value, std::string text) {
  if (!IsWorkloadType(text)) {
    return value.Wrong(fmt::format(
        "{} is not a workload type, allowed: 1 to {} lower-case letters, digits, - and _, "
        "as in statefulset",
        Shown(text), kMaxTypeBytes));
  }
  return text;
}

FieldReader PartLabels(std::optional<std::vector<std::string>>& out) {
  return [&out](const YamlValue& value) -> Result<void> {
    auto items = value.ReadList(kMaxPartLabels);
    if (!items) return tl::unexpected(items.error());
    std::vector<std::string> names;
    for (const YamlValue& item : *items) {
      std::optional<std::string> name;
      if (auto done = Parsed(name, LabelName)(item); !done) return done;
      names.push_back(std::move(*name));
    }
    out = std::move(names);
    return {};
  };
}

FieldReader Labels(Given& out) {
  return [&out](const YamlValue& value) {
    return value.ReadMap({{"cluster", Parsed(out.cluster, LabelNameOrNone)},
                          {"namespace", Parsed(out.name_space, LabelNameOrNone)},
                          {"pod", Parsed(out.pod, LabelNameOrNone)},
                          {"container", Parsed(out.container, LabelNameOrNone)},
                          {"workload", Parsed(out.workload, LabelNameOrNone)}});
  };
}

/// The identity labels of a role are those that the default table gives it. What is told about a
/// workload by its own name needs no pod and no container.
IdentityLabels DefaultLabels(const Given& given) {
  IdentityLabels labels;
  const std::vector<Source> defaults = workloads::DefaultSources();
  const auto found = std::find_if(defaults.begin(), defaults.end(),
                                  [&](const Source& source) { return source.role == *given.role; });
  if (found != defaults.end()) labels = found->labels;
  if (*given.role == Role::kReplicas) labels.workload.clear();  // it differs from type to type
  if (given.workload && !given.workload->empty()) {
    labels.pod.clear();
    labels.container.clear();
  }
  return labels;
}

/// Role none takes a metric away: nothing else has a meaning beside it.
Result<void> CheckNothingElse(const YamlValue& item, const Given& given) {
  const std::array<std::pair<std::string_view, bool>, 11> keys = {
      {{"resource", given.resource.has_value()},
       {"unit", given.unit.has_value()},
       {"selector", given.selector.has_value()},
       {"labels.cluster", given.cluster.has_value()},
       {"labels.namespace", given.name_space.has_value()},
       {"labels.pod", given.pod.has_value()},
       {"labels.container", given.container.has_value()},
       {"labels.workload", given.workload.has_value()},
       {"workload_type", given.workload_type.has_value()},
       {"part_labels", given.part_labels.has_value()},
       {"scale", given.scale.has_value()}}};
  for (const auto& [key, is_given] : keys) {
    if (is_given)
      return item.WrongKey(key,
                           "it has no meaning with the role none, allowed: metric and role only");
  }
  return {};
}

/// The rules that join several keys.
Result<void> CheckTogether(const YamlValue& item, const Given& given, const Source& source) {
  if (IsUsage(source.role)) {
    if (!given.resource) {
      return item.WrongKey(
          "resource",
          fmt::format("the key is missing, allowed with the role {}: one of {}, or a name of your "
                      "own beside its unit",
                      workloads::ToString(source.role), ResourceTable().Names()));
    }
    // Some of what pods use has no container: their network.
    const bool by_pod = !source.labels.pod.empty() &&
                        (!source.labels.container.empty() || IsCustom(source.resource));
    if (!by_pod && source.labels.workload.empty()) {
      return item.WrongKey(
          "labels", "nothing says whose usage it is, allowed: pod and container, or workload");
    }
    if (!by_pod && source.workload_type.empty()) {
      return item.WrongKey(
          "workload_type",
          "the key is missing, allowed with labels.workload: a type such as process");
    }
  } else {
    constexpr std::string_view kUsageOnly =
        "allowed: only with the roles usage_counter and usage_gauge";
    if (given.resource) {
      return item.WrongKey("resource", fmt::format("it has no meaning with the role {}, {}",
                                                   workloads::ToString(source.role), kUsageOnly));
    }
    if (given.unit) {
      return item.WrongKey("unit", fmt::format("it has no meaning with the role {}, {}",
                                               workloads::ToString(source.role), kUsageOnly));
    }
    if (given.part_labels) {
      return item.WrongKey("part_labels",
                           fmt::format("it has no meaning with the role {}, {}",
                                       workloads::ToString(source.role), kUsageOnly));
    }
  }
  if (source.role == Role::kReplicas) {
    if (source.labels.workload.empty()) {
      return item.WrongKey("labels.workload",
                           "the key is missing, allowed with the role replicas: the label that "
                           "names the workload");
    }
    if (source.workload_type.empty()) {
      return item.WrongKey("workload_type",
                           "the key is missing, allowed with the role replicas: a type such as "
                           "deployment");
    }
  }
  if (!source.workload_type.empty() && source.labels.workload.empty()) {
    return item.WrongKey("workload_type", "it needs labels.workload, allowed: both or none");
  }
  return {};
}

Result<Source> ReadSource(const YamlValue& item, OwnResources& own) {
  Given given;
  double scale = 1;
  const FieldReader read_scale = Number(scale, kScaleRange);
  const auto done = item.ReadMap({{"metric", Parsed(given.metric, MetricName)},
                                  {"role", Parsed(given.role, RoleNamed)},
                                  {"resource",
                                   [&given](const YamlValue& value) -> Result<void> {
                                     if (auto text = value.ReadText(); !text) {
                                       return tl::unexpected(text.error());
                                     }
                                     given.resource = value;
                                     return {};
                                   }},
                                  {"unit", Parsed(given.unit, UnitNamed)},
                                  {"selector", Parsed(given.selector, SelectorOf)},
                                  {"labels", Labels(given)},
                                  {"workload_type", Parsed(given.workload_type, WorkloadType)},
                                  {"part_labels", PartLabels(given.part_labels)},
                                  {"scale", [&](const YamlValue& value) -> Result<void> {
                                     if (auto read = read_scale(value); !read) return read;
                                     given.scale = scale;
                                     return {};
                                   }}});
  if (!done) return tl::unexpected(done.error());
  if (!given.metric)
    return item.WrongKey("metric", "the key is missing, allowed: the name of a metric");
  if (!given.role)
    return item.WrongKey("role", "the key is missing, allowed: one of " + workloads::RoleNames());

  Source source;
  source.metric = *given.metric;
  source.role = *given.role;
  if (source.role == Role::kNone) {
    if (auto alone = CheckNothingElse(item, given); !alone) return tl::unexpected(alone.error());
    return source;
  }
  if (IsUsage(source.role) && given.resource) {
    auto resource = own.Of(item, given);
    if (!resource) return tl::unexpected(resource.error());
    source.resource = *resource;
  }
  source.selector = given.selector.value_or(source.selector);
  source.labels = DefaultLabels(given);
  source.labels.cluster = given.cluster.value_or(source.labels.cluster);
  source.labels.name_space = given.name_space.value_or(source.labels.name_space);
  source.labels.pod = given.pod.value_or(source.labels.pod);
  source.labels.container = given.container.value_or(source.labels.container);
  source.labels.workload = given.workload.value_or(source.labels.workload);
  source.workload_type = given.workload_type.value_or("");
  source.part_labels = given.part_labels.value_or(std::vector<std::string>{});
  source.scale = given.scale.value_or(1);
  if (auto good = CheckTogether(item, given, source); !good) return tl::unexpected(good.error());
  return source;
}

}  // namespace

Result<SourceList> ReadSources(const YamlValue& list) {
  auto items = list.ReadList(kMaxSources);
  if (!items) return tl::unexpected(items.error());
  std::vector<Source> sources;
  OwnResources own;
  std::map<std::pair<std::string, std::string>, int> seen;  // metric and selector → line
  for (const YamlValue& item : *items) {
    auto source = ReadSource(item, own);
    if (!source) return tl::unexpected(source.error());
    const auto [first, is_new] =
        seen.emplace(std::pair(source->metric, source->selector.text()), item.line());
    if (!is_new) {
      return item.Wrong(
          fmt::format("{} with this selector stands in line {} already, allowed: once",
                      source->metric, first->second));
    }
    sources.push_back(std::move(*source));
  }
  return SourceList{std::move(sources), own.Table()};
}

std::string DumpSources(const std::vector<Source>& sources, const ResourceTable& resources) {
  if (sources.empty()) return "sources: []\n";
  std::string out = "sources:\n";
  const auto line = [&out](std::string_view key, std::string_view value) {
    fmt::format_to(std::back_inserter(out), "{}: {}\n", key, value);
  };
  for (const Source& source : sources) {
    line("  - metric", YamlQuoted(source.metric));
    line("    role", workloads::ToString(source.role));
    if (source.role == Role::kNone) continue;
    if (IsUsage(source.role)) line("    resource", resources.NameOf(source.resource));
    if (IsUsage(source.role) && IsCustom(source.resource)) {
      line("    unit", resources.UnitOf(source.resource));
    }
    line("    selector", YamlQuoted(source.selector.text()));
    out.append("    labels:\n");
    line("      cluster", YamlQuoted(source.labels.cluster));
    line("      namespace", YamlQuoted(source.labels.name_space));
    line("      pod", YamlQuoted(source.labels.pod));
    line("      container", YamlQuoted(source.labels.container));
    line("      workload", YamlQuoted(source.labels.workload));
    if (!source.workload_type.empty()) line("    workload_type", YamlQuoted(source.workload_type));
    if (IsUsage(source.role)) {
      std::string names;
      for (const std::string& name : source.part_labels) {
        if (!names.empty()) names.append(", ");
        names.append(YamlQuoted(name));
      }
      line("    part_labels", fmt::format("[{}]", names));
    }
    line("    scale", fmt::format("{}", source.scale));
  }
  return out;
}

}  // namespace tidemark::cmd
