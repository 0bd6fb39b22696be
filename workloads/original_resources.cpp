#include "workloads/original_resources.h"

#include <algorithm>
#include <array>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <cmath>
#include <exception>
#include <utility>

#include "model/quantity.h"

namespace tidemark::workloads {
namespace {

namespace json = boost::json;

constexpr size_t kMaxBytes = 16 * 1024;
constexpr size_t kMaxContainers = 128;

/// As manifests have them. GPUs are counted in devices, of which utilisation is the sum.
constexpr std::array<std::pair<std::string_view, Resource>, 4> kAnnotated = {
    {{"cpu", Resource::kCpu},
     {"memory", Resource::kMemory},
     {"ephemeral-storage", Resource::kEphemeralStorage},
     {"nvidia.com/gpu", Resource::kGpuUtilization}}};

/// A quantity, which JSON may also have as a number (Kubernetes takes both).
std::optional<double> AmountOf(const json::value& value) {
  std::optional<double> amount;
  if (value.is_string()) {
    amount = tidemark::ParseQuantity(value.get_string());
  } else if (value.is_number()) {
    amount = value.to_number<double>();
  }
  if (!amount || !std::isfinite(*amount) || *amount < 0) return std::nullopt;
  return amount;
}

std::optional<OriginalRequests> Read(std::string_view annotation) {
  json::parse_options options;
  options.max_depth = 8;
  boost::system::error_code error;
  const json::value root = json::parse(annotation, error, {}, options);
  if (error || !root.is_object() || root.get_object().size() > kMaxContainers) return std::nullopt;
  OriginalRequests all;
  for (const auto& [container, resources] : root.get_object()) {
    if (!resources.is_object()) return std::nullopt;
    OriginalRequest& of = all.emplace_back();
    of.container = container;
    const json::value* const requests = resources.get_object().if_contains("requests");
    if (requests == nullptr || requests->is_null()) continue;
    if (!requests->is_object()) return std::nullopt;
    for (const auto& [name, resource] : kAnnotated) {
      const json::value* const written = requests->get_object().if_contains(name);
      if (written == nullptr) continue;
      const auto amount = AmountOf(*written);
      if (!amount) return std::nullopt;
      of.request.At(resource) = amount;
    }
  }
  std::ranges::sort(all, {}, &OriginalRequest::container);
  return all;
}

}  // namespace

std::optional<OriginalRequests> ParseOriginalRequests(std::string_view annotation) {
  if (annotation.size() > kMaxBytes) return std::nullopt;
  try {
    return Read(annotation);
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

const OriginalRequest* FindOriginalRequest(const OriginalRequests& requests,
                                           std::string_view container) {
  const auto found = std::ranges::lower_bound(
      requests, container, {}, [](const auto& of) { return std::string_view(of.container); });
  return found != requests.end() && found->container == container ? &*found : nullptr;
}

void SaveOriginalRequests(const OriginalRequests& requests, ByteWriter& out) {
  out.Varint(requests.size());
  for (const OriginalRequest& of : requests) {
    out.Text(of.container);
    uint8_t there = 0;
    for (const Resource resource : kBuiltInResources) {
      if (of.request.Get(resource)) there |= static_cast<uint8_t>(1U << static_cast<int>(resource));
    }
    out.Byte(there);
    for (const Resource resource : kBuiltInResources) {
      if (const auto& request = of.request.Get(resource)) out.Double(*request);
    }
  }
}

std::optional<OriginalRequests> RestoreOriginalRequests(ByteReader& in) {
  OriginalRequests all;
  constexpr size_t kLeastBytes = 2;
  const uint64_t count = in.Count(kLeastBytes);
  for (uint64_t i = 0; i < count; ++i) {
    OriginalRequest of;
    of.container = in.Text();
    const uint8_t there = in.Byte();
    bool good =
        there >> kBuiltInResourceCount == 0 && (all.empty() || all.back().container < of.container);
    for (const Resource resource : kBuiltInResources) {
      if ((there >> static_cast<int>(resource) & 1) == 0) continue;
      const double request = in.Double();
      good = good && std::isfinite(request) && request >= 0;
      of.request.At(resource) = request;
    }
    if (in.failed() || !good) {
      in.Fail();
      return std::nullopt;
    }
    all.push_back(std::move(of));
  }
  if (in.failed()) return std::nullopt;
  return all;
}

}  // namespace tidemark::workloads
