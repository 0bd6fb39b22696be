#pragma once
// Plain TCP as a connection's stream. Internal to server/. TlsStream has the same members.

#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <utility>

namespace tidemark::server {

class PlainStream {
 public:
  using Code = boost::system::error_code;
  /// Nothing comes before the first request.
  static constexpr bool kHasHandshake = false;

  explicit PlainStream(boost::asio::ip::tcp::socket socket) : socket_(std::move(socket)) {}

  auto executor() { return socket_.get_executor(); }
  boost::asio::ip::tcp::socket& socket() { return socket_; }

  template <class Handler>
  void Read(boost::asio::mutable_buffer space, Handler handler) {
    socket_.async_read_some(space, std::move(handler));
  }
  template <class Buffers, class Handler>
  void Write(const Buffers& buffers, Handler handler) {
    boost::asio::async_write(socket_, buffers, std::move(handler));
  }
  /// The peer sees the end; then `handler()` is called, here at once.
  template <class Handler>
  void FinishSending(Handler handler) {
    Code ignored;
    socket_.shutdown(boost::asio::ip::tcp::socket::shutdown_send, ignored);
    handler();
  }
  /// Reads what is to be thrown away, after FinishSending.
  template <class Handler>
  void ReadToDrop(boost::asio::mutable_buffer space, Handler handler) {
    socket_.async_read_some(space, std::move(handler));
  }

 private:
  boost::asio::ip::tcp::socket socket_;
};

}  // namespace tidemark::server
