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
#include "server/dispatch.h"
#include "server/exchange.h"
#include "server/handler_pool.h"
#include "server/password_verifier.h"
#include "server/plain_connection.h"
#include "server/read_buffer.h"
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
      : io_(std::forward<Arguments>(stream)...), peer_{std::move(peer)}, state_(std::move(state)) {
    exchange_.emplace(*state_, peer_);
  }

  ~Connection() override {
    exchange_.reset();
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
    SayOnly(InOwnForm(state_->options.own_answer,
                      Overloaded("too many connections; at most " +
                                 std::to_string(state_->options.max_connections) + " are served")));
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

  static constexpr std::chrono::milliseconds kRefuseWait = std::chrono::seconds(1);
  /// A client that has sent nothing unread may be about to: a pipelined request that crosses our
  /// closing.
  static constexpr std::chrono::milliseconds kQuietLinger = std::chrono::seconds(1);

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
        if (opened == Stream::Opened::kYes) {
          self->peer_.certificates = self->io_.stream().ReadPeerCertificates();
          return next(*self);
        }
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
                     {{"peer", peer_.address}, {"error", std::move(reason)}});
  }

  /// In the words of Go's server, which people search for.
  void RefusePlainHttp() {
    if constexpr (Stream::kHasHandshake) {
      HandshakeFailed("the client sent an HTTP request to an HTTPS server");
      io_.Disarm();
      phase_ = Phase::kClosed;
      SayPlain(io_.stream().TakeSocket(), peer_.address, state_,
               InOwnForm(state_->options.own_answer,
                         ClosingText(400, "client sent an HTTP request to an HTTPS server")));
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
    Answer(exchange_->RefuseLate(phase_ == Phase::kHead ? "the headers did not come in time"
                                                        : "the body did not come in time"));
  }

  /// The client is gone. Nothing to say, and nobody to say it to.
  void OnCut() {
    if (phase_ == Phase::kHead || phase_ == Phase::kRequest) ++state_->counters.protocol_errors;
    Close();
  }

  // One request: headers.

  void NextRequest() {
    phase_ = Phase::kIdle;
    // The answer before may have said that the connection goes on.
    if (state_->stopping) return Stream::kHasHandshake ? Linger(kQuietLinger) : Close();
    buffer_.Shrink();
    ReadHead();
  }

  void ReadHead() {
    Exchange::MaybeAnswer answer = exchange_->TakeHead(buffer_);
    if (answer) return Answer(std::move(*answer));
    if (exchange_->has_head()) {
      idle_since_ = 0;
      phase_ = Phase::kRequest;
      return Authorize();
    }
    if (phase_ == Phase::kIdle && !buffer_.empty()) {
      idle_since_ = 0;
      phase_ = Phase::kHead;
      Arm(state_->options.header_deadline);
    } else if (phase_ == Phase::kIdle) {
      Arm(answered_any_ ? state_->options.idle_timeout : state_->options.header_deadline);
    }
    ReadIntoBuffer([](Connection& self) { self.ReadHead(); });
  }

  // One request: who it is from, what it wants.

  void Authorize() {
    Exchange::Entry entry = exchange_->Authorize();
    if (entry.answer) return Answer(std::move(*entry.answer));
    if (!entry.claim) return Admit();
    // Nothing is read or written until the verdict comes, and it always comes.
    io_.Disarm();
    const auto known = state_->verifier.Verify(
        std::move(*entry.claim),
        [self = this->shared_from_this()](PasswordVerifier::Verdict verdict) {
          boost::asio::post(self->io_.executor(), [self, verdict] { self->OnVerdict(verdict); });
        });
    if (known) OnVerdict(*known);
  }

  void OnVerdict(PasswordVerifier::Verdict verdict) {
    if (phase_ == Phase::kClosed) return;
    if (Exchange::MaybeAnswer answer = exchange_->TakeVerdict(verdict)) {
      return Answer(std::move(*answer));
    }
    Admit();
  }

  void Admit() {
    if (Exchange::MaybeAnswer answer = exchange_->Admit()) return Answer(std::move(*answer));
    if (!exchange_->body_to_come()) return Handle();
    Arm(state_->options.body_deadline);
    // A client that sends the body with the headers does not wait (RFC 9110 section 10.1.1).
    if (exchange_->expects_continue() && buffer_.empty()) return SendContinue();
    ReadBody();
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

  // One request: body, handler and answer.

  void ReadBody() {
    if (Exchange::MaybeAnswer answer = exchange_->TakeBody(buffer_)) {
      return Answer(std::move(*answer));
    }
    if (!exchange_->body_to_come()) return Handle();
    if (exchange_->body().chunked()) {
      return ReadIntoBuffer([](Connection& self) { self.ReadBody(); });
    }
    const ReadBuffer::Space space = exchange_->body().Extend();
    if (space.size == 0) return Answer(exchange_->RefuseForLoad(OverloadCause::kBytes));
    ReadSome(boost::asio::buffer(space.data, space.size), [](Connection& self, size_t bytes) {
      self.exchange_->body().Commit(bytes);
      self.ReadBody();
    });
  }

  void Handle() {
    io_.Disarm();
    // Nothing touches the request while it is away: only Close can come in between.
    state_->handlers.Post(
        exchange_->bulk(), [self = this->shared_from_this()](HandlerPool::Duration waited) {
          boost::asio::post(self->io_.executor(),
                            [self, response = self->exchange_->Respond(waited)]() mutable {
                              if (self->phase_ != Phase::kClosed) self->Answer(std::move(response));
                            });
        });
  }

  void Answer(HttpResponse response) {
    exchange_->SetAnswer(std::move(response), state_->stopping || evicted_);
    phase_ = Phase::kWriting;
    Arm(state_->options.write_deadline);
    const std::array<boost::asio::const_buffer, 2> buffers = {
        boost::asio::buffer(exchange_->answer_head()),
        boost::asio::buffer(exchange_->answer_body())};
    io_.Write(buffers, [self = this->shared_from_this()](const Code& error, size_t) {
      if (self->phase_ != Phase::kClosed) self->OnAnswered(error);
    });
  }

  void OnAnswered(const Code& error) {
    io_.Disarm();
    const bool keep_alive = exchange_->keep_alive();
    const bool unread = exchange_->body_to_come() || !buffer_.empty();
    discard_ = exchange_->bytes_to_discard();
    answered_any_ = true;
    if (!error && keep_alive && buffer_.empty()) {
      idle_since_ = std::chrono::steady_clock::now().time_since_epoch().count();
    }
    exchange_.emplace(*state_, peer_);
    if (error) return Close();
    if (keep_alive) return Discard();
    Linger(unread ? state_->options.linger_timeout : kQuietLinger);
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
  Peer peer_;
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

  std::optional<Exchange> exchange_;  // the request at hand, or the one to come; never empty
  uint64_t discard_ = 0;              // bytes that are still to come of a body after its answer
};

}  // namespace tidemark::server
