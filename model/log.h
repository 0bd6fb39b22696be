#pragma once
// Structured log lines in logfmt or JSON on stderr, in the manner of Prometheus. The one global of
// the program.
//
//   Log(LogLevel::kWarn, "remote write refused", {{"reason", text}, {"peer", peer}});

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>

namespace tidemark {

enum class LogLevel : uint8_t { kDebug, kInfo, kWarn, kError };
enum class LogFormat : uint8_t { kLogfmt, kJson };

/// Values are shown as UTF-8, what is none or moves a cursor escaped, and are cut to 2 KiB.
struct LogField {
  std::string_view key;
  std::string value;
};

/// Set once at start, before threads.
void ConfigureLog(LogLevel level, LogFormat format);
/// Where lines go (without the newline) instead of stderr; an empty function restores stderr. For
/// tests, and for tools that tell what happens in their own words.
void SetLogSink(std::function<void(std::string_view line)> sink);

/// Writes one line. Thread-safe; lines never mix.
void Log(LogLevel level, std::string_view message, std::initializer_list<LogField> fields = {});

/// Writes at most one line per `kind` and minute; the next one says how many were left out
/// (`suppressed=N`). For whatever a peer can cause. `kind` must come from a fixed set. Thread-safe.
void LogOncePerMinute(std::string_view kind, LogLevel level, std::string_view message,
                      std::initializer_list<LogField> fields = {});

}  // namespace tidemark
