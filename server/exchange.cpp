#include "server/exchange.h"

#include <chrono>
#include <memory>
#include <tl/expected.hpp>
#include <utility>

#include "model/log.h"
#include "server/answer.h"
#include "server/authorize.h"
#include "server/dispatch.h"

namespace tidemark::server {
namespace {

/// Answers up to this size are not booked.
constexpr uint64_t kFreeAnswerBytes = 64 << 10;

}  // namespace

Exchange::Exchange(ServerState& state, const Peer& peer)
    : state_(state), peer_(peer), body_(head_.request.body, state.body_budget) {}

Exchange::~Exchange() {
  state_.answer_budget.Give(answer_paid_);
  if (in_request_) --state_.counters.requests_now;
}

HttpResponse Exchange::Own(HttpResponse response) const {
  return InOwnForm(state_.options.own_answer, std::move(response));
}

HttpResponse Exchange::Refuse(Fault fault) {
  ++state_.counters.protocol_errors;
  LogOncePerMinute(
      "http_request_refused", LogLevel::kInfo, "HTTP request refused",
      {{"peer", peer_.address}, {"status", std::to_string(fault.status)}, {"reason", fault.text}});
  body_to_come_ = true;
  return Own(ClosingText(fault.status, std::move(fault.text)));
}

Exchange::MaybeAnswer Exchange::TakeHead(ReadBuffer& buffer) {
  const size_t limit = state_.options.max_header_bytes;
  switch (scanner_.Scan(buffer.View())) {
    case HeadScanner::State::kComplete: break;
    case HeadScanner::State::kMalformed:
      return Refuse({400, std::string("malformed request: ") + scanner_.problem()});
    case HeadScanner::State::kIncomplete:
      if (buffer.size() >= limit) return RefuseLongHead();
      return std::nullopt;
  }
  if (scanner_.size() > limit) return RefuseLongHead();
  const size_t begin = scanner_.begin();
  MaybeAnswer answer = ParseHead(buffer.View().substr(begin, scanner_.size() - begin));
  buffer.Consume(scanner_.size());
  return answer;
}

HttpResponse Exchange::RefuseLongHead() {
  return Refuse({431, "the header block is over the limit of " +
                          std::to_string(state_.options.max_header_bytes) + " bytes"});
}

Exchange::MaybeAnswer Exchange::ParseHead(std::string_view block) {
  in_request_ = true;
  ++state_.counters.requests_now;
  tl::expected<RequestHead, Fault> head = ParseRequestHead(block);
  if (!head) return Refuse(std::move(head.error()));
  head_ = std::move(*head);
  head_.request.peer = peer_.address;
  head_.request.peer_certificates = peer_.certificates;
  body_to_come_ = head_.HasBody();
  without_body_ = head_.request.method == "HEAD";
  return std::nullopt;
}

Exchange::Entry Exchange::Authorize() {
  if (!state_.access) return {};
  const std::shared_ptr<const AccessRules> rules = state_.access->Rules();
  const HttpRequest& request = head_.request;
  if (!rules->rate_limiter->Allow(std::chrono::steady_clock::now())) {
    ++state_.counters.requests_rate_limited;
    return {Own(TooManyRequests()), std::nullopt};
  }
  const auto match = state_.router.Find(request.method, request.path);
  Judgement judgement = Judge(*rules, request, match ? match->route : nullptr);
  wants_token_ = judgement.wants_token;
  switch (judgement.verdict) {
    case Judgement::Verdict::kAllowed: break;
    case Judgement::Verdict::kRefused: return {RefuseUnauthorized(), std::nullopt};
    case Judgement::Verdict::kAskPassword: return {std::nullopt, std::move(judgement.claim)};
  }
  return {};
}

Exchange::MaybeAnswer Exchange::TakeVerdict(PasswordVerifier::Verdict verdict) {
  switch (verdict) {
    case PasswordVerifier::Verdict::kGood: break;
    case PasswordVerifier::Verdict::kBad: return RefuseUnauthorized();
    case PasswordVerifier::Verdict::kBusy:
      return Own(Overloaded("too many passwords are being checked; send again"));
  }
  return std::nullopt;
}

HttpResponse Exchange::RefuseUnauthorized() {
  ++state_.counters.requests_unauthorized;
  LogOncePerMinute("http_unauthorized", LogLevel::kWarn, "HTTP request without valid credentials",
                   {{"peer", peer_.address}, {"path", head_.request.path}});
  return Own(Unauthorized(*state_.access->Rules(), wants_token_));
}

Exchange::MaybeAnswer Exchange::Admit() {
  HttpRequest& request = head_.request;
  tl::expected<Router::Match, HttpResponse> match =
      state_.router.Find(request.method, request.path);
  if (!match) return Own(std::move(match.error()));
  route_ = match->route;
  if (match->head_as_get) request.method = "GET";

  if (MaybeAnswer answer = CallAdmission(*route_, request, state_.options.own_answer)) {
    return answer;
  }
  const uint64_t announced = request.content_length.value_or(0);
  if (announced > route_->max_body_bytes) {
    return RefuseLargeBody(std::to_string(announced) + " bytes");
  }
  if (!body_to_come_) return std::nullopt;
  if (const std::optional<OverloadCause> cause = FindOverload()) return RefuseForLoad(*cause);
  if (head_.chunked) {
    body_.ExpectChunks(static_cast<size_t>(route_->max_body_bytes),
                       state_.options.max_header_bytes);
  } else {
    body_.ExpectBytes(static_cast<size_t>(announced));
  }
  return std::nullopt;
}

/// Whether there is room for the body that is about to come.
std::optional<OverloadCause> Exchange::FindOverload() const {
  const uint64_t announced = head_.request.content_length.value_or(BodyReceiver::kStep);
  if (!state_.body_budget.HasRoom(announced)) return OverloadCause::kBytes;
  if (route_->bulk && state_.handlers.BulkDelay() > state_.options.max_bulk_delay) {
    return OverloadCause::kQueue;
  }
  return std::nullopt;
}

HttpResponse Exchange::RefuseForLoad(OverloadCause cause) const {
  return CallOverloaded(*route_, head_.request, cause, state_.options.own_answer);
}

HttpResponse Exchange::RefuseLargeBody(const std::string& size) {
  return Refuse({400, "the request body of " + size + " is over the limit of " +
                          std::to_string(route_->max_body_bytes) + " bytes"});
}

HttpResponse Exchange::RefuseLate(std::string_view what) const {
  return Own(ClosingText(408, std::string(what)));
}

Exchange::MaybeAnswer Exchange::TakeBody(ReadBuffer& buffer) {
  if (!body_to_come_) return std::nullopt;
  switch (body_.TakeFrom(buffer)) {
    case BodyReceiver::State::kComplete: body_to_come_ = false; break;
    case BodyReceiver::State::kIncomplete: break;
    case BodyReceiver::State::kNoRoom: return RefuseForLoad(OverloadCause::kBytes);
    case BodyReceiver::State::kTooLarge: return RefuseLargeBody("unknown length");
    case BodyReceiver::State::kMalformed:
      return Refuse({400, std::string("malformed chunked body: ") + body_.problem()});
  }
  return std::nullopt;
}

HttpResponse Exchange::Respond(HandlerPool::Duration waited) const {
  if (route_->bulk && waited > state_.options.max_bulk_wait) {
    return RefuseForLoad(OverloadCause::kQueue);
  }
  return CallHandler(*route_, head_.request, state_.options.own_answer);
}

void Exchange::SetAnswer(HttpResponse response, bool last) {
  if (!without_body_ && !PayForAnswer(response.body.size())) {
    response = Own(Overloaded("too many large answers wait to be read; ask again"));
  }
  if (route_ != nullptr) {
    CallCompletion(*route_, head_.request, response, state_.options.own_answer);
  }
  keep_alive_ = head_.keep_alive && !response.close && CanDiscard() && !last;
  if (state_.access) AddHeaders(state_.access->Rules()->headers, response);
  discard_ = BytesToCome();
  body_.Release();  // before the answer: who is told that there is no room makes some
  ++state_.counters.requests_by_class[response.status / 100];
  answer_head_ = FormatAnswerHead(response, keep_alive_, state_.clock.Now());
  if (!without_body_ && StatusHasBody(response.status)) answer_body_ = std::move(response.body);
}

/// Books the memory of an answer until it is read. Small ones are free, so that every client can be
/// told what is wrong; the largest there may be passes when it is alone.
bool Exchange::PayForAnswer(uint64_t bytes) {
  if (bytes <= kFreeAnswerBytes) return true;
  if (state_.answer_budget.TryTake(bytes)) {
    answer_paid_ = bytes;
    return true;
  }
  return state_.answer_budget.taken() == 0;
}

/// Whether what is still to come of the body is short and bound to come. A client that was not told
/// to continue may leave it out.
bool Exchange::CanDiscard() const {
  if (!body_to_come_) return true;
  return !head_.chunked && !head_.expect_continue && BytesToCome() <= state_.options.discard_bytes;
}

uint64_t Exchange::BytesToCome() const {
  if (!body_to_come_ || head_.chunked) return 0;
  return head_.request.content_length.value_or(0) - head_.request.body.size();
}

}  // namespace tidemark::server
