#include "cmd/doctor_flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <fstream>
#include <iterator>
#include <utility>
#include <vector>

#include "client/in_cluster.h"
#include "cmd/build_info.h"
#include "cmd/kubeconfig.h"
#include "cmd/prometheus_access.h"
#include "cmd/server_flags.h"
#include "cmd/text.h"

namespace tidemark::cmd {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kServiceShape = "NAMESPACE/NAME[:PORT]";

Result<PortAddress> ReadPortUrl(const std::string& url) {
  constexpr std::string_view kFlag = "kubernetes.url";
  constexpr std::string_view kScheme = "https://";
  if (auto good = client::CheckUrl(url); !good) return WrongFlag(kFlag, good.error().message);
  if (!url.starts_with(kScheme)) {
    return WrongFlag(kFlag, "the Kubernetes port speaks HTTPS only, allowed: https://HOST[:PORT]");
  }
  std::string_view rest = std::string_view(url).substr(kScheme.size());
  rest = rest.substr(0, rest.find('/'));
  PortAddress address{.host = {}, .port = "443"};
  size_t end = rest.find(':');
  if (rest.starts_with('[')) {
    const size_t bracket = rest.find(']');
    address.host = rest.substr(1, bracket - 1);
    end = rest.find(':', bracket);
  } else {
    address.host = rest.substr(0, end);
  }
  if (end != std::string_view::npos) address.port = rest.substr(end + 1);
  return address;
}

/// RFC 1123 label, as names of namespaces and Services are.
bool IsName(std::string_view text) {
  constexpr std::string_view kInner = "abcdefghijklmnopqrstuvwxyz0123456789-";
  return !text.empty() && text.size() <= 63 && text.find_first_not_of(kInner) == text.npos &&
         text.front() != '-' && text.back() != '-';
}

Result<doctor::ServiceName> ReadService(std::string_view text) {
  doctor::ServiceName service;
  const auto wrong = [&] {
    return WrongFlag("service",
                     fmt::format("{} is no Service, allowed: {}", Shown(text), kServiceShape));
  };
  const size_t slash = text.find('/');
  if (slash == text.npos) return wrong();
  service.name_space = text.substr(0, slash);
  std::string_view name = text.substr(slash + 1);
  const size_t colon = name.find(':');
  if (colon != name.npos) {
    const std::string_view port = name.substr(colon + 1);
    const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), service.port);
    if (error != std::errc() || end != port.data() + port.size() || service.port < 1 ||
        service.port > 65535) {
      return wrong();
    }
    name = name.substr(0, colon);
  }
  service.name = name;
  if (!IsName(service.name_space) || !IsName(service.name)) return wrong();
  return service;
}

Result<void> ReadAuthorities(const std::string& path, DoctorOrder& order) {
  if (path.empty()) return {};
  std::ifstream file(path, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  auto chain = doctor::ReadPem(text);
  if (!chain) {
    return WrongFlag("kubernetes.ca-file",
                     fmt::format("{}: {}, allowed: a file with PEM", Shown(path),
                                 file.is_open() ? chain.error().message : "it cannot be read"));
  }
  order.authorities = *std::move(chain);
  // What stands beside the certificates in the file is nobody's business in the cluster.
  order.ca_bundle_pem = doctor::WritePem(order.authorities);
  return {};
}

Result<client::HttpClientOptions> ReadApiServer(const GivenFlags& flags) {
  client::HttpClientOptions options;
  options.url = FlagValue(flags, "kubernetes.server");
  options.authorization.credentials_file = FlagValue(flags, "kubernetes.token-file");
  options.tls_config.ca_file = FlagValue(flags, "kubernetes.server-ca-file");
  options.connect_timeout = 5s;
  options.timeout = 30s;
  if (auto good = client::CheckOptions(options); !good) {
    return WrongFlag("kubernetes.server", good.error().message);
  }
  for (const auto& [flag, path] :
       {std::pair("kubernetes.token-file", &options.authorization.credentials_file),
        std::pair("kubernetes.server-ca-file", &options.tls_config.ca_file)}) {
    if (path->empty()) continue;
    const std::ifstream file(*path);
    if (!file) return WrongFlag(flag, fmt::format("{} cannot be read", Shown(*path)));
  }
  return options;
}

/// By flags, by the kubeconfig that was named, as a pod, by the kubeconfig that kubectl would read;
/// the first that there is.
Result<void> ReadKubernetes(const GivenFlags& flags,
                            const std::function<std::string(const char* name)>& environment,
                            DoctorOrder& order) {
  const bool by_server = flags.contains("kubernetes.server");
  for (const char* const flag : {"kubernetes.token-file", "kubernetes.server-ca-file"}) {
    if (flags.contains(flag) && !by_server) {
      return WrongFlag(flag, "it says nothing alone, allowed: together with --kubernetes.server");
    }
  }
  if (by_server) {
    if (flags.contains("kubeconfig") || flags.contains("context")) {
      return WrongFlag("kubernetes.server",
                       "the API is named twice, allowed: it, or --kubeconfig and --context");
    }
    auto options = ReadApiServer(flags);
    if (!options) return tl::unexpected(options.error());
    order.kubernetes = *std::move(options);
    return {};
  }
  std::string path = FlagValue(flags, "kubeconfig");
  const bool named = !path.empty() || flags.contains("context");
  const std::string agent = fmt::format("tidetool/{}", ThisBuild().version);
  if (!named && client::IsInCluster(environment)) {
    auto options = client::InClusterOptions(agent, environment);
    if (!options) {
      order.why_no_kubernetes = options.error().message;
      return {};
    }
    order.kubernetes = *std::move(options);
    return {};
  }
  if (path.empty()) {
    auto usual = DefaultKubeconfig(environment);
    if (!usual) return WrongFlag("kubeconfig", usual.error().message);
    path = *std::move(usual);
  }
  if (path.empty()) {
    if (flags.contains("context")) {
      return WrongFlag("context", "there is no kubeconfig, allowed: together with --kubeconfig");
    }
    order.why_no_kubernetes =
        "no access to the Kubernetes API was given: no --kubernetes.server, no --kubeconfig, and "
        "this is no pod";
    return {};
  }
  auto read = ReadKubeconfig(path, FlagValue(flags, "context"));
  if (!read) {
    if (named) return WrongFlag("kubeconfig", read.error().message);
    // Nobody has asked for this file: the other checks go on without it.
    order.why_no_kubernetes = read.error().message;
    return {};
  }
  order.kubernetes = std::move(read->options);
  return {};
}

Result<void> ReadActions(const GivenFlags& flags, DoctorOrder& order) {
  order.take_api_service = flags.contains("take-apiservice");
  order.force = flags.contains("force-take-apiservice");
  order.print_api_service = flags.contains("print-apiservice");
  if (order.force && !order.take_api_service) {
    return WrongFlag("force-take-apiservice",
                     "it says nothing alone, allowed: together with --take-apiservice");
  }
  if (order.take_api_service && order.print_api_service) {
    return WrongFlag("print-apiservice", "allowed: it or --take-apiservice");
  }
  if (order.take_api_service && !order.kubernetes) {
    return WrongFlag("take-apiservice", order.why_no_kubernetes);
  }
  const std::string output = flags.contains("output") ? FlagValue(flags, "output") : "table";
  const auto* const known = std::ranges::find(doctor::kAllOutputs, output,
                                              [](doctor::Output o) { return doctor::ToString(o); });
  if (known == doctor::kAllOutputs.end()) {
    return WrongFlag("output", fmt::format("{} is no form, allowed: table, json", Shown(output)));
  }
  order.output = *known;
  return {};
}

}  // namespace

