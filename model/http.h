#pragma once
// Requests and answers as handlers see them: no room but server/ knows how they travel.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tidemark {

struct HttpHeader {
  std::string name;
  std::string value;
};

/// The certificates that a client showed in the TLS handshake, each in DER, its own first. What
/// they are worth is for the reader to find out: nothing of them has been verified, but that the
/// client has the key of the first.
using PeerCertificates = std::vector<std::string>;

struct HttpRequest {
  std::string method;                                      ///< upper case
  std::string path;                                        ///< percent-decoded, without query
  std::vector<std::pair<std::string, std::string>> query;  ///< percent- and plus-decoded, in order
  std::vector<HttpHeader> headers;                         ///< in order, names as sent
  std::string body;                                        ///< chunks already joined
  std::optional<uint64_t> content_length;  ///< as announced; absent when chunked or without body
  std::string peer;                        ///< address:port
  std::string raw_path;                    ///< `path` as it was sent; may be empty in tests
  /// The same for all requests of a connection; null without TLS and where none was shown.
  std::shared_ptr<const PeerCertificates> peer_certificates{};

  /// First header of that name (no case); empty when absent. Valid as long as the request.
  std::string_view Header(std::string_view name) const;
  /// First query parameter of that name; absent when it was not given.
  std::optional<std::string_view> Query(std::string_view name) const;
  /// The parts of the path between slashes, each decoded by itself, so that a %2F within a name
  /// does not end it: "/a//b%2Fc/" has "a", "", "b/c", "". Of a route with "/*" these are the
  /// parameters.
  std::vector<std::string> PathSegments() const;
};

struct HttpResponse {
  unsigned status = 200;
  std::vector<HttpHeader> headers;  ///< Content-Length, Date and Connection are the server's
  std::string body;
  bool close = false;  ///< close the connection after this answer

  static HttpResponse Text(unsigned status, std::string body);  ///< text/plain; a newline is added
};

/// Answers one request. Called on a worker thread, concurrently; must not throw.
using HttpHandler = std::function<HttpResponse(const HttpRequest&)>;

/// Looks at a request whose headers have come and whose body has not been read. An answer ends the
/// request there and then (nobody sees the body: the server throws it away, or closes the
/// connection if it is large); nothing lets it pass.
using HttpAdmission = std::function<std::optional<HttpResponse>(const HttpRequest&)>;

/// Adds to an answer what every answer of its route has to carry. Asked for all that the server
/// answers to a request whose route is known, its own refusals included; must leave alone what
/// stands there already. Must not throw.
using HttpCompletion = std::function<void(const HttpRequest&, HttpResponse&)>;

/// Why the server has no room for a request.
enum class OverloadCause : uint8_t {
  kBytes,  ///< the memory for bodies that are under way is used up
  kQueue,  ///< requests wait too long for a worker
};

/// The answer to a request for which there is no room; nothing was done with it. Called before its
/// body is read, while it is, or when it has waited too long. Must not throw.
using HttpOverload = std::function<HttpResponse(const HttpRequest&, OverloadCause)>;

/// One entry of the routing table.
struct HttpRoute {
  std::string path;  ///< exact path; a trailing "/*" matches everything below
  std::vector<std::string>
      methods;  ///< allowed methods; others get 405 with Allow (GET implies HEAD)
  HttpHandler handler;
  HttpAdmission admission;            ///< may be empty
  uint64_t max_body_bytes = 1 << 20;  ///< a larger body is answered 400 and the connection closed
  HttpCompletion complete = nullptr;  ///< may be empty
  /// Where bearer tokens are configured, this route wants one of them (or a user's password).
  bool wants_bearer_token = false;
  /// Requests come in masses: they leave workers free for other routes, and are answered by
  /// `overloaded` when they wait too long.
  bool bulk = false;
  HttpOverload overloaded = nullptr;  ///< empty: 503 with Retry-After
};

}  // namespace tidemark
