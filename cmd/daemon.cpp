#include "cmd/daemon.h"

#include <atomic>
#include <random>
#include <utility>
#include <vector>

#include "cmd/build_info.h"
#include "engine/engine.h"
#include "exporter/routes.h"
#include "model/clock.h"
#include "model/counters.h"
#include "model/log.h"
#include "remote_write/ha_tracker.h"
#include "remote_write/handler.h"
#include "server/server.h"

namespace tidemark::cmd {
namespace {

engine::Options EngineOptions(const Flags& flags, const Config& config) {
  engine::Options options = config.engine;
  options.eval_interval_ms = flags.eval_interval.count();
  return options;
}

exporter::BuildInfo ExportedBuildInfo() {
  const BuildInfo& build = ThisBuild();
  return {.version = std::string(build.version),
          .revision = std::string(build.revision),
          .branch = std::string(build.branch),
          .compiler = std::string(build.compiler)};
}

}  // namespace

class Daemon::Impl {
 public:
  Impl(const Flags& flags, const Config& config)
      : clock_(flags.clock_start),
        config_yaml_(DumpConfig(config)),
        engine_(EngineOptions(flags, config), config.sources, clock_, engine_counters_),
        ha_(config.ha),
        handler_(engine_, clock_, config.remote_write, remote_write_counters_,
                 {.accepting = [this] { return !stopping_.load(); },
                  .jitter_seed = std::random_device{}(),
                  .ha = &ha_}) {}

  Result<void> Listen(const Flags& flags) {
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
                          .config_yaml = [this] { return config_yaml_; },
                          .ready = [this] { return !stopping_.load(); },
                          .ha = &ha_});
    routes.push_back(handler_.Route());
    auto server = server::Server::Start({.listen_address = flags.web_listen_address},
                                        std::move(routes), http_counters_, clock_);
    if (!server) return tl::unexpected(server.error());
    server_ = std::move(*server);
    return {};
  }

  std::string address() const { return server_->address(); }

  void Stop() {
    if (stopping_.exchange(true)) return;
    if (server_) server_->Stop();
    engine_.Stop();
  }

 private:
  const SystemClock clock_;
  const std::string config_yaml_;
  RemoteWriteCounters remote_write_counters_;
  HttpCounters http_counters_;
  EngineCounters engine_counters_;
  std::atomic<bool> stopping_{false};
  engine::Engine engine_;
  remote_write::HaTracker ha_;
  remote_write::Handler handler_;
  std::unique_ptr<server::Server> server_;
};

Daemon::Daemon(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Daemon::~Daemon() { Stop(); }

Result<std::unique_ptr<Daemon>> Daemon::Start(const Flags& flags, const Config& config) {
  auto impl = std::make_unique<Impl>(flags, config);
  if (auto listening = impl->Listen(flags); !listening) {
    return tl::unexpected(listening.error());
  }
  return std::unique_ptr<Daemon>(new Daemon(std::move(impl)));
}

std::string Daemon::address() const { return impl_->address(); }
void Daemon::Stop() { impl_->Stop(); }

}  // namespace tidemark::cmd
