#include "cmd/demo_cluster/command.h"

#include <fmt/format.h>

#include <utility>

#include "cmd/demo_cluster/cluster.h"
#include "cmd/demo_cluster/service.h"
#include "cmd/held_signals.h"
#include "model/clock.h"
#include "model/counters.h"
#include "model/log.h"
#include "server/server.h"

namespace tidemark::demo_cluster {

int RunDemoCluster(const DemoClusterOptions& options) {
  // Written so that NaN fails as well.
  if (!(options.speed > 0 && options.speed <= Cluster::kMaxSpeed)) {
    Log(LogLevel::kError, "demo cluster: bad speed",
        {{"speed", fmt::format("{}", options.speed)},
         {"allowed", fmt::format("above 0 and at most {}", Cluster::kMaxSpeed)}});
    return 2;
  }
  const cmd::HeldSignals signals;
  const SystemClock clock;
  Service service(options.seed, options.speed, clock);
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
