#include "server/access.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "model/log.h"
#include "server/bcrypt_hash.h"
#include "server/token_file.h"

namespace tidemark::server {
namespace {

constexpr std::chrono::seconds kWatchInterval{1};
constexpr unsigned kUsualBcryptCost = 10;

void AddIfAny(const std::string& path, std::vector<std::string>& files) {
  if (!path.empty()) files.push_back(path);
}

/// The files whose change matters, the web configuration's own first.
std::vector<std::string> FilesOf(const AccessSources& sources, const AccessConfig& config) {
  std::vector<std::string> files;
  AddIfAny(sources.web_config_file, files);
  AddIfAny(sources.bearer_token_file, files);
  if (config.tls) {
    AddIfAny(config.tls->certificate.path, files);
    AddIfAny(config.tls->key.path, files);
    AddIfAny(config.tls->client_ca.path, files);
  }
  return files;
}

}  // namespace

AccessSources CertificateFiles(std::string certificate_file, std::string key_file) {
  TlsConfig tls;
  tls.certificate.path = std::move(certificate_file);
  tls.key.path = std::move(key_file);
  tls.client_auth = ClientAuth::kRequestClientCert;
  AccessSources sources;
  sources.fixed.emplace().tls = std::move(tls);
  return sources;
}

Result<AccessRules> MakeAccessRules(const AccessConfig& config, const std::string& token_file) {
  AccessRules rules;
  if (config.tls) {
    auto context = TlsContext::Make(*config.tls);
    if (!context) return tl::unexpected(context.error());
    rules.tls = std::move(*context);
  }
  unsigned cost = 0;
  for (const User& user : config.users) {
    rules.users.emplace(user.name, user.password_hash);
    cost = std::max(cost, BcryptCost(user.password_hash));
  }
  rules.unknown_user_hash = UnknownUserHash(cost == 0 ? kUsualBcryptCost : cost);
  rules.headers = config.headers;
  rules.warnings = config.warnings;
  if (!token_file.empty()) {
    auto tokens = ReadTokenFile(token_file);
    if (!tokens) {
      return Fail(tokens.error().code, "remote_write.bearer_token_file: " + tokens.error().message);
    }
    rules.wants_tokens = true;
    rules.tokens = std::move(*tokens);
  }
  rules.rate_limiter = std::make_shared<RateLimiter>(config.rate_limit);
  return rules;
}

Access::Access(AccessSources sources, HttpCounters& counters, const Clock& clock)
    : sources_(std::move(sources)), counters_(counters), clock_(clock) {}

Access::~Access() { StopWatching(); }

Result<std::shared_ptr<Access>> Access::Open(AccessSources sources, HttpCounters& counters,
                                             const Clock& clock) {
  std::shared_ptr<Access> access(new Access(std::move(sources), counters, clock));
  const std::lock_guard lock(access->loading_);
  if (Result<void> loaded = access->Load(); !loaded) return tl::unexpected(loaded.error());
  for (const std::string& warning : access->Rules()->warnings) {
    Log(LogLevel::kWarn, "web configuration", {{"warning", warning}});
  }
  return access;
}

std::shared_ptr<const AccessRules> Access::Rules() const {
  const std::lock_guard lock(mutex_);
  return rules_;
}

Access::Stamps Access::TakeStamps() const {
  Stamps stamps;
  stamps.reserve(files_.size());
  for (const std::string& file : files_) stamps.push_back(StampOf(file));
  return stamps;
}

Result<void> Access::Load() {
  // Stamps are taken before reading: a change in between is seen by the next look.
  AccessConfig config = sources_.fixed.value_or(AccessConfig{});
  files_ = FilesOf(sources_, config);
  stamps_ = TakeStamps();
  if (!sources_.web_config_file.empty()) {
    const auto text = ReadSmallFile(sources_.web_config_file);
    if (!text) return tl::unexpected(text.error());
    auto parsed = sources_.parse(*text);
    if (!parsed) return tl::unexpected(parsed.error());
    config = std::move(*parsed);
    files_ = FilesOf(sources_, config);
    const FileStamp own = stamps_.front();
    stamps_ = TakeStamps();
    stamps_.front() = own;
  }
  auto rules = MakeAccessRules(config, sources_.bearer_token_file);
  if (!rules) return tl::unexpected(rules.error());

  const std::shared_ptr<const AccessRules> old = Rules();
  if (old && (old->tls == nullptr) != (rules->tls == nullptr)) {
    return Fail(ErrorCode::kInvalidArgument,
                sources_.web_config_file +
                    ": TLS cannot be switched on or off without a restart; nothing was changed");
  }
  if (old && old->rate_limiter->limit() == config.rate_limit) {
    rules->rate_limiter = old->rate_limiter;
  }
  counters_.certificate_expiry_now_ms = rules->tls ? ToUnixMs(rules->tls->not_after()) : 0;
  {
    const std::lock_guard lock(mutex_);
    rules_ = std::make_shared<const AccessRules>(std::move(*rules));
  }
  if (!files_.empty()) {
    counters_.web_config_good_now = 1;
    counters_.web_config_loaded_ms = ToUnixMs(clock_.Now());
  }
  return {};
}

bool Access::LoadAndTell() {
  const Stamps before = stamps_;
  const Result<void> loaded = Load();
  const bool failed_before = std::exchange(failed_, !loaded);
  if (loaded) {
    Log(LogLevel::kInfo, sources_.fixed
                             ? "certificate and key were read again"
                             : "web configuration, certificates and tokens were read again");
    for (const std::string& warning : Rules()->warnings) {
      LogOncePerMinute("web_config_warning", LogLevel::kWarn, "web configuration",
                       {{"warning", warning}});
    }
    return true;
  }
  counters_.web_config_good_now = 0;
  if (!failed_before || stamps_ != before) {
    Log(LogLevel::kError,
        sources_.fixed ? "certificate or key is not good; those before stay in use"
                       : "web configuration is not good; what was in force stays in force",
        {{"err", loaded.error().message}});
  }
  return false;
}

void Access::CheckFiles() {
  const std::lock_guard lock(loading_);
  // After a failure each look is a new try: a file may have been read while it was being written.
  if (!failed_ && TakeStamps() == stamps_) return;
  LoadAndTell();
}

bool Access::Reload() {
  const std::lock_guard lock(loading_);
  if (files_.empty()) return true;
  return LoadAndTell();
}

void Access::Watch() {
  {
    const std::lock_guard lock(loading_);
    if (files_.empty()) return;
  }
  if (watcher_.joinable()) return;
  watcher_ = std::thread([this] {
    std::unique_lock lock(watch_mutex_);
    while (!stop_.wait_for(lock, kWatchInterval, [this] { return stopping_; })) {
      lock.unlock();
      CheckFiles();
      lock.lock();
    }
  });
}

void Access::StopWatching() {
  {
    const std::lock_guard lock(watch_mutex_);
    stopping_ = true;
  }
  stop_.notify_all();
  if (watcher_.joinable()) watcher_.join();
}

}  // namespace tidemark::server
