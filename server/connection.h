#pragma once
// One HTTP/1.1 connection over a stream: plain TCP or TLS.
// Internal to server/.

#include <algorithm>
#include <array>
#include <atomic>
#include <boost/asio/buffer.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "model/http.h"
#include "model/log.h"
#include "server/answer.h"
#include "server/authorize.h"
#include "server/chunked_body.h"
#include "server/dispatch.h"
#include "server/head_scanner.h"
#include "server/plain_connection.h"
#include "server/read_buffer.h"
#include "server/request_head.h"
#include "server/session.h"
#include "server/timed_stream.h"

namespace tidemark::server {

/// `Stream` is PlainStream or TlsStream.
///
/// Everything but the constructor and the calls of Session runs on the stream's executor, which
/// must be a strand. Every wait is an asynchronous operation that holds a reference to the
/// connection and is bounded by the one deadline timer; the connection goes when the last operation
/// has ended. One request at a time: the next one is looked at when the answer to the one before
/// has been written.
template <class Stream>
class Connection final : public Session, public std::enable_shared_from_this<Connection<Stream>> {
 public:
  /// `stream` are the arguments of the stream's constructor.
  template <class... Arguments>
  Connection(std::string peer, std::shared_ptr<ServerState> state, Arguments&&... stream)
      : io_(std::forward<Arguments>(stream)...), peer_(std::move(peer)), state_(std::move(state)) {}

  ~Connection() override {
    EndRequest();
    if (registry_ == nullptr) return;
    if (registry_ == &state_->served) --state_->counters.connections_now;
    registry_->Remove(this);
  }

  /// Serves until the client or the server has enough.
  void Serve() {
    Register(state_->served);
    ++state_->counters.connections_total;
    ++state_->counters.connections_now;
    Run([](Connection& self) { self.Open([](Connection& opened) { opened.NextRequest(); }); });
  }

  /// Waits for a first sign of a request, so that the client is ready for an answer, and says 503.
  void TurnAway() {
    ++state_->counters.connections_refused;
    SayOnly(Overloaded("too many connections; at most " +
                       std::to_string(state_->options.max_connections) + " are served"));
  }

  /// Gives one answer, whatever the request is, and ends.
  void SayOnly(HttpResponse response) {
    Register(state_->refused);
    only_answer_ = std::move(response);
    Run([](Connection& self) {
      self.Open([](Connection& opened) {
        opened.phase_ = Phase::kIdle;
        opened.Arm(kRefuseWait);
        opened.ReadIntoBuffer(
            [](Connection& refused) { refused.Answer(std::move(refused.only_answer_)); });
      });
    });
  }

  void Drain() override {
    boost::asio::post(io_.executor(), [self = this->shared_from_this()] {
      if (self->phase_ == Phase::kIdle) self->Leave();
      if (self->phase_ == Phase::kHead || self->phase_ == Phase::kHandshake) self->Close();
    });
  }

  int64_t IdleSince() const override { return idle_since_; }

  bool TryEvict() override {
    if (idle_since_.exchange(0) == 0) return false;
    boost::asio::post(io_.executor(), [self = this->shared_from_this()] {
      if (self->phase_ == Phase::kClosed) return;
      ++self->state_->counters.connections_evicted;
      self->evicted_ = true;  // a request that came meanwhile is answered, and is the last one
      if (self->phase_ == Phase::kIdle) self->Leave();
    });
    return true;
  }

  void Kill() override {
    boost::asio::post(io_.executor(), [self = this->shared_from_this()] { self->Close(); });
  }

 private:
  using Code = boost::system::error_code;

  enum class Phase {
    kHandshake,
    kIdle,     // between requests, nothing has come
    kHead,     // within a header block
    kRequest,  // headers have come: password, body or handler
    kWriting,
    kDiscard,  // answered; the rest of the body is thrown away, then comes the next request
    kLinger,   // answered; input is thrown away until the client has seen it
    kClosed,
  };

  static constexpr size_t kBodyStep = 64 << 10;  // how far the body grows ahead of what has come
  static constexpr std::chrono::milliseconds kRefuseWait = std::chrono::seconds(1);
  /// A client that has sent nothing unread may be about to: a pipelined request that crosses our
  /// closing.
  static constexpr std::chrono::milliseconds kQuietLinger = std::chrono::seconds(1);
  /// Answers up to this size are not booked.
  static constexpr uint64_t kFreeAnswerBytes = 64 << 10;

