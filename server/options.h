#pragma once
// What can be set on a Server. A plain struct: cmd/ fills it from flags and the configuration file.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "model/byte_budget.h"
#include "model/http.h"

namespace tidemark::server {

/// Gives what the server answers by itself the form that its clients understand.
using OwnAnswer = std::function<void(HttpResponse&)>;

struct Options {
  /// "host:port"; IPv6 in brackets; no host = all interfaces, IPv4 and IPv6; port 0 = any free one.
  std::string listen_address = "0.0.0.0:9849";

  /// Threads that run handlers; 0 = four times the number of cores, at least 16. Handlers may wait
  /// (for the verdicts on a write). Bulk routes leave an eighth of them, at least one, to the
  /// others.
  unsigned worker_threads = 0;
  /// Threads that read, run admissions and write; 0 = two times the number of cores, at least 4.
  unsigned io_threads = 0;

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
  /// Memory of all request bodies that are being received or handled: the budget they are booked
  /// on, which may be shared and must outlive the server, or null for one of
  /// `max_body_bytes_in_flight`. A request that would pass it is answered 503, so that the sender
  /// comes back: before its body is read if its length is announced, else when the body has grown
  /// to that.
  ByteBudget* body_budget = nullptr;
  uint64_t max_body_bytes_in_flight = 512 << 20;
  /// Requests of bulk routes are refused before their body is read while they would wait for a
  /// worker for longer than the first, about, and after it when they have waited longer than the
  /// second: senders give a request up after 30 s (Prometheus' remote_timeout), and work on it is
  /// then lost.
  std::chrono::milliseconds max_bulk_delay = std::chrono::seconds(1);
  std::chrono::milliseconds max_bulk_wait = std::chrono::seconds(8);
  /// Memory of all answers that wait for clients to read them, for answers that are not small. One
  /// that would pass it is replaced by a 503, unless no other waits.
  uint64_t max_answer_bytes_in_flight = 512 << 20;

  /// Applied to every answer that no handler, admission or `overloaded` of a route has given: to
  /// requests that are no HTTP, have no route, may not come in, are too large, late, or for which
  /// there is no room, and in place of a handler that threw. Before the route's `complete`. Called
  /// on any thread; must not wait. Empty: plain text.
  OwnAnswer own_answer = nullptr;

  /// Passwords that are checked at a time; 0 = half the cores, one or two.
  unsigned password_threads = 0;

  /// How long Stop() waits for requests that are under way.
  std::chrono::milliseconds drain_timeout = std::chrono::seconds(10);

  /// After an answer that comes before the end of the request's body, input is read and thrown
  /// away, for at most this long and this much: a socket closed with unread input resets the
  /// connection, and the answer is lost with it.
  std::chrono::milliseconds linger_timeout = std::chrono::seconds(5);
  uint64_t linger_bytes = 32 << 20;
  /// Where no more than this of an announced body is to come, it is read and thrown away within the
  /// same time, and the connection kept: a sender that is told to wait need not connect again.
  /// Takes the largest bodies that Prometheus' usual settings make (10,000 samples are about 750
  /// KB).
  uint64_t discard_bytes = 1 << 20;
};

}  // namespace tidemark::server
