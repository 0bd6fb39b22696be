#include <fmt/format.h>

#include <string>
#include <string_view>

#include "cmd/loadgen/options.h"

namespace tidemark::loadgen {
namespace {

tl::unexpected<Error> Wrong(std::string_view url, std::string_view what) {
  return Fail(ErrorCode::kInvalidArgument,
              fmt::format("\"{}\" {}, allowed: http://HOST[:PORT][/PATH]", url, what));
}

bool IsPort(std::string_view text) {
  uint32_t port = 0;
  if (text.empty() || text.size() > 5) return false;
  for (const char c : text) {
    if (c < '0' || c > '9') return false;
    port = port * 10 + static_cast<uint32_t>(c - '0');
  }
  return port > 0 && port < 65536;
}

}  // namespace

Result<Target> ParseTarget(std::string_view url) {
  constexpr std::string_view kScheme = "http://";
  for (const char c : url) {
    if (c <= ' ' || c == 0x7f) return Wrong(url, "has a blank or a control character");
  }
  if (url.starts_with("https://")) return Wrong(url, "is HTTPS, which is not spoken here");
  if (!url.starts_with(kScheme)) return Wrong(url, "is no such address");
  std::string_view rest = url.substr(kScheme.size());
  const size_t slash = rest.find('/');
  Target target;
  target.path = slash == std::string_view::npos ? "/" : std::string(rest.substr(slash));
  std::string_view host = rest.substr(0, slash);
  if (host.find('@') != std::string_view::npos) {
    return Wrong(url, "carries a user (see --basic-auth)");
  }
  std::string_view port = "80";
  const size_t bracket = host.rfind(']');
  const size_t colon = host.rfind(':');
  if (colon != std::string_view::npos && (bracket == std::string_view::npos || colon > bracket)) {
    port = host.substr(colon + 1);
    host = host.substr(0, colon);
  }
  if (!IsPort(port)) return Wrong(url, "has no port between 1 and 65535");
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  if (host.empty()) return Wrong(url, "names no host");
  target.host = std::string(host);
  target.port = std::string(port);
  return target;
}

}  // namespace tidemark::loadgen
