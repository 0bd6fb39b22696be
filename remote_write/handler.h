#pragma once
// The remote-write receiver as an HTTP route: a request's bytes in, series and samples into a
// SampleSink, a status out.
//
//   204  everything was taken in (resends and samples that no one needs included)
//   400  the body cannot be decoded (then nothing was taken in), or at least one item was refused
//        (the good rest was)
//   415  media type, message or encoding is not supported
//   503  passing trouble; nothing was taken in, send it again after Retry-After
//   500  a fault of ours
//
// The Content-Type alone says whether a request is of 1.0 or 2.0. Every answer to one of 2.0 but
// 405 and 415 says how much was taken in (remote_write/written_counts.h).
//
// Senders resend on 5xx for ever and drop on 400; some resend on 413 and 409 too, so these are
// never given.
//
// Work is done in the order that lets a bad request cost least: headers, length, claimed size,
// unpacking, shape, verdicts. A request with several reasons is refused for the first.
//
// Memory of one request: its unpacked bytes (at most limits.max_unpacked_bytes), less than 2 MB,
// and
//   1.0  at most twice its unpacked bytes, when all labels had to be encoded anew
//   2.0  at most twice its unpacked bytes for the table of symbols; labels written out, at most
//        limits.max_unpacked_bytes rounded up to half-empty chunks, and as much again when all of
//        them had to be sorted

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/byte_budget.h"
#include "model/clock.h"
#include "model/counters.h"
#include "model/http.h"
#include "model/sink.h"
#include "remote_write/ha_tracker.h"
#include "remote_write/limits.h"
#include "remote_write/retry_after.h"
#include "remote_write/written_counts.h"

namespace tidemark::remote_write {

struct HandlerOptions {
  /// Asked before a body is read; false is answered 503. Empty: always true. Must be thread-safe.
  std::function<bool()> accepting = nullptr;
  /// What bodies unpack to is booked here, by their claim and before it is reserved; a request for
  /// which there is no room is answered 503. Null: not bounded. Must outlive the handler.
  ByteBudget* inflight = nullptr;
  /// Spreads Retry-After; absent: exact.
  std::optional<uint64_t> jitter_seed = std::nullopt;
  /// Decides which copies of HA pairs are taken in; must outlive the handler. Null: no labels tell
  /// copies apart, all are taken in.
  HaTracker* ha = nullptr;
};

/// Thread-safe: its routes may be called concurrently. What it is given by reference must outlive
/// it, and it its routes.
///
/// Counters. Of a request that could be decoded and was applied each sample is in exactly one of
/// accepted, ignored and rejected; native histograms are no samples there, a bad one counts under
/// series_rejected. Of a request answered 5xx only bytes and status are counted, as its samples
/// will come again.
class Handler {
 public:
  Handler(SampleSink& sink, const Clock& clock, const Limits& limits, RemoteWriteCounters& counters,
          HandlerOptions options = {});
  ~Handler();
  Handler(const Handler&) = delete;
  Handler& operator=(const Handler&) = delete;

  /// POST /api/v1/write.
  HttpRoute Route();

  /// Looks at the headers only.
  std::optional<HttpResponse> Admit(const HttpRequest& request);
  /// Answers a request for which the server has no room.
  HttpResponse Overloaded(const HttpRequest& request, OverloadCause cause);
  /// Answers a request whose body has come; looks at the headers again, so Admit may be left out.
  HttpResponse Handle(const HttpRequest& request);

 private:
  struct Scratch;
  class Lease;

  std::optional<HttpResponse> RefuseUnsupported(const HttpRequest& request);
  HttpResponse Receive(const HttpRequest& request, Scratch& scratch);
  HttpResponse Refuse(const HttpRequest& request, std::string_view kind, unsigned status,
                      std::string text, const WrittenCounts& written = {});
  HttpResponse Unavailable(const HttpRequest& request, std::string text);
  HttpResponse Overload(const HttpRequest& request, RefusalCause cause, std::string text);
  void CountRequest(const HttpRequest& request, unsigned status);

  SampleSink& sink_;
  const Clock& clock_;
  const Limits limits_;
  RemoteWriteCounters& counters_;
  const HandlerOptions options_;
  RetryAfter retry_after_;

  std::mutex mutex_;  // guards idle_
  std::vector<std::unique_ptr<Scratch>> idle_;
};

}  // namespace tidemark::remote_write
