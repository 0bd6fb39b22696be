#include "server/acceptor.h"

#include <array>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <chrono>
#include <future>
#include <string_view>
#include <utility>
#include <vector>

#include "model/log.h"
#include "server/listen_address.h"
#include "server/plain_connection.h"
#include "server/tls_connection.h"

namespace tidemark::server {
namespace {

namespace net = boost::asio;
using Tcp = net::ip::tcp;
using Code = boost::system::error_code;

/// How many clients over the limit are told so at a time; more are just closed.
constexpr size_t kMaxRefusedNow = 64;
/// Out of file descriptors or memory: trying again at once would only burn a core.
constexpr std::chrono::milliseconds kAcceptPause{100};

std::string Describe(std::string_view address, std::string_view why) {
  return "cannot listen on " + std::string(address) + ": " + std::string(why);
}

/// The endpoints to try, best first.
Result<std::vector<Tcp::endpoint>> Resolve(net::io_context& context, const std::string& text) {
  Result<ListenAddress> address = ParseListenAddress(text);
  if (!address) return tl::unexpected<Error>(std::move(address.error()));
  if (address->host.empty()) {
    // One IPv6 socket takes both families; where the kernel has no IPv6, IPv4 is all there is.
    return std::vector<Tcp::endpoint>{{Tcp::v6(), address->port}, {Tcp::v4(), address->port}};
  }
  Tcp::resolver resolver(context);
  Code error;
  const auto found =
      resolver.resolve(address->host, std::to_string(address->port),
                       Tcp::resolver::passive | Tcp::resolver::numeric_service, error);
  if (error) return Fail(ErrorCode::kIo, Describe(text, error.message()));
  std::vector<Tcp::endpoint> endpoints;
  for (const auto& entry : found) endpoints.push_back(entry.endpoint());
  return endpoints;
}

}  // namespace

std::string FormatEndpoint(const Tcp::endpoint& endpoint) {
  net::ip::address address = endpoint.address();
  if (address.is_v6() && address.to_v6().is_v4_mapped()) {
    address = net::ip::make_address_v4(net::ip::v4_mapped, address.to_v6());
  }
  const std::string host = address.is_v6() ? "[" + address.to_string() + "]" : address.to_string();
  return host + ":" + std::to_string(endpoint.port());
}

Acceptor::Acceptor(net::io_context& context, std::shared_ptr<ServerState> state)
    : context_(context),
      state_(std::move(state)),
      acceptor_(net::make_strand(context)),
      pause_(acceptor_.get_executor()) {}

Result<void> Acceptor::Listen() {
  const std::string& text = state_->options.listen_address;
  Result<std::vector<Tcp::endpoint>> endpoints = Resolve(context_, text);
  if (!endpoints) return tl::unexpected<Error>(std::move(endpoints.error()));
  Result<void> bound = Fail(ErrorCode::kIo, Describe(text, "no such host"));
  for (const Tcp::endpoint& endpoint : *endpoints) {
    bound = Bind(endpoint);
    if (bound) break;
  }
  if (!bound) return bound;
  net::post(acceptor_.get_executor(), [this] { AcceptNext(); });
  return {};
}

Result<void> Acceptor::Bind(const Tcp::endpoint& endpoint) {
  Code error;
  Code ignored;
  acceptor_.close(ignored);
  acceptor_.open(endpoint.protocol(), error);
  if (!error) acceptor_.set_option(net::socket_base::reuse_address(true), error);
  if (!error && endpoint.address().is_v6() && endpoint.address().is_unspecified()) {
    acceptor_.set_option(net::ip::v6_only(false), error);
  }
  if (!error) acceptor_.bind(endpoint, error);
  if (!error) acceptor_.listen(net::socket_base::max_listen_connections, error);
  if (!error) endpoint_ = acceptor_.local_endpoint(error);
  if (!error) return {};
  return Fail(ErrorCode::kIo, Describe(state_->options.listen_address, error.message()));
}

void Acceptor::Close() {
  std::promise<void> closed;
  net::post(acceptor_.get_executor(), [this, &closed] {
    Code ignored;
    acceptor_.close(
        ignored);  // a handler that comes after this sees that it is closed and drops its socket
    pause_.cancel();
    closed.set_value();
  });
  closed.get_future().wait();
}

void Acceptor::AcceptNext() {
  if (!acceptor_.is_open()) return;
  acceptor_.async_accept(net::make_strand(context_), [this](const Code& error, Tcp::socket socket) {
    if (!acceptor_.is_open()) return;
    if (!error) {
      OnAccepted(std::move(socket));
      return AcceptNext();
    }
    if (error == net::error::connection_aborted) return AcceptNext();
    LogOncePerMinute("http_accept_failed", LogLevel::kError, "cannot accept a connection",
                     {{"address", FormatEndpoint(endpoint_)}, {"error", error.message()}});
    AcceptLater();
  });
}

void Acceptor::AcceptLater() {
  pause_.expires_after(kAcceptPause);
  pause_.async_wait([this](const Code& error) {
    if (!error) AcceptNext();
  });
}

void Acceptor::OnAccepted(Tcp::socket socket) {
  Code error;
  const Tcp::endpoint remote = socket.remote_endpoint(error);
  if (error) return;  // gone already
  socket.set_option(Tcp::no_delay(true),
                    error);  // answers are written whole: waiting for more only delays them
  std::string peer = FormatEndpoint(remote);

  std::shared_ptr<const TlsContext> tls;
  if (state_->access) tls = state_->access->Rules()->tls;
  if (state_->served.size() < state_->options.max_connections ||
      state_->served.EvictLongestIdle()) {
    tls ? ServeTls(std::move(socket), std::move(tls), std::move(peer), state_)
        : ServePlain(std::move(socket), std::move(peer), state_);
  } else if (state_->refused.size() < kMaxRefusedNow) {
    tls ? TurnAwayTls(std::move(socket), std::move(tls), std::move(peer), state_)
        : TurnAwayPlain(std::move(socket), std::move(peer), state_);
  } else {
    ++state_->counters.connections_refused;
  }
}

}  // namespace tidemark::server
