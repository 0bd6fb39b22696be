#include "model/resource_table.h"

#include <utility>

namespace tidemark {
namespace {

size_t PlaceOf(Resource resource) { return static_cast<size_t>(resource) - kBuiltInResourceCount; }

}  // namespace

ResourceTable::ResourceTable(std::vector<CustomResource> custom) : custom_(std::move(custom)) {
  if (custom_.size() > kMaxCustomResources) custom_.resize(kMaxCustomResources);
  all_.assign(
      kAllResources.begin(),
      kAllResources.begin() + static_cast<std::ptrdiff_t>(kBuiltInResourceCount + custom_.size()));
}

std::string_view ResourceTable::NameOf(Resource resource) const {
  if (!IsCustom(resource)) return ResourceName(resource);
  return PlaceOf(resource) < custom_.size() ? custom_[PlaceOf(resource)].name
                                            : std::string_view("unknown");
}

std::string_view ResourceTable::UnitOf(Resource resource) const {
  if (!IsCustom(resource)) return UnitName(resource);
  return PlaceOf(resource) < custom_.size() ? custom_[PlaceOf(resource)].unit
                                            : std::string_view("unknown");
}

std::optional<Resource> ResourceTable::Parse(std::string_view name) const {
  for (const Resource resource : all_) {
    if (NameOf(resource) == name) return resource;
  }
  return std::nullopt;
}

std::optional<Resource> ResourceTable::ParseRequested(std::string_view name) const {
  if (name == "nvidia_com_gpu") return Resource::kGpuUtilization;
  return Parse(name);
}

std::string ResourceTable::Names() const {
  std::string names;
  for (const Resource resource : all_) {
    if (!names.empty()) names.append(", ");
    names.append(NameOf(resource));
  }
  return names;
}

}  // namespace tidemark
