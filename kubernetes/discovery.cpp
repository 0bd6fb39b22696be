#include "kubernetes/discovery.h"

#include <openssl/sha.h>

#include <array>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <string_view>

#include "kubernetes/metric_catalogue.h"

namespace tidemark::kubernetes {
namespace {

namespace json = boost::json;

HttpResponse JsonAnswer(const json::object& document) {
  HttpResponse response;
  response.headers.push_back({"Content-Type", "application/json"});
  response.body = json::serialize(document) + "\n";
  return response;
}

json::object GroupObject() {
  const json::object version = {{"groupVersion", kGroupVersion}, {"version", kVersion}};
  return {{"name", kGroup}, {"versions", json::array{version}}, {"preferredVersion", version}};
}

json::object Groups() {
  return {{"kind", "APIGroupList"}, {"apiVersion", "v1"}, {"groups", json::array{GroupObject()}}};
}

/// `responseKind` must be there: clients up to 1.26 fall over its absence.
json::object Aggregated(std::string_view version) {
  json::array resources;
  for (const ExternalMetric metric : kExternalMetrics) {
    resources.push_back(json::object{
        {"resource", NameOf(metric)},
        {"responseKind",
         json::object{{"group", kGroup}, {"version", kVersion}, {"kind", KindOf(metric)}}},
        {"scope", "Namespaced"},
        {"singularResource", ""},
        {"verbs", json::array{"get"}}});
  }
  const json::object served = {
      {"version", kVersion}, {"freshness", "Current"}, {"resources", std::move(resources)}};
  const json::object item = {
      {"metadata", json::object{{"name", kGroup}, {"creationTimestamp", nullptr}}},
      {"versions", json::array{served}}};
  return {{"kind", "APIGroupDiscoveryList"},
          {"apiVersion", "apidiscovery.k8s.io/" + std::string(version)},
          {"metadata", json::object()},
          {"items", json::array{item}}};
}

std::string TagOf(std::string_view body) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  SHA256(reinterpret_cast<const unsigned char*>(body.data()), body.size(), digest.data());
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string tag = "\"";
  for (const unsigned char byte : digest) {
    tag += kDigits[byte >> 4];
    tag += kDigits[byte & 15];
  }
  return tag + '"';
}

/// RFC 9110, 13.1.2: a list of tags, weak ones too, or *.
bool HasTag(std::string_view if_none_match, std::string_view tag) {
  return if_none_match == "*" || if_none_match.find(tag) != std::string_view::npos;
}

}  // namespace

HttpResponse GroupsAnswer(const HttpRequest& request, DiscoveryForm form) {
  HttpResponse response;
  if (form == DiscoveryForm::kPlain) {
    response = JsonAnswer(Groups());
  } else {
    const std::string_view version = form == DiscoveryForm::kAggregated ? "v2" : "v2beta1";
    response = JsonAnswer(Aggregated(version));
    // The aggregator takes the document only where the type is this one to the letter.
    response.headers.front().value =
        "application/json;g=apidiscovery.k8s.io;v=" + std::string(version) +
        ";as=APIGroupDiscoveryList";
  }
  const std::string tag = TagOf(response.body);
  response.headers.push_back({"ETag", tag});
  response.headers.push_back({"Vary", "Accept"});
  if (HasTag(request.Header("If-None-Match"), tag)) {
    response.status = 304;
    response.body.clear();
  }
  return response;
}

HttpResponse GroupAnswer() {
  json::object group = {{"kind", "APIGroup"}, {"apiVersion", "v1"}};
  for (auto& [key, value] : GroupObject()) group[key] = value;
  return JsonAnswer(group);
}

HttpResponse ResourcesAnswer() {
  json::array resources;
  for (const ExternalMetric metric : kExternalMetrics) {
    resources.push_back(json::object{{"name", NameOf(metric)},
                                     {"singularName", ""},
                                     {"namespaced", true},
                                     {"kind", KindOf(metric)},
                                     {"verbs", json::array{"get"}}});
  }
  return JsonAnswer({{"kind", "APIResourceList"},
                     {"apiVersion", "v1"},
                     {"groupVersion", kGroupVersion},
                     {"resources", std::move(resources)}});
}

HttpResponse VersionAnswer() {
  // Of the API's conventions, not of a cluster: what kubectl wants to see.
  return JsonAnswer({{"major", "1"}, {"minor", "0"}, {"gitVersion", "v1.0.0-tidemark"}});
}

}  // namespace tidemark::kubernetes
