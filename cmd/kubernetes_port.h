#pragma once
// The daemon's second server: HTTPS for the Kubernetes API server, connected.

#include <functional>
#include <memory>
#include <string>

#include "cmd/kubernetes_flags.h"
#include "cmd/reload.h"
#include "model/clock.h"
#include "model/counters.h"
#include "model/kubernetes_counters.h"
#include "model/result.h"
#include "model/snapshot.h"

namespace tidemark::cmd {

/// Thread-safe but for Start and Stop, which are one thread's.
class KubernetesPort {
 public:
  /// What it shows and counts. All must outlive it.
  struct Sources {
    const SnapshotReader& snapshots;
    const ConfigInForce& config;
    const Clock& clock;
    KubernetesCounters& counters;
    HttpCounters& http;  ///< of this server alone
    std::function<bool()> ready;
  };

  /// Listens. Errors name the flag or file; kInvalidArgument is the operator's.
  static Result<std::unique_ptr<KubernetesPort>> Start(const KubernetesFlags& flags,
                                                       Sources sources);
  /// As Stop.
  ~KubernetesPort();
  KubernetesPort(const KubernetesPort&) = delete;
  KubernetesPort& operator=(const KubernetesPort&) = delete;

  /// With the true port.
  std::string address() const;
  /// Reads certificates and CAs again, changed or not. False when something is not good: what was
  /// in force stays, and the log says why.
  bool Reload();
  /// Answers what is under way and closes. Idempotent.
  void Stop();

 private:
  class Impl;
  explicit KubernetesPort(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tidemark::cmd
