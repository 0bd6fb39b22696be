#pragma once
// Label selectors as the Kubernetes API takes them: `app=web,tier in (a,b),!canary,weight>5`.
//
// Source: k8s.io/apimachinery, pkg/labels/selector.go (Parse, Requirement.Matches) and
// pkg/util/validation.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/result.h"

namespace tidemark::kubernetes {

/// A label and its value; views of whoever made them.
using Label = std::pair<std::string_view, std::string_view>;

enum class SelectorOperator : uint8_t {
  kIn,     ///< has the label, with one of the values; also = and ==
  kNotIn,  ///< has it not, or with none of the values; also !=
  kExists,
  kAbsent,
  kGreater,  ///< has it, and both values are whole numbers
  kLess,
};

struct SelectorRequirement {
  std::string key;
  SelectorOperator op = SelectorOperator::kExists;
  std::vector<std::string> values;  ///< sorted, without repetitions
  int64_t bound = 0;                ///< of kGreater and kLess

  bool Matches(const std::string_view* value) const;  ///< null: there is no such label
};

/// Requirements that must all hold. Immutable; thread-safe.
class LabelSelector {
 public:
  /// Holds for everything, as the empty text does.
  LabelSelector() = default;

  /// Takes whole texts of the grammar only, at most kLongest bytes. Errors (kInvalidArgument) say
  /// where, what was found and what was expected, or which key or value is none. Any bytes may be
  /// given.
  static Result<LabelSelector> Parse(std::string_view text);
  static constexpr size_t kLongest = 16 << 10;

  /// `labels` in any order, each name once.
  bool Matches(const std::vector<Label>& labels) const;
  bool IsEmpty() const { return requirements_.empty(); }
  const std::vector<SelectorRequirement>& requirements() const { return requirements_; }
  /// The value that the label has in everything that matches, where the selector says it; absent
  /// when it leaves more than one. Lives as long as the selector.
  std::optional<std::string_view> Exact(std::string_view key) const;
  /// Some requirement is of this label.
  bool Mentions(std::string_view key) const;
  /// As it was written.
  const std::string& text() const { return text_; }

 private:
  std::vector<SelectorRequirement> requirements_;
  std::string text_;
};

}  // namespace tidemark::kubernetes
