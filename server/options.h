#pragma once
// What can be set on a Server. A plain struct: cmd/ fills it from flags and the configuration file.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

namespace tidemark::server {

struct Options {
  /// "host:port"; IPv6 in brackets; no host = all interfaces, IPv4 and IPv6; port 0 = any free one.
  std::string listen_address = "0.0.0.0:9849";

  /// Threads that read, run handlers and write; 0 = four times the number of cores, at least 16.
  /// Handlers may wait (for the verdicts on a write); while all workers are in handlers, nothing
  /// else moves.
  unsigned worker_threads = 0;

  /// Request line and headers together, with the empty line that ends them. More is answered 431.
  size_t max_header_bytes = 16 << 10;

  /// For a TLS handshake, from the connection on.
  std::chrono::milliseconds handshake_deadline = std::chrono::seconds(10);
  /// From the first byte of a request to the end of its headers; also how long a new connection may
  /// stay silent.
  std::chrono::milliseconds header_deadline = std::chrono::seconds(10);
  /// From the end of the headers to the end of the body: the time after which Prometheus gives a
  /// request up.
  std::chrono::milliseconds body_deadline = std::chrono::seconds(30);
  /// How long a connection may be silent between two requests.
  std::chrono::milliseconds idle_timeout = std::chrono::minutes(5);
  /// For one whole answer.
  std::chrono::milliseconds write_deadline = std::chrono::seconds(30);

  /// A connection over this takes the place of the one that has been idle longest between two
  /// requests; if none is idle, it is answered 503 and closed.
  size_t max_connections = 1024;
  /// Memory of all request bodies that are being received or handled. A request that would pass it
  /// is answered 503, so that the sender comes back.
  uint64_t max_body_bytes_in_flight = 512 << 20;
  /// Memory of all answers that wait for clients to read them, for answers that are not small. One
  /// that would pass it is replaced by a 503, unless no other waits.
  uint64_t max_answer_bytes_in_flight = 512 << 20;

  /// Passwords that are checked at a time; 0 = half the cores, one or two.
  unsigned password_threads = 0;

  /// How long Stop() waits for requests that are under way.
  std::chrono::milliseconds drain_timeout = std::chrono::seconds(10);

  /// After an answer that comes before the end of the request's body, input is read and thrown
  /// away, for at most this long and this much: a socket closed with unread input resets the
  /// connection, and the answer is lost with it.
  std::chrono::milliseconds linger_timeout = std::chrono::seconds(5);
  uint64_t linger_bytes = 32 << 20;
};

}  // namespace tidemark::server