  void Register(SessionRegistry& registry) {
    registry_ = &registry;
    registry.Add(this->shared_from_this());
  }

  template <class Action>
  void Run(Action action) {
    boost::asio::dispatch(io_.executor(),
                          [self = this->shared_from_this(), action] { action(*self); });
  }

  void Arm(std::chrono::milliseconds timeout) {
    io_.Arm(timeout, [self = this->shared_from_this()] { self->OnDeadline(); });
  }

  void OnDeadline() {
    if (phase_ == Phase::kWriting || phase_ == Phase::kHandshake) ++state_->counters.timeouts;
    if (phase_ == Phase::kHandshake) HandshakeFailed("it took too long");
    if (phase_ == Phase::kHead || phase_ == Phase::kRequest) {
      io_.Cancel();  // the operation ends, and its handler answers 408
    } else if (phase_ == Phase::kIdle) {
      Leave();
    } else {
      Close();
    }
  }

  // The beginning.

  /// Whatever comes before the first request; then `next(*this)`.
  template <class Next>
  void Open(Next next) {
    if constexpr (Stream::kHasHandshake) {
      Arm(state_->options.handshake_deadline);
      io_.stream().Handshake([self = this->shared_from_this(), next](typename Stream::Opened opened,
                                                                     const std::string& error) {
        if (self->phase_ == Phase::kClosed) return;
        if (opened == Stream::Opened::kYes) return next(*self);
        if (opened == Stream::Opened::kPlainHttp) return self->RefusePlainHttp();
        self->HandshakeFailed(error);
        self->Close();
      });
    } else {
      next(*this);
    }
  }

  void HandshakeFailed(std::string reason) {
    ++state_->counters.tls_handshakes_failed;
    LogOncePerMinute("tls_handshake_failed", LogLevel::kInfo, "TLS handshake failed",
                     {{"peer", peer_}, {"error", std::move(reason)}});
  }

  /// In the words of Go's server, which people search for.
  void RefusePlainHttp() {
    if constexpr (Stream::kHasHandshake) {
      HandshakeFailed("the client sent an HTTP request to an HTTPS server");
      io_.Disarm();
      phase_ = Phase::kClosed;
      SayPlain(io_.stream().TakeSocket(), peer_, state_,
               ClosingText(400, "client sent an HTTP request to an HTTPS server"));
    }
  }

  // Reading.

  /// Reads what there is and calls `next(*this, bytes)`; what goes wrong ends the connection.
  template <class Next>
  void ReadSome(boost::asio::mutable_buffer space, Next next) {
    io_.Read(space, [self = this->shared_from_this(), next](const Code& error, size_t bytes) {
      if (self->phase_ == Phase::kClosed) return;
      if (self->leaving_) return self->Linger(kQuietLinger);
      if (self->io_.late()) return self->OnLate();
      if (error) return self->OnCut();
      next(*self, bytes);
    });
  }

  template <class Next>
  void ReadIntoBuffer(Next next) {
    const ReadBuffer::Space space = buffer_.Prepare(state_->options.max_header_bytes);
    ReadSome(boost::asio::buffer(space.data, space.size), [next](Connection& self, size_t bytes) {
      self.buffer_.Commit(bytes);
      next(self);
    });
  }

  void OnLate() {
    ++state_->counters.timeouts;
    Answer(ClosingText(408, phase_ == Phase::kHead ? "the headers did not come in time"
                                                   : "the body did not come in time"));
  }

  /// The client is gone. Nothing to say, and nobody to say it to.
  void OnCut() {
    if (phase_ == Phase::kHead || phase_ == Phase::kRequest) ++state_->counters.protocol_errors;
    Close();
  }

  // One request: headers.

  void NextRequest() {
    scanner_ = HeadScanner();
    phase_ = Phase::kIdle;
    // The answer before may have said that the connection goes on.
    if (state_->stopping) return Stream::kHasHandshake ? Linger(kQuietLinger) : Close();
    buffer_.Shrink();
    ReadHead();
  }

