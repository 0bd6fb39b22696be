#include "cmd/config.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <iterator>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include "cmd/config_backfill.h"
#include "cmd/config_fields.h"
#include "cmd/config_forecast.h"
#include "cmd/config_ha.h"
#include "cmd/config_kubernetes.h"
#include "cmd/config_prices.h"
#include "cmd/config_profiles.h"
#include "cmd/config_rightsizing.h"
#include "cmd/config_scaling.h"
#include "cmd/config_sources.h"
#include "cmd/config_storage.h"
#include "cmd/units.h"
#include "cmd/web_config.h"
#include "cmd/yaml_reader.h"

namespace tidemark::cmd {
namespace {

using namespace std::chrono_literals;

constexpr uint64_t kKiB = uint64_t{1} << 10;
constexpr uint64_t kMiB = uint64_t{1} << 20;
constexpr uint64_t kGiB = uint64_t{1} << 30;

constexpr uint64_t kMinBody = kKiB;
constexpr uint64_t kMaxBody = kGiB;
constexpr uint64_t kMaxInflight = 1024 * kGiB;
constexpr uint64_t kMaxLabelsPerSeries = 10'000;
constexpr uint64_t kMinLabelName = 8;  // __name__ must pass
constexpr uint64_t kMaxLabelName = 64 * kKiB;
constexpr uint64_t kMaxLabelValue = kMiB;
constexpr auto kMaxFuture = 24h;
constexpr int64_t kMaxSeries = 1'000'000'000;

FieldReader FilePath(std::string& out, const std::string& config_file) {
  return [&out, &config_file](const YamlValue& value) -> Result<void> {
    const auto text = value.ReadText();
    if (!text) return tl::unexpected(text.error());
    const bool printable = std::ranges::all_of(
        *text, [](char c) { return static_cast<unsigned char>(c) >= 0x20 && c != '\x7f'; });
    if (!printable) return value.Wrong("this is no path, allowed: one without control characters");
    out = PathBeside(config_file, *text);
    return {};
  };
}

/// Reads a size and notes where it stands.
FieldReader NotedSize(uint64_t& out, uint64_t low, uint64_t high,
                      std::optional<YamlValue>& last_size) {
  return [&last_size, read = Size(out, low, high)](const YamlValue& field) {
    last_size = field;
    return read(field);
  };
}

/// `last_size`: of the sizes that depend on each other, the one that stands last.
Result<void> ReadRemoteWrite(const YamlValue& value, const std::string& config_file, Config& config,
                             std::optional<YamlValue>& last_size) {
  remote_write::Limits& out = config.remote_write;
  uint64_t labels = out.max_labels;
  uint64_t name_bytes = out.max_label_name_bytes;
  uint64_t value_bytes = out.max_label_value_bytes;
  auto done = value.ReadMap(
      {{"max_body_size", NotedSize(out.max_body_bytes, kMinBody, kMaxBody, last_size)},
       {"max_unpacked_size", NotedSize(out.max_unpacked_bytes, kMinBody, kMaxBody, last_size)},
       {"max_labels", WholeNumber(labels, 1, kMaxLabelsPerSeries)},
       {"max_label_name_length", WholeNumber(name_bytes, kMinLabelName, kMaxLabelName)},
       {"max_label_value_length", WholeNumber(value_bytes, 1, kMaxLabelValue)},
       {"max_future", Duration(out.max_future_ms, 0ms, kMaxFuture)},
       {"bearer_token_file", FilePath(config.bearer_token_file, config_file)},

       {"late", LatePolicy(config.engine.refuse_late)},
       {"ha", [&config](const YamlValue& section) { return ReadHa(section, config.ha); }}});
  if (!done) return done;
  out.max_labels = labels;
  out.max_label_name_bytes = name_bytes;
  out.max_label_value_bytes = value_bytes;
  if (last_size && out.max_unpacked_bytes < out.max_body_bytes) {
    return last_size->Wrong(
        fmt::format("max_unpacked_size ({}) is less than max_body_size ({}), allowed: at least as "
                    "much",
                    FormatSize(out.max_unpacked_bytes), FormatSize(out.max_body_bytes)));
  }
  return {};
}

/// One request of the largest size must find room, else it would be refused for ever.
Result<void> CheckInflight(const Config& config, const std::optional<YamlValue>& last_size) {
  const remote_write::Limits& limits = config.remote_write;
  if (!last_size ||
      config.max_inflight_bytes >= limits.max_body_bytes + limits.max_unpacked_bytes) {
    return {};
  }
  return last_size->Wrong(
      fmt::format("max_inflight_size ({}) is less than max_body_size ({}) and max_unpacked_size "
                  "({}) together, allowed: at least as much",
                  FormatSize(config.max_inflight_bytes), FormatSize(limits.max_body_bytes),
                  FormatSize(limits.max_unpacked_bytes)));
}

std::string DumpRemoteWrite(const Config& config) {
  const remote_write::Limits& limits = config.remote_write;
  return fmt::format(
             "remote_write:\n  max_body_size: {}\n  max_unpacked_size: {}\n  max_labels: {}\n"
             "  max_label_name_length: {}\n  max_label_value_length: {}\n  max_future: {}\n"
             "  bearer_token_file: {}\n",
             FormatSize(limits.max_body_bytes), FormatSize(limits.max_unpacked_bytes),
             limits.max_labels, limits.max_label_name_bytes, limits.max_label_value_bytes,
             FormatDuration(std::chrono::milliseconds(limits.max_future_ms)),
             YamlQuoted(config.bearer_token_file)) +
         DumpHaAndLate(config.ha, config.engine.refuse_late);
}

struct Section {
  std::string_view name;
  std::string yaml;
};

std::vector<Section> DumpSections(const Config& config, Secrets secrets) {
  const ProfileSet& profiles = *config.engine.profiles;
  return {{"sources", DumpSources(config.sources, profiles.resources())},
          {"estimation", DumpEstimation(profiles.fallback())},
          {"profiles", DumpProfiles(profiles.profiles())},
          {"forecast", DumpForecast(*config.engine.forecast, profiles.resources())},
          {"scaling", DumpScaling(*config.engine.scaling)},
          {"rightsizing", DumpRightsizing(*config.rightsizing)},
          {"kubernetes", DumpKubernetes(config.freshness)},
          {"compat", fmt::format("compat:\n  vpa_metrics: {}\n", config.vpa_metrics)},
          {"prices", DumpPrices(config.prices)},
          {"remote_write", DumpRemoteWrite(config)},
          {"limits", fmt::format("limits:\n  max_series: {}\n  max_inflight_size: {}\n",
                                 config.engine.max_series, FormatSize(config.max_inflight_bytes))},
          {"storage", DumpStorage(config.storage, config.engine)},
          {"backfill", DumpBackfill(config.backfill, secrets)}};
}

/// Takes over what was read of `estimation:` and `profiles:`; their resources are those of the
/// draft.
void SetProfiles(ProfileDraft estimation, std::vector<ProfileDraft> drafts, Config& config) {
  std::vector<Profile> profiles;
  profiles.reserve(drafts.size());
  for (ProfileDraft& draft : drafts) {
    profiles.push_back(std::move(draft.profile));
    config.profile_keys.push_back(std::move(draft.keys));
  }
  config.estimation_keys = std::move(estimation.keys);
  const ResourceTablePtr resources = estimation.profile.names;
  config.engine.profiles = std::make_shared<const ProfileSet>(
      std::move(profiles), std::move(estimation.profile), resources);
}

/// Profiles inherit from `estimation`, so they are read after it, wherever either stands.
Result<void> ReadRequests(const std::optional<YamlValue>& estimation,
                          const std::optional<YamlValue>& profiles,
                          const ResourceTablePtr& resources, Config& config) {
  ProfileDraft defaults{.profile = config.engine.profiles->fallback(), .keys = {}};
  defaults.profile.names = resources;
  std::vector<ProfileDraft> drafts;
  if (estimation) {
    auto read = ReadEstimation(*estimation, resources);
    if (!read) return tl::unexpected(read.error());
    defaults = *std::move(read);
  }
  if (profiles) {
    auto read = ReadProfiles(*profiles, defaults.profile);
    if (!read) return tl::unexpected(read.error());
    drafts = *std::move(read);
  }
  SetProfiles(std::move(defaults), std::move(drafts), config);
  return {};
}

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

Result<std::string> ReadFile(const std::string& path) {
  const auto fail = [&path](int error) {
    return Fail(ErrorCode::kIo, fmt::format("{}: the file cannot be read: {}", path,
                                            std::generic_category().message(error)));
  };
  const std::unique_ptr<std::FILE, CloseFile> file(std::fopen(path.c_str(), "re"));
  if (!file) return fail(errno);
  std::string text;
  std::array<char, 64 * 1024> block{};
  while (text.size() <= kMaxYamlBytes) {  // one block more is enough to see that it is too large
    const size_t size = std::fread(block.data(), 1, block.size(), file.get());
    if (size == 0) break;
    text.append(block.data(), size);
  }
  if (std::ferror(file.get()) != 0) return fail(errno);
  return text;
}

}  // namespace

Result<Config> ParseConfig(std::string_view yaml, const std::string& file_name) {
  auto root = ParseYaml(yaml, file_name);
  if (!root) return tl::unexpected(root.error());
  Config config;
  std::optional<YamlValue> last_size;
  std::optional<YamlValue> estimation;
  std::optional<YamlValue> profiles;
  std::optional<YamlValue> forecast;
  auto resources = std::make_shared<const ResourceTable>();
  const auto later = [](std::optional<YamlValue>& section) -> FieldReader {
    return [&section](const YamlValue& value) -> Result<void> {
      section = value;
      return {};
    };
  };
  const auto done = root->ReadMap(
      {{"sources",
        [&](const YamlValue& value) -> Result<void> {
          auto list = ReadSources(value);
          if (!list) return tl::unexpected(list.error());
          config.sources = std::move(list->sources);
          resources = std::make_shared<const ResourceTable>(std::move(list->resources));
          return {};
        }},
       {"estimation", later(estimation)},
       {"profiles", later(profiles)},
       {"forecast", later(forecast)},
       {"scaling",
        [&config](const YamlValue& value) -> Result<void> {
          ScalingSettings settings;
          if (auto good = ReadScaling(value, settings); !good) return good;
          config.engine.scaling = std::make_shared<const ScalingSettings>(std::move(settings));
          return {};
        }},
       {"rightsizing",
        [&config](const YamlValue& value) -> Result<void> {
          RightsizingSettings settings;
          if (auto good = ReadRightsizing(value, settings); !good) return good;
          config.rightsizing = std::make_shared<const RightsizingSettings>(std::move(settings));
          return {};
        }},
       {"kubernetes",
        [&config](const YamlValue& value) { return ReadKubernetes(value, config.freshness); }},
       {"compat",
        [&config](const YamlValue& value) {
          return value.ReadMap({{"vpa_metrics", Boolean(config.vpa_metrics)}});
        }},
       {"prices", [&config](const YamlValue& value) { return ReadPrices(value, config.prices); }},
       {"remote_write",
        [&](const YamlValue& value) {
          return ReadRemoteWrite(value, file_name, config, last_size);
        }},
       {"limits",
        [&](const YamlValue& value) {
          return value.ReadMap(
              {{"max_series", WholeNumber(config.engine.max_series, 1, kMaxSeries)},
               {"max_inflight_size",
                NotedSize(config.max_inflight_bytes, kMinBody, kMaxInflight, last_size)}});
        }},
       {"storage",
        [&config](const YamlValue& value) {
          return ReadStorage(value, config.storage, config.engine);
        }},
       {"backfill",
        [&](const YamlValue& value) { return ReadBackfill(value, file_name, config.backfill); }}});
  if (!done) return tl::unexpected(done.error());
  if (auto good = CheckInflight(config, last_size); !good) return tl::unexpected(good.error());
  if (auto good = ReadRequests(estimation, profiles, resources, config); !good) {
    return tl::unexpected(good.error());
  }
  if (forecast) {
    ForecastSettings settings;
    const auto good = ReadForecast(*forecast, *resources, settings);
    if (!good) return tl::unexpected(good.error());
    config.engine.forecast = std::make_shared<const ForecastSettings>(std::move(settings));
  }
  return config;
}

Result<Config> LoadConfig(const std::string& path) {
  auto text = ReadFile(path);
  if (!text) return tl::unexpected(text.error());
  return ParseConfig(*text, path);
}

std::string DumpConfig(const Config& config) {
  std::string out;
  for (const Section& section : DumpSections(config, Secrets::kHidden)) out.append(section.yaml);
  return out;
}

std::vector<std::string> DifferingSections(const Config& a, const Config& b) {
  const std::vector<Section> left = DumpSections(a, Secrets::kShown);
  const std::vector<Section> right = DumpSections(b, Secrets::kShown);
  std::vector<std::string> names;
  for (size_t i = 0; i < left.size(); ++i) {
    if (left[i].yaml != right[i].yaml) names.emplace_back(left[i].name);
  }
  return names;
}

}  // namespace tidemark::cmd
