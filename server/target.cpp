#include "server/target.h"

#include <algorithm>

#include "model/percent.h"

namespace tidemark::server {
namespace {

bool StartsWithNoCase(std::string_view text, std::string_view lower_prefix) {
  return text.size() >= lower_prefix.size() &&
         std::equal(lower_prefix.begin(), lower_prefix.end(), text.begin(),
                    [](char a, char b) { return a == (b >= 'A' && b <= 'Z' ? b - 'A' + 'a' : b); });
}

}  // namespace

std::optional<Target> ParseTarget(std::string_view text) {
  if (text.find('#') != std::string_view::npos) return std::nullopt;
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (!StartsWithNoCase(text, scheme)) continue;
    text.remove_prefix(scheme.size());
    const size_t authority = std::min(text.find_first_of("/?"), text.size());
    if (authority == 0) return std::nullopt;
    text.remove_prefix(authority);
    if (text.empty()) text = "/";
    if (text.front() == '?') {  // the path of "http://host?query" is "/"
      std::optional<Target> target = ParseTarget("/" + std::string(text));
      return target;
    }
    break;
  }
  if (!text.starts_with('/')) return std::nullopt;

  const size_t question = text.find('?');
  std::optional<std::string> path = PercentDecode(text.substr(0, question), Plus::kLiteral);
  if (!path) return std::nullopt;
  Target target;
  target.path = std::move(*path);
  target.raw_path = text.substr(0, question);
  if (question == std::string_view::npos) return target;

  for (std::string_view rest = text.substr(question + 1); !rest.empty();) {
    const size_t ampersand = rest.find('&');
    const std::string_view part = rest.substr(0, ampersand);
    rest = ampersand == std::string_view::npos ? std::string_view() : rest.substr(ampersand + 1);
    if (part.empty()) continue;
    const size_t equals = part.find('=');
    std::optional<std::string> name = PercentDecode(part.substr(0, equals), Plus::kBlank);
    std::optional<std::string> value = equals == std::string_view::npos
                                           ? std::string()
                                           : PercentDecode(part.substr(equals + 1), Plus::kBlank);
    if (!name || !value) return std::nullopt;
    target.query.emplace_back(std::move(*name), std::move(*value));
  }
  return target;
}

}  // namespace tidemark::server
