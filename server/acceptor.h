#pragma once
// Binds an address and takes connections from it. Internal to server/.

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <memory>
#include <string>

#include "model/result.h"
#include "server/session.h"

namespace tidemark::server {

/// "1.2.3.4:80" or "[::1]:80"; an IPv4 address that came in through an IPv6 socket is written as
/// IPv4.
std::string FormatEndpoint(const boost::asio::ip::tcp::endpoint& endpoint);

/// Runs on a strand of its own; the members are thread-safe. Destroyed when the context no longer
/// runs.
class Acceptor {
 public:
  Acceptor(boost::asio::io_context& context, std::shared_ptr<ServerState> state);

  /// Binds and listens, and begins to accept once the context runs. Errors name the address.
  Result<void> Listen();

  /// As bound; after Listen.
  const boost::asio::ip::tcp::endpoint& endpoint() const { return endpoint_; }

  /// Listens no more. Returns when no connection can be added any more. Not to be called by the
  /// context's own threads.
  void Close();

 private:
  using Tcp = boost::asio::ip::tcp;

  Result<void> Bind(const Tcp::endpoint& endpoint);
  void AcceptNext();
  void AcceptLater();
  void OnAccepted(Tcp::socket socket);

  boost::asio::io_context& context_;
  const std::shared_ptr<ServerState> state_;
  Tcp::acceptor acceptor_;
  boost::asio::steady_timer pause_;
  Tcp::endpoint endpoint_;
};

}  // namespace tidemark::server
