#include "remote_write/handler.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "model/log.h"
#include "remote_write/batch_filler.h"
#include "remote_write/content_type.h"
#include "remote_write/decoder_v1.h"
#include "remote_write/decoder_v2.h"
#include "remote_write/label_check.h"
#include "remote_write/refusal_text.h"
#include "remote_write/request_memory.h"
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
      "application/x-protobuf;proto=prometheus.WriteRequest (1.0), or "
      "application/x-protobuf;proto=io.prometheus.write.v2.Request (2.0)",
      Printable(type, 256));
}

std::string TooLarge(uint64_t bytes, uint64_t limit) {
  return fmt::format("body has {} bytes; at most {} are allowed (remote_write.max_body_size)",
                     bytes, limit);
}

std::string LooksLikeOther(bool v2) {
  constexpr const char* kV1 = "1.0 (prometheus.WriteRequest)";
  constexpr const char* kV2 = "2.0 (io.prometheus.write.v2.Request)";
  return fmt::format(
      "body looks like remote write {} but Content-Type says {}; nothing was taken in",
      v2 ? kV1 : kV2, v2 ? "2.0" : "1.0");
}

std::string LabelsTooLarge(uint64_t limit) {
  return fmt::format(
      "the labels of all series, written out, take more than {} bytes; send fewer series at a time",
      limit);
}

}  // namespace

/// What one request needs and the next one can use again.
struct Handler::Scratch {
  Scratch(const Limits& limits, const HaTracker* ha)
      : decoder(limits.max_labels),
        decoder_v2(limits.max_labels, limits.max_unpacked_bytes),
        checker(limits, ha != nullptr ? ha->options().replica_labels : std::vector<std::string>()) {
  }

  void Clear() {
    buffer.Trim();
    decoder_v2.Clear();
    checker.Clear();
  }

  UnpackBuffer buffer;
  DecoderV1 decoder;
  DecoderV2 decoder_v2;
  LabelChecker checker;
  std::vector<SeriesLookUp> seen;
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
    if (scratch_ == nullptr) {
      scratch_ = std::make_unique<Scratch>(handler_.limits_, handler_.options_.ha);
    }
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
  route.complete = [](const HttpRequest& request, HttpResponse& response) {
    AddWrittenCounts(request, {}, response);
  };
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
  if (ParseContentType(type) == Protocol::kUnsupported) {
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
  RequestMemory memory(options_.inflight, request.body.capacity());
  if (!memory.Take(*claimed)) return Overloaded(request, OverloadCause::kBytes);
  const Result<std::string_view> unpacked =
      UnpackBlock(request.body, limits_.max_unpacked_bytes, scratch.buffer);
  if (!unpacked) return Refuse(request, "undecodable", 400, unpacked.error().message);
  const std::string_view message = *unpacked;
  counters_.unpacked_bytes += message.size();

  const bool v2 = IsNegotiatedV2(request);
  const auto undecodable = [&](DecodeError error, uint64_t offset) {
    return Refuse(
        request, "undecodable", 400,
        fmt::format("body is not {}: {}, in the field at byte {} of {} unpacked",
                    v2 ? "an io.prometheus.write.v2.Request" : "a prometheus.WriteRequest",
                    Message(error), offset, message.size()));
  };
  const int64_t now_ms = ToUnixMs(clock_.Now());
  const std::unique_ptr<WriteBatch> batch = sink_.Begin();
  std::optional<HaRequest> ha;
  if (options_.ha != nullptr && !options_.ha->options().replica_labels.empty()) {
    ha.emplace(*options_.ha, now_ms);
  }
  BatchFiller filler(*batch, scratch.checker, limits_, now_ms, ha ? &*ha : nullptr, &scratch.seen);
  RequestShape shape;
  const DecodeError fault = v2 ? ValidateV2(message, shape) : ValidateV1(message, shape, &filler);
  if (fault != DecodeError::kNone) return undecodable(fault, shape.fault_offset);
  if (shape.looks_like_other) return Refuse(request, "undecodable", 400, LooksLikeOther(v2));

  const DecodeError stopped = v2 ? scratch.decoder_v2.Walk(message, shape, filler, &filler, &memory)
                                 : scratch.decoder.Walk(message, filler);
  if (stopped == DecodeError::kNoRoom) return Overloaded(request, OverloadCause::kBytes);
  if (stopped == DecodeError::kLabelsTooLarge) {
    return Refuse(request, "too large", 400, LabelsTooLarge(limits_.max_unpacked_bytes));
  }
  if (stopped != DecodeError::kNone) return undecodable(stopped, 0);
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
  if (ha) ha->Answered(verdict.accepted + verdict.TotalIgnored() > 0);
  verdict.Ignore(IgnoreReason::kHaCopy, tally.shed);

  counters_.series_entries += shape.series;
  counters_.samples_accepted += verdict.accepted;
  AddAll(counters_.samples_ignored, verdict.ignored);
  AddAll(counters_.samples_rejected, verdict.rejected);
  AddAll(counters_.samples_rejected, tally.samples_rejected);
  AddAll(counters_.series_rejected, tally.series_rejected);
  counters_.series_without_replica += tally.series_without_replica;
  counters_.stale_markers += tally.stale_markers;
  counters_.exemplars += tally.exemplars;
  counters_.histograms += tally.histograms;
  counters_.metadata += shape.metadata;
  RaiseTo(counters_.last_received_ms, now_ms);

  const WrittenCounts written{verdict.accepted + verdict.TotalIgnored(), tally.histograms,
                              tally.exemplars};
  if (std::string text = RefusalText(tally, verdict, limits_); !text.empty()) {
    return Refuse(request, "items", 400, std::move(text), written);
  }
  HttpResponse response;
  response.status = 204;
  AddWrittenCounts(request, written, response);
  CountRequest(request, response.status);
  return response;
}

HttpResponse Handler::Refuse(const HttpRequest& request, std::string_view kind, unsigned status,
                             std::string text, const WrittenCounts& written) {
  CountRequest(request, status);
  text = Printable(text, kMaxTextBytes - 1);
  LogOncePerMinute(fmt::format("remote write: {}", kind), LogLevel::kWarn,
                   "remote write request refused",
                   {{"status", std::to_string(status)},
                    {"reason", text},
                    {"user_agent", Printable(request.Header("User-Agent"), kMaxLoggedAgent)},
                    {"peer", request.peer}});
  HttpResponse response = HttpResponse::Text(status, std::move(text));
  AddWrittenCounts(request, written, response);
  return response;
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
