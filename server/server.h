#pragma once
// The HTTP/1.1 server (RFC 9110, RFC 9112): takes a routing table and answers requests with it.
//
// It keeps connections alive, takes pipelined requests one after the other, chunked bodies and
// Expect: 100-continue. HEAD is answered through the GET handler of the route (which sees the
// method GET) unless the route names HEAD itself. The order for each request: headers, rate limit
// (429), credentials (401), route (404, 405), admission, announced length, room (503), 100
// Continue, body, handler. After an answer that comes before the end of the body, a short rest of
// it is thrown away; if it is long, or its length is not known, the connection is closed.
//
// With a certificate in the access rules it speaks TLS only. The rules are asked anew for each
// connection (certificate, client policy) and each request (users, tokens, headers).
//
// Requests whose end two readers could see in different places are refused with 400 and the
// connection is closed: more than one Content-Length, Content-Length beside Transfer-Encoding, any
// transfer coding but chunked, folded header lines, bare CR or LF, control characters. So are
// requests without exactly one Host (HTTP/1.1).

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "model/clock.h"
#include "model/counters.h"
#include "model/http.h"
#include "model/result.h"
#include "server/access.h"
#include "server/options.h"

namespace tidemark::server {

/// Thread-safe. Handlers and admissions are called many at a time, never twice for one request; if
/// one throws, the answer is 500 and a line is logged. Handlers run on workers of their own and may
/// wait; admissions run where all connections are read and must not.
class Server {
 public:
  /// Binds, listens and serves. `counters` (which other servers may share) and `clock` (for the
  /// Date header) must outlive the server. Errors: kInvalidArgument for an option or a route that
  /// makes no sense, kIo when the address cannot be listened on; both name the address, option or
  /// route. Without `access` all may come in, over plain HTTP.
  static Result<std::unique_ptr<Server>> Start(const Options& options,
                                               std::vector<HttpRoute> routes,
                                               HttpCounters& counters, const Clock& clock,
                                               std::shared_ptr<const Access> access = nullptr);

  /// Stops.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// The port that is listened on, also when 0 was asked for.
  uint16_t port() const;
  /// "host:port" as listened on, e.g. "127.0.0.1:9849" or "[::]:9849".
  std::string address() const;

  /// Listens no more, closes idle connections, lets requests whose headers have come be read,
  /// handled and answered (with Connection: close) and closes what is left after the drain timeout.
  /// Returns when all is closed and no handler runs; a handler that does not return holds it up.
  /// May be called more than once, but not by a handler.
  void Stop();

 private:
  class Impl;
  explicit Server(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tidemark::server
