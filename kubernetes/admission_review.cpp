#include "kubernetes/admission_review.h"

#include <fmt/format.h>

#include <boost/json/memory_resource.hpp>
#include <boost/json/monotonic_resource.hpp>
#include <boost/json/parser.hpp>
#include <boost/json/value.hpp>
#include <exception>
#include <memory>
#include <new>
#include <utility>

#include "model/rightsizing.h"

namespace tidemark::kubernetes {
namespace {

namespace json = boost::json;
using rightsizing::PodContainer;
using rightsizing::TextMap;

constexpr size_t kMostBytes = 64 * 1024 * 1024;

/// The heap, up to a bound: a body of nothing but brackets takes many times its size.
class BoundedMemory final : public json::memory_resource {
 private:
  void* do_allocate(size_t bytes, size_t alignment) override {
    if (bytes > kMostBytes - used_) throw std::bad_alloc();
    used_ += bytes;
    return ::operator new(bytes, std::align_val_t(alignment));
  }
  void do_deallocate(void* memory, size_t bytes, size_t alignment) override {
    used_ -= bytes;
    ::operator delete(memory, std::align_val_t(alignment));
  }
  bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }

  size_t used_ = 0;
};

/// Null where it is absent or null, which JSON of Kubernetes means the same by.
const json::value* Find(const json::object& object, std::string_view key) {
  const json::value* const found = object.if_contains(key);
  return found == nullptr || found->is_null() ? nullptr : found;
}

/// Empty where there is none.
std::string_view TextOf(const json::object& object, std::string_view key) {
  const json::value* const found = Find(object, key);
  if (found == nullptr || !found->is_string()) return {};
  return found->get_string();
}

/// Reads the pod. The first thing that is not as a pod has it ends the reading.
class PodReader {
 public:
  explicit PodReader(ReviewedPod& pod) : pod_(pod) {}

  /// False: `why` says what is wrong.
  bool Read(const json::object& object) {
    const json::object* metadata = nullptr;
    const json::object* spec = nullptr;
    return Part(object, "metadata", metadata) && Part(object, "spec", spec) &&
           Has(metadata, "metadata") && Has(spec, "spec") && ReadMetadata(*metadata) &&
           ReadSpec(*spec);
  }

  const std::string& why() const { return why_; }

 private:
  bool Wrong(std::string_view what, std::string_view wanted) {
    why_ = fmt::format("the object's {} is not {}", what, wanted);
    return false;
  }

  bool Has(const json::object* part, std::string_view key) {
    return part != nullptr || Wrong(key, "there");
  }

  bool Part(const json::object& of, std::string_view key, const json::object*& out) {
    const json::value* const found = Find(of, key);
    if (found == nullptr) return true;
    out = found->if_object();
    return out != nullptr || Wrong(key, "an object");
  }

  bool List(const json::object& of, std::string_view key, const json::array*& out) {
    const json::value* const found = Find(of, key);
    if (found == nullptr) return true;
    out = found->if_array();
    return out != nullptr || Wrong(key, "a list");
  }

  bool Texts(const json::object& of, std::string_view key, TextMap& out) {
    const json::object* part = nullptr;
    if (!Part(of, key, part)) return false;
    if (part == nullptr) return true;
    for (const auto& [name, value] : *part) {
      if (!value.is_string()) return Wrong(key, "made of strings");
      out.insert_or_assign(name, std::string(value.get_string()));
    }
    return true;
  }

  /// What kube-apiserver sends is made of strings; as manifests may be, numbers are read as well.
  bool Quantities(const json::object& of, std::string_view key, rightsizing::QuantityMap& out) {
    const json::object* part = nullptr;
    if (!Part(of, key, part)) return false;
    if (part == nullptr) return true;
    for (const auto& [name, value] : *part) {
      if (value.is_string()) {
        out.insert_or_assign(name, std::string(value.get_string()));
      } else if (value.is_number()) {
        out.insert_or_assign(name, fmt::format("{}", value.to_number<double>()));
      } else {
        return Wrong(key, "made of quantities");
      }
    }
    return true;
  }

  bool ReadMetadata(const json::object& metadata) {
    TextMap annotations;
    if (!Texts(metadata, "labels", pod_.view.labels) ||
        !Texts(metadata, "annotations", annotations)) {
      return false;
    }
    pod_.has_annotations = Find(metadata, "annotations") != nullptr;
    const auto annotation = [&](std::string_view name) -> std::optional<std::string> {
      const auto found = annotations.find(name);
      if (found == annotations.end()) return std::nullopt;
      return found->second;
    };
    pod_.view.original_annotation = annotation(kOriginalAnnotation);
    pod_.view.applied_annotation = annotation(kAppliedAnnotation);
    const json::array* owners = nullptr;
    if (!List(metadata, "ownerReferences", owners)) return false;
    if (owners == nullptr) return true;
    for (const json::value& owner : *owners) {
      if (!owner.is_object()) return Wrong("ownerReferences", "made of objects");
      const json::value* const controls = Find(owner.get_object(), "controller");
      if (controls == nullptr || !controls->is_bool() || !controls->get_bool()) continue;
      pod_.controller = {std::string(TextOf(owner.get_object(), "kind")),
                         std::string(TextOf(owner.get_object(), "name"))};
    }
    return true;
  }

