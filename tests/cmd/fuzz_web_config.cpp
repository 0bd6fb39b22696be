// Any bytes as a web configuration: no crash, one line of error that shows no secret, and what is
// taken is within its bounds.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "cmd/web_config.h"
#include "server/bcrypt_hash.h"
#include "server/tls_names.h"

namespace {

void Require(bool condition) {
  if (!condition) std::abort();
}

bool OneLine(std::string_view text) {
  return std::ranges::none_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x20; });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tidemark::server;  // NOLINT(google-build-using-namespace)
  const std::string_view yaml(reinterpret_cast<const char*>(data), size);
  const auto config = tidemark::cmd::ParseWebConfig(yaml, "conf/web.yml");
  if (!config) {
    Require(config.error().message.starts_with("conf/web.yml:"));
    Require(OneLine(config.error().message));
    return 0;
  }
  for (const User& user : config->users) {
    Require(FindBcryptProblem(user.password_hash) == nullptr);
    Require(user.name.find(':') == std::string::npos);
  }
  for (const tidemark::HttpHeader& header : config->headers) {
    Require(!header.value.empty() && OneLine(header.value));
  }
  Require(config->rate_limit.interval.count() >= 0);
  Require(config->rate_limit.interval <= std::chrono::hours(1));
  Require(config->rate_limit.interval.count() == 0 || config->rate_limit.burst >= 1);
  for (const std::string& warning : config->warnings) Require(OneLine(warning));
  if (!config->tls) return 0;
  const TlsConfig& tls = *config->tls;
  Require(!tls.certificate.empty() && !tls.key.empty());
  Require(tls.min_version <= tls.max_version);
  Require(tls.client_ca.empty() || tls.client_auth != ClientAuth::kNoClientCert);
  Require(tls.client_allowed_sans.empty() || tls.client_auth == ClientAuth::kRequireAnyClientCert ||
          tls.client_auth == ClientAuth::kRequireAndVerifyClientCert);
  for (const PemSource* const source : {&tls.certificate, &tls.key, &tls.client_ca}) {
    Require(source->path.empty() || source->path.starts_with('/') ||
            source->path.starts_with("conf/"));
    Require(source->path.empty() || source->text.empty());
  }
  for (const std::string& name : tls.cipher_suites) {
    Require(FindTlsName(kCipherSuites, name) != nullptr);
  }
  for (const std::string& name : tls.curves) Require(FindTlsName(kCurves, name) != nullptr);
  return 0;
}
