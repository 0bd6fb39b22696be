#include "cmd/doctor/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <iterator>

#include "cmd/command_line.h"
#include "cmd/report/display_text.h"

namespace tidemark::doctor {
namespace {

constexpr size_t kWidth = 100;

std::string Table(const Findings& findings) {
  size_t check_width = 0;
  for (const Finding& finding : findings.all()) {
    check_width = std::max(check_width, finding.check.size());
  }
  constexpr size_t kVerdictWidth = 7;  // "problem", "skipped", "warning"
  const size_t indent = kVerdictWidth + 2 + check_width + 2;
  const size_t text_width = kWidth > indent + 40 ? kWidth - indent : 40;
  std::string out;
  for (const Finding& finding : findings.all()) {
    std::string head = fmt::format("{:<{}}  {:<{}}  ", ToString(finding.verdict), kVerdictWidth,
                                   finding.check, check_width);
    const auto lines = [&](std::string_view text, std::string_view before) {
      std::string all(before);
      all += report::Printable(text);
      for (const std::string& line : cmd::WrapText(all, text_width)) {
        out += head + line + "\n";
        head.assign(indent, ' ');
      }
    };
    lines(finding.meaning, "");
    if (!finding.advice.empty()) lines(finding.advice, "-> ");
  }
  fmt::format_to(std::back_inserter(out), "\nproblems: {}, warnings: {}, ok: {}, skipped: {}\n",
                 findings.Count(Verdict::kProblem), findings.Count(Verdict::kWarning),
                 findings.Count(Verdict::kOk), findings.Count(Verdict::kSkipped));
  return out;
}

std::string Json(const Findings& findings) {
  namespace json = boost::json;
  json::array checks;
  for (const Finding& finding : findings.all()) {
    json::object check = {{"check", finding.check},
                          {"verdict", ToString(finding.verdict)},
                          {"meaning", report::Printable(finding.meaning)}};
    if (!finding.advice.empty()) check["advice"] = report::Printable(finding.advice);
    checks.push_back(std::move(check));
  }
  const json::object all = {{"problems", findings.Count(Verdict::kProblem)},
                            {"warnings", findings.Count(Verdict::kWarning)},
                            {"ok", findings.Count(Verdict::kOk)},
                            {"skipped", findings.Count(Verdict::kSkipped)},
                            {"checks", std::move(checks)}};
  return json::serialize(all) + "\n";
}

}  // namespace

std::string_view ToString(Output output) { return output == Output::kJson ? "json" : "table"; }

std::string Write(Output output, const Findings& findings) {
  return output == Output::kJson ? Json(findings) : Table(findings);
}

}  // namespace tidemark::doctor
