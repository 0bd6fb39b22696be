#pragma once
// The other way of exporter/gzip.h.

#include <zlib.h>

#include <stdexcept>
#include <string>

namespace tidemark::exporter {

/// Throws when `data` is not exactly one whole gzip member.
inline std::string Gunzip(std::string data) {
  z_stream stream{};
  if (inflateInit2(&stream, 15 + 16) != Z_OK) throw std::runtime_error("inflateInit2");
  stream.next_in = reinterpret_cast<Bytef*>(data.data());
  stream.avail_in = static_cast<uInt>(data.size());
  std::string out;
  int state = Z_OK;
  while (state == Z_OK) {
    std::string chunk(1 << 16, '\0');
    stream.next_out = reinterpret_cast<Bytef*>(chunk.data());
    stream.avail_out = static_cast<uInt>(chunk.size());
    state = inflate(&stream, Z_NO_FLUSH);
    out.append(chunk, 0, chunk.size() - stream.avail_out);
  }
  const bool whole = state == Z_STREAM_END && stream.avail_in == 0;
  inflateEnd(&stream);
  if (!whole) throw std::runtime_error("not one gzip member");
  return out;
}

}  // namespace tidemark::exporter
