#include <string>
#include <utility>

#include "cmd/report/cells.h"
#include "cmd/report/writers.h"
#include "exporter/advice_json.h"
#include "exporter/answer_json.h"
#include "exporter/json_writer.h"
#include "exporter/summary_json.h"

namespace tidemark::report {
namespace {

using exporter::JsonWriter;

void WriteTexts(std::string_view key, const std::vector<std::string>& texts, JsonWriter& json) {
  json.Key(key);
  json.BeginArray();
  for (const std::string& text : texts) json.String(text);
  json.EndArray();
}

void WriteCell(const Cell& cell, JsonWriter& json) {
  json.BeginObject();
  exporter::WriteAdvice(cell.advice, json);
  json.Member("request", ToString(cell.fit));
  exporter::WriteIfKnown("savings_per_month", cell.savings_per_month, json);
  exporter::WriteUnlessEmpty("reason", cell.reason, json);
  json.EndObject();
}

void WriteRow(const Row& row, JsonWriter& json) {
  json.BeginObject();
  exporter::WriteUnlessEmpty("cluster", row.id.cluster, json);
  json.Member("namespace", row.id.name_space);
  json.Member("workload_type", row.id.workload_type);
  json.Member("workload", row.id.workload);
  exporter::WriteUnlessEmpty("container", row.container, json);
  json.Key("replicas"), json.Number(row.replicas);
  json.Member("severity", ToString(row.severity));
  json.Key("confidence_days"), json.Number(row.confidence_days);
  exporter::WriteUnlessEmpty("profile", row.profile, json);
  exporter::WriteIfKnown("savings_per_month", row.savings_per_month, json);
  if (row.autoscaler != nullptr) {
    json.Key("autoscaler");
    json.BeginObject();
    json.Member("name", row.autoscaler->name);
    WriteTexts("targets", row.autoscaler->targets, json);
    json.Key("by_request"), json.Bool(row.autoscaler->by_request);
    json.EndObject();
  }
  json.Key("resources");
  json.BeginArray();
  for (const Cell& cell : row.cells) WriteCell(cell, json);
  json.EndArray();
  json.EndObject();
}

void WriteTotals(const Totals& totals, const Report& report, bool named, JsonWriter& json) {
  json.BeginObject();
  if (named) {
    exporter::WriteUnlessEmpty("cluster", totals.cluster, json);
    json.Member("namespace", totals.name_space);
  }
  json.Key("containers"), json.Unsigned(totals.Containers());
  json.Key("severities");
  json.BeginObject();
  for (size_t i = 0; i < kSeverityCount; ++i) {
    json.Key(ToString(static_cast<Severity>(i))), json.Unsigned(totals.severities[i]);
  }
  json.EndObject();
  exporter::WriteSummaryMembers(totals.sums, report.prices, *report.resources, json);
  json.EndObject();
}

}  // namespace

std::string WriteJson(const Report& report) {
  JsonWriter json;
  json.BeginObject();
  json.Key("version"), json.Unsigned(1);
  json.Member("prometheus", report.prometheus);
  exporter::WriteTime("start", report.start_ms, json);
  exporter::WriteTime("end", report.end_ms, json);
  json.Key("step_seconds"), json.Number(static_cast<double>(report.step_ms) / 1000);
  json.Member("profiles", report.profiles);
  if (report.prices.Any()) {
    json.Key("prices");
    json.BeginObject();
    json.Member("currency", report.prices.currency);
    json.Key("cpu_core_hour"), json.Number(report.prices.cpu_core_hour);
    json.Key("memory_gib_hour"), json.Number(report.prices.memory_gib_hour);
    json.Key("hours_per_month"), json.Number(kHoursPerMonth);
    json.EndObject();
  }
  json.Key("rows_in_all"), json.Unsigned(report.rows_in_all);
  json.Key("workloads_without_pods"), json.Unsigned(report.workloads_left_out);
  json.Key("rows");
  json.BeginArray();
  for (const Row& row : report.rows) WriteRow(row, json);
  json.EndArray();
  json.Key("namespaces");
  json.BeginArray();
  for (const Totals& totals : report.namespaces) WriteTotals(totals, report, true, json);
  json.EndArray();
  json.Key("total");
  WriteTotals(report.total, report, false, json);
  WriteTexts("warnings", report.warnings, json);
  WriteTexts("notes", report.notes, json);
  json.EndObject();
  return json.Take() + "\n";
}

}  // namespace tidemark::report
