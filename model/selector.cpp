#include "model/selector.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "model/quoted.h"

namespace tidemark {

struct Selector::Matcher {
  std::string label;
  bool negated = false;
  std::string value;
  std::shared_ptr<const re2::RE2> expression;  // null: compare with value

  std::string_view Operator() const {
    if (expression) return negated ? "!~" : "=~";
    return negated ? "!=" : "=";
  }

  bool Matches(std::string_view text) const {
    const bool equal =
        expression ? re2::RE2::FullMatch(re2::StringPiece(text.data(), text.size()), *expression)
                   : text == value;
    return equal != negated;
  }
};

namespace {

constexpr int64_t kMaxExpressionBytes = 1 << 20;  // memory of one compiled expression

/// Reads the text of a selector from left to right.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  void SkipSpace() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }
  bool AtEnd() const { return at_ == text_.size(); }
  bool Take(std::string_view token) {
    if (!text_.substr(at_).starts_with(token)) return false;
    at_ += token.size();
    return true;
  }
  std::string TakeName() {
    const size_t begin = at_;
    while (at_ < text_.size()) {
      const auto c = static_cast<unsigned char>(text_[at_]);
      const bool letter = std::isalpha(c) != 0 || c == '_';
      if (!letter && (at_ == begin || std::isdigit(c) == 0)) break;
      ++at_;
    }
    return std::string(text_.substr(begin, at_ - begin));
  }
  /// A quoted string; escapes as in PromQL for " and ', none for `.
  Result<std::string> TakeString() {
    const char quote = AtEnd() ? '\0' : text_[at_];
    if (quote != '"' && quote != '\'' && quote != '`') return Expected("a quoted value");
    ++at_;
    std::string value;
    while (!AtEnd() && text_[at_] != quote) {
      if (text_[at_] != '\\' || quote == '`') {
        value.push_back(text_[at_++]);
        continue;
      }
      ++at_;
      const char escaped = AtEnd() ? '\0' : text_[at_];
      switch (escaped) {
        case 'n': value.push_back('\n'); break;
        case 't': value.push_back('\t'); break;
        case 'r': value.push_back('\r'); break;
        case '\\':
        case '"':
        case '\'': value.push_back(escaped); break;
        default: return Expected("one of \\n \\t \\r \\\\ \\\" \\'");
      }
      ++at_;
    }
    if (AtEnd()) return Expected("a closing quote");
    ++at_;
    return value;
  }
  tl::unexpected<Error> Expected(std::string_view what) const {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("selector {}: expected {} at position {}", text_, what, at_ + 1));
  }

 private:
  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

Result<Selector> Selector::Parse(std::string_view text) {
  Scanner scanner(text);
  scanner.SkipSpace();
  if (!scanner.Take("{")) return scanner.Expected("{");
  std::vector<Matcher> matchers;
  scanner.SkipSpace();
  while (!scanner.Take("}")) {
    Matcher matcher;
    matcher.label = scanner.TakeName();
    if (matcher.label.empty()) return scanner.Expected("a label name");
    scanner.SkipSpace();
    bool is_expression = false;
    if (scanner.Take("=~")) {
      is_expression = true;
    } else if (scanner.Take("!~")) {
      is_expression = matcher.negated = true;
    } else if (scanner.Take("!=")) {
      matcher.negated = true;
    } else if (!scanner.Take("=")) {
      return scanner.Expected("one of = != =~ !~");
    }
    scanner.SkipSpace();
    auto value = scanner.TakeString();
    if (!value) return tl::unexpected(value.error());
    matcher.value = std::move(*value);
    if (is_expression) {
      re2::RE2::Options options;
      options.set_log_errors(false);
      options.set_max_mem(kMaxExpressionBytes);
      options.set_dot_nl(true);  // as Prometheus' own expressions
      auto expression = std::make_shared<re2::RE2>(matcher.value, options);
      if (!expression->ok()) {
        return Fail(ErrorCode::kInvalidArgument,
                    fmt::format("selector {}: regular expression of {}: {}", text, matcher.label,
                                expression->error()));
      }
      matcher.expression = std::move(expression);
    }
    matchers.push_back(std::move(matcher));
    scanner.SkipSpace();
    if (scanner.Take(",")) {
      scanner.SkipSpace();
    } else if (scanner.Take("}")) {
      break;
    } else {
      return scanner.Expected(", or }");
    }
  }
  scanner.SkipSpace();
  if (!scanner.AtEnd()) return scanner.Expected("the end");
  Selector selector;
  selector.text_ = std::string(text);
  if (!matchers.empty()) {
    selector.matchers_ = std::make_shared<const std::vector<Matcher>>(std::move(matchers));
  }
  return selector;
}

bool Selector::Matches(LabelsView labels) const {
  if (!matchers_) return true;
  for (const Matcher& matcher : *matchers_) {
    if (!matcher.Matches(FindLabel(labels, matcher.label))) return false;
  }
  return true;
}

bool Selector::MatchesWithout(std::string_view label, LabelsView labels) const {
  if (!matchers_) return true;
  return std::ranges::all_of(*matchers_, [&](const Matcher& matcher) {
    return matcher.label == label || matcher.Matches(FindLabel(labels, matcher.label));
  });
}

std::vector<Selector::Part> Selector::Parts() const {
  std::vector<Part> parts;
  if (!matchers_) return parts;
  parts.reserve(matchers_->size());
  for (const Matcher& matcher : *matchers_) {
    parts.push_back({matcher.label, matcher.Operator(), matcher.value});
  }
  return parts;
}

std::string Selector::WhyNot(LabelsView labels) const {
  if (!matchers_) return {};
  for (const Matcher& matcher : *matchers_) {
    const std::string_view value = FindLabel(labels, matcher.label);
    if (matcher.Matches(value)) continue;
    return fmt::format("{}{}{} does not match {}", matcher.label, matcher.Operator(),
                       QuotedText(matcher.value),
                       value.empty() ? "an absent label" : QuotedText(value));
  }
  return {};
}

}  // namespace tidemark
