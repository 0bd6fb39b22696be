#include "storage/journal_walk.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "storage/frame.h"

namespace tidemark::storage {
namespace {

using Take = std::function<Result<void>(uint64_t, std::string_view, std::string_view)>;

class Walk {
 public:
  Walk(uint64_t start, const Take& take) : take_(take) { end_.last = start; }

  /// False: it ends here, for damage or because `take` would not have it.
  bool Give(uint64_t number, std::string_view stored) {
    const auto frame = ReadFrame(number, stored);
    if (!frame) return Damage("record " + std::to_string(number) + " has a wrong checksum");
    // One that names an earlier record than the last does not know of what damage had hidden.
    if (frame->previous > end_.last) {
      return Damage("records " + std::to_string(end_.last + 1) + " to " +
                    std::to_string(number - 1) + " are missing");
    }
    if (auto taken = take_(number, stored, frame->payload); !taken) {
      refused_ = taken.error();
      return false;
    }
    end_.last = number;
    ++end_.records;
    end_.bytes += frame->payload.size();
    return true;
  }
  bool Damage(std::string what) {
    end_.damage = std::move(what);
    return false;
  }

  uint64_t last() const { return end_.last; }
  Result<WalkEnd> End() && {
    if (refused_) return tl::unexpected(*std::move(refused_));
    return std::move(end_);
  }

 private:
  const Take& take_;
  WalkEnd end_;
  std::optional<Error> refused_;
};

std::string_view View(const rocksdb::Slice& slice) { return {slice.data(), slice.size()}; }

}  // namespace

Result<WalkEnd> WalkRecords(const Database& database, const JournalFacts& facts, uint64_t after,
                            const Take& take) {
  const uint64_t start = std::max(after, facts.trimmed);
  Walk walk(start, take);
  rocksdb::DB& db = *database.db;
  rocksdb::ReadOptions options = database.Reading();
  options.verify_checksums = true;
  options.readahead_size = size_t{1} << 20;
  const std::unique_ptr<rocksdb::Iterator> it(db.NewIterator(options));
  for (it->Seek(RecordKey(start + 1)); it->Valid(); it->Next()) {
    const auto number = RecordKey::Number(it->key());
    if (!number) {
      walk.Damage("a key after record " + std::to_string(walk.last()) + " is none of a record");
      return std::move(walk).End();
    }
    if (!walk.Give(*number, View(it->value()))) return std::move(walk).End();
  }
  const rocksdb::Status status = it->status();
  if (!status.ok()) {
    const std::string what =
        "record " + std::to_string(walk.last() + 1) + " cannot be read: " + status.ToString();
    // A file that is not there will not be there the next time either.
    if (!status.IsCorruption() && !status.IsPathNotFound())
      return Fail(ErrorCode::kIo, db.GetName() + ": " + what);
    walk.Damage(what);
  }
  return std::move(walk).End();
}

}  // namespace tidemark::storage
