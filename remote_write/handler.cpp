#include "remote_write/handler.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "model/log.h"
#include "remote_write/batch_filler.h"
#include "remote_write/content_type.h"
#include "remote_write/decoder_v1.h"
#include "remote_write/label_check.h"
#include "remote_write/refusal_text.h"
#include "remote_write/snappy_block.h"
#include "remote_write/utf8.h"

namespace tidemark::remote_write {
namespace {

constexpr size_t kMaxIdle = 8;
constexpr size_t kMaxLoggedAgent = 128;

template <size_t kSize>
void AddAll(std::array<Counter, kSize>& counters, const std::array<uint64_t, kSize>& amounts) {
  for (size_t i = 0; i < kSize; ++i) {
    if (amounts[i] > 0) counters[i] += amounts[i];
  }
}

void RaiseTo(TimestampGauge& gauge, int64_t value) {
  int64_t seen = gauge.load();
  while (seen < value && !gauge.compare_exchange_weak(seen, value)) {
  }
}

std::string UnsupportedMediaType(std::string_view type) {
  return fmt::format(
      "Content-Type \"{}\" is not supported; send application/x-protobuf or "
      "application/x-protobuf;proto=prometheus.WriteRequest",
      Printable(type, 256));
}

std::string TooLarge(uint64_t bytes, uint64_t limit) {
  return fmt::format("body has {} bytes; at most {} are allowed", bytes, limit);
}

}  // namespace

/// What one request needs and the next one can use again.
struct Handler::Scratch {
  explicit Scratch(const Limits& limits) : decoder(limits.max_labels), checker(limits) {}

  void Clear() {
    buffer.Trim();
    checker.Clear();
  }

  UnpackBuffer buffer;
  DecoderV1 decoder;
  LabelChecker checker;
};

/// Borrows a Scratch and brings it back clean.
class Handler::Lease {
 public:
  explicit Lease(Handler& handler) : handler_(handler) {
    {
      const std::scoped_lock lock(handler_.mutex_);
      if (!handler_.idle_.empty()) {
        scratch_ = std::move(handler_.idle_.back());
        handler_.idle_.pop_back();
      }
    }
    if (scratch_ == nullptr) scratch_ = std::make_unique<Scratch>(handler_.limits_);
  }
  ~Lease() {
    scratch_->Clear();
    const std::scoped_lock lock(handler_.mutex_);
    if (handler_.idle_.size() < kMaxIdle) handler_.idle_.push_back(std::move(scratch_));
  }
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;

  Scratch& operator*() { return *scratch_; }

