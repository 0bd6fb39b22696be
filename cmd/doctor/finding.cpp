#include "cmd/doctor/finding.h"

#include <algorithm>

namespace tidemark::doctor {

std::string_view ToString(Verdict verdict) {
  switch (verdict) {
    case Verdict::kOk: return "ok";
    case Verdict::kSkipped: return "skipped";
    case Verdict::kWarning: return "warning";
    case Verdict::kProblem: return "problem";
  }
  return "unknown";
}

size_t Findings::Count(Verdict verdict) const {
  return static_cast<size_t>(std::ranges::count(all_, verdict, &Finding::verdict));
}

}  // namespace tidemark::doctor
