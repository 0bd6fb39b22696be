#include "kubernetes/label_selector.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <system_error>

#include "model/quoted.h"

namespace tidemark::kubernetes {
namespace {

constexpr size_t kLongestName = 63;     // of a label's name and value
constexpr size_t kLongestPrefix = 253;  // RFC 1123 subdomain

enum class Token : uint8_t {
  kEnd,
  kIdentifier,
  kComma,
  kNot,
  kEqual,
  kDoubleEqual,
  kNotEqual,
  kIn,
  kNotIn,
  kOpen,
  kClose,
  kGreater,
  kLess,
  kUnknown,
};

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }
bool IsSpecial(char c) {
  constexpr std::string_view kSpecial = "=!(),<>";
  return kSpecial.find(c) != std::string_view::npos;
}
bool IsAlphanumeric(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/// Splits the text. `in` and `notin` are words like others where a value or a key may stand.
class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) { Next(); }

  Token token() const { return token_; }
  /// The same, with words as identifiers.
  Token word() const {
    return token_ == Token::kIn || token_ == Token::kNotIn ? Token::kIdentifier : token_;
  }
  std::string_view literal() const { return literal_; }
  size_t position() const { return position_; }

  void Next() {
    while (end_ < text_.size() && IsSpace(text_[end_])) ++end_;
    position_ = end_;
    if (end_ == text_.size()) {
      token_ = Token::kEnd;
      literal_ = {};
      return;
    }
    if (IsSpecial(text_[end_])) {
      token_ = Symbol();
    } else {
      while (end_ < text_.size() && !IsSpace(text_[end_]) && !IsSpecial(text_[end_])) ++end_;
      token_ = Token::kIdentifier;
    }
    literal_ = text_.substr(position_, end_ - position_);
    if (literal_ == "in") token_ = Token::kIn;
    if (literal_ == "notin") token_ = Token::kNotIn;
  }

 private:
  Token Symbol() {
    const char first = text_[end_++];
    const bool doubled = end_ < text_.size() && text_[end_] == '=';
    switch (first) {
      case '(': return Token::kOpen;
      case ')': return Token::kClose;
      case ',': return Token::kComma;
      case '>': return Token::kGreater;
      case '<': return Token::kLess;
      case '=':
        if (doubled) ++end_;
        return doubled ? Token::kDoubleEqual : Token::kEqual;
      case '!':
        if (doubled) ++end_;
        return doubled ? Token::kNotEqual : Token::kNot;
      default: return Token::kUnknown;
    }
  }

  std::string_view text_;
  size_t end_ = 0;
  size_t position_ = 0;
  Token token_ = Token::kEnd;
  std::string_view literal_;
};

tl::unexpected<Error> Wrong(const std::string& what) {
  return Fail(ErrorCode::kInvalidArgument, what);
}

/// [A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?
bool IsName(std::string_view text) {
  return !text.empty() && text.size() <= kLongestName && IsAlphanumeric(text.front()) &&
         IsAlphanumeric(text.back()) && std::ranges::all_of(text, [](char c) {
           return IsAlphanumeric(c) || c == '-' || c == '_' || c == '.';
         });
}

/// Labels of RFC 1123, in lower case, between dots.
bool IsSubdomain(std::string_view text) {
  if (text.empty() || text.size() > kLongestPrefix) return false;
  while (true) {
    const size_t dot = text.find('.');
    const std::string_view part = text.substr(0, dot);
    const auto is_inner = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
    };
    if (part.empty() || part.front() == '-' || part.back() == '-' ||
        !std::ranges::all_of(part, is_inner)) {
      return false;
    }
    if (dot == std::string_view::npos) return true;
    text.remove_prefix(dot + 1);
  }
}

Result<void> CheckKey(std::string_view key) {
  const size_t slash = key.find('/');
  const bool good = slash == std::string_view::npos
                        ? IsName(key)
                        : IsSubdomain(key.substr(0, slash)) && IsName(key.substr(slash + 1));
  if (good) return {};
  return Wrong(fmt::format(
      "{} is no key of a label, allowed: 1 to {} letters, digits, -, _ and ., a letter or digit "
      "first and last; before it perhaps a DNS name and /",
      QuotedText(key), kLongestName));
}

Result<void> CheckValue(std::string_view key, std::string_view value) {
  if (value.empty() || IsName(value)) return {};
  return Wrong(fmt::format(
      "{} is no value of the label {}, allowed: at most {} letters, digits, -, _ and ., a letter "
      "or digit first and last",
      QuotedText(value), QuotedText(key), kLongestName));
}

std::optional<int64_t> WholeNumber(std::string_view text) {
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return std::nullopt;
  }
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

class Parser {
 public:
  explicit Parser(std::string_view text) : lexer_(text) {}

  Result<std::vector<SelectorRequirement>> Parse() {
    std::vector<SelectorRequirement> requirements;
    if (lexer_.token() == Token::kEnd) return requirements;
    for (;;) {
      auto requirement = ReadRequirement();
      if (!requirement) return tl::unexpected(requirement.error());
      requirements.push_back(*std::move(requirement));
      if (lexer_.token() == Token::kEnd) return requirements;
      if (lexer_.token() != Token::kComma) return Expected("',' or the end");
      lexer_.Next();
      if (lexer_.word() != Token::kIdentifier && lexer_.token() != Token::kNot) {
        return Expected("a label behind the ','");
      }
    }
  }

 private:
  tl::unexpected<Error> Expected(std::string_view what) const {
    const std::string found =
        lexer_.token() == Token::kEnd ? std::string("the end") : QuotedText(lexer_.literal());
    return Wrong(
        fmt::format("at position {}: found {}, expected {}", lexer_.position() + 1, found, what));
  }

