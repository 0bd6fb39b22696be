#include "exporter/summary_json.h"

#include <algorithm>
#include <optional>

#include "exporter/answer_json.h"

namespace tidemark::exporter {
namespace {

void WriteResource(Resource resource, const ResourceTable& resources, const RequestSums& sums,
                   const std::optional<double>& savings, JsonWriter& json) {
  json.BeginObject();
  json.Member("resource", resources.NameOf(resource));
  json.Member("unit", resources.UnitOf(resource));
  if (sums.known > 0) {
    json.Key("current_request"), json.Number(sums.current);
    json.Key("recommended_request"), json.Number(sums.recommended);
    json.Key("reclaimable"), json.Number(sums.reclaimable);
    WriteIfKnown("savings_per_month", savings, json);
  }
  json.Key("containers_known"), json.Unsigned(sums.known);
  json.Key("containers");
  json.BeginObject();
  for (size_t i = 0; i < kRequestFitCount; ++i) {
    json.Key(ToString(static_cast<RequestFit>(i))), json.Unsigned(sums.fits[i]);
  }
  json.EndObject();
  json.EndObject();
}

}  // namespace

void WriteSummaryMembers(const AllRequestSums& sums, const Prices& prices,
                         const ResourceTable& resources, JsonWriter& json) {
  const auto savings_of = [&](Resource resource) {
    const RequestSums& one = sums.Of(resource);
    return one.known > 0 ? MonthlyCost(prices, resource, one.reclaimable) : std::nullopt;
  };
  std::optional<double> savings;
  for (const Resource resource : resources.all()) AddKnown(savings_of(resource), savings);
  if (prices.Any()) json.Member("currency", prices.currency);
  WriteIfKnown("savings_per_month", savings, json);
  json.Key("resources");
  json.BeginArray();
  for (const Resource resource : resources.all()) {
    const bool always =
        std::ranges::find(kRequestedResources, resource) != kRequestedResources.end();
    if (!always && sums.Of(resource).Containers() == 0) continue;
    WriteResource(resource, resources, sums.Of(resource), savings_of(resource), json);
  }
  json.EndArray();
}

void WriteSummary(const AllRequestSums& sums, const Prices& prices, const ResourceTable& resources,
                  JsonWriter& json) {
  json.BeginObject();
  WriteSummaryMembers(sums, prices, resources, json);
  json.EndObject();
}

}  // namespace tidemark::exporter
