#include "cmd/demo_cluster/command.h"

#include <fmt/format.h>

#include <utility>

#include "cmd/demo_cluster/cluster.h"
#include "cmd/demo_cluster/history.h"
#include "cmd/demo_cluster/service.h"
#include "cmd/held_signals.h"
#include "model/clock.h"
#include "model/counters.h"
#include "model/log.h"
#include "server/server.h"

namespace tidemark::demo_cluster {
namespace {

Result<Cluster> MakeCluster(const DemoClusterOptions& options, TimePoint now) {
  if (options.history_file.empty()) return Cluster(options.seed, options.speed, now);
  History history;
  Cluster cluster = MakeClusterWithHistory(options.seed, options.speed, now, options.history_length,
                                           options.history_step, history);
  if (auto written = history.Write(options.history_file, options.listen_address); !written) {
    return tl::unexpected(std::move(written.error()));
  }
  Log(LogLevel::kInfo, "demo cluster wrote its history",
      {{"file", options.history_file}, {"samples", fmt::format("{}", history.samples())}});
  return cluster;
}

}  // namespace

int RunDemoCluster(const DemoClusterOptions& options) {
  // Written so that NaN fails as well.
  if (!(options.speed > 0 && options.speed <= Cluster::kMaxSpeed)) {
    Log(LogLevel::kError, "demo cluster: bad speed",
        {{"speed", fmt::format("{}", options.speed)},
         {"allowed", fmt::format("above 0 and at most {}", Cluster::kMaxSpeed)}});
    return 2;
  }
  if (options.history_length < options.history_step || options.history_step.count() < 1) {
    Log(LogLevel::kError, "demo cluster: bad history",
        {{"length_ms", fmt::format("{}", options.history_length.count())},
         {"step_minutes", fmt::format("{}", options.history_step.count())},
         {"allowed", "a step of at least a minute, a length of at least a step"}});
    return 2;
  }
  const cmd::HeldSignals signals;
  const SystemClock clock;
  auto cluster = MakeCluster(options, clock.Now());
  if (!cluster) {
    Log(LogLevel::kError, "demo cluster cannot write its history",
        {{"err", cluster.error().message}});
    return 1;
  }
  Service service(std::move(*cluster), clock);
  HttpCounters counters;
  server::Options server_options;
  server_options.listen_address = options.listen_address;
  auto started = server::Server::Start(server_options, service.Routes(), counters, clock);
  if (!started) {
    Log(LogLevel::kError, "demo cluster cannot start", {{"err", started.error().message}});
    return started.error().code == ErrorCode::kInvalidArgument ? 2 : 1;
  }
  Log(LogLevel::kInfo, "demo cluster listening", {{"address", (*started)->address()}});
  signals.Wait();
  (*started)->Stop();
  return 0;
}

}  // namespace tidemark::demo_cluster
