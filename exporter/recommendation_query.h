#pragma once
// The parameters of GET /api/v1/recommendations and GET /api/v1/scaling: filters and paging.
//
// Items are ordered as in the Snapshot: cluster, namespace, workload_type, workload, container,
// resource. A page token is the position of the last item given, not a number of items, so that
// walking the pages gives every item that stays exactly once, even when a new Snapshot comes in
// between. It is opaque to clients; filters have to be sent with it again.

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include "model/http.h"
#include "model/resource.h"
#include "model/resource_table.h"
#include "model/result.h"

namespace tidemark::exporter {

/// Where an item stands in the order. The views are somebody else's.
struct ItemPosition {
  std::string_view cluster;
  std::string_view name_space;
  std::string_view workload_type;
  std::string_view workload;
  std::string_view container;
  Resource resource = Resource::kCpu;

  auto AsTuple() const {
    return std::tie(cluster, name_space, workload_type, workload, container, resource);
  }

  friend bool operator==(const ItemPosition& a, const ItemPosition& b) {
    return a.AsTuple() == b.AsTuple();
  }
  friend bool operator<=(const ItemPosition& a, const ItemPosition& b) {
    return a.AsTuple() <= b.AsTuple();
  }
};

/// `resources`: those in force.
std::string EncodePageToken(const ItemPosition& position, const ResourceTable& resources = {});

struct RecommendationQuery {
  static constexpr size_t kDefaultLimit = 1000;
  static constexpr size_t kMaxLimit = 10000;

  // Filters: the whole value, absent = any. An empty cluster or container asks for items without
  // one.
  std::optional<std::string> cluster;
  std::optional<std::string> name_space;
  std::optional<std::string> workload_type;
  std::optional<std::string> workload;
  std::optional<std::string> container;
  std::optional<Resource> resource;

  size_t limit = kDefaultLimit;
  /// Bytes of a decoded page token; `after` points into them. Not to be copied apart.
  std::string token_bytes;
  bool has_token = false;

  /// The position after which to begin; absent at the beginning. Valid as long as the query is not
  /// changed or moved.
  std::optional<ItemPosition> After(const ResourceTable& resources = {}) const;
  bool Matches(const ItemPosition& item) const;
};

/// kInvalidArgument with the parameter's name and what is allowed when one is unknown, malformed or
/// given twice. `resources`: those in force.
Result<RecommendationQuery> ParseRecommendationQuery(const HttpRequest& request,
                                                     const ResourceTable& resources = {});

/// The same of those that go by workload: without `container` and `resource`.
Result<RecommendationQuery> ParseWorkloadQuery(const HttpRequest& request,
                                               const ResourceTable& resources = {});

/// kInvalidArgument unless every parameter is one of `allowed` and none is given twice.
Result<void> CheckParameters(const HttpRequest& request,
                             std::initializer_list<std::string_view> allowed);

}  // namespace tidemark::exporter
