#include "server/password_verifier.h"

#include <openssl/crypto.h>

#include <algorithm>
#include <string_view>
#include <system_error>
#include <utility>

#include "model/log.h"
#include "server/bcrypt_hash.h"

namespace tidemark::server {
namespace {

std::string_view View(const Sha256& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

unsigned DefaultThreads() { return std::clamp(std::thread::hardware_concurrency() / 2, 1U, 2U); }

}  // namespace

bool PasswordVerifier::Memory::Has(const Sha256& key) {
  const auto found = places_.find(key);
  if (found == places_.end()) return false;
  order_.splice(order_.begin(), order_, found->second);
  return true;
}

void PasswordVerifier::Memory::Add(const Sha256& key) {
  if (Has(key)) return;
  if (order_.size() >= kMaxVerdicts) {
    places_.erase(order_.back());
    order_.pop_back();
  }
  order_.push_front(key);
  places_.emplace(key, order_.begin());
}

PasswordVerifier::PasswordVerifier(HttpCounters& counters, unsigned threads)
    : counters_(counters), thread_count_(threads == 0 ? DefaultThreads() : threads) {}

PasswordVerifier::~PasswordVerifier() { Stop(); }

std::optional<PasswordVerifier::Verdict> PasswordVerifier::Verify(PasswordClaim claim, Done done) {
  const Sha256 key = HashParts({View(salt_), claim.known_user ? "known" : "unknown", claim.user,
                                claim.hash, claim.password});
  const std::lock_guard lock(mutex_);
  if (good_.Has(key)) return Verdict::kGood;
  if (bad_.Has(key)) return Verdict::kBad;
  if (stopped_ || waiting_requests_ >= kMaxWaitingRequests) return Verdict::kBusy;
  auto found = waiting_.find(key);
  if (found == waiting_.end()) {
    if (queue_.size() >= kMaxWaitingClaims) return Verdict::kBusy;
    StartThreads();
    if (threads_.empty()) return Verdict::kBusy;
    found = waiting_.emplace(key, Waiting{std::move(claim), {}}).first;
    queue_.push_back(key);
    changed_.notify_one();
  }
  found->second.done.push_back(std::move(done));
  ++waiting_requests_;
  return std::nullopt;
}

void PasswordVerifier::StartThreads() {
  try {
    while (threads_.size() < thread_count_) threads_.emplace_back([this] { Work(); });
  } catch (const std::system_error& error) {
    LogOncePerMinute("password_threads", LogLevel::kError,
                     "cannot start a thread to check passwords", {{"error", error.what()}});
  }
}

void PasswordVerifier::Work() {
  BcryptChecker checker;
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return stopped_ || !queue_.empty(); });
    if (stopped_) return;
    const Sha256 key = queue_.front();
    queue_.pop_front();
    // The entry stays in the map, so that equal claims join it; only `done` grows meanwhile.
    PasswordClaim claim = waiting_.at(key).claim;
    lock.unlock();
    const bool fits = checker.Fits(claim.password, claim.hash);
    ++counters_.password_checks;
    OPENSSL_cleanse(claim.password.data(), claim.password.size());
    lock.lock();
    const bool good = fits && claim.known_user;
    (good ? good_ : bad_).Add(key);
    Waiting finished = std::move(waiting_.at(key));
    waiting_.erase(key);
    waiting_requests_ -= finished.done.size();
    lock.unlock();
    OPENSSL_cleanse(finished.claim.password.data(), finished.claim.password.size());
    for (const Done& done : finished.done) done(good ? Verdict::kGood : Verdict::kBad);
    finished.done.clear();
    lock.lock();
  }
}

void PasswordVerifier::Stop() {
  std::vector<std::thread> threads;
  std::vector<Done> given_up;
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    changed_.notify_all();
    for (const Sha256& key : queue_) {
      const auto found = waiting_.find(key);
      waiting_requests_ -= found->second.done.size();
      for (Done& done : found->second.done) given_up.push_back(std::move(done));
      waiting_.erase(found);
    }
    queue_.clear();
    threads = std::exchange(threads_, {});
  }
  for (const Done& done : given_up) done(Verdict::kBusy);
  for (std::thread& thread : threads) thread.join();
}

}  // namespace tidemark::server
