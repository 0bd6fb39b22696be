#pragma once
// Connections over plain TCP. The only place where Connection is instantiated for it. Internal to
// server/.

#include <boost/asio/ip/tcp.hpp>
#include <memory>
#include <string>

#include "model/http.h"
#include "server/session.h"

namespace tidemark::server {

/// Serves an accepted socket, whose executor is a strand, until it is closed; the connection keeps
/// itself alive.
void ServePlain(boost::asio::ip::tcp::socket socket, std::string peer,
                std::shared_ptr<ServerState> state);

/// Answers 503 to an accepted socket for which there is no room.
void TurnAwayPlain(boost::asio::ip::tcp::socket socket, std::string peer,
                   std::shared_ptr<ServerState> state);

/// Gives one answer to whatever the client asks, and closes: for a client that speaks plain HTTP to
/// a TLS server.
void SayPlain(boost::asio::ip::tcp::socket socket, std::string peer,
              std::shared_ptr<ServerState> state, HttpResponse answer);

}  // namespace tidemark::server
