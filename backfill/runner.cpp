#include "backfill/runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "backfill/cursor.h"
#include "backfill/job.h"
#include "backfill/plan.h"
#include "backfill/progress.h"
#include "model/log.h"

namespace tidemark::backfill {
namespace {

constexpr std::chrono::seconds kPatienceOnRequest{20};

std::string WithoutSlash(std::string url) {
  while (url.ends_with('/')) url.pop_back();
  return url;
}

/// Who names other labels than those of the unfinished job does not want it to go on under them.
bool NamesOtherLabels(const BackfillRequest& request, const Cursor& cursor) {
  if (request.external_labels.empty()) return false;
  auto asked = request.external_labels;
  auto had = cursor.external_labels;
  std::ranges::sort(asked);
  std::ranges::sort(had);
  return asked != had;
}

tl::unexpected<Error> Wrong(std::string message) {
  return Fail(ErrorCode::kInvalidArgument, std::move(message));
}

bool BringsAccess(const BackfillRequest& request) {
  return !request.username.empty() || !request.password.empty() || !request.bearer_token.empty() ||
         !request.ca_pem.empty() || !request.certificate_pem.empty() || !request.key_pem.empty() ||
         !request.server_name.empty() || request.insecure_skip_verify || !request.headers.empty();
}

client::HttpClientOptions HttpOf(const BackfillRequest& request,
                                 const client::HttpClientOptions& configured) {
  client::HttpClientOptions http = configured;
  http.url = request.url;
  if (request.url == WithoutSlash(configured.url) && !BringsAccess(request)) return http;
  // Credentials that are configured for one server are not told to another.
  http.basic_auth = {
      .username = request.username, .password = request.password, .password_file = {}};
  http.authorization = {.credentials = request.bearer_token, .credentials_file = {}};
  http.tls_config = {};
  http.tls_config.ca = request.ca_pem;
  http.tls_config.cert = request.certificate_pem;
  http.tls_config.key = request.key_pem;
  http.tls_config.server_name = request.server_name;
  http.tls_config.insecure_skip_verify = request.insecure_skip_verify;
  http.http_headers = request.headers;
  return http;
}

Result<void> CheckTextSizes(const Cursor& cursor) {
  size_t bytes = cursor.url.size();
  for (const auto& [name, value] : cursor.external_labels) {
    if (name.empty() || value.empty()) {
      return Wrong("external_labels: a name or a value is empty, allowed: texts");
    }
    bytes += name.size() + value.size();
  }
  if (bytes <= kMaxJobTextBytes) return {};
  return Wrong("the URL and the external labels together are longer than 8 KiB");
}

}  // namespace

class Runner::Impl {
 public:
  Impl(Options options, PastSink& sink, const Clock& clock, BackfillCounters& counters)
      : configured_(std::move(options)),
        sink_(sink),
        clock_(clock),
        counters_(counters),
        progress_(clock, counters) {
    configured_.http.url = WithoutSlash(configured_.http.url);
  }

  void Ready() {
    const std::lock_guard lock(mutex_);
    if (std::exchange(ready_, true)) return;
    const std::optional<Cursor> cursor = ReadCursor();
    if (!cursor) return;
    if (cursor->finished) {
      progress_.Show(*cursor, BackfillState::kFinished, "");
    } else {
      progress_.Show(*cursor, BackfillState::kFailed, "the process ended before it was finished");
    }
  }

  void StartIfDue() {
    Ready();
    const std::lock_guard lock(mutex_);
    if (stopped_ || running_) return;
    if (sink_.PastCursor().empty()) return StartConfigured();
    std::optional<Cursor> cursor = ReadCursor();
    if (cursor && !cursor->finished) GoOn(*std::move(cursor));
  }

  Result<bool> Start(BackfillRequest request) {
    const std::lock_guard lock(mutex_);
    if (stopped_) return Fail(ErrorCode::kUnavailable, "the daemon is stopping");
    if (!ready_) return Fail(ErrorCode::kUnavailable, "the daemon is not ready yet");
    // Whoever has seen that it ended may ask at once, though its thread is not quite gone yet.
    if (running_ && progress_.Status().state == BackfillState::kRunning) {
      return Fail(ErrorCode::kUnavailable,
                  "a back-fill is running; cancel it, or wait until it has ended");
    }
    request.url = WithoutSlash(request.url.empty() ? configured_.http.url : request.url);
    if (request.url.empty()) {
      return Wrong(
          "url: it is missing here (--prometheus of tidetool) and backfill.url is not configured, "
          "allowed: http://HOST[:PORT][/PREFIX]");
    }
    Options options = configured_;
    options.http = HttpOf(request, configured_.http);
    // Somebody waits for it: a server that is not there is told soon.
    options.tuning.unreachable_for =
        std::min<std::chrono::milliseconds>(options.tuning.unreachable_for, kPatienceOnRequest);
    if (auto good = client::CheckOptions(options.http); !good) return Wrong(good.error().message);
    if (!request.external_labels.empty()) options.external_labels = request.external_labels;

    std::optional<Cursor> cursor = ReadCursor();
    // Without anything merged there is nothing to go on behind: a mistake in the first call must
    // not rule the next.
    const bool goes_on = cursor && !cursor->finished && cursor->last &&
                         cursor->url == request.url && !request.restart &&
                         !NamesOtherLabels(request, *cursor);
    if (goes_on) {
      options.external_labels = cursor->external_labels;
    } else {
      auto made = NewCursor(request, options);
      if (!made) return tl::unexpected(made.error());
      cursor = *std::move(made);
    }
    cursor->from_config = request.url == configured_.http.url && !BringsAccess(request);
    cursor->had_credentials = !cursor->from_config && BringsAccess(request);
    if (request.step_ms != 0) options.step_ms = request.step_ms;
    Launch(std::move(options), *std::move(cursor));
    return goes_on;
  }

