#include "server/tls_connection.h"

#include <utility>

#include "server/connection.h"
#include "server/tls_stream.h"

namespace tidemark::server {
namespace {

using TlsConnection = Connection<TlsStream>;

std::shared_ptr<TlsConnection> Make(boost::asio::ip::tcp::socket socket,
                                    std::shared_ptr<const TlsContext> context, std::string peer,
                                    std::shared_ptr<ServerState> state) {
  return std::make_shared<TlsConnection>(std::move(peer), std::move(state), std::move(socket),
                                         std::move(context));
}

}  // namespace

void ServeTls(boost::asio::ip::tcp::socket socket, std::shared_ptr<const TlsContext> context,
              std::string peer, std::shared_ptr<ServerState> state) {
  Make(std::move(socket), std::move(context), std::move(peer), std::move(state))->Serve();
}

void TurnAwayTls(boost::asio::ip::tcp::socket socket, std::shared_ptr<const TlsContext> context,
                 std::string peer, std::shared_ptr<ServerState> state) {
  Make(std::move(socket), std::move(context), std::move(peer), std::move(state))->TurnAway();
}

}  // namespace tidemark::server
