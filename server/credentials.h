#pragma once
// The Authorization header (RFC 9110 section 11.6.2): what a client claims to be.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/http.h"

namespace tidemark::server {

struct Credentials {
  enum class Kind : uint8_t {
    kNone,    ///< no header
    kBasic,   ///< user and password (RFC 7617)
    kBearer,  ///< a token (RFC 6750)
    kOther,   ///< another scheme, a malformed one, or more than one header
  };
  Kind kind = Kind::kNone;
  std::string user;
  std::string password;
  std::string token;
};

/// Stateless, thread-safe. Whatever the header holds, it is no error: it just fits nobody.
Credentials ReadCredentials(const HttpRequest& request);

/// Standard Base64 (RFC 4648 section 4) with its padding and nothing else in it.
std::optional<std::string> DecodeBase64(std::string_view text);

}  // namespace tidemark::server