  void ReadHead() {
    const size_t limit = state_->options.max_header_bytes;
    switch (scanner_.Scan(buffer_.View())) {
      case HeadScanner::State::kComplete:
        return scanner_.size() > limit ? RefuseLongHead() : OnHead();
      case HeadScanner::State::kMalformed:
        return Refuse({400, std::string("malformed request: ") + scanner_.problem()});
      case HeadScanner::State::kIncomplete: break;
    }
    if (buffer_.size() >= limit) return RefuseLongHead();
    if (phase_ == Phase::kIdle && !buffer_.empty()) {
      idle_since_ = 0;
      phase_ = Phase::kHead;
      Arm(state_->options.header_deadline);
    } else if (phase_ == Phase::kIdle) {
      Arm(answered_any_ ? state_->options.idle_timeout : state_->options.header_deadline);
    }
    ReadIntoBuffer([](Connection& self) { self.ReadHead(); });
  }

  void RefuseLongHead() {
    Refuse({431, "the header block is over the limit of " +
                     std::to_string(state_->options.max_header_bytes) + " bytes"});
  }

  /// Where the request ends is not known, so nothing more of this connection can be understood.
  void Refuse(Fault fault) {
    ++state_->counters.protocol_errors;
    LogOncePerMinute(
        "http_request_refused", LogLevel::kInfo, "HTTP request refused",
        {{"peer", peer_}, {"status", std::to_string(fault.status)}, {"reason", fault.text}});
    body_to_come_ = true;
    Answer(ClosingText(fault.status, std::move(fault.text)));
  }

  void OnHead() {
    idle_since_ = 0;
    const std::string_view block =
        buffer_.View().substr(scanner_.begin(), scanner_.size() - scanner_.begin());
    tl::expected<RequestHead, Fault> head = ParseRequestHead(block);
    buffer_.Consume(scanner_.size());
    phase_ = Phase::kRequest;
    in_request_ = true;
    ++state_->counters.requests_now;
    if (!head) return Refuse(std::move(head.error()));
    head_ = std::move(*head);
    HttpRequest& request = head_.request;
    request.peer = peer_;
    body_to_come_ = head_.HasBody();

    without_body_ = request.method == "HEAD";
    if (state_->access) return Authorize();
    Admit();
  }

  // One request: who it is from.

  void Authorize() {
    const std::shared_ptr<const AccessRules> rules = state_->access->Rules();
    const HttpRequest& request = head_.request;
    if (!rules->rate_limiter->Allow(std::chrono::steady_clock::now())) {
      ++state_->counters.requests_rate_limited;
      return Answer(TooManyRequests());
    }
    const auto match = state_->router.Find(request.method, request.path);
    Judgement judgement = Judge(*rules, request, match ? match->route : nullptr);
    wants_token_ = judgement.wants_token;
    switch (judgement.verdict) {
      case Judgement::Verdict::kAllowed: return Admit();
      case Judgement::Verdict::kRefused: return RefuseUnauthorized();
      case Judgement::Verdict::kAskPassword: break;
    }
    // Nothing is read or written until the verdict comes, and it always comes.
    io_.Disarm();
    const auto known = state_->verifier.Verify(
        std::move(judgement.claim),
        [self = this->shared_from_this()](PasswordVerifier::Verdict verdict) {
          boost::asio::post(self->io_.executor(), [self, verdict] { self->OnVerdict(verdict); });
        });
    if (known) OnVerdict(*known);
  }

  void OnVerdict(PasswordVerifier::Verdict verdict) {
    if (phase_ == Phase::kClosed) return;
    switch (verdict) {
      case PasswordVerifier::Verdict::kGood: return Admit();
      case PasswordVerifier::Verdict::kBad: return RefuseUnauthorized();
      case PasswordVerifier::Verdict::kBusy:
        return Answer(Overloaded("too many passwords are being checked; send again"));
    }
  }

  void RefuseUnauthorized() {
    ++state_->counters.requests_unauthorized;
    LogOncePerMinute("http_unauthorized", LogLevel::kWarn, "HTTP request without valid credentials",
                     {{"peer", peer_}, {"path", head_.request.path}});
    Answer(Unauthorized(*state_->access->Rules(), wants_token_));
  }

