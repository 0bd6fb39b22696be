#include "server/server.h"

#include <algorithm>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <exception>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "model/log.h"
#include "server/acceptor.h"
#include "server/session.h"

namespace tidemark::server {
namespace {

constexpr size_t kMinHeaderBytes = 256;
constexpr unsigned kMinWorkers = 16;
constexpr unsigned kMinIoThreads = 4;

unsigned Threads(unsigned wanted, unsigned per_core, unsigned least) {
  return wanted > 0 ? wanted : std::max(least, per_core * std::thread::hardware_concurrency());
}

std::optional<std::string> FindProblem(const Options& options) {
  if (options.max_header_bytes < kMinHeaderBytes) {
    return "max_header_bytes must be at least " + std::to_string(kMinHeaderBytes);
  }
  if (options.max_connections == 0) return "max_connections must be at least 1";
  for (const auto& [name, value] : {std::pair{"handshake_deadline", options.handshake_deadline},
                                    std::pair{"header_deadline", options.header_deadline},
                                    std::pair{"body_deadline", options.body_deadline},
                                    std::pair{"idle_timeout", options.idle_timeout},
                                    std::pair{"write_deadline", options.write_deadline}}) {
    if (value.count() <= 0) return std::string(name) + " must be longer than 0";
  }
  if (options.drain_timeout.count() < 0) return "drain_timeout must not be negative";
  if (options.linger_timeout.count() < 0) return "linger_timeout must not be negative";
  return std::nullopt;
}

}  // namespace

class Server::Impl {
 public:
  explicit Impl(std::shared_ptr<ServerState> state)
      : state_(std::move(state)), work_(context_.get_executor()), acceptor_(context_, state_) {}
  ~Impl() { Stop(); }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  Result<void> Start() {
    if (Result<void> listening = acceptor_.Listen(); !listening) return listening;
    const unsigned workers = Threads(state_->options.worker_threads, 4, kMinWorkers);
    const unsigned readers = Threads(state_->options.io_threads, 2, kMinIoThreads);
    try {
      state_->handlers.Start(workers);
      for (unsigned i = 0; i < readers; ++i) readers_.emplace_back([this] { Read(); });
    } catch (const std::system_error& error) {
      return Fail(ErrorCode::kInternal, "cannot start " + std::to_string(workers + readers) +
                                            " threads of the HTTP server: " + error.what());
    }
    return {};
  }

  void Stop() {
    const std::lock_guard lock(stop_mutex_);
    if (std::exchange(stopped_, true)) return;
    if (!readers_.empty()) {
      state_->stopping = true;
      acceptor_.Close();
      for (SessionRegistry* registry : {&state_->served, &state_->refused}) {
        for (const auto& session : registry->All()) session->Drain();
      }
      if (!state_->served.WaitUntilEmpty(state_->options.drain_timeout)) {
        Log(LogLevel::kWarn, "HTTP server closes connections that are still busy",
            {{"address", address()}, {"connections", std::to_string(state_->served.size())}});
      }
      state_->verifier.Stop();
      for (SessionRegistry* registry : {&state_->served, &state_->refused}) {
        for (const auto& session : registry->All()) session->Kill();
        registry->WaitUntilEmpty();
      }
    }
    work_.reset();
    context_.stop();
    for (std::thread& reader : readers_) reader.join();
    state_->handlers.Stop();
  }

  uint16_t port() const { return acceptor_.endpoint().port(); }
  std::string address() const { return FormatEndpoint(acceptor_.endpoint()); }

 private:
  void Read() {
    for (;;) {
      try {
        context_.run();
        return;
      } catch (const std::exception& error) {
        // The connection whose code threw is gone with its last reference; the others go on.
        LogOncePerMinute("http_worker_failed", LogLevel::kError,
                         "internal error of the HTTP server", {{"error", error.what()}});
      }
    }
  }

  const std::shared_ptr<ServerState> state_;
  boost::asio::io_context context_;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
  Acceptor acceptor_;
  std::vector<std::thread> readers_;
  std::mutex stop_mutex_;
  bool stopped_ = false;
};

Result<std::unique_ptr<Server>> Server::Start(const Options& options, std::vector<HttpRoute> routes,
                                              HttpCounters& counters, const Clock& clock,
                                              std::shared_ptr<const Access> access) {
  if (const std::optional<std::string> problem = FindProblem(options)) {
    return Fail(ErrorCode::kInvalidArgument,
                "HTTP server on " + options.listen_address + ": " + *problem);
  }
  Result<Router> router = Router::Make(std::move(routes));
  if (!router) return tl::unexpected<Error>(std::move(router.error()));
  auto state = std::make_shared<ServerState>(options, std::move(*router), counters, clock,
                                             std::move(access));
  auto impl = std::make_unique<Impl>(std::move(state));
  if (Result<void> started = impl->Start(); !started)
    return tl::unexpected<Error>(std::move(started.error()));
  return std::unique_ptr<Server>(new Server(std::move(impl)));
}

Server::Server(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Server::~Server() = default;

uint16_t Server::port() const { return impl_->port(); }
std::string Server::address() const { return impl_->address(); }
void Server::Stop() { impl_->Stop(); }

}  // namespace tidemark::server