 private:
  Handler& handler_;
  std::unique_ptr<Scratch> scratch_;
};

Handler::Handler(SampleSink& sink, const Clock& clock, const Limits& limits,
                 RemoteWriteCounters& counters, HandlerOptions options)
    : sink_(sink),
      clock_(clock),
      limits_(limits),
      counters_(counters),
      options_(std::move(options)),
      retry_after_(options_.jitter_seed) {
  idle_.reserve(kMaxIdle);
}

Handler::~Handler() = default;

HttpRoute Handler::Route() {
  HttpRoute route;
  route.path = "/api/v1/write";
  route.methods = {"POST"};
  route.handler = [this](const HttpRequest& request) { return Handle(request); };
  route.admission = [this](const HttpRequest& request) { return Admit(request); };
  route.max_body_bytes = limits_.max_body_bytes;
  route.bulk = true;
  route.overloaded = [this](const HttpRequest& request, OverloadCause cause) {
    return Overloaded(request, cause);
  };
  return route;
}

std::optional<HttpResponse> Handler::Admit(const HttpRequest& request) {
  if (auto refusal = RefuseUnsupported(request)) return refusal;
  if (options_.accepting && !options_.accepting()) {
    return Overload(request, RefusalCause::kStopping,
                    "not taking samples in at the moment; send them again later");
  }
  if (request.content_length && *request.content_length > limits_.max_body_bytes) {
    HttpResponse response = Refuse(request, "too large", 400,
                                   TooLarge(*request.content_length, limits_.max_body_bytes));
    response.close = true;
    return response;
  }
  return std::nullopt;
}

HttpResponse Handler::Overloaded(const HttpRequest& request, OverloadCause cause) {
  switch (cause) {
    case OverloadCause::kBytes:
      return Overload(request, RefusalCause::kBytes,
                      "overloaded: the memory for requests under way (limits.max_inflight_size) is "
                      "used up; nothing was taken in, send the request again later");
    case OverloadCause::kQueue: break;
  }
  return Overload(
      request, RefusalCause::kQueue,
      "overloaded: requests wait too long; nothing was taken in, send the request again "
      "later");
}

HttpResponse Handler::Handle(const HttpRequest& request) {
  if (auto refusal = RefuseUnsupported(request)) return *std::move(refusal);
  counters_.received_bytes += request.body.size();
  if (request.body.size() > limits_.max_body_bytes) {
    return Refuse(request, "too large", 400, TooLarge(request.body.size(), limits_.max_body_bytes));
  }
  Lease scratch(*this);
  return Receive(request, *scratch);
}

std::optional<HttpResponse> Handler::RefuseUnsupported(const HttpRequest& request) {
  const std::string_view type = request.Header("Content-Type");
  const std::string_view encoding = request.Header("Content-Encoding");
  switch (ParseContentType(type)) {
    case Protocol::kV1: break;
    case Protocol::kV2:
      return Refuse(request, "unsupported", 415,
                    "remote write 2.0 (io.prometheus.write.v2.Request) is not supported; send "
                    "1.0: application/x-protobuf;proto=prometheus.WriteRequest");
    case Protocol::kUnsupported:
      return Refuse(request, "unsupported", 415, UnsupportedMediaType(type));
  }
  if (!IsSnappyEncoding(encoding)) {
    return Refuse(request, "unsupported", 415,
                  fmt::format("Content-Encoding \"{}\" is not supported; send snappy (one block)",
                              Printable(encoding, 256)));
  }
  return std::nullopt;
}

HttpResponse Handler::Receive(const HttpRequest& request, Scratch& scratch) {
  const Result<uint64_t> claimed = ClaimedSize(request.body, limits_.max_unpacked_bytes);
  if (!claimed) return Refuse(request, "undecodable", 400, claimed.error().message);
  const std::optional<ByteHold> hold = ByteHold::Take(options_.inflight, *claimed);
  if (!hold) return Overloaded(request, OverloadCause::kBytes);
  const Result<std::string_view> unpacked =
      UnpackBlock(request.body, limits_.max_unpacked_bytes, scratch.buffer);
  if (!unpacked) return Refuse(request, "undecodable", 400, unpacked.error().message);
  const std::string_view message = *unpacked;
  counters_.unpacked_bytes += message.size();

  const auto undecodable = [&](DecodeError error, uint64_t offset) {
    return Refuse(request, "undecodable", 400,
                  fmt::format("body is not a prometheus.WriteRequest: {}, in the field at byte {} "
                              "of {} unpacked",
                              Message(error), offset, message.size()));
  };
  RequestShape shape;
  if (const DecodeError error = ValidateV1(message, shape); error != DecodeError::kNone) {
    return undecodable(error, shape.fault_offset);
  }
  if (shape.looks_like_v2) {
    return Refuse(request, "undecodable", 400,
                  "body looks like remote write 2.0 (io.prometheus.write.v2.Request) but "
                  "Content-Type says 1.0; nothing was taken in");
  }

  const int64_t now_ms = ToUnixMs(clock_.Now());
  const std::unique_ptr<WriteBatch> batch = sink_.Begin();
  BatchFiller filler(*batch, scratch.checker, limits_, now_ms);
  if (const DecodeError error = scratch.decoder.Walk(message, filler);
      error != DecodeError::kNone) {
    return undecodable(error, 0);
  }
  const FillTally& tally = filler.tally();

  WriteVerdict verdict;
  if (tally.offered > 0) {
    Result<WriteVerdict> committed = batch->Commit();
    if (!committed) {
      const Error& error = committed.error();
      if (error.code == ErrorCode::kUnavailable) {
        return Overload(request, RefusalCause::kQueue, error.message);
      }
      if (error.code == ErrorCode::kIo) return Unavailable(request, error.message);
      return Refuse(request, "failed", 500, error.message);
    }
    verdict = *std::move(committed);
    RaiseTo(counters_.highest_timestamp_ms, tally.highest_timestamp_ms);
  }

  counters_.series_entries += shape.series;
  counters_.samples_accepted += verdict.accepted;
  AddAll(counters_.samples_ignored, verdict.ignored);
  AddAll(counters_.samples_rejected, verdict.rejected);
  AddAll(counters_.samples_rejected, tally.samples_rejected);
  AddAll(counters_.series_rejected, tally.series_rejected);
  counters_.stale_markers += tally.stale_markers;
  counters_.exemplars += tally.exemplars;
  counters_.histograms += tally.histograms;
  counters_.metadata += shape.metadata;
  RaiseTo(counters_.last_received_ms, now_ms);

  if (std::string text = RefusalText(tally, verdict, limits_); !text.empty()) {
    return Refuse(request, "items", 400, std::move(text));
  }
  HttpResponse response;
  response.status = 204;
  CountRequest(request, response.status);
  return response;
}

HttpResponse Handler::Refuse(const HttpRequest& request, std::string_view kind, unsigned status,
                             std::string text) {
  CountRequest(request, status);
  text = Printable(text, kMaxTextBytes - 1);
  LogOncePerMinute(fmt::format("remote write: {}", kind), LogLevel::kWarn,
                   "remote write request refused",
                   {{"status", std::to_string(status)},
                    {"reason", text},
                    {"user_agent", Printable(request.Header("User-Agent"), kMaxLoggedAgent)},
                    {"peer", request.peer}});
  return HttpResponse::Text(status, std::move(text));
}

HttpResponse Handler::Unavailable(const HttpRequest& request, std::string text) {
  HttpResponse response = Refuse(request, "unavailable", 503, std::move(text));
  const unsigned seconds = retry_after_.Seconds(request.Header("Retry-Attempt"));
  response.headers.push_back({"Retry-After", std::to_string(seconds)});
  return response;
}

HttpResponse Handler::Overload(const HttpRequest& request, RefusalCause cause, std::string text) {
  ++counters_.overload_refusals[static_cast<size_t>(cause)];
  return Unavailable(request, std::move(text));
}

void Handler::CountRequest(const HttpRequest& request, unsigned status) {
  const bool v2 = ParseContentType(request.Header("Content-Type")) == Protocol::kV2;
  const auto& codes = RemoteWriteCounters::kCodes;
  const auto found = std::find(codes.begin(), codes.end(), status);
  if (found == codes.end()) return;
  ++counters_.requests[v2 ? 1 : 0][static_cast<size_t>(found - codes.begin())];
}

}  // namespace tidemark::remote_write
