#include <fmt/format.h>

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "cmd/report/writers.h"

namespace tidemark::report {
namespace {

/// The fields of one record.
class Record {
 public:
  explicit Record(std::string& out) : out_(out) {}

  void Text(std::string_view text) {
    Separate();
    if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
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
  void Number(const std::optional<double>& value) {
    Separate();
    if (value) out_ += fmt::format("{}", *value);
  }
  void End() { out_ += "\r\n"; }

 private:
  void Separate() {
    if (begun_) out_ += ',';
    begun_ = true;
  }

  std::string& out_;
  bool begun_ = false;
};

constexpr auto kColumns = std::to_array<std::string_view>({"cluster",
                                                           "namespace",
                                                           "workload_type",
                                                           "workload",
                                                           "container",
                                                           "replicas",
                                                           "severity",
                                                           "confidence_days",
                                                           "profile",
                                                           "autoscaler",
                                                           "cpu_request_cores",
                                                           "cpu_limit_cores",
                                                           "cpu_recommended_request_cores",
                                                           "cpu_lower_bound_cores",
                                                           "cpu_upper_bound_cores",
                                                           "cpu_reclaimable_cores",
                                                           "memory_request_bytes",
                                                           "memory_limit_bytes",
                                                           "memory_recommended_request_bytes",
                                                           "memory_lower_bound_bytes",
                                                           "memory_upper_bound_bytes",
                                                           "memory_reclaimable_bytes",
                                                           "memory_kills",
                                                           "savings_per_month",
                                                           "currency",
                                                           "cpu_reason",
                                                           "memory_reason"});

void AddResource(const Cell* cell, Record& record) {
  const ResourceAdvice advice = cell == nullptr ? ResourceAdvice{} : cell->advice;
  for (const std::optional<double>& value :
       {advice.current_request, advice.current_limit, advice.recommended_request,
        advice.lower_bound, advice.upper_bound, advice.reclaimable}) {
    record.Number(value);
  }
}

}  // namespace

std::string WriteCsv(const Report& report) {
  std::string out;
  Record header(out);
  for (const std::string_view column : kColumns) header.Text(column);
  header.End();
  for (const Row& row : report.rows) {
    const Cell* const cpu = row.Find(Resource::kCpu);
    const Cell* const memory = row.Find(Resource::kMemory);
    Record record(out);
    record.Text(row.id.cluster);
    record.Text(row.id.name_space);
    record.Text(row.id.workload_type);
    record.Text(row.id.workload);
    record.Text(row.container);
    record.Number(row.replicas);
    record.Text(ToString(row.severity));
    record.Number(row.confidence_days);
    record.Text(row.profile);
    record.Text(row.autoscaler == nullptr ? "" : row.autoscaler->name);
    AddResource(cpu, record);
    AddResource(memory, record);
    record.Number(memory == nullptr ? std::optional<double>() : memory->advice.kills);
    record.Number(row.savings_per_month);
    record.Text(row.savings_per_month ? report.prices.currency : "");
    record.Text(cpu == nullptr ? "" : cpu->reason);
    record.Text(memory == nullptr ? "" : memory->reason);
    record.End();
  }
  return out;
}

}  // namespace tidemark::report