  Result<void> Cancel() {
    const std::lock_guard lock(mutex_);
    if (!running_) return Fail(ErrorCode::kNotFound, "no back-fill is running");
    thread_.request_stop();
    return {};
  }

  BackfillStatus Status() const { return progress_.Status(); }

  void Stop() {
    std::jthread ending;
    {
      const std::lock_guard lock(mutex_);
      stopped_ = true;
      ending = std::move(thread_);
    }
    if (!ending.joinable()) return;
    ending.request_stop();
    ending.join();
  }

 private:
  std::optional<Cursor> ReadCursor() const {
    const std::string bytes = sink_.PastCursor();
    if (bytes.empty()) return std::nullopt;
    auto cursor = DecodeCursor(bytes);
    if (cursor) return *std::move(cursor);
    Log(LogLevel::kError, "back-fill: no job can be continued", {{"err", cursor.error().message}});
    return std::nullopt;
  }

  Result<Cursor> NewCursor(const BackfillRequest& request, const Options& options) const {
    const int64_t now_ms = ToUnixMs(clock_.Now());
    const int64_t end_ms = request.end_ms == 0 ? now_ms : std::min(request.end_ms, now_ms);
    const int64_t start_ms = request.start_ms == 0 ? end_ms - options.range_ms : request.start_ms;
    auto grid =
        MakeGrid(start_ms, end_ms, request.step_ms == 0 ? options.step_ms : request.step_ms);
    if (!grid) return tl::unexpected(grid.error());
    Cursor cursor;
    cursor.url = request.url;
    cursor.grid = *grid;
    cursor.external_labels = options.external_labels;
    if (auto good = CheckTextSizes(cursor); !good) return tl::unexpected(good.error());
    return cursor;
  }

  /// At the first start.
  void StartConfigured() {
    if (configured_.http.url.empty()) return;
    BackfillRequest request;
    request.url = configured_.http.url;
    auto cursor = NewCursor(request, configured_);
    if (!cursor) {
      Log(LogLevel::kError, "back-fill cannot begin", {{"err", cursor.error().message}});
      return;
    }
    cursor->from_config = true;
    Launch(configured_, *std::move(cursor));
  }

  /// With what an earlier process has not finished.
  void GoOn(Cursor cursor) {
    Options options = configured_;
    const bool url_mended =
        cursor.from_config && cursor.url != configured_.http.url && cursor.namespaces_done == 0;
    if (url_mended) return StartConfigured();
    std::string why;
    if (cursor.from_config && cursor.url != configured_.http.url) {
      why = "its URL is not configured any more";
    } else if (cursor.had_credentials) {
      why = "its credentials are not kept";
    }
    if (!why.empty()) {
      why = fmt::format("unfinished, and {}: ask for it again with tidetool backfill", why);
      Log(LogLevel::kWarn, "back-fill does not go on by itself",
          {{"url", cursor.url}, {"err", why}});
      progress_.Show(cursor, BackfillState::kFailed, why);
      return;
    }
    if (!cursor.from_config) {
      BackfillRequest plain;
      plain.url = cursor.url;
      options.http = HttpOf(plain, configured_.http);
    }
    options.external_labels = cursor.external_labels;
    Launch(std::move(options), std::move(cursor));
  }

  /// Under the lock.
  void Launch(Options options, Cursor cursor) {
    if (thread_.joinable()) thread_.join();  // it has ended, or is about to: its state says so
    running_ = true;
    options.http.url = cursor.url;
    progress_.Begin(cursor);  // whoever asks now already sees it
    thread_ = std::jthread([this, options = std::move(options),
                            cursor = std::move(cursor)](const std::stop_token& stop) mutable {
      const auto step = options.step_ms == 0 ? Job::Step::kChosen : Job::Step::kGiven;
      Job(options, std::move(cursor), step, sink_, counters_, progress_, stop).Run();
      running_ = false;
    });
  }

  Options configured_;
  PastSink& sink_;
  const Clock& clock_;
  BackfillCounters& counters_;
  Progress progress_;
  std::mutex mutex_;
  bool ready_ = false;
  bool stopped_ = false;
  std::atomic<bool> running_{false};
  std::jthread thread_;  // the last member: it uses the others
};

Runner::Runner(Options options, PastSink& sink, const Clock& clock, BackfillCounters& counters)
    : impl_(std::make_unique<Impl>(std::move(options), sink, clock, counters)) {}
Runner::~Runner() { Stop(); }
void Runner::Ready() { impl_->Ready(); }
void Runner::StartIfDue() { impl_->StartIfDue(); }
Result<bool> Runner::Start(const BackfillRequest& request) { return impl_->Start(request); }
Result<void> Runner::Cancel() { return impl_->Cancel(); }
BackfillStatus Runner::Status() const { return impl_->Status(); }
void Runner::Stop() { impl_->Stop(); }

}  // namespace tidemark::backfill
