#include "storage/table_check.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cerrno>
#include <optional>
#include <string_view>

#include "model/byte_codec.h"
#include "storage/files.h"

namespace tidemark::storage {
namespace {

// https://github.com/facebook/rocksdb/wiki/Rocksdb-BlockBasedTable-Format. The footer: the kind of
// checksum, the places of metaindex and index (offset and size each), zeros up to here, version,
// magic. Each block is followed by one byte, how it is compressed, and four of checksum.
constexpr size_t kPlacesBytes = 41;
constexpr size_t kFooterBytes = kPlacesBytes + 4 + 8;
constexpr uint64_t kMagic = 0x88e241b785f4cff7;
constexpr uint8_t kXxh3 = 4;
constexpr uint32_t kTableFormat = 5;
constexpr size_t kBlockEndBytes = 5;
/// The metaindex and the properties have some hundred bytes.
constexpr uint64_t kMostSmallBlockBytes = 1U << 20;
constexpr std::string_view kPropertiesName = "rocksdb.properties";

struct Place {
  uint64_t offset = 0;
  uint64_t bytes = 0;
};

/// Nothing when it does not lie within the first `end` bytes.
std::optional<Place> ReadPlace(ByteReader& reader, uint64_t end) {
  const Place place{.offset = reader.Varint(), .bytes = reader.Varint()};
  if (reader.failed() || place.offset > end || place.bytes > end - place.offset) {
    return std::nullopt;
  }
  return place;
}

/// Empty when it cannot be read whole.
std::string ReadAt(const Descriptor& file, uint64_t offset, size_t bytes) {
  std::string text(bytes, '\0');
  const ssize_t got = pread(file.get(), text.data(), bytes, static_cast<off_t>(offset));
  return got == static_cast<ssize_t>(bytes) ? text : std::string();
}

/// A block that is not compressed and whose checksum is right.
std::optional<std::string> ReadBlock(const Descriptor& file, const Place& place) {
  if (place.bytes > kMostSmallBlockBytes) return std::nullopt;
  std::string block = ReadAt(file, place.offset, place.bytes + kBlockEndBytes);
  if (block.empty()) return std::nullopt;
  ByteReader end(std::string_view(block).substr(place.bytes));
  const uint8_t compression = end.Byte();
  const uint32_t checksum = end.Fixed32();
  // RocksDB multiplies the last byte, here zero, into a checksum of what is before it.
  const auto computed = static_cast<uint32_t>(XXH3_64bits(block.data(), place.bytes));
  if (compression != 0 || checksum != computed) return std::nullopt;
  block.resize(place.bytes);
  return block;
}

/// The place of the properties as the metaindex has it, of which each entry is written in full.
std::optional<Place> FindProperties(std::string_view metaindex, uint64_t end) {
  ByteReader reader(metaindex);
  while (!reader.failed() && !reader.rest().empty()) {
    const uint64_t shared = reader.Varint();
    const uint64_t name_bytes = reader.Varint();
    const uint64_t value_bytes = reader.Varint();
    const std::string_view rest = reader.rest();
    if (reader.failed() || shared != 0 || name_bytes > rest.size() ||
        value_bytes > rest.size() - name_bytes) {
      return std::nullopt;
    }
    if (rest.substr(0, name_bytes) == kPropertiesName) {
      ByteReader value(rest.substr(name_bytes, value_bytes));
      return ReadPlace(value, end);
    }
    reader = ByteReader(rest.substr(name_bytes + value_bytes));
  }
  return std::nullopt;
}

}  // namespace

Result<bool> IsSafeTable(const std::string& path) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status {};
  if (!file.valid() || fstat(file.get(), &status) != 0) return SystemError("open", path, errno);
  const auto bytes = static_cast<uint64_t>(status.st_size);
  if (!S_ISREG(status.st_mode) || bytes < kFooterBytes) return false;
  const uint64_t before = bytes - kFooterBytes;
  const std::string footer = ReadAt(file, before, kFooterBytes);
  if (footer.empty()) return SystemError("read", path, errno);

  ByteReader end(std::string_view(footer).substr(kPlacesBytes));
  if (end.Fixed32() != kTableFormat || end.Fixed64() != kMagic) return false;
  ByteReader places(std::string_view(footer).substr(0, kPlacesBytes));
  if (places.Byte() != kXxh3) return false;
  const auto metaindex_place = ReadPlace(places, before);
  if (!metaindex_place || !ReadPlace(places, before)) return false;
  const auto metaindex = ReadBlock(file, *metaindex_place);
  if (!metaindex) return false;
  const auto properties_place = FindProperties(*metaindex, before);
  return properties_place && ReadBlock(file, *properties_place).has_value();
}

}  // namespace tidemark::storage
