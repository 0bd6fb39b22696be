#include "exporter/recommendation_query.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "model/label.h"

namespace tidemark::exporter {
namespace {

constexpr std::string_view kHex = "0123456789abcdef";

/// What a client sent, short enough for an error message.
std::string Shown(std::string_view text) {
  constexpr size_t kLongest = 64;
  return text.size() <= kLongest ? std::string(text)
                                 : std::string(text.substr(0, kLongest)) + "...";
}

std::optional<std::string> FromHex(std::string_view text) {
  if (text.size() % 2 != 0) return std::nullopt;
  std::string bytes;
  bytes.reserve(text.size() / 2);
  for (size_t i = 0; i < text.size(); i += 2) {
    const size_t high = kHex.find(text[i]);
    const size_t low = kHex.find(text[i + 1]);
    if (high == std::string_view::npos || low == std::string_view::npos) return std::nullopt;
    bytes.push_back(static_cast<char>(high * 16 + low));
  }
  return bytes;
}

/// The views point into `bytes`.
std::optional<ItemPosition> DecodePosition(std::string_view bytes, const ResourceTable& resources) {
  std::vector<LabelView> labels;
  if (!DecodeLabels(bytes, labels)) return std::nullopt;
  ItemPosition position;
  bool has_resource = false;
  for (const LabelView& label : labels) {
    if (label.name == "cluster") {
      position.cluster = label.value;
    } else if (label.name == "namespace") {
      position.name_space = label.value;
    } else if (label.name == "workload_type") {
      position.workload_type = label.value;
    } else if (label.name == "workload") {
      position.workload = label.value;
    } else if (label.name == "container") {
      position.container = label.value;
    } else if (label.name == "resource") {
      const std::optional<Resource> resource = resources.Parse(label.value);
      if (!resource) return std::nullopt;
      position.resource = *resource;
      has_resource = true;
    } else {
      return std::nullopt;
    }
  }
  if (!has_resource) return std::nullopt;
  return position;
}

Result<void> SetText(std::string_view name, std::string_view value, bool may_be_empty,
                     std::optional<std::string>& out) {
  if (value.empty() && !may_be_empty) {
    return Fail(ErrorCode::kInvalidArgument,
                "parameter \"" + std::string(name) + "\" is empty; give a name or leave it out");
  }
  out = std::string(value);
  return {};
}

Result<void> SetResource(std::string_view value, const ResourceTable& resources,
                         std::optional<Resource>& out) {
  out = resources.Parse(value);
  if (out) return {};
  return Fail(ErrorCode::kInvalidArgument, "parameter \"resource\": \"" + Shown(value) +
                                               "\" is unknown; allowed are " + resources.Names());
}

Result<void> SetLimit(std::string_view value, size_t& out) {
  size_t limit = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), limit);
  if (error != std::errc() || end != value.data() + value.size() || limit < 1 ||
      limit > RecommendationQuery::kMaxLimit) {
    return Fail(ErrorCode::kInvalidArgument,
                "parameter \"limit\": \"" + Shown(value) +
                    "\" is not allowed; give a whole number from 1 to " +
                    std::to_string(RecommendationQuery::kMaxLimit));
  }
  out = limit;
  return {};
}

Result<void> SetToken(std::string_view value, const ResourceTable& resources,
                      RecommendationQuery& query) {
  std::optional<std::string> bytes = FromHex(value);
  if (!bytes || !DecodePosition(*bytes, resources)) {
    return Fail(ErrorCode::kInvalidArgument,
                "parameter \"page_token\": \"" + Shown(value) +
                    "\" is not one of ours; give the \"next\" of an earlier answer");
  }
  query.token_bytes = std::move(*bytes);
  query.has_token = true;
  return {};
}

bool Is(const std::optional<std::string>& filter, std::string_view value) {
  return !filter || *filter == value;
}

}  // namespace

std::string EncodePageToken(const ItemPosition& position, const ResourceTable& resources) {
  std::string bytes;
  const auto add = [&](std::string_view name, std::string_view value) {
    if (!value.empty()) AppendLabelBytes({name, value}, bytes);
  };
  // Sorted by name, as the canonical encoding wants it.
  add("cluster", position.cluster);
  add("container", position.container);
  add("namespace", position.name_space);
  add("resource", resources.NameOf(position.resource));
  add("workload", position.workload);
  add("workload_type", position.workload_type);
  std::string token;
  token.reserve(bytes.size() * 2);
  for (const char c : bytes) {
    token.push_back(kHex[static_cast<uint8_t>(c) >> 4U]);
    token.push_back(kHex[static_cast<uint8_t>(c) & 0xFU]);
  }
  return token;
}

std::optional<ItemPosition> RecommendationQuery::After(const ResourceTable& resources) const {
  if (!has_token) return std::nullopt;
  return DecodePosition(token_bytes, resources);
}

bool RecommendationQuery::Matches(const ItemPosition& item) const {
  return Is(cluster, item.cluster) && Is(name_space, item.name_space) &&
         Is(workload_type, item.workload_type) && Is(workload, item.workload) &&
         Is(container, item.container) && (!resource || *resource == item.resource);
}

Result<void> CheckParameters(const HttpRequest& request,
                             std::initializer_list<std::string_view> allowed) {
  std::set<std::string_view> seen;
  for (const auto& [name, value] : request.query) {
    if (std::find(allowed.begin(), allowed.end(), name) == allowed.end()) {
      std::string names;
      for (const std::string_view each : allowed) {
        if (!names.empty()) names += ", ";
        names += each;
      }
      return Fail(ErrorCode::kInvalidArgument,
                  "parameter \"" + Shown(name) + "\" is unknown; allowed are " + names);
    }
    if (!seen.insert(name).second) {
      return Fail(ErrorCode::kInvalidArgument,
                  "parameter \"" + name + "\" is given more than once; once is allowed");
    }
  }
  return {};
}

namespace {

/// `known`: what CheckParameters said.
Result<RecommendationQuery> ParseChecked(const Result<void>& known, const HttpRequest& request,
                                         const ResourceTable& resources) {
  if (!known) return tl::unexpected<Error>(known.error());
  RecommendationQuery query;
  for (const auto& [name, value] : request.query) {
    Result<void> set;
    if (name == "cluster") set = SetText(name, value, true, query.cluster);
    if (name == "namespace") set = SetText(name, value, false, query.name_space);
    if (name == "workload_type") set = SetText(name, value, false, query.workload_type);
    if (name == "workload") set = SetText(name, value, false, query.workload);
    if (name == "container") set = SetText(name, value, true, query.container);
    if (name == "resource") set = SetResource(value, resources, query.resource);
    if (name == "limit") set = SetLimit(value, query.limit);
    if (name == "page_token") set = SetToken(value, resources, query);
    if (!set) return tl::unexpected<Error>(set.error());
  }
  return query;
}

}  // namespace

Result<RecommendationQuery> ParseRecommendationQuery(const HttpRequest& request,
                                                     const ResourceTable& resources) {
  return ParseChecked(CheckParameters(request, {"cluster", "namespace", "workload_type", "workload",
                                                "container", "resource", "limit", "page_token"}),
                      request, resources);
}

Result<RecommendationQuery> ParseWorkloadQuery(const HttpRequest& request,
                                               const ResourceTable& resources) {
  return ParseChecked(CheckParameters(request, {"cluster", "namespace", "workload_type", "workload",
                                                "limit", "page_token"}),
                      request, resources);
}

}  // namespace tidemark::exporter
