#include "storage/wal_watch.h"

#include <rocksdb/write_batch.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <system_error>

#include "storage/files.h"

namespace tidemark::storage {
namespace {

constexpr uint64_t kBlockBytes = 32768;
constexpr uint64_t kHeadBytes = 7;

/// Where a batch of `bytes` ends that begins at `offset`.
uint64_t EndOfBatch(uint64_t offset, uint64_t bytes) {
  do {
    uint64_t left = kBlockBytes - offset % kBlockBytes;
    if (left < kHeadBytes) {
      offset += left;
      left = kBlockBytes;
    }
    const uint64_t fragment = std::min(bytes, left - kHeadBytes);
    offset += kHeadBytes + fragment;
    bytes -= fragment;
  } while (bytes > 0);
  return offset;
}

}  // namespace

WalWatch::WalWatch(const std::string& directory) {
  const auto names = Names(directory);
  if (!names) return;
  for (const std::string& name : *names) {
    uint64_t number = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (error != std::errc() || std::string_view(end) != ".log") continue;
    std::error_code gone;
    const uintmax_t bytes =
        std::filesystem::file_size(std::filesystem::path(directory) / name, gone);
    if (!gone) files_[number] = {.name = name, .bytes = bytes};
  }
}

std::vector<WalWatch::Loss> WalWatch::Losses() const {
  std::vector<Loss> losses;
  for (const auto& [number, file] : files_) {
    if (number < first_needed_ || file.read >= file.bytes) continue;
    losses.push_back({.file = file.name, .bytes = file.bytes - file.read, .of_bytes = file.bytes});
  }
  return losses;
}

void WalWatch::ColumnFamilyLogNumberMap(const std::map<uint32_t, uint64_t>& log_numbers,
                                        const std::map<std::string, uint32_t>&) {
  // Older files are in tables already, and were only not removed yet.
  for (const auto& [family, number] : log_numbers) first_needed_ = std::max(first_needed_, number);
}

WalWatch::WalProcessingOption WalWatch::LogRecordFound(unsigned long long log_number,
                                                       const std::string&,
                                                       const rocksdb::WriteBatch& batch,
                                                       rocksdb::WriteBatch*, bool*) {
  File& file = files_[log_number];
  file.read = EndOfBatch(file.read, batch.GetDataSize());
  return WalProcessingOption::kContinueProcessing;
}

}  // namespace tidemark::storage
