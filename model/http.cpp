#include "model/http.h"

#include <algorithm>
#include <cctype>

#include "model/percent.h"

namespace tidemark {
namespace {

bool EqualNoCase(std::string_view a, std::string_view b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) {
           return std::tolower(static_cast<unsigned char>(x)) ==
                  std::tolower(static_cast<unsigned char>(y));
         });
}

}  // namespace

std::string_view HttpRequest::Header(std::string_view name) const {
  for (const HttpHeader& header : headers) {
    if (EqualNoCase(header.name, name)) return header.value;
  }
  return {};
}

std::optional<std::string_view> HttpRequest::Query(std::string_view name) const {
  for (const auto& [key, value] : query) {
    if (key == name) return value;
  }
  return std::nullopt;
}

std::vector<std::string> HttpRequest::PathSegments() const {
  std::string_view rest = raw_path.empty() ? path : raw_path;
  if (rest.starts_with('/')) rest.remove_prefix(1);
  std::vector<std::string> segments;
  for (;;) {
    const size_t slash = rest.find('/');
    const std::string_view segment = rest.substr(0, slash);
    // What the server hands on has whole escapes only; a path that was never encoded stays.
    segments.push_back(raw_path.empty()
                           ? std::string(segment)
                           : PercentDecode(segment, Plus::kLiteral).value_or(std::string(segment)));
    if (slash == std::string_view::npos) return segments;
    rest.remove_prefix(slash + 1);
  }
}

HttpResponse HttpResponse::Text(unsigned status, std::string body) {
  HttpResponse response;
  response.status = status;
  response.headers.push_back({"Content-Type", "text/plain; charset=utf-8"});
  response.body = std::move(body);
  response.body.push_back('\n');
  return response;
}

}  // namespace tidemark
