#include "server/request_head.h"

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <limits>
#include <optional>

#include "server/target.h"

namespace tidemark::server {
namespace {

namespace beast = boost::beast;
namespace http = boost::beast::http;

std::string_view View(beast::string_view text) { return {text.data(), text.size()}; }

bool EqualNoCase(std::string_view a, std::string_view b) { return beast::iequals(a, b); }

/// Collects what Beast's parser finds in a header block. The block is fed whole and nothing after
/// it, so the callbacks for bodies are never called.
class HeadParser final : public http::basic_parser<true> {
 public:
  HeadParser() {
    header_limit(std::numeric_limits<uint32_t>::max());  // the block is bounded already
    body_limit(boost::none);                             // the route's own limit is applied later
  }

  std::string_view target() const { return target_; }
  unsigned version() const { return version_; }
  HttpRequest& request() { return request_; }
  const HttpRequest& request() const { return request_; }

  size_t Count(http::field field) const {
    return static_cast<size_t>(std::ranges::count(fields_, field));
  }
  /// The first value of a field.
  std::optional<std::string_view> Find(http::field field) const {
    const auto found = std::ranges::find(fields_, field);
    if (found == fields_.end()) return std::nullopt;
    return request_.headers[static_cast<size_t>(found - fields_.begin())].value;
  }

 private:
  using Code = beast::error_code;

  void on_request_impl(http::verb, beast::string_view method, beast::string_view target,
                       int version, Code& error) override {
    request_.method = std::string(View(method));
    target_ = View(target);
    version_ = static_cast<unsigned>(version);
    error = {};
  }
  void on_field_impl(http::field field, beast::string_view name, beast::string_view value,
                     Code& error) override {
    request_.headers.push_back({std::string(View(name)), std::string(View(value))});
    fields_.push_back(field);
    error = {};
  }
  void on_response_impl(int, beast::string_view, int, Code& error) override { error = {}; }
  void on_header_impl(Code& error) override { error = {}; }
  void on_body_init_impl(const boost::optional<uint64_t>&, Code& error) override { error = {}; }
  size_t on_body_impl(beast::string_view body, Code& error) override {
    error = {};
    return body.size();
  }
  void on_chunk_header_impl(uint64_t, beast::string_view, Code& error) override { error = {}; }
  size_t on_chunk_body_impl(uint64_t, beast::string_view body, Code& error) override {
    error = {};
    return body.size();
  }
  void on_finish_impl(Code& error) override { error = {}; }

  HttpRequest request_;
  std::vector<http::field> fields_;  // parallel to request_.headers
  std::string target_;
  unsigned version_ = 0;
};

/// What Beast 1.81 lets through and two readers could understand in two ways (RFC 9112 sections 6.1
/// to 6.3): equal lengths given twice or as a list, a transfer coding other than chunked (which it
/// takes for "no body"), and such a coding beside a length.
std::optional<std::string> FindFramingProblem(const HeadParser& parser) {
  const size_t lengths = parser.Count(http::field::content_length);
  const size_t codings = parser.Count(http::field::transfer_encoding);
  if (lengths > 1 || (lengths == 1 && parser.Find(http::field::content_length)->find(',') !=
                                          std::string_view::npos)) {
    return "Content-Length is given more than once";
  }
  if (codings == 0) return std::nullopt;
  if (lengths > 0) return "Content-Length and Transfer-Encoding exclude each other";
  if (parser.version() < 11) return "Transfer-Encoding needs HTTP/1.1";
  if (codings > 1 || !EqualNoCase(*parser.Find(http::field::transfer_encoding), "chunked")) {
    return "the only Transfer-Encoding taken is \"chunked\", once";
  }
  return std::nullopt;
}

tl::unexpected<Fault> Refuse(std::string text) {
  return tl::unexpected<Fault>(Fault{400, std::move(text)});
}

}  // namespace

tl::expected<RequestHead, Fault> ParseRequestHead(std::string_view block) {
  HeadParser parser;
  beast::error_code error;
  const size_t consumed = parser.put(boost::asio::buffer(block.data(), block.size()), error);
  if (error) return Refuse("malformed request: " + error.message());
  if (!parser.is_header_done() || consumed != block.size())
    return Refuse("malformed request: cut header block");

  if (std::optional<std::string> problem = FindFramingProblem(parser))
    return Refuse(std::move(*problem));
  const size_t hosts = parser.Count(http::field::host);
  if (hosts > 1 || (hosts == 0 && parser.version() >= 11)) {
    return Refuse("a request of HTTP/1.1 needs exactly one Host");
  }
  std::optional<Target> target = ParseTarget(parser.target());
  if (!target) {
    return Refuse(
        "malformed request target: allowed are /path?query and http://host/path?query with whole "
        "%XX escapes");
  }

  RequestHead head;
  head.keep_alive = parser.keep_alive();
  head.chunked = parser.chunked();
  if (const std::optional<std::string_view> expect = parser.Find(http::field::expect);
      expect &&
      parser.version() >= 11) {  // RFC 9110 section 10.1.1: HTTP/1.0 clients cannot expect
    if (!EqualNoCase(*expect, "100-continue")) {
      return tl::unexpected<Fault>(Fault{417, "the only expectation met is 100-continue"});
    }
    head.expect_continue = true;
  }
  if (const boost::optional<uint64_t> length = parser.content_length())
    head.request.content_length = *length;
  head.request.method = std::move(parser.request().method);
  head.request.headers = std::move(parser.request().headers);
  head.request.path = std::move(target->path);
  head.request.raw_path = std::move(target->raw_path);
  head.request.query = std::move(target->query);
  return head;
}

}  // namespace tidemark::server
