#include "model/log.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <map>
#include <mutex>
#include <utility>

namespace tidemark {
namespace {

struct KindState {
  std::chrono::steady_clock::time_point last;
  uint64_t suppressed = 0;
};

/// The one global state of the program.
struct LogState {
  std::atomic<LogLevel> level{LogLevel::kInfo};
  std::atomic<LogFormat> format{LogFormat::kLogfmt};
  std::mutex mutex;  // guards what follows
  std::function<void(std::string_view)> sink;
  std::map<std::string, KindState, std::less<>> kinds;
};

LogState& State() {
  static LogState state;
  return state;
}

std::string_view ToString(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug: return "debug";
    case LogLevel::kInfo: return "info";
    case LogLevel::kWarn: return "warn";
    case LogLevel::kError: return "error";
  }
  return "unknown";
}

/// What a value is cut to: a peer can send a path of the size of a whole header block.
constexpr size_t kMaxValueBytes = 2048;

/// How many bytes the character at the front of `text` takes; 0 when it is not UTF-8 (Unicode,
/// table 3-7).
size_t CharacterSize(std::string_view text) {
  const auto byte = [text](size_t i) -> unsigned { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead < 0xc2 || lead > 0xf4) return 0;
  const size_t size = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  if (text.size() < size) return 0;
  for (size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  const bool overlong = (lead == 0xe0 && byte(1) < 0xa0) || (lead == 0xf0 && byte(1) < 0x90);
  const bool no_character = (lead == 0xed && byte(1) > 0x9f) || (lead == 0xf4 && byte(1) > 0x8f);
  return overlong || no_character ? 0 : size;
}

/// A JSON string, which is a good quoted logfmt value too. Control bytes are escaped, so that a
/// peer's text cannot forge lines or move a terminal's cursor, and so is what is not UTF-8, so that
/// it cannot make a line that its reader refuses.
void AppendQuoted(std::string_view text, std::string& out) {
  out.push_back('"');
  for (size_t size = 0; !text.empty(); text.remove_prefix(size)) {
    const char c = text.front();
    size = CharacterSize(text);
    if (size > 1) {
      out.append(text.substr(0, size));
      continue;
    }
    if (size == 0) {
      fmt::format_to(std::back_inserter(out), "\\\\x{:02x}", static_cast<unsigned char>(c));
      size = 1;
      continue;
    }
    switch (c) {
      case '"': out.append("\\\""); break;
      case '\\': out.append("\\\\"); break;
      case '\n': out.append("\\n"); break;
      case '\r': out.append("\\r"); break;
      case '\t': out.append("\\t"); break;
      default: {
        const auto byte = static_cast<unsigned char>(c);
        if (byte < 0x20 || byte == 0x7f) {
          fmt::format_to(std::back_inserter(out), "\\u{:04x}", byte);
        } else {
          out.push_back(c);
        }
      }
    }
  }
  out.push_back('"');
}

bool IsPlain(std::string_view text) {
  if (text.empty()) return false;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte <= 0x20 || byte >= 0x7f || c == '"' || c == '=' || c == '\\') return false;
  }
  return true;
}

/// Cut where a character begins; of what is no UTF-8 anywhere.
std::string_view CutToFit(std::string_view value) {
  if (value.size() <= kMaxValueBytes) return value;
  size_t end = kMaxValueBytes;
  for (size_t back = 0; back < 3 && (static_cast<unsigned char>(value[end]) & 0xc0) == 0x80; ++back)
    --end;
  return value.substr(0, end);
}

void AppendField(LogFormat format, std::string_view key, std::string_view whole,
                 std::string& line) {
  const std::string_view value = CutToFit(whole);
  if (format == LogFormat::kJson) {
    if (line.size() > 1) line.push_back(',');
    AppendQuoted(key, line);
    line.push_back(':');
    AppendQuoted(value, line);
    return;
  }
  if (!line.empty()) line.push_back(' ');
  line.append(key).push_back('=');
  if (IsPlain(value)) {
    line.append(value);
  } else {
    AppendQuoted(value, line);
  }
}

std::string FormatLine(LogLevel level, std::string_view message,
                       std::initializer_list<LogField> fields, uint64_t suppressed) {
  using std::chrono::milliseconds;
  const auto now = std::chrono::time_point_cast<milliseconds>(std::chrono::system_clock::now());
  const auto millis = static_cast<unsigned>(now.time_since_epoch().count() % 1000);
  const LogFormat format = State().format.load();
  std::string line;
  if (format == LogFormat::kJson) line.push_back('{');
  AppendField(format, "ts",
              fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z",
                          fmt::gmtime(std::chrono::system_clock::to_time_t(now)), millis),
              line);
  AppendField(format, "level", ToString(level), line);
  AppendField(format, "msg", message, line);
  for (const LogField& field : fields) AppendField(format, field.key, field.value, line);
  if (suppressed > 0) AppendField(format, "suppressed", std::to_string(suppressed), line);
  if (format == LogFormat::kJson) line.push_back('}');
  return line;
}

/// Writes the line whole; a log that cannot be written is given up, there is nowhere to say so.
void Emit(LogState& state, std::string line) {
  if (state.sink) {
    state.sink(line);
    return;
  }
  line.push_back('\n');
  std::string_view rest = line;
  while (!rest.empty()) {
    const ssize_t written = ::write(STDERR_FILENO, rest.data(), rest.size());
    if (written <= 0) return;
    rest.remove_prefix(static_cast<size_t>(written));
  }
}

}  // namespace

void ConfigureLog(LogLevel level, LogFormat format) {
  State().level = level;
  State().format = format;
}

void SetLogSink(std::function<void(std::string_view)> sink) {
  const std::scoped_lock lock(State().mutex);
  State().sink = std::move(sink);
  State().kinds.clear();
}

void Log(LogLevel level, std::string_view message, std::initializer_list<LogField> fields) {
  LogState& state = State();
  if (level < state.level.load()) return;
  std::string line = FormatLine(level, message, fields, 0);
  const std::scoped_lock lock(state.mutex);
  Emit(state, std::move(line));
}

void LogOncePerMinute(std::string_view kind, LogLevel level, std::string_view message,
                      std::initializer_list<LogField> fields) {
  LogState& state = State();
  if (level < state.level.load()) return;
  const auto now = std::chrono::steady_clock::now();
  const std::scoped_lock lock(state.mutex);
  auto found = state.kinds.find(kind);
  if (found == state.kinds.end()) {
    found = state.kinds.emplace(std::string(kind), KindState{now, 0}).first;
  } else if (now - found->second.last < std::chrono::minutes(1)) {
    ++found->second.suppressed;
    return;
  }
  found->second.last = now;
  Emit(state, FormatLine(level, message, fields, std::exchange(found->second.suppressed, 0)));
}

}  // namespace tidemark
