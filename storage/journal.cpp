#include "storage/journal.h"

#include <rocksdb/write_batch.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <thread>
#include <utility>
#include <vector>

#include "model/log.h"
#include "storage/files.h"
#include "storage/frame.h"
#include "storage/home.h"
#include "storage/table_check.h"

namespace tidemark::storage {
namespace {

using Lock = std::lock_guard<std::mutex>;
using Shared = std::shared_lock<std::shared_mutex>;

constexpr std::chrono::milliseconds kMendEvery{500};
/// How often who only looks tries to find a moment in which no file comes or goes, and how long
/// beside a writer.
constexpr int kLooks = 50;
constexpr std::chrono::seconds kLookFor{10};
/// How often who only looks has to find a log torn to take it for damage.
constexpr int kLooksAtTorn = 4;
/// The same beside a writer, and how long it waits each time.
constexpr int kLooksBesideWriter = 20;
constexpr std::chrono::milliseconds kLookAgainAfter{10};
/// What a record costs on disk beside its payload, about.
constexpr uint64_t kRecordOverhead = 64;

rocksdb::WriteOptions Synced(bool sync) {
  rocksdb::WriteOptions options;
  options.sync = sync;
  return options;
}

Result<void> MakeDirectory(const std::string& path) {
  if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return SystemError("make", path, errno);
  return {};
}

/// Of the records that can still be read.
uint64_t BytesBehind(rocksdb::DB& db, uint64_t number) {
  uint64_t bytes = 0;
  const std::unique_ptr<rocksdb::Iterator> it(db.NewIterator(rocksdb::ReadOptions()));
  for (it->Seek(RecordKey(number + 1)); it->Valid(); it->Next()) bytes += it->value().size();
  return bytes;
}

}  // namespace

Journal::Journal(const Options& options, StorageCounters& counters)
    : options_(options),
      directory_(options.path + "/journal"),
      counters_(counters),
      space_(options.path, options.min_free_bytes, counters) {}

Journal::~Journal() {
  if (sync_thread_.joinable()) {
    sync_thread_.request_stop();
    sync_thread_.join();
    SyncNow();
  }
}

Result<std::unique_ptr<Journal>> Journal::Open(const Options& options, bool create, uint64_t floor,
                                               StorageCounters& counters) {
  std::unique_ptr<Journal> journal(new Journal(options, counters));
  auto opened = options.read_only ? journal->Look() : journal->OpenFirst(create);
  if (!opened) return tl::unexpected(opened.error());
  journal->CountLosses();
  rocksdb::DB& db = *journal->database_.db;
  journal->facts_ = ReadFacts(db);
  const JournalFacts& facts = journal->facts_;
  const JournalEnds ends = FindEnds(journal->database_, facts);
  journal->previous_ = std::max(ends.last, facts.trimmed);
  journal->last_ = std::max({ends.highest, facts.trimmed, facts.highest, floor});
  journal->first_ = ends.first;
  counters.journal_first_number_now = static_cast<int64_t>(journal->first_.load());
  counters.journal_last_number_now = static_cast<int64_t>(journal->last_.load());
  journal->MeasureBytes();
  journal->space_.Look();
  if (!options.read_only && options.sync == SyncMode::kInterval) {
    journal->sync_thread_ =
        std::jthread([raw = journal.get()](const std::stop_token& stop) { raw->SyncLoop(stop); });
  }
  return journal;
}

Result<void> Journal::OpenFirst(bool create) {
  if (create) {
    if (auto made = MakeDirectory(directory_); !made) return made;
  }
  const std::vector<std::string> moved = SetAsideHopelessTables();
  auto status =
      OpenDatabase(directory_, create ? OpenMode::kCreate : OpenMode::kExisting, database_);
  if (status.IsNoSpace() && !create) {
    status = OpenDatabase(directory_, OpenMode::kInPlace, database_);
  }
  // One that a process was writing when it was killed is not missed: it does not belong to the
  // journal yet.
  for (size_t i = 0; status.ok() && i < moved.size(); ++i) unlink(moved[i].c_str());
  if (!status.ok() && TablesAreDamaged(status)) status = Repair(status, !moved.empty());
  if (status.ok()) return {};
  return DatabaseError(directory_,
                       status.IsNoSpace()
                           ? "no room to open the journal, free some"
                           : "the journal cannot be opened and was left as it is; put it back from "
                             "a backup, or move the whole store away to begin anew",
                       status);
}

std::vector<std::string> Journal::SetAsideHopelessTables() {
  std::vector<std::string> moved;
  const std::string aside = directory_ + ".damaged";
  const auto names = Names(directory_);
  if (!names) return moved;
  for (const std::string& name : *names) {
    const std::string path = directory_ + "/" + name;
    if (!name.ends_with(".sst") || IsSafeTable(path).value_or(true)) continue;
    if (moved.empty() && !RemoveAll(aside)) break;
    std::string target = aside;
    target.append("/").append(name);
    if (!MakeDirectory(aside) || !RenameDurably(path, target)) break;
    moved.push_back(std::move(target));
  }
  return moved;
}

bool Journal::TablesAreDamaged(const rocksdb::Status& status) {
  // Trouble of the machine (no rights, too many files) comes as the same kind of error, and may
  // pass: then nothing must be taken out.
  const std::string text = status.ToString();
  const bool gone = text.find("No such file") != std::string::npos;
  if (!gone && text.find("IO error") != std::string::npos) return false;
  if (!status.IsCorruption() && !gone) return false;
  // Its catalogue must be good.
  const bool readable = OpenDatabase(directory_, OpenMode::kLookAtDamaged, database_).ok();
  database_.db.reset();
  return readable;
}

rocksdb::Status Journal::Repair(const rocksdb::Status& why, bool keep_aside) {
  const std::string aside = directory_ + ".damaged";
  Log(LogLevel::kWarn, "tables of the journal are damaged or missing; the others are kept",
      {{"directory", directory_}, {"aside", aside}, {"text", why.ToString()}});
  auto status = RepairDatabase(directory_);
  if (!status.ok()) return status;
  const std::string lost = directory_ + "/lost";
  if (Exists(lost) && (keep_aside || RemoveAll(aside)) && MakeDirectory(aside)) {
    static_cast<void>(RenameDurably(lost, aside + "/lost"));
  }
  return OpenDatabase(directory_, OpenMode::kExisting, database_);
}

Result<void> Journal::Look() {
  // RocksDB reads its catalogue first and the logs later. When a writer has moved records from a
  // log to a table in between, they would be in neither: only what was opened while no file came or
  // went is whole.
  rocksdb::Status status;
  int torn = 0;
  const auto begin = std::chrono::steady_clock::now();
  // A writer with much to write leaves few moments without: those are waited for.
  const auto patient = [&](int attempt) {
    if (attempt < kLooks) return true;
    beside_writer_ = IsHeldByWriter(options_.path);
    return beside_writer_ && std::chrono::steady_clock::now() - begin < kLookFor;
  };
  for (int attempt = 0; patient(attempt); ++attempt) {
    const auto before = Names(directory_);
    status = OpenDatabase(directory_, OpenMode::kLook, database_);
    const auto after = Names(directory_);
    if (!status.ok() || !before || !after || *before != *after) continue;
    if (database_.watch->Losses().empty()) return {};
    // A writer has found out what was torn when it opened the journal. What is not read beside it
    // is a record that is being written, or a log that it has only just left: a later look finds
    // more, and the last has a whole beginning of the journal.
    beside_writer_ = IsHeldByWriter(options_.path);
    if (++torn >= (beside_writer_ ? kLooksBesideWriter : kLooksAtTorn)) return {};
    if (beside_writer_) std::this_thread::sleep_for(kLookAgainAfter);
  }
  if (status.ok()) return {};
  status = OpenDatabase(directory_, OpenMode::kLookAtDamaged, database_);
  if (status.ok()) return {};
  return DatabaseError(directory_, "the journal cannot be opened", status);
}

void Journal::CountLosses() {
  if (beside_writer_) return;
  for (const WalWatch::Loss& loss : database_.watch->Losses()) {
    counters_.journal_bytes_dropped.fetch_add(loss.bytes, std::memory_order_relaxed);
    Log(LogLevel::kWarn, "part of the journal is torn or damaged and was left out",
        {{"file", directory_ + "/" + loss.file},
         {"bytes", std::to_string(loss.bytes)},
         {"of", std::to_string(loss.of_bytes)}});
    torn_ += (torn_.empty() ? "" : "; ") + loss.file + ": " + std::to_string(loss.bytes) + " of " +
             std::to_string(loss.of_bytes) + " bytes are torn or damaged";
  }
}

Result<uint64_t> Journal::Append(std::span<const std::string_view> records) {
  const Lock lock(append_mutex_);
  const uint64_t first = last_.load(std::memory_order_relaxed) + 1;
  if (records.empty()) return first;
  uint64_t bytes = 0;
  for (const std::string_view record : records) {
    if (record.size() > kMaxRecordBytes) {
      return Fail(ErrorCode::kInvalidArgument,
                  directory_ + ": a record of " + std::to_string(record.size()) +
                      " bytes, allowed: at most " + std::to_string(kMaxRecordBytes));
    }
    bytes += record.size();
  }
  const auto failed = [&](Error error) {
    counters_.journal_append_failures.fetch_add(1, std::memory_order_relaxed);
    LogOncePerMinute("append", LogLevel::kError, "append to the journal failed",
                     {{"error", error.message}});
    return tl::unexpected(std::move(error));
  };
  const uint64_t size = bytes + records.size() * kRecordOverhead;
  if (auto room = space_.Admit(size); !room) return failed(room.error());
  if (broken_.load(std::memory_order_acquire)) {
    if (auto mended = Mend(); !mended) return failed(mended.error());
  }

  rocksdb::WriteBatch batch(size);
  rocksdb::Status status;
  const uint64_t last = first + records.size() - 1;
  // Those of a refused append must not come back behind these.
  if (ghosts_ >= first) status = batch.DeleteRange(RecordKey(first), RecordKey(ghosts_ + 1));
  uint64_t previous = previous_;
  for (size_t i = 0; i < records.size() && status.ok(); ++i) {
    const RecordKey key(first + i);
    const std::string head = FrameHead(first + i, previous, records[i]);
    const rocksdb::Slice key_part = key;
    const std::array<rocksdb::Slice, 2> parts = {
        rocksdb::Slice(head), rocksdb::Slice(records[i].data(), records[i].size())};
    status = batch.Put(rocksdb::SliceParts(&key_part, 1), rocksdb::SliceParts(parts.data(), 2));
    previous = first + i;
  }
  const bool sync = options_.sync == SyncMode::kAlways;
  if (status.ok()) {
    const Shared shared(database_mutex_);
    status = database_.db->Write(Synced(sync), &batch);
  }
  if (!status.ok()) {
    ghosts_ = std::max(ghosts_, last);
    broken_.store(true, std::memory_order_release);
    return failed(Refused("cannot append", status));
  }
  ghosts_ = 0;
  resumed_ = false;
  previous_ = last;
  if (!sync) unsynced_.store(true, std::memory_order_release);
  last_.store(last, std::memory_order_release);
  uint64_t none = 0;
  if (first_.compare_exchange_strong(none, first)) {
    counters_.journal_first_number_now.store(static_cast<int64_t>(first));
  }
  counters_.journal_last_number_now.store(static_cast<int64_t>(last), std::memory_order_relaxed);
  counters_.journal_bytes_now.fetch_add(static_cast<int64_t>(size), std::memory_order_relaxed);
  counters_.journal_records.fetch_add(records.size(), std::memory_order_relaxed);
  counters_.journal_payload_bytes.fetch_add(bytes, std::memory_order_relaxed);
  counters_.journal_appends.fetch_add(1, std::memory_order_relaxed);
  if (sync) counters_.journal_syncs.fetch_add(1, std::memory_order_relaxed);
  return first;
}

Error Journal::Refused(std::string_view what, const rocksdb::Status& status) {
  Error error = DatabaseError(directory_, what, status).value();
  if (const int64_t free = space_.Look(); free >= 0) {
    error.message += " (" + std::to_string(free) + " bytes are free)";
  }
  return error;
}

Result<void> Journal::Mend() {
  const auto now = std::chrono::steady_clock::now();
  if (now - mended_at_ < kMendEvery) {
    return Fail(ErrorCode::kUnavailable,
                directory_ + ": takes no writes after an error of the disk; tried again shortly");
  }
  mended_at_ = now;
  {
    const Shared shared(database_mutex_);
    // Writes what memory holds to a table and begins a new log.
    if (database_.db != nullptr && !resumed_ && database_.db->Resume().ok()) {
      resumed_ = true;
      broken_.store(false, std::memory_order_release);
      return {};
    }
  }
  if (auto opened = Reopen(); !opened) return opened;
  resumed_ = false;
  broken_.store(false, std::memory_order_release);
  Log(LogLevel::kInfo, "the journal takes writes again", {{"directory", directory_}});
  return {};
}

Result<void> Journal::Reopen() {
  const std::unique_lock<std::shared_mutex> exclusive(database_mutex_);
  const auto status = OpenDatabase(directory_, OpenMode::kInPlace, database_);
  if (!status.ok()) return tl::unexpected(Refused("cannot be opened again", status));
  // What was written but not yet synced lies in logs that are not written to any more.
  return SyncLogs();
}

Result<ReplayOutcome> Journal::Replay(
    uint64_t after, const std::function<Result<void>(uint64_t, std::string_view)>& take) {
  const Lock lock(append_mutex_);
  ReplayOutcome outcome;
  auto end = WalkRecords(database_, facts_, after,
                         [&](uint64_t number, std::string_view, std::string_view payload) {
                           return take(number, payload);
                         });
  if (!end) return tl::unexpected(end.error());
  outcome.records = end->records;
  outcome.bytes = end->bytes;
  outcome.last_number = end->records > 0 ? end->last : after;
  outcome.damage = end->damage;
  if (options_.read_only) {
    // A writer has counted and logged it when it opened the journal, and what was torn is gone.
    if (outcome.damage.empty()) outcome.damage = torn_;
    return outcome;
  }
  if (end->records > 0) previous_ = end->last;
  if (!end->damage.empty()) {
    if (auto out = TakeOut(*end, outcome); !out) return tl::unexpected(out.error());
  }
  return outcome;
}

Result<void> Journal::TakeOut(const WalkEnd& end, ReplayOutcome& outcome) {
  const uint64_t there = FindEnds(database_, facts_).highest;
  outcome.dropped_records = there > end.last ? there - end.last : 0;
  const uint64_t bytes = BytesBehind(*database_.db, end.last);
  counters_.journal_records_dropped.fetch_add(outcome.dropped_records, std::memory_order_relaxed);
  counters_.journal_bytes_dropped.fetch_add(bytes, std::memory_order_relaxed);
  Log(LogLevel::kWarn, "the journal is damaged; what is behind the damage was left out",
      {{"directory", directory_},
       {"damage", end.damage},
       {"records", std::to_string(outcome.dropped_records)},
       {"bytes", std::to_string(bytes)}});
  last_.store(std::max(last_.load(), there));
  if (auto deleted = DeleteBehind(end.last, there); !deleted) return deleted;
  const JournalEnds ends = FindEnds(database_, facts_);
  previous_ = std::max(ends.last, facts_.trimmed);
  first_ = ends.first;
  counters_.journal_first_number_now = static_cast<int64_t>(first_.load());
  counters_.journal_last_number_now = static_cast<int64_t>(last_.load());
  MeasureBytes();
  return {};
}

Result<void> Journal::DeleteBehind(uint64_t last_good, uint64_t last_there) {
  facts_.highest = last_.load();
  rocksdb::WriteBatch batch;
  auto status = batch.Put(FactsKey(), facts_.Encode());
  if (status.ok() && last_there > last_good) {
    status = batch.DeleteRange(RecordKey(last_good + 1), RecordKey(last_there + 1));
  }
  if (status.ok()) status = database_.db->Write(Synced(true), &batch);
  if (!status.ok()) return DatabaseError(directory_, "cannot take out damaged records", status);
  return {};
}

Result<void> Journal::Trim(uint64_t number) {
  const Lock lock(trim_mutex_);
  const uint64_t last = last_.load(std::memory_order_acquire);
  number = std::min(number, last);
  if (number <= facts_.trimmed) {
    if (!logs_hold_trimmed_) return {};
    const auto status = SwitchLog();
    if (status.ok()) return {};
    return DatabaseError(directory_, "cannot be trimmed", status);
  }
  const JournalFacts facts{.trimmed = number, .highest = last};
  rocksdb::WriteBatch batch;
  auto status = batch.Put(FactsKey(), facts.Encode());
  if (status.ok()) status = batch.DeleteRange(RecordKey(0), RecordKey(number + 1));
  // On the disk before any table goes: records that are missing for another reason are damage.
  if (status.ok()) status = WriteTrim(batch);
  if (status.ok()) {
    facts_ = facts;
    logs_hold_trimmed_ = true;
    uint64_t first = first_.load();
    while (first != 0 && first <= number &&
           !first_.compare_exchange_weak(first, number < last ? number + 1 : 0)) {
    }
    DropTables(number);
    status = SwitchLog();
  }
  MeasureBytes();
  counters_.journal_first_number_now.store(static_cast<int64_t>(first_.load()));
  if (status.ok()) return {};
  return DatabaseError(directory_, "cannot be trimmed", status);
}

rocksdb::Status Journal::WriteTrim(rocksdb::WriteBatch& batch) {
  const Lock lock(append_mutex_);
  if (broken_.load(std::memory_order_acquire)) {
    if (auto mended = Mend(); !mended) return rocksdb::Status::IOError(mended.error().message);
  }
  auto status = database_.db->Write(Synced(true), &batch);
  if (!status.ok()) broken_.store(true, std::memory_order_release);
  return status;
}

rocksdb::Status Journal::SwitchLog() {
  // Not beside an append: RocksDB ends the process when it begins a new log after a write to the
  // old one has failed. The table is written later; what was trimmed does not reach it.
  const Lock lock(append_mutex_);
  if (broken_.load(std::memory_order_acquire)) return rocksdb::Status::OK();
  rocksdb::FlushOptions options;
  options.wait = false;
  options.allow_write_stall = true;
  auto status = database_.db->Flush(options);
  if (status.ok()) logs_hold_trimmed_ = false;
  if (!status.ok()) broken_.store(true, std::memory_order_release);
  return status;
}

void Journal::DropTables(uint64_t number) {
  const Shared shared(database_mutex_);
  if (database_.db == nullptr) return;
  rocksdb::DB& db = *database_.db;
  std::vector<rocksdb::LiveFileMetaData> tables;
  db.GetLiveFilesMetaData(&tables);
  std::sort(tables.begin(), tables.end(),
            [](const auto& a, const auto& b) { return a.largest_seqno < b.largest_seqno; });
  // The oldest only, one after the other: RocksDB deletes no other of level 0, and a newer one may
  // hold what hides records of an older one.
  for (const auto& table : tables) {
    // The end of a deletion counts as a key, and the facts' own key as none.
    if (RecordKey::Number(table.largestkey).value_or(0) > number) return;
    if (const auto status = db.DeleteFile(table.name); !status.ok()) {
      LogOncePerMinute("table", LogLevel::kWarn, "an old table of the journal cannot be deleted",
                       {{"file", directory_ + table.name}, {"error", status.ToString()}});
      return;
    }
  }
}

void Journal::MeasureBytes() {
  counters_.journal_bytes_now.store(static_cast<int64_t>(BytesIn(directory_)),
                                    std::memory_order_relaxed);
}

JournalInfo Journal::Info() const {
  const Lock lock(trim_mutex_);
  return {.first_number = first_.load(),
          .last_number = last_.load(),
          .bytes = static_cast<uint64_t>(std::max<int64_t>(0, counters_.journal_bytes_now.load())),
          .trimmed = facts_.trimmed};
}

Result<void> Journal::SyncLogs() {
  // Not by RocksDB: it ends the process when its log is to be synced after a write that failed, and
  // that may happen at any time beside this.
  const auto names = Names(directory_);
  if (!names) return tl::unexpected(names.error());
  for (const std::string& name : *names) {
    if (!name.ends_with(".log")) continue;
    auto synced = SyncPath(directory_ + "/" + name);
    // Gone meanwhile: what it held is in a table, which is on the disk.
    if (!synced && synced.error().code != ErrorCode::kNotFound) return synced;
  }
  return {};
}

void Journal::SyncNow() {
  if (!unsynced_.exchange(false, std::memory_order_acq_rel)) return;
  const auto synced = SyncLogs();
  if (synced) {
    counters_.journal_syncs.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  // Not simply tried again: after a failed sync the system may have forgotten what it could not
  // write. Mending writes it anew from memory.
  unsynced_.store(true, std::memory_order_release);
  broken_.store(true, std::memory_order_release);
  counters_.journal_sync_failures.fetch_add(1, std::memory_order_relaxed);
  LogOncePerMinute("sync", LogLevel::kError, "the journal cannot be synced to the disk",
                   {{"directory", directory_}, {"error", synced.error().message}});
}

void Journal::SyncLoop(const std::stop_token& stop) {
  const std::chrono::milliseconds interval(options_.sync_interval_ms);
  while (!stop.stop_requested()) {
    {
      std::unique_lock<std::mutex> lock(sync_mutex_);
      sync_wake_.wait_for(lock, stop, interval, [] { return false; });
    }
    SyncNow();
    if (broken_.load(std::memory_order_acquire) && !stop.stop_requested()) {
      const Lock lock(append_mutex_);
      if (broken_.load(std::memory_order_acquire)) static_cast<void>(Mend());
    }
  }
}

}  // namespace tidemark::storage
