#include "cmd/web_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>
#include <set>
#include <utility>
#include <vector>

#include "cmd/text.h"
#include "cmd/web_config_tls.h"
#include "cmd/yaml_reader.h"
#include "server/access.h"
#include "server/bcrypt_hash.h"
#include "server/small_file.h"

namespace tidemark::cmd {
namespace {

constexpr size_t kMaxUsers = 10'000;
constexpr size_t kMaxHeaderBytes = 8 << 10;  // what most clients and proxies take of one header
constexpr int64_t kMaxBurst = 1'000'000'000;
constexpr int64_t kMaxIntervalNs = 3'600'000'000'000;

/// A Go duration (time.ParseDuration) from 0 to an hour, in nanoseconds; -1 when it is none.
int64_t ParseGoDuration(std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, double>, 8> kUnits = {
      {{"ns", 1},
       {"us", 1e3},
       {"\xc2\xb5s", 1e3},  // the micro sign
       {"\xce\xbcs", 1e3},  // the Greek letter
       {"ms", 1e6},
       {"s", 1e9},
       {"m", 60e9},
       {"h", 3600e9}}};
  if (text == "0") return 0;
  if (text.empty()) return -1;
  double total = 0;
  while (!text.empty()) {
    size_t size = 0;
    double number = 0;
    double place = 1;
    bool fraction = false;
    bool digits = false;
    for (; size < text.size(); ++size) {
      const char c = text[size];
      if (c == '.' && !fraction) {
        fraction = true;
      } else if (c >= '0' && c <= '9') {
        digits = true;
        if (fraction) place /= 10;
        number = fraction ? number + place * (c - '0') : number * 10 + (c - '0');
      } else {
        break;
      }
    }
    if (!digits) return -1;
    text.remove_prefix(size);
    size_t unit_size = 0;
    while (unit_size < text.size() && text[unit_size] != '.' &&
           (text[unit_size] < '0' || text[unit_size] > '9')) {
      ++unit_size;
    }
    const auto unit = std::ranges::find(kUnits, text.substr(0, unit_size),
                                        &std::pair<std::string_view, double>::first);
    if (unit == kUnits.end()) return -1;
    total += number * unit->second;
    text.remove_prefix(unit_size);
    if (!(total <= static_cast<double>(kMaxIntervalNs))) return -1;
  }
  return std::llround(total);
}

/// exporter-toolkit's own list: what may be set, and to what (anything when there is no list).
struct KnownHeader {
  std::string_view name;
  std::array<std::string_view, 2> values;
};
constexpr std::array<KnownHeader, 5> kHeaders = {{{"Content-Security-Policy", {}},
                                                  {"Strict-Transport-Security", {}},
                                                  {"X-Content-Type-Options", {"nosniff", ""}},
                                                  {"X-Frame-Options", {"deny", "sameorigin"}},
                                                  {"X-XSS-Protection", {}}}};

Result<void> ReadHeaderValue(const YamlValue& value, const KnownHeader& header,
                             std::vector<HttpHeader>& out) {
  auto text = value.ReadText();
  if (!text) return tl::unexpected(text.error());
  const bool listed = !header.values[0].empty();
  if (listed && std::ranges::find(header.values, *text) == header.values.end()) {
    return value.Wrong(fmt::format("{} is not a value of this header, allowed: {}{}{}",
                                   Shown(*text, true), header.values[0],
                                   header.values[1].empty() ? "" : ", ", header.values[1]));
  }
  if (text->empty()) {
    if (listed) return value.Wrong("it is empty, allowed: " + std::string(header.values[0]));
    return {};  // as if it were not there
  }
  const bool printable = std::ranges::all_of(*text, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x20 && byte != 0x7f;
  });
  if (!printable || text->size() > kMaxHeaderBytes) {
    return value.Wrong(fmt::format(
        "this is no value of a header, allowed: one line of at most {} bytes", kMaxHeaderBytes));
  }
  out.push_back({std::string(header.name), std::move(*text)});
  return {};
}

Result<void> ReadHeaders(const YamlValue& value, std::vector<HttpHeader>& out) {
  const auto field = [&out](const KnownHeader& header) {
    return YamlField{header.name, [&out, &header](const YamlValue& text) {
                       return ReadHeaderValue(text, header, out);
                     }};
  };
  return value.ReadMap({field(kHeaders[0]), field(kHeaders[1]), field(kHeaders[2]),
                        field(kHeaders[3]), field(kHeaders[4])});
}

Result<void> ReadHttp(const YamlValue& value, server::AccessConfig& out) {
  return value.ReadMap(
      {{"http2",
        [](const YamlValue& field) -> Result<void> {
          // Taken and without effect: HTTP/1.1 is what is spoken.
          auto on = field.ReadBool();
          if (!on) return tl::unexpected(on.error());
          return {};
        }},
       {"headers", [&out](const YamlValue& field) { return ReadHeaders(field, out.headers); }}});
}

Result<void> ReadUsers(const YamlValue& value, std::vector<server::User>& out) {
  auto entries = value.ReadEntries(kMaxUsers);
  if (!entries) return tl::unexpected(entries.error());
  for (auto& [name, hash_value] : *entries) {
    if (name.find(':') != std::string::npos) {
      return hash_value.Wrong(
          "no client can send a user's name with a colon (RFC 7617), allowed: "
          "a name without");
    }
    auto hash = hash_value.ReadText();
    if (!hash) {
      return hash_value.Wrong("this is no text, allowed: a bcrypt hash");
    }
    if (const char* const problem = server::FindBcryptProblem(*hash)) {
      return hash_value.Wrong(
          fmt::format("{}, allowed: a bcrypt hash ($2y$, $2b$, $2a$) of a cost from {} to {}",
                      problem, server::kMinBcryptCost, server::kMaxBcryptCost));
    }
    out.push_back({std::move(name), std::move(*hash)});
  }
  return {};
}

Result<void> ReadRateLimit(const YamlValue& value, server::RateLimit& out) {
  auto done = value.ReadMap(
      {{"interval",
        [&out](const YamlValue& field) -> Result<void> {
          auto text = field.ReadText();
          if (!text) return tl::unexpected(text.error());
          const int64_t interval_ns = ParseGoDuration(*text);
          if (interval_ns < 0) {
            return field.Wrong(fmt::format(
                "{} is not a duration, allowed: as in Go, e.g. 1s, 100ms, 1m30s, from 0 to 1h",
                Shown(*text, text->empty())));
          }
          out.interval = std::chrono::nanoseconds(interval_ns);
          return {};
        }},
       {"burst", [&out](const YamlValue& field) -> Result<void> {
          auto burst = field.ReadInteger(0, kMaxBurst);
          if (!burst) return tl::unexpected(burst.error());
          out.burst = *burst;
          return {};
        }}});
  if (!done) return done;
  if (out.interval.count() > 0 && out.burst < 1) {
    return value.WrongKey("burst",
                          "without at least 1 every request would be refused, allowed: "
                          "1 <= x");
  }
  return {};
}

}  // namespace

