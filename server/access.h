#pragma once
// Who is let in: the access rules in force, kept in step with the files that they come from.

#include <array>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "model/clock.h"
#include "model/counters.h"
#include "model/http.h"
#include "model/result.h"
#include "server/access_config.h"
#include "server/rate_limiter.h"
#include "server/sha256.h"
#include "server/small_file.h"
#include "server/tls_context.h"

namespace tidemark::server {

/// The rules at one time. Immutable; thread-safe.
struct AccessRules {
  std::shared_ptr<const TlsContext> tls;                  ///< null: plain HTTP
  std::map<std::string, std::string, std::less<>> users;  ///< name → hash; empty: open to all
  std::string unknown_user_hash;                          ///< checked in an unknown user's stead
  std::vector<HttpHeader> headers;                        ///< for every answer
  bool wants_tokens = false;
  std::vector<Sha256> tokens;                 ///< hashes of the bearer tokens
  std::shared_ptr<RateLimiter> rate_limiter;  ///< never null; lasts while the limit is the same
  std::vector<std::string> warnings;
};

/// Builds rules: reads certificates, keys and tokens. What `tidetool check-web-config` asks, too.
/// `token_file` may be empty. Errors are one line that names the file or key.
Result<AccessRules> MakeAccessRules(const AccessConfig& config, const std::string& token_file);

/// Thread-safe.
class Access {
 public:
  /// Reads everything once. Errors are for the operator at start. `counters` and `clock` must
  /// outlive it; the counters' members about the web configuration and the certificate are kept up
  /// to date. With AccessSources::fixed the former tell of the files that it names.
  static Result<std::shared_ptr<Access>> Open(AccessSources sources, HttpCounters& counters,
                                              const Clock& clock);
  /// As StopWatching.
  ~Access();
  Access(const Access&) = delete;
  Access& operator=(const Access&) = delete;

  std::shared_ptr<const AccessRules> Rules() const;

  /// Looks whether a file has changed (or the last try failed) and reads them again then. A file
  /// that is not good leaves the rules as they were, a line in the log and the counters at "not
  /// good". A web configuration cannot switch TLS on or off: that is an error of the new file.
  void CheckFiles();
  /// Reads the files whether or not they have changed. False when they are not good.
  bool Reload();

  /// Calls CheckFiles once a second on a thread of its own, until StopWatching. Both are called by
  /// one thread.
  void Watch();
  void StopWatching();

 private:
  /// The files that rules were made of, as they were before they were read.
  using Stamps = std::vector<FileStamp>;

  Access(AccessSources sources, HttpCounters& counters, const Clock& clock);
  Result<void> Load();
  bool LoadAndTell();
  Stamps TakeStamps() const;

  const AccessSources sources_;
  HttpCounters& counters_;
  const Clock& clock_;

  std::mutex loading_;  // one load at a time; guards the three below
  std::vector<std::string> files_;
  Stamps stamps_;
  bool failed_ = false;

  mutable std::mutex mutex_;  // guards rules_
  std::shared_ptr<const AccessRules> rules_;

  std::mutex watch_mutex_;  // guards stopping_
  std::condition_variable stop_;
  bool stopping_ = false;
  std::thread watcher_;
};

}  // namespace tidemark::server
