#include "cmd/access_sources.h"

#include <string_view>

#include "cmd/web_config.h"
#include "model/log.h"

namespace tidemark::cmd {
namespace {

bool IsLoopback(std::string_view listen_address) {
  return listen_address.starts_with("127.") || listen_address.starts_with("[::1]:") ||
         listen_address.starts_with("localhost:");
}

}  // namespace

server::AccessSources AccessSourcesOf(const Flags& flags, const Config& config) {
  return {.web_config_file = flags.web_config_file,
          .bearer_token_file = config.bearer_token_file,
          .parse = [file = flags.web_config_file](const std::string& text) {
            return ParseWebConfig(text, file);
          }};
}

void WarnOfOpenDoors(const std::string& listen_address, const server::AccessRules& rules) {
  const bool secrets = !rules.users.empty() || rules.wants_tokens;
  if (!secrets || rules.tls || IsLoopback(listen_address)) return;
  Log(LogLevel::kWarn,
      "passwords and tokens travel readable: they are asked for over plain HTTP; set "
      "tls_server_config in the web configuration",
      {{"address", listen_address}});
}

}  // namespace tidemark::cmd
