#pragma once
// Passwords as bcrypt keeps them: `$2y$10$` and 22 characters of salt and 31 of hash.

#include <memory>
#include <string>
#include <string_view>

namespace tidemark::server {

/// Each step more doubles the work; at 20 one password takes minutes.
inline constexpr unsigned kMinBcryptCost = 4;
inline constexpr unsigned kMaxBcryptCost = 20;

/// What keeps `hash` from being a bcrypt hash that can be checked here; null when nothing does.
/// Taken are the prefixes 2a, 2b and 2y, which mean the same today (2x marks hashes of an old fault
/// in crypt_blowfish).
const char* FindBcryptProblem(std::string_view hash);

/// The cost of a good hash.
unsigned BcryptCost(std::string_view hash);

/// A hash of that cost that no password fits, so that an unknown user takes as long as a known one.
std::string UnknownUserHash(unsigned cost);

/// Checks passwords; 32 KB of working memory, so one is kept per thread. Not thread-safe.
class BcryptChecker {
 public:
  BcryptChecker();
  ~BcryptChecker();
  BcryptChecker(const BcryptChecker&) = delete;
  BcryptChecker& operator=(const BcryptChecker&) = delete;

  /// Whether `password` has that hash (a good one). bcrypt looks at 72 bytes; a password with a
  /// zero byte fits nothing. Takes the same time for each password.
  bool Fits(std::string_view password, const std::string& hash);

 private:
  struct Memory;
  std::unique_ptr<Memory> memory_;
};

}  // namespace tidemark::server
