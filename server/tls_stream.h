#pragma once
// TLS over TCP as a connection's stream. Internal to server/; included where TLS connections are
// instantiated only.

#include <openssl/ssl.h>

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>
#include <memory>
#include <string>
#include <utility>

#include "model/http.h"
#include "server/client_certificate.h"
#include "server/tls_context.h"

namespace tidemark::server {

class TlsStream {
 public:
  using Code = boost::system::error_code;
  static constexpr bool kHasHandshake = true;

  /// How a handshake ended.
  enum class Opened {
    kYes,
    kNo,
    kPlainHttp,  ///< the client speaks HTTP without TLS; nothing was read, take TakeSocket()
  };

  TlsStream(boost::asio::ip::tcp::socket socket, std::shared_ptr<const TlsContext> context)
      : context_(std::move(context)),
        asio_context_(Share(context_->native())),
        stream_(std::move(socket), asio_context_) {}
  TlsStream(TlsStream&&) = delete;

  auto executor() { return stream_.get_executor(); }
  boost::asio::ip::tcp::socket& socket() { return stream_.next_layer(); }
  boost::asio::ip::tcp::socket TakeSocket() { return std::move(stream_.next_layer()); }

  /// Calls `handler(Opened, error text)`.
  template <class Handler>
  void Handshake(Handler handler) {
    // The first byte tells, before the library takes the bytes: a TLS record begins with 22, an
    // HTTP request with a capital letter.
    socket().async_receive(boost::asio::buffer(first_), boost::asio::socket_base::message_peek,
                           [this, handler = std::move(handler)](const Code& error, size_t) mutable {
                             if (error) return handler(Opened::kNo, error.message());
                             if (first_[0] >= 'A' && first_[0] <= 'Z')
                               return handler(Opened::kPlainHttp, "");
                             stream_.async_handshake(
                                 boost::asio::ssl::stream_base::server,
                                 [handler = std::move(handler)](const Code& failed) mutable {
                                   failed ? handler(Opened::kNo, failed.message())
                                          : handler(Opened::kYes, "");
                                 });
                           });
  }

  /// What the client showed in the handshake; null when it showed none. After the handshake.
  std::shared_ptr<const PeerCertificates> ReadPeerCertificates() {
    return ShownCertificates(stream_.native_handle());
  }

  template <class Handler>
  void Read(boost::asio::mutable_buffer space, Handler handler) {
    stream_.async_read_some(space, std::move(handler));
  }
  template <class Buffers, class Handler>
  void Write(const Buffers& buffers, Handler handler) {
    boost::asio::async_write(stream_, buffers, std::move(handler));
  }
  /// Sends close_notify, so that the client knows that nothing was cut off, and waits for its own
  /// or for anything else that it sends.
  template <class Handler>
  void FinishSending(Handler handler) {
    stream_.async_shutdown([this, handler = std::move(handler)](const Code&) mutable {
      Code ignored;
      socket().shutdown(boost::asio::ip::tcp::socket::shutdown_send, ignored);
      handler();
    });
  }
  /// What comes after close_notify is not looked into.
  template <class Handler>
  void ReadToDrop(boost::asio::mutable_buffer space, Handler handler) {
    socket().async_read_some(space, std::move(handler));
  }

 private:
  /// Asio's context frees its handle when it goes.
  static SSL_CTX* Share(SSL_CTX* context) {
    SSL_CTX_up_ref(context);
    return context;
  }

  const std::shared_ptr<const TlsContext> context_;
  boost::asio::ssl::context asio_context_;
  boost::asio::ssl::stream<boost::asio::ip::tcp::socket> stream_;
  std::array<char, 1> first_{};
};

}  // namespace tidemark::server
