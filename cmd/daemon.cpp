#include "cmd/daemon.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "cmd/access_sources.h"
#include "cmd/backfill_wiring.h"
#include "cmd/build_info.h"
#include "cmd/kubernetes_port.h"
#include "cmd/reload.h"
#include "engine/engine.h"
#include "exporter/routes.h"
#include "model/byte_budget.h"
#include "model/clock.h"
#include "model/counters.h"
#include "model/kubernetes_counters.h"
#include "model/log.h"
#include "remote_write/ha_tracker.h"
#include "remote_write/handler.h"
#include "server/access.h"
#include "server/server.h"
#include "storage/store.h"

namespace tidemark::cmd {
namespace {

engine::Options EngineOptions(const Flags& flags, const Config& config) {
  engine::Options options = config.engine;
  options.eval_interval_ms = flags.eval_interval.count();
  return options;
}

storage::Options StorageOptions(const Flags& flags, const Config& config) {
  storage::Options options = config.storage;
  options.path = flags.storage_path;
  options.sync = flags.storage_sync;
  return options;
}

exporter::BuildInfo ExportedBuildInfo() {
  const BuildInfo& build = ThisBuild();
  return {.version = std::string(build.version),
          .revision = std::string(build.revision),
          .branch = std::string(build.branch),
          .compiler = std::string(build.compiler)};
}

exporter::ConfigStatus Status(const ConfigInForce& config) {
  return {.last_reload_successful = config.last_reload_successful(),
          .last_success_ms = config.last_success_ms()};
}

/// How much of the memory in flight bodies may take as they come: half, so that what waits can be
/// unpacked (it grows several times), and never so much that the largest could not be. Else bodies
/// could take all of it, and no request would ever be finished.
uint64_t BodyShare(const Config& config) {
  const uint64_t whole = config.max_inflight_bytes;
  return std::max(config.remote_write.max_body_bytes,
                  std::min(whole / 2, whole - config.remote_write.max_unpacked_bytes));
}

}  // namespace

/// What has to be there before the engine, and after it.
struct Daemon::Ground {
  explicit Ground(std::optional<TimePoint> clock_start) : clock(clock_start) {}

  const SystemClock clock;
  StorageCounters counters;
  std::unique_ptr<storage::Store> store;  ///< null: nothing is kept
};

class Daemon::Impl {
 public:
  Impl(std::unique_ptr<Ground> ground, const Flags& flags, const Config& config)
      : ground_(std::move(ground)),
        inflight_(config.max_inflight_bytes, nullptr, &http_counters_.inflight_bytes_now),
        bodies_(BodyShare(config), &inflight_),
        clock_(ground_->clock),
        config_(
            flags.config_file, config, clock_,
            [this](ProfileSetPtr profiles) { engine_.SetProfiles(std::move(profiles)); },
            [this](ForecastSettingsPtr forecast) { engine_.SetForecast(std::move(forecast)); },
            [this](ScalingSettingsPtr scaling) { engine_.SetScaling(std::move(scaling)); }),
        engine_(EngineOptions(flags, config), config.sources, clock_, engine_counters_,
                {.store = ground_->store.get(), .counters = &ground_->counters},
                &training_counters_),
        backfill_(MakeBackfill(config, engine_, clock_, backfill_counters_)),
        ha_(config.ha),
        handler_(engine_, clock_, config.remote_write, remote_write_counters_,
                 {.accepting = [this] { return IsReady(); },
                  .inflight = &inflight_,
                  .jitter_seed = std::random_device{}(),
                  .ha = &ha_}) {
    http_counters_.inflight_limit_bytes = static_cast<int64_t>(inflight_.max_bytes());
  }

  Result<void> Listen(const Flags& flags, const Config& config) {
    auto access = server::Access::Open(AccessSourcesOf(flags, config), http_counters_, clock_);
    if (!access) return Fail(ErrorCode::kInvalidArgument, access.error().message);
    access_ = std::move(*access);
    WarnOfOpenDoors(flags.web_listen_address, *access_->Rules());
    const bool has_port = !flags.kubernetes.listen_address.empty();
    std::vector<HttpRoute> routes =
        exporter::Routes({.snapshots = engine_,
                          .state = engine_,
                          .remote_write = remote_write_counters_,
                          .http = http_counters_,
                          .engine = engine_counters_,
                          .clock = clock_,
                          .build = ExportedBuildInfo(),
                          .started = clock_.Now(),
                          .storage_path = flags.storage_path,
                          .config_yaml = [this] { return config_.Yaml(); },
                          .ready = [this] { return IsReady(); },
                          .ha = &ha_,
                          .storage = ground_->store ? &ground_->counters : nullptr,
                          .backfill = backfill_.get(),
                          .backfill_counters = &backfill_counters_,
                          .config_status = [this] { return Status(config_); },
                          .reload = [this] { return Reload(); },
                          .vpa_metrics = [this] { return config_.vpa_metrics(); },
                          .prices = [this] { return config_.prices(); },
                          .training = &training_counters_,
                          .kubernetes = has_port ? &kubernetes_counters_ : nullptr,
                          .kubernetes_http = has_port ? &kubernetes_http_counters_ : nullptr,
                          .profiles = [this] { return config_.profiles(); },
                          .rightsizing = [this] { return config_.rightsizing(); }});
    HttpRoute write = handler_.Route();
    write.wants_bearer_token = true;
    routes.push_back(std::move(write));
    auto server =
        server::Server::Start({.listen_address = flags.web_listen_address, .body_budget = &bodies_},
                              std::move(routes), http_counters_, clock_, access_);
    if (!server) return tl::unexpected(server.error());
    server_ = std::move(*server);
    access_->Watch();
    return ListenForKubernetes(flags);
  }

