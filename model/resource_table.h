#pragma once
// What the resources in force are called: those that are built in, and those that the configuration
// names.
//
// A plain value, immutable in use and then thread-safe. It travels with what needs names: the
// source table, the profiles, the Snapshot.

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/resource.h"

namespace tidemark {

/// A resource of the configuration's own.
struct CustomResource {
  std::string name;  ///< the `resource` label; not that of one built in
  std::string unit;  ///< the `unit` label; amounts are in it

  friend bool operator==(const CustomResource&, const CustomResource&) = default;
};

class ResourceTable {
 public:
  /// Those that are built in.
  ResourceTable() : ResourceTable(std::vector<CustomResource>()) {}
  /// And these behind them, in this order. More than kMaxCustomResources are left out.
  explicit ResourceTable(std::vector<CustomResource> custom);

  /// Those in force, in order.
  std::span<const Resource> all() const { return all_; }
  const std::vector<CustomResource>& custom() const { return custom_; }

  /// "unknown" for a slot that is not in force. Views live as long as the table.
  std::string_view NameOf(Resource resource) const;
  std::string_view UnitOf(Resource resource) const;
  /// The inverse of NameOf.
  std::optional<Resource> Parse(std::string_view name) const;
  /// The same of what requests and limits are called in kube-state-metrics: GPUs are asked for by
  /// the device (`nvidia_com_gpu`), and their utilisation is summed over the devices, so that a
  /// request of two devices is one of 2.
  std::optional<Resource> ParseRequested(std::string_view name) const;
  /// All names, comma-separated, for error texts.
  std::string Names() const;

 private:
  std::vector<CustomResource> custom_;
  std::vector<Resource> all_;
};

using ResourceTablePtr = std::shared_ptr<const ResourceTable>;

}  // namespace tidemark