  // One request: what it wants.

  void Admit() {
    HttpRequest& request = head_.request;
    tl::expected<Router::Match, HttpResponse> match =
        state_->router.Find(request.method, request.path);
    if (!match) return Answer(std::move(match.error()));
    route_ = match->route;
    if (match->head_as_get) request.method = "GET";

    if (std::optional<HttpResponse> answer = CallAdmission(*route_, request))
      return Answer(std::move(*answer));
    if (request.content_length.value_or(0) > route_->max_body_bytes) {
      return RefuseLargeBody(std::to_string(*request.content_length) + " bytes");
    }
    if (!body_to_come_) return Handle();
    if (const std::optional<OverloadCause> cause = FindOverload()) return RefuseForLoad(*cause);
    Arm(state_->options.body_deadline);
    if (head_.chunked) chunks_.emplace(route_->max_body_bytes, state_->options.max_header_bytes);
    // A client that sends the body with the headers does not wait (RFC 9110 section 10.1.1).
    if (head_.expect_continue && buffer_.empty()) return SendContinue();
    ReadBody();
  }

  /// Whether there is room for the body that is about to come.
  std::optional<OverloadCause> FindOverload() const {
    const uint64_t announced = head_.request.content_length.value_or(kBodyStep);
    if (!state_->body_budget.HasRoom(announced)) return OverloadCause::kBytes;
    if (route_->bulk && state_->handlers.BulkDelay() > state_->options.max_bulk_delay) {
      return OverloadCause::kQueue;
    }
    return std::nullopt;
  }

  void RefuseForLoad(OverloadCause cause) { Answer(CallOverloaded(*route_, head_.request, cause)); }

  void RefuseLargeBody(const std::string& size) {
    Refuse({400, "the request body of " + size + " is over the limit of " +
                     std::to_string(route_->max_body_bytes) + " bytes"});
  }

  void SendContinue() {
    static constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
    ++state_->counters.requests_by_class[1];
    io_.Write(boost::asio::buffer(kContinue.data(), kContinue.size()),
              [self = this->shared_from_this()](const Code& error, size_t) {
                if (self->phase_ == Phase::kClosed) return;
                if (self->io_.late()) return self->OnLate();
                if (error) return self->OnCut();
                self->ReadBody();
              });
  }

  // One request: body.

  void ReadBody() { head_.chunked ? ReadChunks() : ReadAnnounced(); }

  void ReadAnnounced() {
    std::string& body = head_.request.body;
    const size_t wanted = static_cast<size_t>(*head_.request.content_length);
    const size_t here = std::min(wanted, buffer_.size());
    if (!GrowBody(here, wanted)) return RefuseForLoad(OverloadCause::kBytes);
    body.append(buffer_.View().substr(0, here));
    buffer_.Consume(here);
    ReadRestOfAnnounced();
  }

  /// Straight into the body. It grows by doubling, behind what has come: an announced length
  /// reserves nothing.
  void ReadRestOfAnnounced() {
    std::string& body = head_.request.body;
    const size_t had = body.size();
    const size_t wanted = static_cast<size_t>(*head_.request.content_length);
    const size_t step = std::min(wanted - had, kBodyStep);
    if (step == 0) return Handle();
    if (!GrowBody(had + step, wanted)) return RefuseForLoad(OverloadCause::kBytes);
    body.resize(had + step);
    ReadSome(boost::asio::buffer(body.data() + had, step), [had](Connection& self, size_t bytes) {
      self.head_.request.body.resize(had + bytes);
      self.ReadRestOfAnnounced();
    });
  }

  void ReadChunks() {
    const size_t most = static_cast<size_t>(route_->max_body_bytes);
    if (!GrowBody(std::min(head_.request.body.size() + buffer_.size(), most), most)) {
      return RefuseForLoad(OverloadCause::kBytes);
    }
    const ChunkedBody::Step step = chunks_->Feed(buffer_.View(), head_.request.body);
    buffer_.Consume(step.consumed);
    switch (step.state) {
      case ChunkedBody::State::kComplete: return Handle();
      case ChunkedBody::State::kTooLarge: return RefuseLargeBody("unknown length");
      case ChunkedBody::State::kMalformed:
        return Refuse({400, std::string("malformed chunked body: ") + chunks_->problem()});
      case ChunkedBody::State::kIncomplete:
        ReadIntoBuffer([](Connection& self) { self.ReadChunks(); });
    }
  }

