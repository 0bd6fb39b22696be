#include "cmd/doctor_command.h"

#include <fmt/format.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): SIGPIPE is POSIX

#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>

#include "client/in_cluster.h"
#include "cmd/build_info.h"
#include "cmd/doctor/api_service.h"
#include "cmd/doctor/asker.h"
#include "cmd/doctor/checks.h"
#include "cmd/doctor_flags.h"
#include "cmd/flags.h"
#include "cmd/report/display_text.h"
#include "model/clock.h"

namespace tidemark::cmd {
namespace {

constexpr std::string_view kName = "tidetool doctor";
constexpr std::chrono::seconds kProbeTimeout{10};

int Complain(const Error& error) {
  fmt::print(stderr, "{}: error: {}\n", kName, report::Printable(error.message));
  return 1;
}

/// Null when it was not given.
Result<std::unique_ptr<doctor::Asker>> Open(
    const std::optional<client::HttpClientOptions>& options) {
  if (!options) return std::unique_ptr<doctor::Asker>();
  return doctor::HttpAsker(*options);
}

int Take(const DoctorOrder& order) {
  const auto kubernetes = Open(order.kubernetes);
  if (!kubernetes) return Complain(kubernetes.error());
  const auto done =
      doctor::TakeApiService(**kubernetes, order.service, order.ca_bundle_pem, order.force);
  if (!done) return Complain(done.error());
  fmt::print("{}\n", report::Printable(*done));
  if (order.ca_bundle_pem.empty()) {
    fmt::print(stderr, "{}: warning: without --kubernetes.ca-file the APIService has no caBundle\n",
               kName);
  }
  return 0;
}

int Check(const DoctorOrder& order) {
  const auto tidemark = Open(order.tidemark);
  const auto prometheus = Open(order.prometheus);
  const auto kubernetes = Open(order.kubernetes);
  for (const auto* const opened : {&tidemark, &prometheus, &kubernetes}) {
    if (!*opened) return Complain(opened->error());
  }
  doctor::Installation installation;
  installation.tidemark = tidemark->get();
  installation.prometheus = prometheus->get();
  installation.kubernetes = kubernetes->get();
  installation.why_no_kubernetes = order.why_no_kubernetes;
  installation.service = order.service;
  installation.authorities = order.authorities;
  installation.now_ms = ToUnixMs(SystemClock().Now());
  installation.version = ThisBuild().version;
  if (order.kubernetes_port) {
    installation.served =
        doctor::FetchServedChain(order.kubernetes_port->host, order.kubernetes_port->port,
                                 order.service.DnsName(), kProbeTimeout);
  }
  const doctor::Findings findings = doctor::CheckAll(installation);
  fmt::print("{}", doctor::Write(order.output, findings));
  if (std::fflush(stdout) != 0) return Complain({ErrorCode::kIo, "stdout cannot be written"});
  return findings.Count(doctor::Verdict::kProblem) == 0 ? 0 : 1;
}

}  // namespace

int RunDoctorCommand(std::span<const std::string> args) {
  const auto line = ParseCommandLine(DoctorSpec(), args);
  if (!line) return ReportUsageError(kName, line.error());
  if (line->help || line->version) {
    fmt::print("{}", line->help ? HelpText(DoctorSpec()) : VersionText("tidetool"));
    return 0;
  }
  signal(SIGPIPE, SIG_IGN);  // a peer that goes away is an error of its socket
  const auto order = ReadDoctorFlags(*line, client::ProcessEnvironment);
  if (!order) return ReportUsageError(kName, order.error());
  if (order->print_api_service) {
    fmt::print("{}", doctor::ApiServiceYaml(order->service, order->ca_bundle_pem));
    return 0;
  }
  return order->take_api_service ? Take(*order) : Check(*order);
}

}  // namespace tidemark::cmd
