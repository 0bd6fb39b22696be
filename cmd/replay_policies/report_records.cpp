#include <fmt/format.h>

#include <cmath>

#include "cmd/replay_policies/record.h"
#include "cmd/replay_policies/report.h"
#include "exporter/json_writer.h"

namespace tidemark::replay_policies {
namespace {

using exporter::JsonWriter;

class JsonValue {
 public:
  explicit JsonValue(JsonWriter& out) : out_(out) {}
  void operator()(const std::string& text) { out_.String(text); }
  void operator()(const std::optional<double>& amount) {
    out_.Number(amount.value_or(std::nan("")));
  }
  void operator()(uint64_t count) { out_.Unsigned(count); }

 private:
  JsonWriter& out_;
};

class CsvCell {
 public:
  explicit CsvCell(std::string& out) : out_(out) {}
  void operator()(const std::string& text) {
    if (text.find_first_of(",\"\r\n") == std::string::npos) {
      out_ += text;
      return;
    }
    out_ += '"';
    for (const char c : text) {
      if (c == '"') out_ += '"';
      out_ += c;
    }
    out_ += '"';
  }
  void operator()(const std::optional<double>& amount) {
    if (amount) out_ += fmt::format("{}", *amount);
  }
  void operator()(uint64_t count) { out_ += fmt::format("{}", count); }

 private:
  std::string& out_;
};

void AppendCsv(const Record& record, std::string& out) {
  if (out.empty()) {
    for (const Field& field : record) {
      out += fmt::format("{}{}", &field == record.data() ? "" : ",", field.name);
    }
    out += "\r\n";
  }
  for (const Field& field : record) {
    if (&field != record.data()) out += ',';
    std::visit(CsvCell(out), field.value);
  }
  out += "\r\n";
}

}  // namespace

std::string ReportJson(const ReplayRun& run) {
  JsonWriter out;
  out.BeginArray();
  for (size_t t = 0; t < run.traces.size(); ++t) {
    const ReplayedTrace& trace = run.traces[t];
    if (!trace.why.empty()) {
      out.BeginObject();
      out.Member("trace", trace.name);
      out.Member("class", trace.kind);
      out.Member("why", trace.why);
      out.EndObject();
      continue;
    }
    const Summary summary = Summarise(run, {t}, trace.kind);
    for (size_t p = 0; p < run.plan.policies.size(); ++p) {
      out.BeginObject();
      for (const Field& field : PolicyRecord(run, trace, summary, p)) {
        out.Key(field.name);
        std::visit(JsonValue(out), field.value);
      }
      out.EndObject();
    }
  }
  out.EndArray();
  return out.Take() + '\n';
}

std::string ReportCsv(const ReplayRun& run) {
  std::string out;
  for (size_t t = 0; t < run.traces.size(); ++t) {
    const ReplayedTrace& trace = run.traces[t];
    if (!trace.why.empty()) continue;
    const Summary summary = Summarise(run, {t}, trace.kind);
    for (size_t p = 0; p < run.plan.policies.size(); ++p) {
      AppendCsv(PolicyRecord(run, trace, summary, p), out);
    }
    AppendCsv(PerfectRecord(trace, summary), out);
  }
  for (const Summary& mean : MeansOf(run)) {
    for (size_t p = 0; p < run.plan.policies.size(); ++p) AppendCsv(MeanRecord(run, mean, p), out);
    AppendCsv(MeanPerfectRecord(mean), out);
  }
  return out;
}

}  // namespace tidemark::replay_policies
