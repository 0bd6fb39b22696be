#pragma once
// What a check has found: a verdict, what it means and what to do, one sentence each.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tidemark::doctor {

enum class Verdict : uint8_t {
  kOk,
  kSkipped,  ///< could not be looked at: an input or a permission is missing
  kWarning,  ///< works, but not as well or as safely as it should, or not for long
  kProblem,  ///< something does not work
};
/// "ok", "skipped", "warning", "problem".
std::string_view ToString(Verdict verdict);

struct Finding {
  std::string check;  ///< a fixed name, e.g. "apiservice.owner"
  Verdict verdict = Verdict::kOk;
  std::string meaning;
  std::string advice{};  ///< empty where there is nothing to do
};

class Findings {
 public:
  void Ok(std::string_view check, std::string meaning) {
    Add(check, Verdict::kOk, std::move(meaning), "");
  }
  void Skipped(std::string_view check, const std::string& why, std::string advice = "") {
    Add(check, Verdict::kSkipped, why, std::move(advice));
  }
  void Warning(std::string_view check, std::string meaning, std::string advice) {
    Add(check, Verdict::kWarning, std::move(meaning), std::move(advice));
  }
  void Problem(std::string_view check, std::string meaning, std::string advice) {
    Add(check, Verdict::kProblem, std::move(meaning), std::move(advice));
  }
  void Append(Findings more) {
    for (Finding& finding : more.all_) all_.push_back(std::move(finding));
  }

  const std::vector<Finding>& all() const { return all_; }
  size_t Count(Verdict verdict) const;

 private:
  void Add(std::string_view check, Verdict verdict, std::string meaning, std::string advice) {
    all_.push_back({std::string(check), verdict, std::move(meaning), std::move(advice)});
  }
  std::vector<Finding> all_;
};

}  // namespace tidemark::doctor
