#include "server/plain_connection.h"

#include <utility>

#include "server/connection.h"

namespace tidemark::server {

using PlainConnection = Connection<boost::asio::ip::tcp::socket>;

void ServePlain(boost::asio::ip::tcp::socket socket, std::string peer,
                std::shared_ptr<ServerState> state) {
  std::make_shared<PlainConnection>(std::move(socket), std::move(peer), std::move(state))->Serve();
}

void TurnAwayPlain(boost::asio::ip::tcp::socket socket, std::string peer,
                   std::shared_ptr<ServerState> state) {
  std::make_shared<PlainConnection>(std::move(socket), std::move(peer), std::move(state))
      ->TurnAway();
}

}  // namespace tidemark::server