  /// The server answers meanwhile; writes are refused until it is done.
  Result<void> Recover() {
    if (ground_->store) {
      if (auto recovered = engine_.Recover(); !recovered) return recovered;
    }
    recovered_ = true;
    backfill_->StartIfDue();
    return {};
  }

  std::string address() const { return server_->address(); }

  Result<void> Reload() {
    if (!IsReady()) {
      return Fail(ErrorCode::kUnavailable, "Tidemark is starting or stopping");
    }
    Result<void> outcome = config_.Reload();
    const bool access_good = access_->Reload();
    const bool port_good = !kubernetes_ || kubernetes_->Reload();
    if (outcome && !(access_good && port_good)) {
      return Fail(
          ErrorCode::kInvalidArgument,
          "the configuration was applied, but web configuration, certificates or tokens are "
          "not good, and those in force stay; the log says why");
    }
    return outcome;
  }

  void Stop() {
    if (stopping_.exchange(true)) return;
    if (access_) access_->StopWatching();
    if (kubernetes_) kubernetes_->Stop();
    if (server_) server_->Stop();
    backfill_->Stop();
    engine_.Stop();
  }

 private:
  bool IsReady() const { return recovered_.load() && !stopping_.load(); }

  Result<void> ListenForKubernetes(const Flags& flags) {
    if (flags.kubernetes.listen_address.empty()) return {};
    auto port = KubernetesPort::Start(flags.kubernetes, {.snapshots = engine_,
                                                         .config = config_,
                                                         .clock = clock_,
                                                         .counters = kubernetes_counters_,
                                                         .http = kubernetes_http_counters_,
                                                         .ready = [this] { return IsReady(); }});
    if (!port) return tl::unexpected(port.error());
    kubernetes_ = std::move(*port);
    return {};
  }

  const std::unique_ptr<Ground> ground_;
  HttpCounters http_counters_;
  ByteBudget inflight_;  // bodies and what they unpack to
  ByteBudget bodies_;    // a share of it
  const Clock& clock_;
  ConfigInForce config_;
  RemoteWriteCounters remote_write_counters_;
  EngineCounters engine_counters_;
  TrainingCounters training_counters_;
  std::atomic<bool> recovered_{false};
  std::atomic<bool> stopping_{false};
  engine::Engine engine_;
  BackfillCounters backfill_counters_;
  const std::unique_ptr<backfill::Runner> backfill_;
  remote_write::HaTracker ha_;
  remote_write::Handler handler_;
  std::shared_ptr<server::Access> access_;
  std::unique_ptr<server::Server> server_;
  KubernetesCounters kubernetes_counters_;
  HttpCounters kubernetes_http_counters_;
  std::unique_ptr<KubernetesPort> kubernetes_;  // null: off
};

Daemon::Daemon(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Daemon::~Daemon() { Stop(); }

Result<std::unique_ptr<Daemon>> Daemon::Start(const Flags& flags, const Config& config) {
  auto ground = std::make_unique<Ground>(flags.clock_start);
  if (!flags.storage_path.empty()) {
    auto store =
        storage::Store::Open(StorageOptions(flags, config), ground->clock, ground->counters);
    if (!store) return Fail(ErrorCode::kIo, store.error().message);
    ground->store = std::move(*store);
  }
  auto impl = std::make_unique<Impl>(std::move(ground), flags, config);
  if (auto listening = impl->Listen(flags, config); !listening) {
    return tl::unexpected(listening.error());
  }
  if (auto recovered = impl->Recover(); !recovered) {
    return Fail(ErrorCode::kIo, recovered.error().message);
  }
  return std::unique_ptr<Daemon>(new Daemon(std::move(impl)));
}

std::string Daemon::address() const { return impl_->address(); }
Result<void> Daemon::Reload() { return impl_->Reload(); }
void Daemon::Stop() { impl_->Stop(); }

}  // namespace tidemark::cmd
