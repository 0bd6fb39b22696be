#include "storage/checkpoint_files.h"

#include <rocksdb/convenience.h>
#include <rocksdb/table.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <system_error>

#include "model/byte_codec.h"
#include "storage/files.h"
#include "storage/frame.h"

namespace tidemark::storage {
namespace {

constexpr std::string_view kPrefix = "checkpoint-";
// Seeds of the checksums of header and trailer: no block's number.
constexpr uint64_t kHeaderPlace = ~uint64_t{0};
constexpr uint64_t kTrailerPlace = ~uint64_t{1};

struct Name {
  uint64_t number = 0;
  std::string suffix;
  std::string name;
};

std::vector<Name> NewestFirst(const std::string& directory) {
  std::vector<Name> found;
  const auto names = Names(directory);
  if (!names) return found;
  for (const std::string& name : *names) {
    if (!name.starts_with(kPrefix)) continue;
    Name entry;
    const char* const begin = name.data() + kPrefix.size();
    const auto [end, error] = std::from_chars(begin, name.data() + name.size(), entry.number);
    if (error != std::errc()) continue;
    entry.suffix = end;
    entry.name = name;
    found.push_back(std::move(entry));
  }
  std::sort(found.begin(), found.end(),
            [](const Name& a, const Name& b) { return a.number > b.number; });
  return found;
}

std::string Sealed(uint64_t place, std::string bytes) {
  const uint64_t checksum = Checksum(place, bytes);
  ByteWriter(bytes).Fixed64(checksum);
  return bytes;
}

/// What was sealed; empty when it is not that.
std::string_view Unsealed(uint64_t place, std::string_view bytes) {
  if (bytes.size() < sizeof(uint64_t)) return {};
  const std::string_view content = bytes.substr(0, bytes.size() - sizeof(uint64_t));
  ByteReader checksum(bytes.substr(content.size()));
  return checksum.Fixed64() == Checksum(place, content) ? content : std::string_view();
}

void AppendBigEndian(std::string& out, uint64_t number, size_t bytes) {
  for (size_t i = bytes; i-- > 0;) out.push_back(static_cast<char>(number >> (8 * i)));
}

}  // namespace

std::string PieceKey(uint64_t block, uint32_t piece) {
  std::string key = "b";
  AppendBigEndian(key, block, sizeof block);
  AppendBigEndian(key, piece, sizeof piece);
  return key;
}

std::string CheckpointHeader::Encode() const {
  std::string bytes;
  ByteWriter writer(bytes);
  writer.Fixed32(kCheckpointFormat);
  writer.Varint(number);
  writer.Varint(journal_number);
  writer.Signed(created_ms);
  return Sealed(kHeaderPlace, std::move(bytes));
}

Result<CheckpointHeader> CheckpointHeader::Decode(std::string_view bytes) {
  ByteReader reader(Unsealed(kHeaderPlace, bytes));
  CheckpointHeader header;
  const uint32_t format = reader.Fixed32();
  if (!reader.failed() && format != kCheckpointFormat) {
    return Fail(ErrorCode::kIo, "format " + std::to_string(format) +
                                    " is not known, allowed: " + std::to_string(kCheckpointFormat));
  }
  header.number = reader.Varint();
  header.journal_number = reader.Varint();
  header.created_ms = reader.Signed();
  if (!reader.AtEnd()) return Fail(ErrorCode::kIo, "the header is damaged");
  return header;
}

std::string CheckpointTrailer::Encode() const {
  std::string encoded;
  ByteWriter writer(encoded);
  writer.Varint(blocks);
  writer.Varint(bytes);
  writer.Varint(highest_record);
  return Sealed(kTrailerPlace, std::move(encoded));
}

Result<CheckpointTrailer> CheckpointTrailer::Decode(std::string_view bytes) {
  ByteReader reader(Unsealed(kTrailerPlace, bytes));
  CheckpointTrailer trailer;
  trailer.blocks = reader.Varint();
  trailer.bytes = reader.Varint();
  trailer.highest_record = reader.Varint();
  if (!reader.AtEnd()) return Fail(ErrorCode::kIo, "the trailer is damaged");
  return trailer;
}

std::string CheckpointPath(const std::string& directory, uint64_t number) {
  return directory + "/" + std::string(kPrefix) + std::to_string(number) + ".sst";
}

std::vector<uint64_t> CheckpointNumbers(const std::string& directory) {
  std::vector<uint64_t> numbers;
  for (const Name& name : NewestFirst(directory)) {
    if (name.suffix == ".sst") numbers.push_back(name.number);
  }
  return numbers;
}

uint64_t NextCheckpointNumber(const std::string& directory) {
  const auto names = NewestFirst(directory);
  return names.empty() ? 1 : names.front().number + 1;
}

Result<void> RemoveOldCheckpoints(const std::string& directory) {
  size_t whole = 0;
  size_t damaged = 0;
  for (const Name& name : NewestFirst(directory)) {
    const bool keep = name.suffix == ".sst"           ? whole++ < kCheckpointsKept
                      : name.suffix == ".sst.damaged" ? damaged++ < kDamagedKept
                                                      : name.suffix != ".sst.tmp";
    if (keep) continue;
    if (auto removed = RemoveAll(directory + "/" + name.name); !removed) return removed;
  }
  return {};
}

rocksdb::Options CheckpointTableOptions() {
  rocksdb::Options options;
  options.use_fsync = false;
  rocksdb::BlockBasedTableOptions table;
  table.no_block_cache = true;
  table.format_version = 5;  // what IsSafeTable knows
  table.checksum = rocksdb::kXXH3;
  table.block_size = size_t{256} << 10;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  const auto supported = rocksdb::GetSupportedCompressions();
  options.compression = rocksdb::kNoCompression;
  for (const auto wanted :
       {rocksdb::kSnappyCompression, rocksdb::kLZ4Compression, rocksdb::kZSTD}) {
    if (std::find(supported.begin(), supported.end(), wanted) != supported.end()) {
      options.compression = wanted;
    }
  }
  options.compression_opts.level = options.compression == rocksdb::kZSTD
                                       ? 1
                                       : rocksdb::CompressionOptions::kDefaultCompressionLevel;
  return options;
}

}  // namespace tidemark::storage
