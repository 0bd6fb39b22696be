#include "kubernetes/accept.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <string>
#include <system_error>
#include <vector>

namespace tidemark::kubernetes {
namespace {

constexpr size_t kMostRanges = 64;

std::string_view Trimmed(std::string_view text) {
  const auto is_space = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

std::string Lower(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

/// Takes what stands before the next `separator` off the front.
std::string_view Take(std::string_view& text, char separator) {
  const size_t end = text.find(separator);
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return Trimmed(part);
}

struct MediaRange {
  std::string type;  // lower case
  double quality = 1;
  // Parameters that the Kubernetes API has.
  std::string as;
  std::string group;
  std::string version;
};

MediaRange ParseRange(std::string_view text) {
  MediaRange range;
  range.type = Lower(Take(text, ';'));
  while (!text.empty()) {
    std::string_view parameter = Take(text, ';');
    const std::string name = Lower(Take(parameter, '='));
    const std::string_view value = parameter;
    if (name == "as") range.as = value;
    if (name == "g") range.group = value;
    if (name == "v") range.version = value;
    if (name != "q") continue;
    double quality = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), quality);
    const bool good = error == std::errc() && end == value.data() + value.size();
    range.quality = good && quality >= 0 && quality <= 1 ? quality : 0;
  }
  return range;
}

/// Those that are wanted at all, the best first.
std::vector<MediaRange> Ranges(std::string_view accept) {
  std::vector<MediaRange> ranges;
  if (Trimmed(accept).empty()) accept = "*/*";
  while (!accept.empty() && ranges.size() < kMostRanges) {
    MediaRange range = ParseRange(Take(accept, ','));
    if (range.quality > 0) ranges.push_back(std::move(range));
  }
  std::ranges::stable_sort(ranges, std::greater<>(), &MediaRange::quality);
  return ranges;
}

bool IsJson(const MediaRange& range) {
  return range.type == "*/*" || range.type == "application/*" || range.type == "application/json";
}
bool IsPlainJson(const MediaRange& range) { return IsJson(range) && range.as.empty(); }

}  // namespace

std::optional<MetricForm> AcceptedMetricForm(std::string_view accept) {
  for (const MediaRange& range : Ranges(accept)) {
    if (IsPlainJson(range)) return MetricForm::kList;
    if (!IsJson(range) || range.as != "Table" || range.group != "meta.k8s.io") continue;
    if (range.version == "v1") return MetricForm::kTable;
    if (range.version == "v1beta1") return MetricForm::kTableV1beta1;
  }
  return std::nullopt;
}

std::optional<DiscoveryForm> AcceptedDiscoveryForm(std::string_view accept) {
  for (const MediaRange& range : Ranges(accept)) {
    if (IsPlainJson(range)) return DiscoveryForm::kPlain;
    if (!IsJson(range) || range.as != "APIGroupDiscoveryList" ||
        range.group != "apidiscovery.k8s.io") {
      continue;
    }
    if (range.version == "v2") return DiscoveryForm::kAggregated;
    if (range.version == "v2beta1") return DiscoveryForm::kAggregatedV2beta1;
  }
  return std::nullopt;
}

bool AcceptsJson(std::string_view accept) {
  return std::ranges::any_of(Ranges(accept), IsPlainJson);
}

}  // namespace tidemark::kubernetes