  /// Room for `size` bytes of the body, by doubling up to `most`. It is booked before it is there;
  /// false when there is no more. Not left to std::string, which would double past `most`: the
  /// largest body allowed must fit a budget of its size.
  bool GrowBody(size_t size, size_t most) {
    std::string& body = head_.request.body;
    if (size <= body.capacity()) return true;
    const size_t capacity = std::min(std::max(size, 2 * body.capacity()), most);
    if (!state_->body_budget.TryTake(capacity - paid_)) return false;
    paid_ = capacity;
    std::string larger;
    larger.reserve(capacity);
    larger.append(body);
    body.swap(larger);
    return true;
  }

  // One request: handler and answer.

  void Handle() {
    io_.Disarm();
    body_to_come_ = false;
    // Nothing touches the request while it is away: only Close can come in between.
    state_->handlers.Post(route_->bulk, [self = this->shared_from_this()](
                                            HandlerPool::Duration waited) {
      boost::asio::post(self->io_.executor(), [self, response = self->Respond(waited)]() mutable {
        if (self->phase_ != Phase::kClosed) self->Answer(std::move(response));
      });
    });
  }

  HttpResponse Respond(HandlerPool::Duration waited) const {
    if (route_->bulk && waited > state_->options.max_bulk_wait) {
      return CallOverloaded(*route_, head_.request, OverloadCause::kQueue);
    }
    return CallHandler(*route_, head_.request);
  }

  /// Books the memory of an answer until it is read. Small ones are free, so that every client can
  /// be told what is wrong; the largest there may be passes when it is alone.
  bool PayForAnswer(uint64_t bytes) {
    if (bytes <= kFreeAnswerBytes) return true;
    if (state_->answer_budget.TryTake(bytes)) {
      answer_paid_ = bytes;
      return true;
    }
    return state_->answer_budget.taken() == 0;
  }

  void Answer(HttpResponse response) {
    if (!without_body_ && !PayForAnswer(response.body.size())) {
      response = Overloaded("too many large answers wait to be read; ask again");
    }
    if (route_ != nullptr && route_->complete) route_->complete(head_.request, response);
    phase_ = Phase::kWriting;
    Arm(state_->options.write_deadline);
    keep_alive_ =
        head_.keep_alive && !response.close && CanDiscard() && !state_->stopping && !evicted_;
    if (state_->access) AddHeaders(state_->access->Rules()->headers, response);
    discard_ = BytesToCome();
    ReleaseBody();  // before the answer: who is told that there is no room makes some
    ++state_->counters.requests_by_class[response.status / 100];
    answer_head_ = FormatAnswerHead(response, keep_alive_, state_->clock.Now());
    const bool with_body = !without_body_ && StatusHasBody(response.status);
    answer_body_ = with_body ? std::move(response.body) : std::string();

    const std::array<boost::asio::const_buffer, 2> buffers = {boost::asio::buffer(answer_head_),
                                                              boost::asio::buffer(answer_body_)};
    io_.Write(buffers, [self = this->shared_from_this()](const Code& error, size_t) {
      if (self->phase_ != Phase::kClosed) self->OnAnswered(error);
    });
  }

  /// Whether what is still to come of the body is short and bound to come. A client that was not
  /// told to continue may leave it out.
  bool CanDiscard() const {
    if (!body_to_come_) return true;
    return !head_.chunked && !head_.expect_continue &&
           BytesToCome() <= state_->options.discard_bytes;
  }
  uint64_t BytesToCome() const {
    if (!body_to_come_ || head_.chunked) return 0;
    return head_.request.content_length.value_or(0) - head_.request.body.size();
  }
  void ReleaseBody() {
    std::string().swap(head_.request.body);  // an assignment would keep the memory
    state_->body_budget.Give(std::exchange(paid_, 0));
  }

