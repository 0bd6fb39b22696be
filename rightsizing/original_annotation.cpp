#include "rightsizing/original_annotation.h"

#include <fmt/format.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <exception>
#include <utility>

#include "model/quantity.h"

namespace tidemark::rightsizing {
namespace {

namespace json = boost::json;

std::optional<std::string> QuantityOf(const json::value& value) {
  std::string text;
  if (value.is_string()) {
    text = value.get_string();
  } else if (value.is_number()) {
    text = fmt::format("{}", value.to_number<double>());
  }
  const auto amount = ParseQuantity(text);
  if (!amount || *amount < 0) return std::nullopt;
  return text;
}

/// False when there is something else than quantities.
bool ReadQuantities(const json::object& container, std::string_view part, QuantityMap& out) {
  const json::value* const written = container.if_contains(part);
  if (written == nullptr || written->is_null()) return true;
  if (!written->is_object()) return false;
  for (const auto& [resource, value] : written->get_object()) {
    auto text = QuantityOf(value);
    if (!text) return false;
    out.insert_or_assign(resource, std::move(*text));
  }
  return true;
}

std::optional<OriginalAnnotation> Read(std::string_view text) {
  constexpr size_t kDepth = 8;
  json::parse_options options;
  options.max_depth = kDepth;
  boost::system::error_code error;
  const json::value root = json::parse(text, error, {}, options);
  if (error || !root.is_object() || root.get_object().size() > kMaxAnnotatedContainers) {
    return std::nullopt;
  }
  OriginalAnnotation all;
  for (const auto& [container, resources] : root.get_object()) {
    if (!resources.is_object()) return std::nullopt;
    OriginalResources& of = all[container];
    if (!ReadQuantities(resources.get_object(), "requests", of.requests) ||
        !ReadQuantities(resources.get_object(), "limits", of.limits)) {
      return std::nullopt;
    }
  }
  return all;
}

void Put(std::string_view part, const QuantityMap& quantities, json::object& out) {
  if (quantities.empty()) return;
  json::object written;
  for (const auto& [resource, text] : quantities) written[resource] = text;
  out[part] = std::move(written);
}

}  // namespace

std::optional<OriginalAnnotation> ParseOriginalAnnotation(std::string_view text) {
  if (text.size() > kMaxAnnotationBytes) return std::nullopt;
  try {
    return Read(text);
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

std::string ToJson(const OriginalAnnotation& annotation) {
  json::object root;
  for (const auto& [container, of] : annotation) {
    json::object resources;
    Put("requests", of.requests, resources);
    Put("limits", of.limits, resources);
    root[container] = std::move(resources);
  }
  return json::serialize(root);
}

}  // namespace tidemark::rightsizing
