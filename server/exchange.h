#pragma once
// One request and its answer: all that is decided about them, apart from how their bytes travel. No
// Boost here. Internal to server/.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "model/http.h"
#include "server/body_receiver.h"
#include "server/fault.h"
#include "server/handler_pool.h"
#include "server/head_scanner.h"
#include "server/password_verifier.h"
#include "server/read_buffer.h"
#include "server/request_head.h"
#include "server/session.h"

namespace tidemark::server {

/// The other end of a connection.
struct Peer {
  std::string address;  ///< address:port
  /// As in HttpRequest; there once the handshake is over.
  std::shared_ptr<const PeerCertificates> certificates{};
};

/// Its steps are called in the order in which a request comes: head, credentials, admission, body,
/// handler. Each may end the request by an answer, for SetAnswer; none: it goes on. What the
/// request holds (a place in the counters, memory that is booked) is let go by the destructor.
///
/// Not thread-safe; Respond alone may be called on any thread, with no other call meanwhile.
class Exchange {
 public:
  using MaybeAnswer = std::optional<HttpResponse>;

  /// Both must outlive it.
  Exchange(ServerState& state, const Peer& peer);
  ~Exchange();
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  /// Takes the header block out of `buffer`; has_head() tells whether it was all of it.
  MaybeAnswer TakeHead(ReadBuffer& buffer);
  bool has_head() const { return in_request_; }

  /// Whom it is from. With `claim`, it depends on whether that is true: TakeVerdict then.
  struct Entry {
    MaybeAnswer answer;
    std::optional<PasswordClaim> claim;
  };
  Entry Authorize();
  MaybeAnswer TakeVerdict(PasswordVerifier::Verdict verdict);

  /// What it wants, and whether there is room for its body.
  MaybeAnswer Admit();

  /// The client may still be sending the body.
  bool body_to_come() const { return body_to_come_; }
  /// The client waits for 100 before it sends the body.
  bool expects_continue() const { return head_.expect_continue; }
  BodyReceiver& body() { return body_; }
  /// Takes what belongs to the body out of `buffer`; body_to_come() tells whether it was all.
  MaybeAnswer TakeBody(ReadBuffer& buffer);
  /// The answer when there is no room for the body, or no more of it.
  HttpResponse RefuseForLoad(OverloadCause cause) const;

  /// The answer when the headers or the body do not come in time.
  HttpResponse RefuseLate(std::string_view what) const;

  /// Once the whole request is there: its route is served among the masses.
  bool bulk() const { return route_->bulk; }
  /// The handler's answer, or that of an overload when the request has waited too long for it.
  HttpResponse Respond(HandlerPool::Duration waited) const;

  /// Makes the answer's bytes, books them and lets go of the body. `last`: the connection is not to
  /// go on, whatever the answer is.
  void SetAnswer(HttpResponse response, bool last);
  /// Valid as long as the exchange.
  const std::string& answer_head() const { return answer_head_; }
  const std::string& answer_body() const { return answer_body_; }
  /// The connection goes on after the answer,
  bool keep_alive() const { return keep_alive_; }
  /// and after so many bytes of the body that nobody wants.
  uint64_t bytes_to_discard() const { return discard_; }

 private:
  /// The answer to a request whose end is not known, so that nothing behind it can be understood.
  HttpResponse Refuse(Fault fault);
  HttpResponse Own(HttpResponse response) const;
  HttpResponse RefuseLongHead();
  MaybeAnswer ParseHead(std::string_view block);
  HttpResponse RefuseUnauthorized();
  HttpResponse RefuseLargeBody(const std::string& size);
  std::optional<OverloadCause> FindOverload() const;
  bool PayForAnswer(uint64_t bytes);
  bool CanDiscard() const;
  uint64_t BytesToCome() const;

  ServerState& state_;
  const Peer& peer_;
  HeadScanner scanner_;
  RequestHead head_;
  BodyReceiver body_;
  const HttpRoute* route_ = nullptr;
  bool in_request_ = false;  // counted in requests_now
  bool body_to_come_ = false;
  bool without_body_ = false;  // the answer to HEAD
  bool wants_token_ = false;   // for a 401

  bool keep_alive_ = true;
  uint64_t discard_ = 0;
  std::string answer_head_;
  std::string answer_body_;
  uint64_t answer_paid_ = 0;  // bytes of the answer budget
};

}  // namespace tidemark::server
