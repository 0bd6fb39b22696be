#include "storage/checkpoint_reader.h"

#include <rocksdb/sst_file_reader.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <system_error>

#include "model/byte_codec.h"
#include "storage/frame.h"
#include "storage/table_check.h"

namespace tidemark::storage {
namespace {

std::string_view View(const rocksdb::Slice& slice) { return {slice.data(), slice.size()}; }

class Reader {
 public:
  explicit Reader(const std::string& path) : path_(path), table_(CheckpointTableOptions()) {}

  Result<void> Open() {
    const auto footer = IsSafeTable(path_);
    if (!footer) return tl::unexpected(footer.error());
    if (!*footer) return Damaged("it does not end as a whole table does");
    if (const auto status = table_.Open(path_); !status.ok()) return Damaged(status.ToString());
    rocksdb::ReadOptions options;
    options.verify_checksums = true;
    options.readahead_size = size_t{2} << 20;
    it_.reset(table_.NewIterator(options));
    it_->SeekToFirst();
    return {};
  }

  Result<CheckpointSummary> Summarize() {
    auto header = ReadHeader();
    if (!header) return tl::unexpected(header.error());
    it_->SeekToLast();
    auto trailer = ReadTrailer();
    if (!trailer) return tl::unexpected(trailer.error());
    std::error_code unknown;
    const uintmax_t bytes = std::filesystem::file_size(path_, unknown);
    return CheckpointSummary{.header = *header,
                             .trailer = *trailer,
                             .info = {.number = header->number,
                                      .journal_number = header->journal_number,
                                      .created_ms = header->created_ms,
                                      .blocks = trailer->blocks,
                                      .bytes = unknown ? 0 : bytes}};
  }

  Result<void> ReadBlocks(const CheckpointTrailer& trailer,
                          const std::function<Result<void>(std::string_view)>& take) {
    it_->SeekToFirst();
    if (!it_->Valid()) return Damaged(it_->status().ToString());
    it_->Next();
    uint64_t bytes = 0;
    std::string block;
    for (uint64_t number = 0; number < trailer.blocks; ++number) {
      if (auto read = ReadBlock(number, block); !read) return read;
      if (auto taken = take(block); !taken) return taken;
      bytes += block.size();
    }
    if (bytes != trailer.bytes || !it_->Valid() || View(it_->key()) != kTrailerKey) {
      return Damaged("has more than its trailer says");
    }
    return {};
  }

  Result<void> Damaged(const std::string& what) const {
    return Fail(ErrorCode::kIo, path_ + ": is damaged: " + what);
  }

 private:
  Result<CheckpointHeader> ReadHeader() const {
    if (!it_->Valid() || View(it_->key()) != kHeaderKey) {
      return tl::unexpected(Damaged("it has no header " + it_->status().ToString()).error());
    }
    auto header = CheckpointHeader::Decode(View(it_->value()));
    if (!header) return tl::unexpected(Damaged(header.error().message).error());
    return header;
  }
  Result<CheckpointTrailer> ReadTrailer() const {
    if (!it_->Valid() || View(it_->key()) != kTrailerKey) {
      return tl::unexpected(Damaged("it has no trailer " + it_->status().ToString()).error());
    }
    auto trailer = CheckpointTrailer::Decode(View(it_->value()));
    if (!trailer) return tl::unexpected(Damaged(trailer.error().message).error());
    return trailer;
  }

  Result<void> ReadBlock(uint64_t number, std::string& block) {
    const std::string name = "block " + std::to_string(number);
    block.clear();
    uint64_t checksum = 0;
    uint64_t size = 0;
    uint32_t piece = 0;
    do {
      if (!it_->Valid() || View(it_->key()) != PieceKey(number, piece)) {
        return Damaged(name + " is not whole " + it_->status().ToString());
      }
      ByteReader reader(View(it_->value()));
      if (piece == 0) {
        checksum = reader.Fixed64();
        size = reader.Varint();
        if (reader.failed() || size > kMaxRecordBytes) return Damaged(name + " has a wrong head");
      }
      const std::string_view content = reader.rest();
      // Each piece but the last is full, so a size that was made up reserves nothing.
      if (content.size() != std::min<uint64_t>(size - block.size(), kPieceBytes)) {
        return Damaged(name + " has a piece of a wrong size");
      }
      block.append(content);
      it_->Next();
      ++piece;
    } while (block.size() < size);
    if (Checksum(number, block) != checksum) return Damaged(name + " has a wrong checksum");
    return {};
  }

  const std::string path_;
  rocksdb::SstFileReader table_;
  std::unique_ptr<rocksdb::Iterator> it_;
};

}  // namespace

Result<CheckpointSummary> SummarizeCheckpoint(const std::string& path) {
  Reader reader(path);
  if (auto opened = reader.Open(); !opened) return tl::unexpected(opened.error());
  return reader.Summarize();
}

Result<CheckpointInfo> ReadCheckpointFile(
    const std::string& path, const std::function<Result<void>(std::string_view)>& take) {
  Reader reader(path);
  if (auto opened = reader.Open(); !opened) return tl::unexpected(opened.error());
  auto summary = reader.Summarize();
  if (!summary) return tl::unexpected(summary.error());
  if (auto read = reader.ReadBlocks(summary->trailer, take); !read) {
    return tl::unexpected(read.error());
  }
  return summary->info;
}

}  // namespace tidemark::storage