  void OnAnswered(const Code& error) {
    io_.Disarm();
    const bool unread = body_to_come_ || !buffer_.empty();
    answered_any_ = true;
    if (!error && keep_alive_ && buffer_.empty()) {
      idle_since_ = std::chrono::steady_clock::now().time_since_epoch().count();
    }
    EndRequest();
    if (error) return Close();
    if (keep_alive_) return Discard();
    Linger(unread ? state_->options.linger_timeout : kQuietLinger);
  }

  /// Lets go of everything that belongs to the request.
  void EndRequest() {
    ReleaseBody();
    head_ = RequestHead();
    state_->answer_budget.Give(std::exchange(answer_paid_, 0));
    if (std::exchange(in_request_, false)) --state_->counters.requests_now;
    chunks_.reset();
    route_ = nullptr;
    without_body_ = false;
    body_to_come_ = false;
    answer_head_ = std::string();
    answer_body_ = std::string();
  }

  /// Throws away the rest of a body that nobody wants, if there is one, before the next request.
  void Discard() {
    if (discard_ == 0) return NextRequest();
    phase_ = Phase::kDiscard;
    Arm(state_->options.linger_timeout);
    DiscardSome();
  }

  void DiscardSome() {
    const size_t here = static_cast<size_t>(std::min<uint64_t>(discard_, buffer_.size()));
    buffer_.Consume(here);
    discard_ -= here;
    if (discard_ == 0) {
      io_.Disarm();
      return NextRequest();
    }
    ReadIntoBuffer([](Connection& self) { self.DiscardSome(); });
  }

  // The end.

  /// Ends a connection between two requests, whose read is under way.
  void Leave() {
    if constexpr (Stream::kHasHandshake) {
      leaving_ = true;  // the read ends, and its handler says goodbye
      io_.Cancel();
    } else {
      Close();
    }
  }

  void Linger(std::chrono::milliseconds timeout) {
    phase_ = Phase::kLinger;
    Arm(std::min(timeout, state_->options.linger_timeout));
    buffer_.Consume(buffer_.size());
    io_.FinishSending([self = this->shared_from_this()] {
      if (self->phase_ != Phase::kClosed) self->DropInput();
    });
  }

  void DropInput() {
    if (dropped_bytes_ > state_->options.linger_bytes) return Close();
    const ReadBuffer::Space space = buffer_.Prepare(state_->options.max_header_bytes);
    io_.ReadToDrop(boost::asio::buffer(space.data, space.size),
                   [self = this->shared_from_this()](const Code& error, size_t bytes) {
                     if (error) return self->Close();
                     self->dropped_bytes_ += bytes;
                     if (self->phase_ != Phase::kClosed) self->DropInput();
                   });
  }

  /// What the request holds stays until the destructor: an operation under way may still use it.
  void Close() {
    if (phase_ == Phase::kClosed) return;
    phase_ = Phase::kClosed;
    io_.Close();
  }

  TimedStream<Stream> io_;
  const std::string peer_;
  const std::shared_ptr<ServerState> state_;
  SessionRegistry* registry_ = nullptr;

  Phase phase_ = Stream::kHasHandshake ? Phase::kHandshake : Phase::kIdle;
  ReadBuffer buffer_;
  bool answered_any_ = false;
  bool leaving_ = false;  // the read under way was ended to say goodbye
  bool evicted_ = false;  // the next answer is the last
  /// Of the steady clock, while between requests and not chosen for eviction; else 0.
  std::atomic<int64_t> idle_since_ = 0;
  HttpResponse only_answer_;
  uint64_t dropped_bytes_ = 0;

  // The request at hand.
  HeadScanner scanner_;
  RequestHead head_;
  std::optional<ChunkedBody> chunks_;
  const HttpRoute* route_ = nullptr;
  bool in_request_ = false;    // counted in requests_now
  bool body_to_come_ = false;  // the client may still be sending
  bool without_body_ = false;  // the answer to HEAD
  bool wants_token_ = false;   // for a 401
  uint64_t paid_ = 0;          // bytes of the body budget
  uint64_t discard_ = 0;       // bytes of the body that are still to come after its answer

  // Its answer; must stay until it is written.
  bool keep_alive_ = true;
  std::string answer_head_;
  std::string answer_body_;
  uint64_t answer_paid_ = 0;  // bytes of the answer budget
};

}  // namespace tidemark::server
