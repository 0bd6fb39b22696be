#pragma once
// The CAs that requests on the Kubernetes port are judged by, from files that are read again when
// they change: a mounted ConfigMap, or what a CA of one's own writes. front_proxy.h shows how it is
// put together.

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "kubernetes/front_proxy.h"
#include "model/kubernetes_counters.h"
#include "model/result.h"

namespace tidemark::kubernetes {

struct AuthenticationFileNames {
  /// PEM; empty: front proxies are not known by a file, and FrontProxy keeps what it has for them.
  std::string request_header_ca;
  std::vector<std::string> allowed_names;  ///< of front proxies; empty: any of that CA
  std::string client_ca;                   ///< PEM; empty: as above, for clients
};

/// Thread-safe.
class AuthenticationFiles {
 public:
  /// Reads the files and gives them to `authenticator`, which, as `counters`, must outlive the
  /// object. Errors are for the operator at start: one line that names the flag and the file; with
  /// neither file, and nothing set before, nobody could be let in, which is an error as well.
  static Result<std::unique_ptr<AuthenticationFiles>> Open(AuthenticationFileNames names,
                                                           FrontProxy& authenticator,
                                                           KubernetesCounters& counters);
  /// As StopWatching.
  ~AuthenticationFiles();
  AuthenticationFiles(const AuthenticationFiles&) = delete;
  AuthenticationFiles& operator=(const AuthenticationFiles&) = delete;

  /// Reads the files and gives them on when one is not as it was, both or none. What is not good
  /// leaves what was before in force, a line in the log and authentication_good_now at 0; the next
  /// look tries again.
  void CheckFiles();

  /// Calls CheckFiles once a second on a thread of its own, until StopWatching. Both are called by
  /// one thread.
  void Watch();
  void StopWatching();

 private:
  struct Contents {
    std::string request_header_ca;
    std::string client_ca;

    friend bool operator==(const Contents&, const Contents&) = default;
  };

  AuthenticationFiles(AuthenticationFileNames names, FrontProxy& authenticator,
                      KubernetesCounters& counters);
  Result<Contents> Read() const;
  Result<void> Give(const Contents& contents) const;

  const AuthenticationFileNames names_;
  FrontProxy& authenticator_;
  KubernetesCounters& counters_;

  std::mutex loading_;   // one look at a time; guards the two below
  Contents given_;       // those in force
  std::string problem_;  // of the last look; empty: none

  std::mutex watch_mutex_;  // guards stopping_
  std::condition_variable stop_;
  bool stopping_ = false;
  std::thread watcher_;
};

}  // namespace tidemark::kubernetes