CommandSpec DoctorSpec() {
  std::vector<FlagSpec> flags = {
      {"tidemark.url", "URL", "Tidemark's web port, e.g. http://tidemark:9849."}};
  AddServerAccessFlags("tidemark", "Tidemark's", flags);
  flags.push_back({"kubernetes.url", "URL",
                   "Tidemark's Kubernetes port, e.g. https://tidemark.tidemark.svc:443; its "
                   "certificate is looked at."});
  flags.push_back({"kubernetes.ca-file", "PATH",
                   "Authority of that certificate, PEM: what caBundle is to have."});
  flags.push_back({"service", "tidemark/tidemark:443",
                   fmt::format("The Service in front of that port: {}.", kServiceShape)});
  flags.push_back({"kubeconfig", "PATH",
                   "How the Kubernetes API is reached. Default: as a pod, else as kubectl does."});
  flags.push_back({"context", "NAME", "Context of the kubeconfig. Default: its current one."});
  flags.push_back({"kubernetes.server", "URL", "The Kubernetes API itself, without a kubeconfig."});
  flags.push_back({"kubernetes.token-file", "PATH", "File with a bearer token for it."});
  flags.push_back({"kubernetes.server-ca-file", "PATH", "Authority of its certificate, PEM."});
  flags.push_back({"prometheus.url", "URL", "The Prometheus that scrapes Tidemark."});
  AddServerAccessFlags("prometheus", "Prometheus'", flags);
  flags.push_back({"output", "table", "table or json."});
  flags.push_back({"print-apiservice", "",
                   "Print the APIService that makes Tidemark serve external metrics, and check "
                   "nothing."});
  flags.push_back({"take-apiservice", "",
                   "Write that APIService into the cluster, and check nothing. One that belongs to "
                   "KEDA or another program is left alone."});
  flags.push_back(
      {"force-take-apiservice", "", "With --take-apiservice: take it from whoever has it."});
  return {"tidetool doctor",
          "Checks an installation: what is wrong, what it means and what to do. Changes nothing "
          "unless told to. Exit code: 0, or 1 when there are problems.",
          std::move(flags),
          {}};
}

Result<DoctorOrder> ReadDoctorFlags(
    const CommandLine& line, const std::function<std::string(const char* name)>& environment) {
  const GivenFlags& flags = line.flags;
  DoctorOrder order;
  const auto read = [&]() -> Result<void> {
    for (const auto& [prefix, out] :
         {std::pair("tidemark", &order.tidemark), std::pair("prometheus", &order.prometheus)}) {
      auto server = ReadServerFlags(flags, prefix);
      if (!server) return tl::unexpected(server.error());
      *out = *std::move(server);
    }
    if (flags.contains("kubernetes.url")) {
      auto address = ReadPortUrl(FlagValue(flags, "kubernetes.url"));
      if (!address) return tl::unexpected(address.error());
      order.kubernetes_port = *std::move(address);
    }
    if (auto good = ReadAuthorities(FlagValue(flags, "kubernetes.ca-file"), order); !good) {
      return good;
    }
    if (flags.contains("service")) {
      auto service = ReadService(FlagValue(flags, "service"));
      if (!service) return tl::unexpected(service.error());
      order.service = *std::move(service);
    }
    if (auto good = ReadKubernetes(flags, environment, order); !good) return good;
    return ReadActions(flags, order);
  };
  if (auto good = read(); !good) return tl::unexpected(good.error());
  if (order.kubernetes) {
    order.kubernetes->user_agent = fmt::format("tidetool/{}", ThisBuild().version);
  }
  return order;
}

}  // namespace tidemark::cmd
