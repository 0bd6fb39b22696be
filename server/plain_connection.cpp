#include "server/plain_connection.h"

#include <utility>

#include "server/connection.h"
#include "server/plain_stream.h"

namespace tidemark::server {
namespace {

using PlainConnection = Connection<PlainStream>;

std::shared_ptr<PlainConnection> Make(boost::asio::ip::tcp::socket socket, std::string peer,
                                      std::shared_ptr<ServerState> state) {
  return std::make_shared<PlainConnection>(std::move(peer), std::move(state), std::move(socket));
}

}  // namespace

void ServePlain(boost::asio::ip::tcp::socket socket, std::string peer,
                std::shared_ptr<ServerState> state) {
  Make(std::move(socket), std::move(peer), std::move(state))->Serve();
}

void TurnAwayPlain(boost::asio::ip::tcp::socket socket, std::string peer,
                   std::shared_ptr<ServerState> state) {
  Make(std::move(socket), std::move(peer), std::move(state))->TurnAway();
}

void SayPlain(boost::asio::ip::tcp::socket socket, std::string peer,
              std::shared_ptr<ServerState> state, HttpResponse answer) {
  Make(std::move(socket), std::move(peer), std::move(state))->SayOnly(std::move(answer));
}

}  // namespace tidemark::server
