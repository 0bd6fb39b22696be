// Runs one back-fill into a sink that only remembers, for tests against real servers.
//
// Arguments: KEY=VALUE with the keys url, start_ms, end_ms, step_ms, username, password_file,
// bearer, ca_file, server_name, header (NAME:VALUE), window_samples, unit_namespaces. Prints one
// JSON object: the status and, for each series, its samples: how many, first, last, step, values.

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <thread>

#include "backfill/runner.h"
#include "tests/backfill/fake_past.h"

namespace tidemark::backfill {
namespace {

namespace json = boost::json;

json::array Lines(const std::vector<std::string>& lines) {
  json::array out;
  for (const std::string& line : lines) out.emplace_back(line);
  return out;
}

json::object SeriesJson(const SeriesMap& merged) {
  json::object out;
  for (const auto& [name, points] : merged) {
    json::array values;
    for (const auto& [time_ms, value] : points) values.emplace_back(json::array{time_ms, value});
    out[name] = std::move(values);
  }
  return out;
}

Options OptionsOf(std::map<std::string, std::string>& args) {
  Options options;
  options.http.url = args["url"];
  options.http.basic_auth.username = args["username"];
  options.http.basic_auth.password_file = args["password_file"];
  options.http.authorization.credentials = args["bearer"];
  options.http.tls_config.ca_file = args["ca_file"];
  options.http.tls_config.server_name = args["server_name"];
  if (const std::string header = args["header"]; !header.empty()) {
    const size_t colon = header.find(':');
    options.http.http_headers = {{header.substr(0, colon), header.substr(colon + 1)}};
  }
  options.tuning.retry_first = std::chrono::milliseconds(10);
  options.tuning.unreachable_for = std::chrono::milliseconds(100);
  if (!args["window_samples"].empty()) {
    options.tuning.window_samples = std::strtoull(args["window_samples"].c_str(), nullptr, 10);
  }
  if (!args["unit_namespaces"].empty()) {
    options.tuning.unit_namespaces = std::strtoull(args["unit_namespaces"].c_str(), nullptr, 10);
  }
  return options;
}

int Main(int argc, char** argv) {
  std::map<std::string, std::string> args;
  for (int i = 1; i < argc; ++i) {
    const std::string arg = argv[i];
    args[arg.substr(0, arg.find('='))] = arg.substr(arg.find('=') + 1);
  }
  FakePastSink sink;
  sink.metrics = ClusterMetrics();
  const SystemClock clock;
  BackfillCounters counters;
  Runner runner(OptionsOf(args), sink, clock, counters);
  runner.Ready();
  BackfillRequest request;
  request.url = args["url"];
  request.start_ms = std::atoll(args["start_ms"].c_str());
  request.end_ms = std::atoll(args["end_ms"].c_str());
  request.step_ms = std::atoll(args["step_ms"].c_str());
  if (const auto begun = runner.Start(request); !begun) {
    std::fprintf(stderr, "%s\n", begun.error().message.c_str());
    return 2;
  }
  while (runner.Status().state == BackfillState::kRunning) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  const BackfillStatus status = runner.Status();
  const json::object out{{"state", std::string(ToString(status.state))},
                         {"error", status.error},
                         {"not_covered", Lines(status.not_covered)},
                         {"notes", Lines(status.notes)},
                         {"faults", Lines(sink.faults.lines)},
                         {"queries_too_large", counters.queries_too_large.load()},
                         {"series", SeriesJson(sink.merged)}};
  std::printf("%s\n", std::string(json::serialize(out)).c_str());
  return 0;
}

}  // namespace
}  // namespace tidemark::backfill

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  return tidemark::backfill::Main(argc, argv);
}