  Result<SelectorRequirement> ReadRequirement() {
    SelectorRequirement requirement;
    const bool negated = lexer_.token() == Token::kNot;
    if (negated) lexer_.Next();
    if (lexer_.word() != Token::kIdentifier) return Expected("a label");
    requirement.key = lexer_.literal();
    if (auto good = CheckKey(requirement.key); !good) return tl::unexpected(good.error());
    lexer_.Next();
    if (negated) {
      requirement.op = SelectorOperator::kAbsent;
      return requirement;
    }
    if (lexer_.token() == Token::kEnd || lexer_.token() == Token::kComma) return requirement;
    auto values = ReadOperator(requirement);
    if (!values) return tl::unexpected(values.error());
    for (const std::string& value : *values) {
      if (auto good = CheckValue(requirement.key, value); !good) {
        return tl::unexpected(good.error());
      }
    }
    requirement.values = *std::move(values);
    if (requirement.op == SelectorOperator::kGreater || requirement.op == SelectorOperator::kLess) {
      const auto bound = WholeNumber(requirement.values.front());
      if (!bound) {
        return Wrong(fmt::format("{} is no whole number, as > and < need it (label {})",
                                 QuotedText(requirement.values.front()),
                                 QuotedText(requirement.key)));
      }
      requirement.bound = *bound;
    }
    return requirement;
  }

  /// Sets `op` and gives the values behind it.
  Result<std::vector<std::string>> ReadOperator(SelectorRequirement& requirement) {
    const Token token = lexer_.token();
    switch (token) {
      case Token::kIn:
      case Token::kEqual:
      case Token::kDoubleEqual: requirement.op = SelectorOperator::kIn; break;
      case Token::kNotIn:
      case Token::kNotEqual: requirement.op = SelectorOperator::kNotIn; break;
      case Token::kGreater: requirement.op = SelectorOperator::kGreater; break;
      case Token::kLess: requirement.op = SelectorOperator::kLess; break;
      default: return Expected("one of =, ==, !=, in, notin, >, <");
    }
    lexer_.Next();
    if (token == Token::kIn || token == Token::kNotIn) return ReadSet();
    return ReadValue();
  }

  Result<std::vector<std::string>> ReadValue() {
    std::vector<std::string> values;
    if (lexer_.token() == Token::kEnd || lexer_.token() == Token::kComma) {
      values.emplace_back();
      return values;
    }
    if (lexer_.word() != Token::kIdentifier) return Expected("a value");
    values.emplace_back(lexer_.literal());
    lexer_.Next();
    return values;
  }

  /// `(a,b)`; nothing between two commas, or a comma and a bracket, is the empty value.
  Result<std::vector<std::string>> ReadSet() {
    if (lexer_.token() != Token::kOpen) return Expected("'('");
    lexer_.Next();
    std::vector<std::string> values;
    for (;;) {
      if (lexer_.word() == Token::kIdentifier) {
        values.emplace_back(lexer_.literal());
        lexer_.Next();
      } else if (lexer_.token() == Token::kComma || lexer_.token() == Token::kClose) {
        values.emplace_back();
      } else {
        return Expected("a value, ',' or ')'");
      }
      if (lexer_.token() == Token::kClose) break;
      if (lexer_.token() != Token::kComma) return Expected("',' or ')'");
      lexer_.Next();
    }
    lexer_.Next();
    std::ranges::sort(values);
    values.erase(std::unique(values.begin(), values.end()), values.end());
    return values;
  }

  Lexer lexer_;
};

}  // namespace

bool SelectorRequirement::Matches(const std::string_view* value) const {
  const auto is_among = [&] { return std::ranges::binary_search(values, *value, std::less<>()); };
  switch (op) {
    case SelectorOperator::kIn: return value != nullptr && is_among();
    case SelectorOperator::kNotIn: return value == nullptr || !is_among();
    case SelectorOperator::kExists: return value != nullptr;
    case SelectorOperator::kAbsent: return value == nullptr;
    case SelectorOperator::kGreater:
    case SelectorOperator::kLess: break;
  }
  const auto number = value == nullptr ? std::nullopt : WholeNumber(*value);
  if (!number) return false;
  return op == SelectorOperator::kGreater ? *number > bound : *number < bound;
}

Result<LabelSelector> LabelSelector::Parse(std::string_view text) {
  if (text.size() > kLongest) {
    return Wrong(
        fmt::format("the selector has {} bytes, allowed: at most {}", text.size(), kLongest));
  }
  auto requirements = Parser(text).Parse();
  if (!requirements) return tl::unexpected(requirements.error());
  LabelSelector selector;
  selector.requirements_ = *std::move(requirements);
  selector.text_ = text;
  return selector;
}

bool LabelSelector::Matches(const std::vector<Label>& labels) const {
  return std::ranges::all_of(requirements_, [&](const SelectorRequirement& requirement) {
    const auto found = std::ranges::find(labels, requirement.key, &Label::first);
    return requirement.Matches(found == labels.end() ? nullptr : &found->second);
  });
}

std::optional<std::string_view> LabelSelector::Exact(std::string_view key) const {
  for (const SelectorRequirement& requirement : requirements_) {
    if (requirement.key == key && requirement.op == SelectorOperator::kIn &&
        requirement.values.size() == 1) {
      return requirement.values.front();
    }
  }
  return std::nullopt;
}

bool LabelSelector::Mentions(std::string_view key) const {
  return std::ranges::find(requirements_, key, &SelectorRequirement::key) != requirements_.end();
}

}  // namespace tidemark::kubernetes
