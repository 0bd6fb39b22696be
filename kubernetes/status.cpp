#include "kubernetes/status.h"

#include <algorithm>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <cctype>
#include <utility>

namespace tidemark::kubernetes {
namespace {

std::string_view ReasonOf(unsigned code) {
  switch (code) {
    case 400: return "BadRequest";
    case 401: return "Unauthorized";
    case 403: return "Forbidden";
    case 404: return "NotFound";
    case 405: return "MethodNotAllowed";
    case 406: return "NotAcceptable";
    case 413: return "RequestEntityTooLarge";
    case 429: return "TooManyRequests";
    case 500: return "InternalError";
    case 503: return "ServiceUnavailable";
    default: return "Unknown";
  }
}

/// Bytes of the code point that `text` begins with (RFC 3629); 0 when they are none.
size_t CodePointLength(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  // Overlong forms, surrogates, and what lies above U+10FFFF.
  const unsigned char second = byte(1);
  if (first == 0xE0 && second < 0xA0) return 0;
  if (first == 0xED && second > 0x9F) return 0;
  if (first == 0xF0 && second < 0x90) return 0;
  if (first == 0xF4 && second > 0x8F) return 0;
  return length;
}

std::string ValidUtf8(std::string_view text) {
  std::string valid;
  valid.reserve(text.size());
  while (!text.empty()) {
    const size_t length = CodePointLength(text);
    if (length == 0) {
      valid += "\xEF\xBF\xBD";
      text.remove_prefix(1);
    } else {
      valid += text.substr(0, length);
      text.remove_prefix(length);
    }
  }
  return valid;
}

bool IsNamed(const HttpHeader& header, std::string_view name) {
  return std::ranges::equal(header.name, name, [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) ==
           std::tolower(static_cast<unsigned char>(b));
  });
}

}  // namespace

HttpResponse StatusAnswer(unsigned code, std::string_view message) {
  boost::json::object status;
  status["kind"] = "Status";
  status["apiVersion"] = "v1";
  status["metadata"] = boost::json::object();
  status["status"] = "Failure";
  status["message"] = ValidUtf8(message);
  status["reason"] = ReasonOf(code);
  status["code"] = code;
  HttpResponse response;
  response.status = code;
  response.headers.push_back({"Content-Type", "application/json"});
  response.body = boost::json::serialize(status) + "\n";
  return response;
}

void MakeStatus(HttpResponse& response) {
  std::erase_if(response.headers,
                [](const HttpHeader& header) { return IsNamed(header, "Retry-After"); });
  if (response.status < 400) return;
  const auto type = std::ranges::find_if(
      response.headers, [](const HttpHeader& header) { return IsNamed(header, "Content-Type"); });
  if (type != response.headers.end() && type->value.starts_with("application/json")) return;
  std::string_view message = response.body;
  while (message.ends_with('\n')) message.remove_suffix(1);
  HttpResponse status = StatusAnswer(response.status, message);
  for (HttpHeader& header : response.headers) {
    if (!IsNamed(header, "Content-Type")) status.headers.push_back(std::move(header));
  }
  status.close = response.close;
  response = std::move(status);
}

}  // namespace tidemark::kubernetes
