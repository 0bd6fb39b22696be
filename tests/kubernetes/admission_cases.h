#pragma once
// AdmissionReviews and a webhook to send them to, for tests.

#include <boost/json/value.hpp>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "kubernetes/admission.h"
#include "model/clock.h"
#include "tests/rightsizing/pod_cases.h"

namespace tidemark::kubernetes::testing {

/// A pod in JSON as kube-apiserver has it at CREATE, of the ReplicaSet web-7d9f8c6b5. What `view`
/// leaves out is left out, or null or empty, as `variant` has it.
boost::json::object PodJson(const rightsizing::PodView& view, uint32_t variant = 0);

/// A request for its creation, namespace shop.
boost::json::object ReviewJson(boost::json::object pod, std::string_view uid = "uid-1");

/// One webhook over one Snapshot.
class Webhook {
 public:
  Webhook(std::shared_ptr<const Snapshot> snapshot, ProfileSetPtr profiles,
          RightsizingSettings settings);

  HttpResponse Post(std::string body) const;
  uint64_t Count(AdmissionOutcome outcome) const {
    return counters_.admissions[static_cast<size_t>(outcome)];
  }

  bool ready = true;
  std::string cluster;

 private:
  class Shown final : public SnapshotReader {
   public:
    explicit Shown(std::shared_ptr<const Snapshot> snapshot) : snapshot_(std::move(snapshot)) {}
    std::shared_ptr<const Snapshot> Current() const override { return snapshot_; }

   private:
    std::shared_ptr<const Snapshot> snapshot_;
  };
  class Nobody final : public Authenticator {
   public:
    tl::expected<Identity, Denied> Authenticate(const HttpRequest&) const override {
      return tl::unexpected(Denied());
    }
  };

  Shown shown_;
  ManualClock clock_{FromUnixMs(0)};
  Nobody nobody_;
  mutable KubernetesCounters counters_;
  std::optional<HttpRoute> route_;
};

/// What kube-apiserver checks of an answer (apiserver, plugin/webhook/request/admissionreview.go,
/// VerifyAdmissionResponse), and what it then makes of `object`: as it was without a patch. Throws
/// std::runtime_error with what is wrong.
struct Admitted {
  boost::json::value object;
  bool patched = false;
  boost::json::object response;
};
Admitted Admit(const HttpResponse& answer, std::string_view uid, const boost::json::value& object);

}  // namespace tidemark::kubernetes::testing
