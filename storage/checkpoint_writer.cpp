#include "storage/checkpoint_writer.h"

#include <rocksdb/sst_file_writer.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "model/byte_codec.h"
#include "model/log.h"
#include "storage/checkpoint_files.h"
#include "storage/files.h"
#include "storage/frame.h"

namespace tidemark::storage {
namespace {

class FileWriter final : public CheckpointWriter {
 public:
  explicit FileWriter(CheckpointTask task)
      : task_(std::move(task)),
        number_(NextCheckpointNumber(task_.directory)),
        path_(CheckpointPath(task_.directory, number_)),
        temporary_(path_ + ".tmp"),
        table_(std::in_place, rocksdb::EnvOptions(), CheckpointTableOptions()) {}

  ~FileWriter() override {
    table_.reset();
    if (!ended_) unlink(temporary_.c_str());
    End();
  }

  Result<void> Begin() {
    if (const auto status = table_->Open(temporary_); !status.ok()) return Failed(status);
    // Before there is anything in it: labels are not for everybody.
    if (chmod(temporary_.c_str(), 0600) != 0) return Failed(rocksdb::Status::IOError("chmod"));
    const CheckpointHeader header{
        .number = number_, .journal_number = task_.journal_number, .created_ms = task_.created_ms};
    if (auto status = Put(kHeaderKey, header.Encode()); !status.ok()) return Failed(status);
    return {};
  }

  Result<void> Add(std::string_view block) override {
    if (failed_) return tl::unexpected(*failed_);
    if (block.size() > kMaxRecordBytes) {
      return Fail(ErrorCode::kInvalidArgument,
                  path_ + ": a block of " + std::to_string(block.size()) +
                      " bytes, allowed: at most " + std::to_string(kMaxRecordBytes));
    }
    // The first piece begins with the block's checksum and size.
    std::string piece;
    ByteWriter head(piece);
    head.Fixed64(Checksum(trailer_.blocks, block));
    head.Varint(block.size());
    uint32_t pieces = 0;
    std::string_view rest = block;
    do {
      const size_t bytes = std::min(rest.size(), kPieceBytes);
      piece.append(rest.substr(0, bytes));
      rest.remove_prefix(bytes);
      if (auto status = Put(PieceKey(trailer_.blocks, pieces++), piece); !status.ok()) {
        return Failed(status);
      }
      piece.clear();
    } while (!rest.empty());
    ++trailer_.blocks;
    trailer_.bytes += block.size();
    return {};
  }

  Result<CheckpointInfo> Finish() override {
    if (failed_) return tl::unexpected(*failed_);
    if (ended_) return Fail(ErrorCode::kInternal, path_ + ": is finished already");
    trailer_.highest_record = task_.last_record();
    auto status = Put(kTrailerKey, trailer_.Encode());
    rocksdb::ExternalSstFileInfo file;
    if (status.ok()) status = table_->Finish(&file);
    if (!status.ok()) return tl::unexpected(Failed(status).error());
    table_.reset();
    auto durable = SyncPath(temporary_);
    if (durable) durable = RenameDurably(temporary_, path_);
    if (!durable) return tl::unexpected(Failed(durable.error()).error());
    task_.counters->checkpoints_written.fetch_add(1, std::memory_order_relaxed);
    if (auto removed = RemoveOldCheckpoints(task_.directory); !removed) {
      // It exists all the same; the next one tries again.
      LogOncePerMinute("old checkpoint", LogLevel::kWarn, "an old checkpoint cannot be removed",
                       {{"error", removed.error().message}});
    }
    End();
    return CheckpointInfo{.number = number_,
                          .journal_number = task_.journal_number,
                          .created_ms = task_.created_ms,
                          .blocks = trailer_.blocks,
                          .bytes = file.file_size};
  }

 private:
  rocksdb::Status Put(std::string_view key, std::string_view value) {
    return table_->Put({key.data(), key.size()}, {value.data(), value.size()});
  }
  Result<void> Failed(const rocksdb::Status& status) {
    return Failed(
        {ErrorCode::kIo, temporary_ + ": cannot write a checkpoint: " + status.ToString()});
  }
  /// The file is of no use any more: its room is given back at once.
  Result<void> Failed(Error error) {
    error.code = ErrorCode::kIo;
    table_.reset();
    unlink(temporary_.c_str());
    task_.counters->checkpoints_failed.fetch_add(1, std::memory_order_relaxed);
    failed_ = std::move(error);
    End();
    return tl::unexpected(*failed_);
  }

  /// The next one may begin, also while this one is still there.
  void End() {
    if (!std::exchange(ended_, true)) task_.done();
  }

  CheckpointTask task_;
  const uint64_t number_;
  const std::string path_;
  const std::string temporary_;
  std::optional<rocksdb::SstFileWriter> table_;
  CheckpointTrailer trailer_;
  std::optional<Error> failed_;
  bool ended_ = false;  ///< well or not: there is no temporary file any more
};

}  // namespace

Result<std::unique_ptr<CheckpointWriter>> BeginCheckpointFile(CheckpointTask task) {
  auto writer = std::make_unique<FileWriter>(std::move(task));
  if (auto begun = writer->Begin(); !begun) return tl::unexpected(begun.error());
  return writer;
}

}  // namespace tidemark::storage
