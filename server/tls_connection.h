#pragma once
// Connections over TLS. The only place where Connection is instantiated for it. Internal to
// server/.

#include <boost/asio/ip/tcp.hpp>
#include <memory>
#include <string>

#include "server/session.h"
#include "server/tls_context.h"

namespace tidemark::server {

/// As ServePlain, after a handshake; `context` stays this connection's to its end.
void ServeTls(boost::asio::ip::tcp::socket socket, std::shared_ptr<const TlsContext> context,
              std::string peer, std::shared_ptr<ServerState> state);

/// As TurnAwayPlain, after a handshake.
void TurnAwayTls(boost::asio::ip::tcp::socket socket, std::shared_ptr<const TlsContext> context,
                 std::string peer, std::shared_ptr<ServerState> state);

}  // namespace tidemark::server
