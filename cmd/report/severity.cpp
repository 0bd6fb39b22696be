#include "cmd/report/severity.h"

#include <algorithm>

namespace tidemark::report {
namespace {

Severity SeverityOf(const ResourceAdvice& advice, bool told) {
  const bool memory = advice.resource == Resource::kMemory;
  if (memory && advice.kills > 0) return Severity::kCritical;
  switch (FitOf(advice)) {
    case RequestFit::kUnknown: return Severity::kUnknown;
    case RequestFit::kAbsent: return told ? Severity::kWarning : Severity::kOk;
    case RequestFit::kUnder: return memory ? Severity::kCritical : Severity::kWarning;
    case RequestFit::kFarOver: return Severity::kWarning;
    case RequestFit::kFitting:
    case RequestFit::kOver: break;
  }
  return Severity::kOk;
}

}  // namespace

std::string_view ToString(Severity severity) {
  switch (severity) {
    case Severity::kCritical: return "critical";
    case Severity::kWarning: return "warning";
    case Severity::kOk: return "ok";
    case Severity::kUnknown: return "unknown";
  }
  return "unknown";
}

Severity SeverityOf(std::span<const ResourceAdvice* const> resources, bool told) {
  Severity worst = Severity::kUnknown;
  for (const ResourceAdvice* const advice : resources) {
    worst = std::min(worst, SeverityOf(*advice, told));
  }
  return worst;
}

}  // namespace tidemark::report
