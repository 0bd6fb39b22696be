#pragma once
// "host:port", as flags and configuration give it.

#include <cstdint>
#include <string>
#include <string_view>

#include "model/result.h"

namespace tidemark::server {

struct ListenAddress {
  std::string host;  ///< without brackets; empty = all interfaces
  uint16_t port = 0;
};

/// Takes "host:port", ":port" and "[IPv6]:port". The host is not looked up. Errors name the text
/// and what is allowed.
Result<ListenAddress> ParseListenAddress(std::string_view text);

}  // namespace tidemark::server
