#include "cmd/replay_requests/report_text.h"

#include <fmt/format.h>

#include <chrono>

#include "cmd/units.h"

namespace tidemark::replay_requests {

std::string SlackText(std::optional<double> slack) {
  return slack ? fmt::format("{:.2f}", *slack) : "-";
}

std::string ShareText(double ratio) { return fmt::format("{:.2f} %", ratio * 100); }

std::string TimesText(const ReplayTimes& times) {
  const auto text = [](int64_t ms) { return cmd::FormatDuration(std::chrono::milliseconds(ms)); };
  return fmt::format("requests every {} after the first {}", text(times.interval_ms),
                     text(times.warm_up_ms));
}

std::string KnobText(const EqualRisk& risk) {
  return risk.point ? fmt::format("{} {:.4g}", ToString(risk.knob), risk.point->setting) : "";
}

std::string TargetText(Resource resource, double target) {
  return resource == Resource::kCpu
             ? fmt::format("CPU, {:g} % of samples above the request", target * 100)
             : fmt::format("memory, {:g} kills per pod and day", target);
}

std::string_view TitleOf(Resource resource) {
  return resource == Resource::kCpu ? "CPU" : "memory";
}

}  // namespace tidemark::replay_requests
