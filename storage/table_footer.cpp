#include "storage/table_footer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>

#include "model/byte_codec.h"
#include "storage/files.h"

namespace tidemark::storage {
namespace {

// https://github.com/facebook/rocksdb/wiki/Rocksdb-BlockBasedTable-Format: the kind of checksum,
// the places of metaindex and index (offset and size each), zeros up to here, version, magic.
constexpr size_t kPlacesBytes = 41;
constexpr size_t kFooterBytes = kPlacesBytes + 4 + 8;
constexpr uint64_t kMagic = 0x88e241b785f4cff7;
constexpr uint8_t kXxh3 = 4;
constexpr uint32_t kTableFormat = 5;

bool LiesWithin(ByteReader& reader, uint64_t bytes) {
  const uint64_t offset = reader.Varint();
  const uint64_t size = reader.Varint();
  return !reader.failed() && offset <= bytes && size <= bytes - offset;
}

}  // namespace

Result<bool> HasGoodTableFooter(const std::string& path) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status {};
  if (!file.valid() || fstat(file.get(), &status) != 0) return SystemError("open", path, errno);
  const auto bytes = static_cast<uint64_t>(status.st_size);
  if (!S_ISREG(status.st_mode) || bytes < kFooterBytes) return false;
  char footer[kFooterBytes];
  const uint64_t before = bytes - kFooterBytes;
  const ssize_t got = pread(file.get(), footer, kFooterBytes, static_cast<off_t>(before));
  if (got != static_cast<ssize_t>(kFooterBytes)) return SystemError("read", path, errno);

  const std::string_view view(footer, kFooterBytes);
  ByteReader end(view.substr(kPlacesBytes));
  if (end.Fixed32() != kTableFormat || end.Fixed64() != kMagic) return false;
  ByteReader places(view.substr(0, kPlacesBytes));
  if (places.Byte() != kXxh3) return false;
  if (!LiesWithin(places, before) || !LiesWithin(places, before)) return false;
  const std::string_view padding = places.rest();
  return std::all_of(padding.begin(), padding.end(), [](char c) { return c == 0; });
}

}  // namespace tidemark::storage
