#include <string>

#include "cmd/replay_requests/report_text.h"
#include "exporter/json_writer.h"

namespace tidemark::replay_requests {
namespace {

using exporter::JsonWriter;

void Optional(JsonWriter& out, std::string_view key, std::optional<double> value) {
  out.Key(key);
  out.Number(value.value_or(kAbsent));
}

void Number(JsonWriter& out, std::string_view key, double value) {
  out.Key(key);
  out.Number(value);
}

void Unsigned(JsonWriter& out, std::string_view key, uint64_t value) {
  out.Key(key);
  out.Unsigned(value);
}

void AppendOutcome(JsonWriter& out, const Trace& trace, std::string_view preset, size_t resource,
                   const Outcome& outcome) {
  const bool is_memory = kReplayed[resource] == Resource::kMemory;
  out.BeginObject();
  out.Member("trace", trace.name);
  out.Member("preset", preset);
  out.Member("resource", ResourceName(kReplayed[resource]));
  Optional(out, "slack", outcome.Slack());
  Number(out, "breach_ratio", outcome.BreachRatio());
  Number(out, "breach_depth", outcome.Depth());
  // Too little CPU kills nobody.
  Number(out, "kills_per_pod_day", is_memory ? outcome.EpisodesPerPodDay() : 0);
  Unsigned(out, "changes", outcome.changes);
  out.Member("class", trace.kind);
  out.Key("real");
  out.Bool(trace.real);
  Unsigned(out, "episodes", outcome.episodes);
  Unsigned(out, "samples", outcome.samples);
  Unsigned(out, "unadvised_samples", outcome.unadvised);
  Number(out, "pod_days", outcome.pod_days);
  Number(out, "used_sum", outcome.used);
  Number(out, "requested_sum", outcome.requested);
  Optional(out, "mean_request", outcome.MeanRequest());
  Optional(out, "last_request", outcome.LastRequest());
  Optional(out, "original_slack", OriginalSlack(trace, outcome, resource));
  out.EndObject();
}

void AppendEqualRisk(JsonWriter& out, const EqualRisk& risk) {
  const bool is_memory = risk.resource == Resource::kMemory;
  const auto of = [&](double KnobPoint::*member) {
    return risk.point ? std::optional(*risk.point.*member) : std::nullopt;
  };
  const auto reached = of(&KnobPoint::risk);
  out.BeginObject();
  out.Member("trace", "*");
  out.Member("preset", risk.preset);
  out.Member("resource", ResourceName(risk.resource));
  Optional(out, "slack", of(&KnobPoint::slack_mean));
  Optional(out, "breach_ratio", is_memory ? std::nullopt : reached);
  Optional(out, "breach_depth", std::nullopt);
  Optional(out, "kills_per_pod_day", is_memory ? reached : std::nullopt);
  Optional(out, "changes", of(&KnobPoint::changes));
  Number(out, "target", risk.target);
  out.Member("knob", ToString(risk.knob));
  Optional(out, "knob_setting", of(&KnobPoint::setting));
  Optional(out, "slack_median", of(&KnobPoint::slack_median));
  Optional(out, "bill", of(&KnobPoint::bill));
  out.EndObject();
}

}  // namespace

std::string ReportJson(const ReplayReport& report) {
  JsonWriter out;
  out.BeginArray();
  for (size_t t = 0; t < report.traces.size(); ++t) {
    for (size_t p = 0; p < report.presets.size(); ++p) {
      for (size_t r = 0; r < kReplayed.size(); ++r) {
        AppendOutcome(out, report.traces[t], report.presets[p], r, report.outcomes[t][p][r]);
      }
    }
  }
  for (const EqualRisk& risk : report.equal_risks) AppendEqualRisk(out, risk);
  out.EndArray();
  return out.Take() + '\n';
}

}  // namespace tidemark::replay_requests
