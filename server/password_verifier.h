#pragma once
// Checks passwords beside the work of the server: bcrypt takes some 100 ms of a core on purpose,
// and a worker that waits for it would serve nobody else.

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "model/counters.h"
#include "server/sha256.h"

namespace tidemark::server {

/// One password that someone claims to be theirs.
struct PasswordClaim {
  std::string user;
  std::string password;
  std::string hash;         ///< the user's, or one that fits nothing
  bool known_user = false;  ///< false: refused whatever the hash says, after the same work
};

/// Thread-safe. Verdicts are kept under a salted SHA-256 of user, hash and password, so each
/// password is hashed once and a changed hash makes old verdicts worthless. Good and bad verdicts
/// are kept apart: a flood of wrong passwords throws out no good one. Memory: at most
/// kMaxVerdicts of each, some 100 bytes apiece, and the claims that wait.
class PasswordVerifier {
 public:
  enum class Verdict : uint8_t {
    kGood,
    kBad,
    kBusy,  ///< too many wait, or the verifier has stopped: nothing was judged
  };
  using Done = std::function<void(Verdict)>;

  static constexpr size_t kMaxVerdicts = 1024;
  /// Different claims that wait; at two cores and cost 10 they take some 6 s.
  static constexpr size_t kMaxWaitingClaims = 64;
  /// Requests that wait for them; equal claims share one computation.
  static constexpr size_t kMaxWaitingRequests = 4096;

  /// `counters` must outlive it. `threads` start with the first claim that is not known; 0 = half
  /// the cores, one or two.
  explicit PasswordVerifier(HttpCounters& counters, unsigned threads = 0);
  /// As Stop.
  ~PasswordVerifier();
  PasswordVerifier(const PasswordVerifier&) = delete;
  PasswordVerifier& operator=(const PasswordVerifier&) = delete;

  /// The verdict, when it is known or there is no room to wait; `done` is then not called. Else
  /// `done` is called once, on another thread.
  std::optional<Verdict> Verify(PasswordClaim claim, Done done);

  /// Answers what waits with kBusy, lets the computations under way end and takes no more.
  void Stop();

 private:
  /// The last verdicts of one kind.
  class Memory {
   public:
    bool Has(const Sha256& key);  // makes it the newest
    void Add(const Sha256& key);

   private:
    std::list<Sha256> order_;  // the newest first
    std::map<Sha256, std::list<Sha256>::iterator> places_;
  };

  struct Waiting {
    PasswordClaim claim;
    std::vector<Done> done;
  };

  void Work();
  void StartThreads();

  const Sha256 salt_ = RandomBytes();
  HttpCounters& counters_;
  const unsigned thread_count_;

  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  Memory good_;
  Memory bad_;
  std::map<Sha256, Waiting> waiting_;  // those in the queue and those being computed
  std::deque<Sha256> queue_;
  size_t waiting_requests_ = 0;
  bool stopped_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace tidemark::server