std::string PathBeside(const std::string& file_name, const std::string& path) {
  const size_t slash = file_name.rfind('/');
  if (path.empty() || path.starts_with('/') || slash == std::string::npos) return path;
  return file_name.substr(0, slash + 1) + path;
}

Result<server::AccessConfig> ParseWebConfig(std::string_view yaml, const std::string& file_name) {
  auto root = ParseYaml(yaml, file_name);
  if (!root) return tl::unexpected(root.error());
  server::AccessConfig config;
  const auto done = root->ReadMap(
      {{"tls_server_config",
        [&](const YamlValue& value) { return ReadTlsServerConfig(value, file_name, config); }},
       {"http_server_config", [&](const YamlValue& value) { return ReadHttp(value, config); }},
       {"basic_auth_users", [&](const YamlValue& value) { return ReadUsers(value, config.users); }},
       {"rate_limit",
        [&](const YamlValue& value) { return ReadRateLimit(value, config.rate_limit); }}});
  if (!done) return tl::unexpected(done.error());
  return config;
}

Result<server::AccessConfig> LoadWebConfig(const std::string& path) {
  const auto text = server::ReadSmallFile(path);
  if (!text) return tl::unexpected(text.error());
  auto config = ParseWebConfig(*text, path);
  if (!config) return config;
  if (const auto rules = server::MakeAccessRules(*config, ""); !rules) {
    return tl::unexpected(rules.error());
  }
  return config;
}

}  // namespace tidemark::cmd
