#pragma once
// What the connections of one server share, and how the server reaches them. No Boost here.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/byte_budget.h"
#include "model/clock.h"
#include "model/counters.h"
#include "server/access.h"
#include "server/handler_pool.h"
#include "server/options.h"
#include "server/password_verifier.h"
#include "server/router.h"

namespace tidemark::server {

/// One connection, whatever its transport. All calls are thread-safe and return at once.
class Session {
 public:
  virtual ~Session() = default;
  /// Close now if no request is under way, else after its answer. ServerState::stopping must be set
  /// before.
  virtual void Drain() = 0;
  /// Close now.
  virtual void Kill() = 0;
  /// When it fell silent after an answer, in ticks of the steady clock; 0 while it has a request
  /// under way, has never had one, or has been chosen by TryEvict.
  virtual int64_t IdleSince() const = 0;
  /// Close in favour of another; false when it is not idle (any more). A request that comes in that
  /// very moment is still answered.
  virtual bool TryEvict() = 0;
};

/// The open connections. Thread-safe. Sessions take themselves out in their destructors.
class SessionRegistry {
 public:
  void Add(const std::shared_ptr<Session>& session);
  void Remove(const Session* session);
  size_t size() const;
  std::vector<std::shared_ptr<Session>> All() const;
  /// Has the one evicted that has been idle longest; false when none is idle. Cost follows their
  /// number.
  bool EvictLongestIdle() const;
  void WaitUntilEmpty() const;
  /// False when the time passed first.
  bool WaitUntilEmpty(std::chrono::milliseconds timeout) const;

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable emptied_;
  std::unordered_map<const Session*, std::weak_ptr<Session>> sessions_;
};

/// Lives as long as the last connection. `counters` and `clock` outlive the server; `access` may be
/// null.
struct ServerState {
  ServerState(Options server_options, Router server_router, HttpCounters& http_counters,
              const Clock& wall_clock, std::shared_ptr<const Access> server_access)
      : options(std::move(server_options)),
        router(std::move(server_router)),
        counters(http_counters),
        clock(wall_clock),
        access(std::move(server_access)),
        verifier(http_counters, options.password_threads),
        own_body_budget(options.max_body_bytes_in_flight),
        body_budget(options.body_budget ? *options.body_budget : own_body_budget),
        answer_budget(options.max_answer_bytes_in_flight),
        handlers(http_counters) {}

  const Options options;
  const Router router;
  HttpCounters& counters;
  const Clock& clock;
  const std::shared_ptr<const Access> access;  ///< null: open to all
  PasswordVerifier verifier;                   ///< stopped before the context of the connections
  ByteBudget own_body_budget;
  ByteBudget& body_budget;
  ByteBudget answer_budget;
  HandlerPool handlers;
  SessionRegistry served;   ///< connections within the limit
  SessionRegistry refused;  ///< connections over it that are being told so
  std::atomic<bool> stopping = false;
};

}  // namespace tidemark::server
