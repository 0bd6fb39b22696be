#include "server/listen_address.h"

#include <charconv>

namespace tidemark::server {
namespace {

tl::unexpected<Error> Bad(std::string_view text, std::string_view why) {
  return Fail(ErrorCode::kInvalidArgument, "listen address \"" + std::string(text) +
                                               "\": " + std::string(why) +
                                               "; allowed are host:port, [IPv6]:port and :port");
}

}  // namespace

Result<ListenAddress> ParseListenAddress(std::string_view text) {
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return Bad(text, "has no port");
  std::string_view host = text.substr(0, colon);
  const std::string_view port_text = text.substr(colon + 1);

  if (host.starts_with('[')) {
    if (!host.ends_with(']') || host.size() < 4)
      return Bad(text, "has unbalanced or empty brackets");
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string_view::npos) {
    return Bad(text, "has more than one colon outside brackets");
  }
  if (host.find_first_of("[] \t/") != std::string_view::npos)
    return Bad(text, "has a host with odd characters");

  ListenAddress address;
  address.host = std::string(host);
  const char* const end = port_text.data() + port_text.size();
  const auto [parsed_to, error] = std::from_chars(port_text.data(), end, address.port);
  if (port_text.empty() || error != std::errc() || parsed_to != end) {
    return Bad(text, "has a port that is not a number from 0 to 65535");
  }
  return address;
}

}  // namespace tidemark::server
