#pragma once
// Series selectors in PromQL's notation: `{memtype="resident", mode=~"user|system"}`.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "model/label.h"
#include "model/result.h"

namespace tidemark {

/// A conjunction of label matchers (=, !=, =~, !~). Regular expressions are RE2 and match the whole
/// value, as in Prometheus. An absent label matches as the empty value. Immutable, cheap to copy,
/// thread-safe.
class Selector {
 public:
  /// Matches everything.
  Selector() = default;

  /// Parses `{…}`; the braces may be empty, a trailing comma is allowed, a metric name in front is
  /// not. Values are quoted with ", ' or `. Errors name the position and what was expected.
  static Result<Selector> Parse(std::string_view text);

  bool Matches(LabelsView labels) const;
  /// The same, but nothing is asked of one label.
  bool MatchesWithout(std::string_view label, LabelsView labels) const;
  /// The first matcher that fails, and the value that it saw, for people; empty when all match.
  std::string WhyNot(LabelsView labels) const;
  /// As it was written; `{}` for the default.
  const std::string& text() const { return text_; }

  /// One matcher: `label op value`, op being one of = != =~ !~.
  struct Part {
    std::string_view label;
    std::string_view op;
    std::string_view value;
  };
  /// In the order in which they were written; valid as long as this selector or a copy of it.
  std::vector<Part> Parts() const;

 private:
  struct Matcher;
  std::shared_ptr<const std::vector<Matcher>> matchers_;
  std::string text_ = "{}";
};

}  // namespace tidemark
