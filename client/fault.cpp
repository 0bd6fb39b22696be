#include "client/fault.h"

#include <algorithm>
#include <array>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <cctype>

namespace tidemark::client {
namespace {

constexpr std::string_view kBlanks = " \t\r\n\f\v";

std::string_view Trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(kBlanks);
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

std::string Lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](unsigned char c) { return std::tolower(c); });
  return out;
}

std::string TextOfJson(std::string_view body) {
  boost::json::error_code wrong;
  const boost::json::value value =
      boost::json::parse(boost::json::string_view(body.data(), body.size()), wrong);
  if (wrong || !value.is_object()) return {};
  for (const char* const key : {"error", "message"}) {
    const boost::json::value* const found = value.get_object().if_contains(key);
    if (found != nullptr && found->is_string()) {
      const boost::json::string& text = found->get_string();
      return OneLineOf({text.data(), text.size()});
    }
  }
  return {};
}

}  // namespace

std::string OneLineOf(std::string_view text, size_t max_bytes) {
  text = Trimmed(text);
  std::string out(text.substr(0, max_bytes));
  for (char& c : out) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte >= 0x7f) c = byte < 0x20 ? ' ' : '?';
  }
  if (text.size() > max_bytes) out.append("...");
  return out;
}

bool LooksLikeHtml(std::string_view body) {
  const std::string begin = Lower(Trimmed(body).substr(0, 16));
  return begin.starts_with("<!doctype") || begin.starts_with("<html") || begin.starts_with("<head");
}

std::string ErrorTextOf(std::string_view body) {
  body = Trimmed(body);
  if (body.starts_with('{')) {
    if (std::string text = TextOfJson(body); !text.empty()) return text;
  }
  if (LooksLikeHtml(body)) {
    const std::string lower = Lower(body);
    const size_t open = lower.find("<title>");
    const size_t close = open == lower.npos ? lower.npos : lower.find("</title>", open);
    if (close == lower.npos) return "an HTML page";
    constexpr size_t kTag = std::string_view("<title>").size();
    return "an HTML page: " + OneLineOf(body.substr(open + kTag, close - open - kTag), 200);
  }
  return OneLineOf(body.substr(0, body.find('\n')));
}

}  // namespace tidemark::client