  bool ReadSpec(const json::object& spec) {
    PodContainer whole;
    const json::object* resources = nullptr;
    if (!Part(spec, "resources", resources)) return false;
    if (resources != nullptr && (!Quantities(*resources, "requests", whole.requests) ||
                                 !Quantities(*resources, "limits", whole.limits))) {
      return false;
    }
    pod_.view.has_pod_resources = !whole.requests.empty() || !whole.limits.empty();
    return ReadContainers(spec, "containers", false) &&
           ReadContainers(spec, "initContainers", true);
  }

  bool ReadContainers(const json::object& spec, std::string_view key, bool is_init) {
    const json::array* list = nullptr;
    if (!List(spec, key, list)) return false;
    if (list == nullptr) return true;
    // Far more than any pod has, and far less than a body of brackets.
    constexpr size_t kMostContainers = 1024;
    if (list->size() > kMostContainers) return Wrong(key, "a list of at most 1024");
    for (size_t i = 0; i < list->size(); ++i) {
      const json::object* const written = (*list)[i].if_object();
      if (written == nullptr) return Wrong(key, "made of objects");
      PodContainer container;
      container.is_init = is_init;
      container.name = TextOf(*written, "name");
      container.is_sidecar = is_init && TextOf(*written, "restartPolicy") == "Always";
      ReviewedPod::Place place;
      place.pointer = fmt::format("/spec/{}/{}", key, i);
      const json::object* resources = nullptr;
      if (!Part(*written, "resources", resources)) return false;
      if (resources != nullptr) {
        place.has_resources = true;
        place.has_requests = Find(*resources, "requests") != nullptr;
        if (!Quantities(*resources, "requests", container.requests) ||
            !Quantities(*resources, "limits", container.limits)) {
          return false;
        }
      }
      pod_.view.containers.push_back(std::move(container));
      pod_.places.push_back(std::move(place));
    }
    return true;
  }

  ReviewedPod& pod_;
  std::string why_;
};

/// Whether `of` names a group (none for core), version and kind or resource.
bool Names(const json::object& request, std::string_view key, std::string_view word,
           std::string_view value) {
  const json::value* const found = Find(request, key);
  if (found == nullptr || !found->is_object()) return false;
  const json::object& named = found->get_object();
  return TextOf(named, "group").empty() && TextOf(named, "version") == "v1" &&
         TextOf(named, word) == value;
}

std::string WhyNoPod(const json::object& review, const json::object& request) {
  if (TextOf(review, "kind") != "AdmissionReview" ||
      TextOf(review, "apiVersion") != "admission.k8s.io/v1") {
    return "it is no AdmissionReview of admission.k8s.io/v1";
  }
  if (!Names(request, "resource", "resource", "pods") || !Names(request, "kind", "kind", "Pod")) {
    return "it is not about pods of v1";
  }
  if (Find(request, "subResource") != nullptr && !TextOf(request, "subResource").empty()) {
    return "it is about a subresource";
  }
  if (TextOf(request, "operation") != "CREATE" || Find(request, "oldObject") != nullptr) {
    return "the pod is not being created";
  }
  const json::value* const object = Find(request, "object");
  if (object == nullptr || !object->is_object()) return "there is no object";
  const json::value* const kind = Find(object->get_object(), "kind");
  if (kind != nullptr && (!kind->is_string() || kind->get_string() != "Pod")) {
    return "the object is no pod";
  }
  return {};
}

/// `request` has a uid.
AdmissionReview Read(const json::object& review, const json::object& request) {
  AdmissionReview read;
  read.uid = TextOf(request, "uid");
  read.why_no_pod = WhyNoPod(review, request);
  if (!read.why_no_pod.empty()) return read;
  const json::object& object = Find(request, "object")->get_object();
  ReviewedPod pod;
  PodReader reader(pod);
  if (!reader.Read(object)) {
    read.why_no_pod = reader.why();
    return read;
  }
  std::string_view name_space = TextOf(request, "namespace");
  if (name_space.empty()) name_space = TextOf(Find(object, "metadata")->get_object(), "namespace");
  pod.view.workload.name_space = name_space;
  read.pod = std::move(pod);
  return read;
}

Result<AdmissionReview> Parse(std::string_view body) {
  constexpr size_t kDepth = 128;
  json::parse_options options;
  options.max_depth = kDepth;
  BoundedMemory bounded;
  json::monotonic_resource arena(body.size() + 1024, &bounded);
  boost::system::error_code error;
  json::parser parser(&bounded, options);  // what it works with counts as well
  parser.reset(&arena);
  parser.write(body.data(), body.size(), error);
  if (error) {
    return Fail(ErrorCode::kInvalidArgument, "the body is no JSON: " + error.message());
  }
  const json::value root = parser.release();
  const json::object* const review = root.if_object();
  const json::value* const request = review == nullptr ? nullptr : Find(*review, "request");
  if (request == nullptr || !request->is_object() || TextOf(request->get_object(), "uid").empty()) {
    return Fail(ErrorCode::kInvalidArgument,
                "the body is no AdmissionReview: it has no request with a uid, and without one "
                "there is no answer");
  }
  return Read(*review, request->get_object());
}

}  // namespace

Result<AdmissionReview> ParseAdmissionReview(std::string_view body) {
  if (body.size() > kMaxReviewBytes) {
    return Fail(ErrorCode::kInvalidArgument, "the body is larger than 5 MiB");
  }
  try {
    return Parse(body);
  } catch (const std::exception&) {
    return Fail(ErrorCode::kInvalidArgument, "the body takes more memory than it may");
  }
}

}  // namespace tidemark::kubernetes
