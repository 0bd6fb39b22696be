#include "cmd/rightsize_command.h"

#include <fmt/format.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): SIGPIPE is POSIX

#include <array>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <exception>
#include <memory>
#include <system_error>
#include <thread>
#include <utility>

#include "client/http_client.h"
#include "cmd/build_info.h"
#include "cmd/flags.h"
#include "cmd/report/display_text.h"
#include "cmd/server_flags.h"
#include "cmd/text.h"
#include "cmd/unified_diff.h"
#include "cmd/write_report.h"
#include "rightsizing/manifest.h"

namespace tidemark::cmd {
namespace {

namespace json = boost::json;

constexpr std::string_view kName = "tidetool rightsize";
constexpr std::string_view kDefaultUrl = "http://localhost:9849";
constexpr int kDiffersExitCode = 1;
constexpr int kServerExitCode = 3;

struct Order {
  std::string path;  ///< "-": standard input
  client::HttpClientOptions tidemark;
  std::string name_space;
  std::optional<std::string> cluster;
  std::string output_file;
  bool diff = false;
  bool quiet = false;
};

Result<Order> ReadOrder(const CommandLine& line) {
  Order order;
  order.path = line.arguments.front();
  GivenFlags flags = line.flags;
  flags.try_emplace("tidemark.url", kDefaultUrl);
  auto server = ReadServerFlags(flags, "tidemark");
  if (!server) return tl::unexpected(server.error());
  order.tidemark = **std::move(server);
  // A large manifest, answered with a report that has it once more.
  order.tidemark.timeout = std::chrono::minutes(2);
  order.name_space = FlagValue(flags, "namespace");
  if (flags.contains("cluster")) order.cluster = FlagValue(flags, "cluster");
  order.output_file = FlagValue(flags, "output.file");
  order.diff = flags.contains("diff");
  order.quiet = flags.contains("quiet");
  return order;
}

struct CloseFile {
  void operator()(std::FILE* file) const {
    if (file != stdin) std::fclose(file);
  }
};

Result<std::string> ReadManifest(const std::string& path) {
  const auto fail = [&path](const std::string& why) {
    return Fail(ErrorCode::kIo, fmt::format("{}: {}", path == "-" ? "standard input" : path, why));
  };
  const std::unique_ptr<std::FILE, CloseFile> file(path == "-" ? stdin
                                                               : std::fopen(path.c_str(), "re"));
  if (!file) return fail(std::generic_category().message(errno));
  std::string text;
  std::array<char, 64 * 1024> block{};
  while (text.size() <= rightsizing::kMaxManifestBytes) {
    const size_t size = std::fread(block.data(), 1, block.size(), file.get());
    if (size == 0) break;
    text.append(block.data(), size);
  }
  if (std::ferror(file.get()) != 0) return fail(std::generic_category().message(errno));
  if (text.size() > rightsizing::kMaxManifestBytes) {
    return fail(fmt::format("more than {} bytes, allowed: at most as many",
                            rightsizing::kMaxManifestBytes));
  }
  return text;
}

/// `data` of the answer.
Result<json::value> Ask(const Order& order, const std::string& manifest) {
  auto http = client::HttpClient::Open(order.tidemark);
  if (!http) return tl::unexpected(http.error());
  client::Request request;
  request.method = "POST";
  request.path = "/api/v1/rightsize";
  request.query = {{"report", "true"}};
  if (!order.name_space.empty()) request.query.emplace_back("namespace", order.name_space);
  if (order.cluster) request.query.emplace_back("cluster", *order.cluster);
  request.content_type = "application/yaml";
  request.body = manifest;
  auto answer = (*http)->Fetch(request);
  // It works on few at a time.
  constexpr int kTries = 30;
  for (int i = 0; i < kTries && !answer && answer.error().retry_after; ++i) {
    std::this_thread::sleep_for(std::chrono::seconds(1));
    answer = (*http)->Fetch(request);
  }
  if (!answer) return Fail(ErrorCode::kUnavailable, answer.error().message);
  try {
    return json::parse(answer->body).at("data");
  } catch (const std::exception&) {
    return Fail(ErrorCode::kUnavailable,
                "what answers is no Tidemark: its answer is not that of /api/v1/rightsize");
  }
}

std::string TextOf(const json::value& line, std::string_view key) {
  const json::value* const text = line.as_object().if_contains(key);
  return text == nullptr || !text->is_string() ? "" : std::string(text->get_string());
}

/// "shop/web Deployment app: cpu 2 -> 650m: …", a line each, on stderr.
void Tell(const json::value& data) {
  const auto object = [](const json::value& line) {
    std::string name = fmt::format("{} {}/{}", TextOf(line, "kind"), TextOf(line, "namespace"),
                                   TextOf(line, "name"));
    const std::string container = TextOf(line, "container");
    return container.empty() ? name : fmt::format("{} {}", name, container);
  };
  for (const json::value& line : data.at("changes").as_array()) {
    const std::string before = TextOf(line, "before");
    fmt::print(stderr, "{}\n",
               report::Printable(fmt::format(
                   "{}: {} {} -> {}; {}", object(line), TextOf(line, "resource"),
                   before.empty() ? "none" : before, TextOf(line, "after"), TextOf(line, "what"))));
  }
  for (const json::value& line : data.at("kept").as_array()) {
    const std::string resource = TextOf(line, "resource");
    fmt::print(stderr, "{}\n",
               report::Printable(fmt::format("{}: {}{}", object(line),
                                             resource.empty() ? "" : resource + " ",
                                             TextOf(line, "what"))));
  }
}

int Complain(int code, const Error& error) {
  fmt::print(stderr, "{}: error: {}\n", kName, report::Printable(error.message));
  return code;
}

int Run(const Order& order) {
  const auto manifest = ReadManifest(order.path);
  if (!manifest) return Complain(kUsageExitCode, manifest.error());
  const auto data = Ask(order, *manifest);
  if (!data) return Complain(kServerExitCode, data.error());
  std::string after;
  try {
    after = std::string(data->at("manifest").as_string());
    if (!order.quiet) Tell(*data);
  } catch (const std::exception&) {
    return Complain(kServerExitCode, {ErrorCode::kUnavailable, "the answer is not whole"});
  }
  std::string out = after;
  if (order.diff) {
    const std::string name = order.path == "-" ? "manifest" : order.path;
    out = UnifiedDiff(*manifest, after, "a/" + name, "b/" + name);
  }
  if (auto written = WriteReport(order.output_file, out); !written) {
    return Complain(kUsageExitCode, written.error());
  }
  return order.diff && !out.empty() ? kDiffersExitCode : 0;
}

}  // namespace

CommandSpec RightsizeSpec() {
  CommandSpec spec = {
      std::string(kName),
      "Asks a running Tidemark what the workloads of a manifest should request, and prints the "
      "manifest with it; all else stays as it is written.",
      {{"diff", "",
        "Print the changes as a unified diff. Exit code 1 when there are any, 0 when there are "
        "none."},
       {"namespace", "default", "Of objects that say none."},
       {"cluster", "NAME",
        "Whose workloads they are, by the label cluster of the streams; needed "
        "where these carry more than one."},
       {"output.file", "PATH", "Write there instead of to standard output; may be FILE itself."},
       {"quiet", "", "Say nothing on standard error of what is changed, what is not, and why."},
       {"tidemark.url", std::string(kDefaultUrl), "Where Tidemark is."}},
      {{"file", "Manifest in YAML or JSON; - is standard input."}}};
  AddServerAccessFlags("tidemark", "Tidemark's", spec.flags);
  return spec;
}

int RunRightsizeCommand(std::span<const std::string> args) {
  const CommandSpec spec = RightsizeSpec();
  const auto line = ParseCommandLine(spec, args);
  if (!line) return ReportUsageError(kName, line.error());
  if (line->help || line->version) {
    fmt::print("{}", line->help ? HelpText(spec) : VersionText(kName));
    return 0;
  }
  const auto order = ReadOrder(*line);
  if (!order) return ReportUsageError(kName, order.error());
  signal(SIGPIPE, SIG_IGN);  // TLS is written without a way to hold it back
  return Run(*order);
}

}  // namespace tidemark::cmd
