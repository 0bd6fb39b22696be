#include "server/answer.h"

#include <algorithm>
#include <array>
#include <chrono>

namespace tidemark::server {
namespace {

constexpr std::string_view kServerName = "tidemark";
constexpr std::array<std::string_view, 5> kOwnHeaders = {"connection", "content-length", "date",
                                                         "server", "transfer-encoding"};

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool IsOwnHeader(std::string_view name) {
  return std::ranges::any_of(kOwnHeaders, [name](std::string_view own) {
    return std::ranges::equal(own, name, {}, {}, Lower);
  });
}

bool IsToken(std::string_view name) {
  static constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
  return !name.empty() && std::ranges::all_of(name, [](char c) {
    const char lower = Lower(c);
    return (lower >= 'a' && lower <= 'z') || (c >= '0' && c <= '9') ||
           kMarks.find(c) != std::string_view::npos;
  });
}

void AppendValue(std::string_view value, std::string& out) {
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    out.push_back(byte < 0x20 || byte == 0x7f ? ' ' : c);
  }
}

void AppendPadded(unsigned value, unsigned width, std::string& out) {
  const std::string digits = std::to_string(value);
  out.append(width > digits.size() ? width - digits.size() : 0, '0').append(digits);
}

}  // namespace

std::string FormatHttpDate(TimePoint time) {
  constexpr std::array<std::string_view, 7> kDays = {"Sun", "Mon", "Tue", "Wed",
                                                     "Thu", "Fri", "Sat"};
  constexpr std::array<std::string_view, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                        "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
  const auto day = std::chrono::floor<std::chrono::days>(seconds);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(seconds - day);

  std::string out;
  out.reserve(29);
  out.append(kDays[std::chrono::weekday(day).c_encoding()]).append(", ");
  AppendPadded(static_cast<unsigned>(date.day()), 2, out);
  out.append(" ").append(kMonths[static_cast<unsigned>(date.month()) - 1]).append(" ");
  AppendPadded(static_cast<unsigned>(static_cast<int>(date.year())), 4, out);
  out.append(" ");
  AppendPadded(static_cast<unsigned>(clock.hours().count()), 2, out);
  out.append(":");
  AppendPadded(static_cast<unsigned>(clock.minutes().count()), 2, out);
  out.append(":");
  AppendPadded(static_cast<unsigned>(clock.seconds().count()), 2, out);
  out.append(" GMT");
  return out;
}

std::string_view ReasonPhrase(unsigned status) {
  switch (status) {
    case 200: return "OK";
    case 202: return "Accepted";
    case 204: return "No Content";
    case 301: return "Moved Permanently";
    case 302: return "Found";
    case 304: return "Not Modified";
    case 307: return "Temporary Redirect";
    case 308: return "Permanent Redirect";
    case 400: return "Bad Request";
    case 401: return "Unauthorized";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 406: return "Not Acceptable";
    case 408: return "Request Timeout";
    case 409: return "Conflict";
    case 412: return "Precondition Failed";
    case 413: return "Content Too Large";
    case 415: return "Unsupported Media Type";
    case 417: return "Expectation Failed";
    case 422: return "Unprocessable Content";
    case 429: return "Too Many Requests";
    case 431: return "Request Header Fields Too Large";
    case 500: return "Internal Server Error";
    case 501: return "Not Implemented";
    case 502: return "Bad Gateway";
    case 503: return "Service Unavailable";
    case 504: return "Gateway Timeout";
    default: return {};
  }
}

bool StatusHasBody(unsigned status) { return status >= 200 && status != 204 && status != 304; }

std::string FormatAnswerHead(const HttpResponse& response, bool keep_alive, TimePoint now) {
  std::string out;
  out.reserve(256);
  out.append("HTTP/1.1 ").append(std::to_string(response.status)).append(" ");
  out.append(ReasonPhrase(response.status)).append("\r\n");
  for (const HttpHeader& header : response.headers) {
    if (!IsToken(header.name) || IsOwnHeader(header.name)) continue;
    out.append(header.name).append(": ");
    AppendValue(header.value, out);
    out.append("\r\n");
  }
  out.append("Date: ").append(FormatHttpDate(now)).append("\r\n");
  out.append("Server: ").append(kServerName).append("\r\n");
  if (StatusHasBody(response.status)) {
    out.append("Content-Length: ").append(std::to_string(response.body.size())).append("\r\n");
  }
  out.append("Connection: ").append(keep_alive ? "keep-alive" : "close").append("\r\n\r\n");
  return out;
}

}  // namespace tidemark::server
