// Asks the Kubernetes port of a tidemark as a cluster would: the HPA controller through the API
// server's aggregation layer (GETs with a front proxy's certificate, over a pool of keep-alive
// connections), and the API server about pods that are about to be created (POSTs without a
// certificate). Prints one JSON object.
//
//   kubernetes_bench --port=N --ca=FILE --certificate=FILE --key=FILE --workloads=FILE
//                    [--seconds=S] [--gets=RATE|max] [--admissions=RATE|max]
//                    [--new-connections=RATE|max] [--connections=N]
//
// RATE is requests a second, sent by schedule; `max`: each connection asks again once it is
// answered. --new-connections are GETs that open a connection each. --connections is of the GETs
// (default 16); the two others have half as many. --workloads: lines of `NAMESPACE DEPLOYMENT`.
// Exit code 1: an answer was wrong; 2: it was called wrongly.

#include <fmt/format.h>

#include <charconv>
#include <csignal>
#include <cstdio>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "bench/kubernetes/connection.h"
#include "bench/kubernetes/load.h"
#include "bench/kubernetes/questions.h"

namespace {

using namespace tidemark::bench;

std::string Quoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted.push_back('\\');
    quoted.push_back(c >= ' ' && c < 0x7f ? c : '?');
  }
  return quoted += '"';
}

/// Of a result with one request at least: the first is always due.
std::string Json(const LoadResult& result) {
  const auto at = [&](double share) { return Percentile(result.latencies_seconds, share); };
  std::string statuses;
  for (const auto& [status, count] : result.statuses) {
    fmt::format_to(std::back_inserter(statuses), "{}\"{}\":{}", statuses.empty() ? "" : ",", status,
                   count);
  }
  return fmt::format(
      R"({{"requests":{},"per_second":{:.2f},"wrong_answers":{},"reopened_connections":{},)"
      R"("statuses":{{{}}},"p50_seconds":{:.6f},"p90_seconds":{:.6f},"p99_seconds":{:.6f},)"
      R"("p999_seconds":{:.6f},"max_seconds":{:.6f},"p99_lowest_sixth_seconds":{:.6f},"p99_highest_sixth_seconds":{:.6f},"first_wrong":{}}})",
      result.requests, static_cast<double>(result.requests) / result.seconds, result.wrong_answers,
      result.reopened, statuses, at(0.5), at(0.9), at(0.99), at(0.999), at(1),
      result.p99_of_sixths_seconds.front(), result.p99_of_sixths_seconds.back(),
      Quoted(result.first_wrong));
}

int Wrong(std::string_view what) {
  fmt::print(stderr, "kubernetes_bench: {}; usage stands at the top of its source\n", what);
  return 2;
}

struct Job {
  std::string name;
  LoadPlan plan;
  std::vector<Question> questions;
  SSL_CTX* context = nullptr;
  LoadResult result;
};

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  std::map<std::string, std::string, std::less<>> given = {
      {"port", ""},          {"ca", ""},       {"certificate", ""}, {"key", ""},
      {"workloads", ""},     {"gets", ""},     {"admissions", ""},  {"new-connections", ""},
      {"connections", "16"}, {"seconds", "10"}};
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    const size_t equals = argument.find('=');
    if (!argument.starts_with("--") || equals == std::string_view::npos) return Wrong(argument);
    const auto flag = given.find(argument.substr(2, equals - 2));
    if (flag == given.end()) return Wrong(argument);
    flag->second = argument.substr(equals + 1);
  }
  const auto read = [&](std::string_view name, auto& out) {
    const std::string& text = given.find(name)->second;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
    return error == std::errc() && end == text.data() + text.size() && out > 0;
  };
  uint16_t port = 0;
  LoadPlan plan;
  if (!read("port", port)) return Wrong("--port");
  if (!read("connections", plan.connections)) return Wrong("--connections");
  if (!read("seconds", plan.seconds)) return Wrong("--seconds");
  const auto workloads = ReadWorkloads(given["workloads"]);
  if (workloads.empty()) return Wrong("--workloads has none");
  const SslContext proxy = MakeContext(given["ca"], given["certificate"], given["key"]);
  const SslContext plain = MakeContext(given["ca"], "", "");
  if (!proxy || !plain) return Wrong("a certificate cannot be used");

  std::vector<Job> jobs;
  for (const std::string_view name : {"gets", "admissions", "new-connections"}) {
    const std::string& rate = given.find(name)->second;
    if (rate.empty()) continue;
    Job job;
    job.name = name;
    job.plan = plan;
    if (rate != "max" && !read(name, job.plan.per_second)) return Wrong(name);
    if (name != "gets") job.plan.connections = (plan.connections + 1) / 2;
    job.plan.always_new = name == "new-connections";
    job.context = name == "admissions" ? plain.get() : proxy.get();
    job.questions.reserve(workloads.size());
    uint64_t number = 0;
    for (const NamedWorkload& workload : workloads) {
      job.questions.push_back(name == "admissions" ? PodReview(workload, ++number)
                                                   : TargetReplicas(workload));
    }
    jobs.push_back(std::move(job));
  }
  if (jobs.empty()) return Wrong("none of --gets, --admissions, --new-connections");

  std::vector<std::thread> threads;
  threads.reserve(jobs.size());
  for (Job& job : jobs) {
    threads.emplace_back(
        [&job, port] { job.result = RunLoad(job.plan, job.questions, job.context, port); });
  }
  for (std::thread& thread : threads) thread.join();
  std::string text;
  bool all_right = true;
  for (const Job& job : jobs) {
    fmt::format_to(std::back_inserter(text), "{}\"{}\":{}", text.empty() ? "" : ",", job.name,
                   Json(job.result));
    all_right = all_right && job.result.wrong_answers == 0;
  }
  fmt::print("{{{}}}\n", text);
  return all_right ? 0 : 1;
}
