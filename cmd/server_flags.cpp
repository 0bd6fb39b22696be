#include "cmd/server_flags.h"

#include <fmt/format.h>

#include <chrono>

#include "cmd/build_info.h"

namespace tidemark::cmd {

using namespace std::chrono_literals;

void AddServerAccessFlags(std::string_view prefix, std::string_view whose,
                          std::vector<FlagSpec>& flags) {
  const auto add = [&](std::string_view name, std::string_view value, std::string help) {
    flags.push_back({fmt::format("{}.{}", prefix, name), std::string(value), std::move(help)});
  };
  add("username", "NAME",
      fmt::format("User for basic authentication, with --{}.password-file.", prefix));
  add("password-file", "PATH", "File with the password.");
  add("bearer-token-file", "PATH", "File with a bearer token.");
  add("header", "\"NAME: VALUE\"", "An additional header.");
  add("ca-file", "PATH", fmt::format("Authority of {} certificate, PEM.", whose));
  add("cert-file", "PATH", fmt::format("Client certificate, PEM; with --{}.key-file.", prefix));
  add("key-file", "PATH", "Its key.");
  add("server-name", "NAME",
      fmt::format("What {} certificate is for, if not the URL's host.", whose));
  add("insecure-skip-verify", "", fmt::format("Do not verify {} certificate.", whose));
}

Result<std::optional<client::HttpClientOptions>> ReadServerFlags(const GivenFlags& flags,
                                                                 const std::string& prefix) {
  GivenFlags own;
  for (const auto& [name, value] : flags) {
    if (name.starts_with(prefix + ".")) own.emplace(name.substr(prefix.size() + 1), value);
  }
  if (own.empty()) return std::optional<client::HttpClientOptions>();
  const std::string url_flag = prefix + ".url";
  client::HttpClientOptions options;
  options.url = FlagValue(own, "url");
  options.user_agent = fmt::format("tidetool/{}", ThisBuild().version);
  options.connect_timeout = 5s;
  options.timeout = 30s;
  if (auto good = client::CheckUrl(options.url); !good) {
    return WrongFlag(url_flag, good.error().message);
  }
  if (auto good = ReadPrometheusAccess(own, options); !good) {
    Error error = good.error();
    if (error.message.starts_with("--")) error.message.insert(2, prefix + ".");
    return tl::unexpected(error);
  }
  if (auto good = client::CheckOptions(options); !good) {
    return WrongFlag(url_flag, good.error().message);
  }
  return std::optional(options);
}

}  // namespace tidemark::cmd
