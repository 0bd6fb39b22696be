#include <fmt/format.h>

#include "cmd/doctor/checks.h"
#include "cmd/doctor/exposition_reader.h"
#include "cmd/doctor/json_view.h"

namespace tidemark::doctor {
namespace {

void CheckReady(Asker& tidemark, Findings& findings) {
  const Reply ready = tidemark.Get("/-/ready");
  if (ready.good()) return findings.Ok("tidemark.ready", "Tidemark answers and is ready.");
  if (ready.status == 401) {
    return findings.Problem("tidemark.ready",
                            "Tidemark answers, but does not take these credentials (401).",
                            "Give --tidemark.username and --tidemark.password-file, or a client "
                            "certificate, as in its --web.config.file.");
  }
  if (ready.status == 503) {
    return findings.Problem("tidemark.ready",
                            "Tidemark answers, but is not ready: it reads its store, or stops.",
                            "Wait; if it stays so, look at its log.");
  }
  findings.Problem("tidemark.ready",
                   fmt::format("Tidemark does not answer as it should: {}.", ready.trouble),
                   "Check --tidemark.url, that the program runs, and what stands between (Service, "
                   "NetworkPolicy, TLS).");
}

void CheckVersion(Asker& tidemark, const std::string& own, Findings& findings) {
  const JsonReply build = GetJson(tidemark, "/api/v1/status/buildinfo");
  if (!build.good()) return findings.Skipped("tidemark.version", build.trouble);
  const std::string version = TextAt(build.value, {"data", "version"});
  if (version.empty()) {
    return findings.Problem("tidemark.version",
                            "What answers is not Tidemark: its build information has no version.",
                            "Check --tidemark.url.");
  }
  if (version != own) {
    return findings.Warning(
        "tidemark.version",
        fmt::format("Tidemark {} answers, and this is tidetool {}: checks may not fit.", version,
                    own),
        "Use the tidetool of the same release.");
  }
  findings.Ok("tidemark.version", fmt::format("Tidemark {}.", version));
}

void CheckReload(const std::string& metrics, std::string_view name, std::string_view what,
                 std::string_view check, Findings& findings) {
  const auto good = MetricValue(metrics, name);
  if (!good) return;
  if (*good == 1) {
    return findings.Ok(check, fmt::format("The {} in force is the one in the file.", what));
  }
  findings.Problem(
      check, fmt::format("The last reload of the {} failed: the one before is in force.", what),
      fmt::format("Run tidetool {} on the file and mend it; the log has the line.",
                  what == "configuration" ? "check-config" : "check-web-config"));
}

}  // namespace

Findings CheckTidemark(const Installation& installation) {
  Findings findings;
  if (installation.tidemark == nullptr) {
    findings.Skipped("tidemark.ready", "no --tidemark.url was given",
                     "Give the URL of Tidemark's web port, e.g. http://tidemark:9849.");
    return findings;
  }
  CheckReady(*installation.tidemark, findings);
  if (findings.Count(Verdict::kProblem) > 0) return findings;
  CheckVersion(*installation.tidemark, installation.version, findings);
  const Reply metrics = installation.tidemark->Get("/metrics");
  if (!metrics.good()) {
    findings.Skipped("tidemark.configuration", metrics.trouble);
    return findings;
  }
  CheckReload(metrics.body, "tidemark_config_last_reload_successful", "configuration",
              "tidemark.configuration", findings);
  CheckReload(metrics.body, "tidemark_web_config_last_reload_successful", "web configuration",
              "tidemark.web_configuration", findings);
  return findings;
}

}  // namespace tidemark::doctor
