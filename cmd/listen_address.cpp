#include "cmd/listen_address.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <system_error>

#include "cmd/text.h"

namespace tidemark::cmd {
namespace {

constexpr size_t kMinIpv6Bytes = 2;    // ::
constexpr size_t kMaxHostBytes = 253;  // RFC 1035

tl::unexpected<Error> Bad(std::string_view text, std::string_view why) {
  return Fail(
      ErrorCode::kInvalidArgument,
      fmt::format(
          "{} is not a listen address: {}, allowed: HOST:PORT with a port from 0 to 65535, as in "
          "0.0.0.0:9849 or [::1]:9849",
          Shown(text, text.empty()), why));
}

bool IsAlphanumeric(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool IsHost(std::string_view host) {
  return host.size() <= kMaxHostBytes && std::all_of(host.begin(), host.end(), [](char c) {
           return IsAlphanumeric(c) || c == '.' || c == '-' || c == '_';
         });
}

bool IsIpv6(std::string_view host) {
  return host.size() >= kMinIpv6Bytes && host.size() <= kMaxHostBytes &&
         host.find(':') != std::string_view::npos &&
         std::all_of(host.begin(), host.end(),
                     [](char c) { return IsAlphanumeric(c) || c == ':' || c == '.' || c == '%'; });
}

}  // namespace

Result<void> CheckListenAddress(std::string_view text) {
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return Bad(text, "the port is missing");
  std::string_view host = text.substr(0, colon);
  const std::string_view port_text = text.substr(colon + 1);
  unsigned port = 0;
  const char* const port_end = port_text.data() + port_text.size();
  const auto [end, error] = std::from_chars(port_text.data(), port_end, port);
  if (error != std::errc() || end != port_end || port > std::numeric_limits<uint16_t>::max()) {
    return Bad(text, "the port is not one");
  }
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
    if (!IsIpv6(host)) return Bad(text, "the host is not an IPv6 address");
  } else if (!IsHost(host)) {
    return Bad(text, "the host is neither a name nor an address");
  }
  return {};
}

}  // namespace tidemark::cmd
