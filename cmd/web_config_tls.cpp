#include "cmd/web_config_tls.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "cmd/text.h"
#include "cmd/web_config.h"
#include "server/tls_names.h"

namespace tidemark::cmd {
namespace {

using server::ClientAuth;
using server::TlsConfig;
using server::TlsVersion;

constexpr size_t kMaxItems = 1000;

constexpr std::array<std::pair<std::string_view, ClientAuth>, 7> kClientAuthTypes = {
    {{"NoClientCert", ClientAuth::kNoClientCert},
     {"RequestClientCert", ClientAuth::kRequestClientCert},
     {"RequireAnyClientCert", ClientAuth::kRequireAnyClientCert},
     {"VerifyClientCertIfGiven", ClientAuth::kVerifyClientCertIfGiven},
     {"RequireAndVerifyClientCert", ClientAuth::kRequireAndVerifyClientCert},
     {"RequireClientCert", ClientAuth::kRequireAnyClientCert},  // the toolkit's old name
     {"", ClientAuth::kNoClientCert}}};

constexpr std::array<std::pair<std::string_view, TlsVersion>, 4> kVersions = {
    {{"TLS13", TlsVersion::kTls13},
     {"TLS12", TlsVersion::kTls12},
     {"TLS11", TlsVersion::kTls11},
     {"TLS10", TlsVersion::kTls10}}};

template <class T, size_t kSize>
std::function<Result<void>(const YamlValue&)> OneOf(
    const std::array<std::pair<std::string_view, T>, kSize>& table, T& out) {
  return [&table, &out](const YamlValue& value) -> Result<void> {
    const auto text = value.ReadText();
    if (!text) return tl::unexpected(text.error());
    std::vector<std::string_view> names;
    for (const auto& [name, meaning] : table) {
      if (name == *text) {
        out = meaning;
        return {};
      }
      if (!name.empty()) names.push_back(name);
    }
    return value.Wrong(
        fmt::format("{} is unknown, allowed: {}", Shown(*text, text->empty()), Join(names)));
  };
}

/// As OneOf; `given` tells whether anything is named at all.
std::function<Result<void>(const YamlValue&)> AuthType(ClientAuth& out, bool& given) {
  return [&given, read = OneOf(kClientAuthTypes, out)](const YamlValue& value) -> Result<void> {
    if (auto done = read(value); !done) return done;
    given = value.ReadText() != std::string();
    return {};
  };
}

std::function<Result<void>(const YamlValue&)> Text(std::string& out) {
  return [&out](const YamlValue& value) -> Result<void> {
    auto text = value.ReadText();
    if (!text) return tl::unexpected(text.error());
    out = std::move(*text);
    return {};
  };
}

/// As Text, but of a secret: an error shows nothing of it.
std::function<Result<void>(const YamlValue&)> Secret(std::string& out) {
  return [&out](const YamlValue& value) -> Result<void> {
    auto text = value.ReadText();
    if (!text) return value.Wrong("this is no text, allowed: a private key in PEM");
    out = std::move(*text);
    return {};
  };
}

std::function<Result<void>(const YamlValue&)> TextList(std::vector<std::string>& out) {
  return [&out](const YamlValue& value) -> Result<void> {
    const auto items = value.ReadList(kMaxItems);
    if (!items) return tl::unexpected(items.error());
    for (const YamlValue& item : *items) {
      auto text = item.ReadText();
      if (!text) return tl::unexpected(text.error());
      out.push_back(std::move(*text));
    }
    return {};
  };
}

template <size_t kSize>
std::function<Result<void>(const YamlValue&)> TlsNames(
    std::string_view what, const std::array<server::TlsName, kSize>& table,
    std::vector<std::string>& out) {
  return [what, &table, &out](const YamlValue& value) -> Result<void> {
    const auto items = value.ReadList(kMaxItems);
    if (!items) return tl::unexpected(items.error());
    for (const YamlValue& item : *items) {
      auto text = item.ReadText();
      if (!text) return tl::unexpected(text.error());
      if (server::FindTlsName(table, *text) == nullptr) {
        std::vector<std::string_view> names;
        names.reserve(table.size());
        for (const server::TlsName& known : table) names.push_back(known.go);
        return item.Wrong(fmt::format("unknown {} {}, allowed: {}", what,
                                      Shown(*text, text->empty()), Join(names)));
      }
      out.push_back(std::move(*text));
    }
    return {};
  };
}

bool RequiresCertificate(ClientAuth type) {
  return type == ClientAuth::kRequireAnyClientCert ||
         type == ClientAuth::kRequireAndVerifyClientCert;
}

/// An empty list would let nobody in.
std::function<Result<void>(const YamlValue&)> AllowedSans(std::vector<std::string>& out) {
  return [read = TextList(out), &out](const YamlValue& value) -> Result<void> {
    if (auto done = read(value); !done) return done;
    if (out.empty() && !value.IsEmpty()) {
      return value.Wrong("no client could connect, allowed: at least one name, or no such key");
    }
    return {};
  };
}

/// What single keys cannot tell.
Result<void> CheckTogether(const YamlValue& value, const TlsConfig& tls) {
  for (const auto& [source, key] : {std::pair{&tls.certificate, "cert"}, std::pair{&tls.key, "key"},
                                    std::pair{&tls.client_ca, "client_ca"}}) {
    if (!source->path.empty() && !source->text.empty()) {
      return value.Wrong(
          fmt::format("{0} and {0}_file exclude each other, allowed: one of them", key));
    }
  }
  if (tls.certificate.empty()) return value.Wrong("missing one of cert or cert_file");
  if (tls.key.empty()) return value.Wrong("missing one of key or key_file");
  if (!tls.client_ca.empty() && tls.client_auth == ClientAuth::kNoClientCert) {
    return value.Wrong(
        "client CAs have been configured without a client auth policy, allowed: client_auth_type "
        "VerifyClientCertIfGiven or RequireAndVerifyClientCert");
  }
  if (!tls.client_allowed_sans.empty() && !RequiresCertificate(tls.client_auth)) {
    return value.WrongKey("client_allowed_sans",
                          "a client could come without a certificate, allowed: client_auth_type "
                          "RequireAndVerifyClientCert or RequireAnyClientCert");
  }
  if (tls.min_version > tls.max_version) {
    return value.WrongKey("min_version", "it is above max_version: no client could connect");
  }
  return {};
}

void AddWarnings(const TlsConfig& tls, std::vector<std::string>& warnings) {
  const bool verifies = tls.client_auth == ClientAuth::kVerifyClientCertIfGiven ||
                        tls.client_auth == ClientAuth::kRequireAndVerifyClientCert;
  if (verifies && tls.client_ca.empty()) {
    warnings.emplace_back(
        "tls_server_config: client certificates are verified, but there is no client_ca_file: "
        "every client certificate is refused");
  }
  if (!verifies && tls.client_auth != ClientAuth::kNoClientCert) {
    warnings.emplace_back(
        "tls_server_config.client_auth_type: client certificates are not verified; anyone can make "
        "one. RequireAndVerifyClientCert verifies them");
  }
  if (tls.min_version < TlsVersion::kTls12) {
    warnings.emplace_back("tls_server_config.min_version: TLS before 1.2 is not safe any more");
  }
}

}  // namespace

Result<void> ReadTlsServerConfig(const YamlValue& value, const std::string& file_name,
                                 server::AccessConfig& out) {
  TlsConfig tls;
  bool auth_type_given = false;
  auto done = value.ReadMap(
      {{"cert", Text(tls.certificate.text)},
       {"key", Secret(tls.key.text)},
       {"client_ca", Text(tls.client_ca.text)},
       {"cert_file", Text(tls.certificate.path)},
       {"key_file", Text(tls.key.path)},
       {"client_ca_file", Text(tls.client_ca.path)},
       {"client_auth_type", AuthType(tls.client_auth, auth_type_given)},
       {"client_allowed_sans", AllowedSans(tls.client_allowed_sans)},
       {"cipher_suites", TlsNames("cipher", server::kCipherSuites, tls.cipher_suites)},
       {"curve_preferences", TlsNames("curve", server::kCurves, tls.curves)},
       {"min_version", OneOf(kVersions, tls.min_version)},
       {"max_version", OneOf(kVersions, tls.max_version)},
       {"prefer_server_cipher_suites", [&tls](const YamlValue& field) -> Result<void> {
          const auto on = field.ReadBool();
          if (!on) return tl::unexpected(on.error());
          tls.prefer_server_ciphers = *on;
          return {};
        }}});
  if (!done) return done;
  // The toolkit's own rule for whether TLS is meant at all.
  const bool enabled =
      !tls.certificate.empty() || !tls.key.empty() || !tls.client_ca.empty() || auth_type_given;
  if (!enabled) {
    if (!value.IsEmpty()) {
      out.warnings.emplace_back(
          "tls_server_config has neither certificate nor key: plain HTTP is served");
    }
    return {};
  }
  if (auto checked = CheckTogether(value, tls); !checked) return checked;
  for (server::PemSource* const source : {&tls.certificate, &tls.key, &tls.client_ca}) {
    source->path = PathBeside(file_name, source->path);
  }
  AddWarnings(tls, out.warnings);
  out.tls = std::move(tls);
  return {};
}

}  // namespace tidemark::cmd
