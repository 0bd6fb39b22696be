#pragma once
// A stream whose operations are bounded by one deadline. Internal to server/.

#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstdint>
#include <utility>

namespace tidemark::server {

/// `Stream` is PlainStream or TlsStream. All calls are made on the stream's executor, a strand. The
/// handlers given must keep the owner alive.
///
/// Not beast::tcp_stream: that closes the socket when time is up, and a slow client could not be
/// told so.
template <class Stream>
class TimedStream {
 public:
  using Code = boost::system::error_code;

  /// Makes the stream of the arguments.
  template <class... Arguments>
  explicit TimedStream(Arguments&&... arguments)
      : stream_(std::forward<Arguments>(arguments)...), timer_(stream_.executor()) {}

  auto executor() { return stream_.executor(); }
  Stream& stream() { return stream_; }

  /// Calls `on_deadline()` after that time, unless Arm or Disarm comes first.
  template <class OnDeadline>
  void Arm(std::chrono::milliseconds timeout, OnDeadline on_deadline) {
    const uint64_t round = ++round_;
    late_ = false;
    timer_.expires_after(timeout);
    timer_.async_wait([this, round, on_deadline](const Code& error) {
      // A wait that was cancelled too late still ends without an error: its round tells.
      if (error || round != round_) return;
      late_ = true;
      on_deadline();
    });
  }
  void Disarm() {
    ++round_;
    timer_.cancel();
  }
  /// The last deadline set has passed. An operation that ends thereafter is to be taken for too
  /// late, whatever it says.
  bool late() const { return late_; }

  /// Reads what there is, at least a byte, into memory that stays until `handler(error, bytes)` is
  /// called.
  template <class Handler>
  void Read(boost::asio::mutable_buffer space, Handler handler) {
    stream_.Read(space, std::move(handler));
  }
  /// Writes all of the buffers, whose memory stays until `handler(error, bytes)` is called.
  template <class Buffers, class Handler>
  void Write(const Buffers& buffers, Handler handler) {
    stream_.Write(buffers, std::move(handler));
  }

  /// Ends the operations under way; the stream stays open.
  void Cancel() {
    Code ignored;
    stream_.socket().cancel(ignored);
  }
  /// The peer sees the end; then `handler()` is called. What it still sends can be read with
  /// ReadToDrop. No operation may be under way.
  template <class Handler>
  void FinishSending(Handler handler) {
    stream_.FinishSending(std::move(handler));
  }
  template <class Handler>
  void ReadToDrop(boost::asio::mutable_buffer space, Handler handler) {
    stream_.ReadToDrop(space, std::move(handler));
  }
  /// Ends everything. Memory given to operations must stay until their handlers have been called.
  void Close() {
    Disarm();
    Code ignored;
    stream_.socket().shutdown(boost::asio::ip::tcp::socket::shutdown_both, ignored);
    stream_.socket().close(ignored);
  }

 private:
  Stream stream_;
  boost::asio::steady_timer timer_;
  uint64_t round_ = 0;
  bool late_ = false;
};

}  // namespace tidemark::server
