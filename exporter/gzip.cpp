#include "exporter/gzip.h"

#include <zlib.h>

#include <algorithm>
#include <limits>

namespace tidemark::exporter {
namespace {

constexpr int kGzipWindowBits =
    15 + 16;  // the largest window; 16 asks for gzip's header (zlib.h, deflateInit2)
constexpr int kMemoryLevel = 8;       // zlib's default
constexpr size_t kChunk = 64 * 1024;  // by which the output grows

}  // namespace

std::optional<std::string> Gzip(std::string_view data, int level) {
  z_stream stream{};
  if (deflateInit2(&stream, level, Z_DEFLATED, kGzipWindowBits, kMemoryLevel, Z_DEFAULT_STRATEGY) !=
      Z_OK) {
    return std::nullopt;
  }
  std::string out;
  constexpr size_t kMaxInput = std::numeric_limits<uInt>::max();
  int state = Z_OK;
  while (state == Z_OK) {
    if (stream.avail_in == 0 && !data.empty()) {
      const size_t taken = std::min(data.size(), kMaxInput);
      // zlib's interface predates const; it does not write to its input.
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(data.data()));
      stream.avail_in = static_cast<uInt>(taken);
      data.remove_prefix(taken);
    }
    const size_t used = out.size();
    out.resize(used + kChunk);
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + used);
    stream.avail_out = static_cast<uInt>(kChunk);
    state = deflate(&stream, data.empty() ? Z_FINISH : Z_NO_FLUSH);
    out.resize(used + kChunk - stream.avail_out);
  }
  deflateEnd(&stream);
  if (state != Z_STREAM_END) return std::nullopt;
  return out;
}

}  // namespace tidemark::exporter
