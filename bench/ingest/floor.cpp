// The floor under any remote-write receiver: what is left when everything is left out but the
// sockets, snappy, one walk over the labels, a hash and a table of series.
//
//   ingest_floor PORT     127.0.0.1; prints "listening" when it does; ends with SIGTERM
//
// One thread, epoll. It believes everything: well-formed HTTP and protobuf, tidy labels, no two
// series with one 64-bit hash. Nothing is checked, kept or journalled but the last two samples of
// a series. So it is no receiver, only the measure of one (scripts/bench ingest).

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <snappy.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <xxhash.h>

#include <array>
#include <bit>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace {

struct Entry {
  uint64_t hash = 0;  // 0: free
  double last = 0;
  double before = 0;
  int64_t time_ms = 0;
};

/// Open addressing, doubled when half full.
class Table {
 public:
  Table() : entries_(1 << 16) {}

  Entry& At(uint64_t hash) {
    if (used_ * 2 > entries_.size()) Grow();
    Entry& entry = Find(hash);
    if (entry.hash == 0) {
      entry.hash = hash;
      ++used_;
    }
    return entry;
  }

 private:
  Entry& Find(uint64_t hash) {
    const size_t mask = entries_.size() - 1;
    size_t at = hash & mask;
    while (entries_[at].hash != 0 && entries_[at].hash != hash) at = (at + 1) & mask;
    return entries_[at];
  }
  void Grow() {
    std::vector<Entry> old(entries_.size() * 2);
    old.swap(entries_);
    for (const Entry& entry : old) {
      if (entry.hash != 0) Find(entry.hash) = entry;
    }
  }

  std::vector<Entry> entries_;
  size_t used_ = 0;
};

struct Reader {
  const unsigned char* at;
  const unsigned char* end;

  uint64_t Varint() {
    uint64_t value = 0;
    for (unsigned shift = 0; at < end && shift < 64; shift += 7) {
      const unsigned char byte = *at++;
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) break;
    }
    return value;
  }
  Reader Part() {
    const uint64_t wanted = Varint();
    const auto left = static_cast<uint64_t>(end - at);
    const uint64_t size = wanted < left ? wanted : left;
    const Reader part{at, at + size};
    at += size;
    return part;
  }
};

/// Sums up what it sees, so that no step can be left out by the compiler.
struct Seen {
  uint64_t label_bytes = 0;
  uint64_t samples = 0;
};

void TakeSeries(Reader series, Table& table, Seen& seen) {
  const unsigned char* const begin = series.at;
  const unsigned char* labels_end = begin;
  while (series.at < series.end) {
    const unsigned char key = *series.at++;
    Reader part = series.Part();
    if (key == 0x0a) {  // a label: its name and its value
      while (part.at < part.end) {
        ++part.at;
        const Reader text = part.Part();
        seen.label_bytes += static_cast<uint64_t>(text.end - text.at);
      }
      labels_end = series.at;
    } else if (key == 0x12) {  // a sample
      double value = 0;
      uint64_t time_ms = 0;
      while (part.at < part.end) {
        if (*part.at++ == 0x09) {
          std::memcpy(&value, part.at, sizeof(value));
          part.at += sizeof(value);
        } else {
          time_ms = part.Varint();
        }
      }
      const uint64_t hash = XXH3_64bits(begin, static_cast<size_t>(labels_end - begin)) | 1;
      Entry& entry = table.At(hash);
      entry.before = entry.last;
      entry.last = value;
      entry.time_ms = static_cast<int64_t>(time_ms);
      ++seen.samples;
    }
  }
}

void TakeBody(std::string_view block, std::string& message, Table& table, Seen& seen) {
  if (!snappy::Uncompress(block.data(), block.size(), &message)) return;
  const auto* const bytes = reinterpret_cast<const unsigned char*>(message.data());
  Reader reader{bytes, bytes + message.size()};
  while (reader.at < reader.end) {
    ++reader.at;
    TakeSeries(reader.Part(), table, seen);
  }
}

struct Connection {
  int socket = -1;
  std::string input;
  size_t head_end = 0;  // 0: not found yet
  size_t body_size = 0;
};

/// False when the connection has ended.
bool Serve(Connection& connection, std::string& message, Table& table, Seen& seen) {
  constexpr size_t kStep = 256 << 10;
  constexpr std::string_view kDone = "HTTP/1.1 204 No Content\r\n\r\n";
  std::string& input = connection.input;
  const size_t had = input.size();
  input.resize(had + kStep);
  const ssize_t count = read(connection.socket, input.data() + had, kStep);
  if (count <= 0) return false;
  input.resize(had + static_cast<size_t>(count));
  for (;;) {
    if (connection.head_end == 0) {
      const size_t end = input.find("\r\n\r\n");
      if (end == std::string::npos) return true;
      constexpr std::string_view kLength = "Content-Length: ";
      const size_t length = input.find(kLength);
      if (length > end) return false;
      const char* const digits = input.data() + length + kLength.size();
      std::from_chars(digits, input.data() + end, connection.body_size);
      connection.head_end = end + 4;
    }
    const size_t whole = connection.head_end + connection.body_size;
    if (input.size() < whole) return true;
    TakeBody(std::string_view(input).substr(connection.head_end, connection.body_size), message,
             table, seen);
    input.erase(0, whole);
    connection.head_end = 0;
    if (write(connection.socket, kDone.data(), kDone.size()) < 0) return false;
  }
}

int Listen(uint16_t port) {
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) return -1;
  return listen(listener, 64) == 0 ? listener : -1;
}

}  // namespace

int main(int argc, char** argv) {
  const int listener = Listen(static_cast<uint16_t>(argc > 1 ? std::atoi(argv[1]) : 0));
  if (listener < 0) {
    std::perror("ingest_floor: cannot listen");
    return 1;
  }
  std::puts("listening");
  std::fflush(stdout);
  const int poll = epoll_create1(EPOLL_CLOEXEC);
  epoll_event event{};
  event.events = EPOLLIN;
  epoll_ctl(poll, EPOLL_CTL_ADD, listener, &event);  // data.ptr is null: the listener
  Table table;
  Seen seen;
  std::string message;
  std::vector<std::unique_ptr<Connection>> connections;
  std::array<epoll_event, 64> events;
  for (;;) {
    const int count = epoll_wait(poll, events.data(), static_cast<int>(events.size()), -1);
    for (int i = 0; i < count; ++i) {
      auto* connection = static_cast<Connection*>(events[static_cast<size_t>(i)].data.ptr);
      if (connection == nullptr) {
        connections.push_back(std::make_unique<Connection>());
        connection = connections.back().get();
        connection->socket = accept(listener, nullptr, nullptr);
        const int on = 1;
        setsockopt(connection->socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
        event.data.ptr = connection;
        epoll_ctl(poll, EPOLL_CTL_ADD, connection->socket, &event);
      } else if (!Serve(*connection, message, table, seen)) {
        close(connection->socket);
      }
    }
  }
}
