#pragma once
// What the engine writes into the journal: everything that changes state, in the order in which it
// does.
//
// A record holds what came and what was decided at arrival, never what came of it: applying the
// same records in the same order makes the same state. Free functions without state, thread-safe.
//
// Known series stand by their hash (16 bytes) instead of their labels (some 300 bytes): they are
// applied where the hash is found and nowhere else, so a record says the same in every process that
// has the store's identity.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/addressing.h"
#include "forecast/forecast_track.h"
#include "model/label.h"
#include "model/result.h"
#include "model/sink.h"
#include "workloads/series_batch.h"

namespace tidemark::engine {

enum class RecordKind : uint8_t {
  kWrite = 1,       ///< series and samples of one request
  kAgeing = 2,      ///< a namespace gives something up because the wall clock says so
  kFirstPast = 3,   ///< as kPast, of a version that had four resources and no names for them
  kPastCursor = 4,  ///< how far a back-fill has come
  kRestart = 5,     ///< the daemon was restarted; strict profiles forget what VPA forgets then
  kPast = 6,        ///< a past that is merged into a namespace
  kModel = 7,       ///< a forecast model that was trained is taken into use
};

/// Nothing for an empty record.
RecordKind KindOf(std::string_view record);

/// Appends the record of one request: its batches for all shards. Items `by_hash` must have their
/// `name_space`.
void EncodeWrite(std::span<const workloads::SeriesBatch> batches, std::string& out);

/// Reads a record of kind kWrite into one batch per shard, which must be empty; label bytes point
/// into the record. Series whose labels have no role in the present source table are left out.
/// kInvalidArgument: these are no bytes of EncodeWrite.
class WriteDecoder {
 public:
  /// `addressing` must outlive it.
  explicit WriteDecoder(const Addressing& addressing) : addressing_(addressing) {}
  Result<void> Decode(std::string_view record, std::span<workloads::SeriesBatch> batches);

 private:
  const Addressing& addressing_;
  std::vector<LabelView> labels_;
  std::vector<uint64_t> name_spaces_;
};

/// Finds source and namespace of an item from its labels. Nothing when they were found; else why
/// the series is not used: no role, or no container.
std::optional<IgnoreReason> AddressByLabels(const Addressing& addressing, LabelsView labels,
                                            workloads::SeriesItem& item);

/// Places under the ceiling on series that were taken for the items of a batch.
int64_t PlacesTaken(const workloads::SeriesBatch& batch);

/// What a namespace to which nothing comes any more gives up.
enum class Ageing : uint8_t {
  kForgetSeries = 1,  ///< its series; the history of its workloads stays
  kDrop = 2,          ///< all of it
};

struct AgeingRecord {
  uint64_t name_space = 0;
  Ageing what = Ageing::kForgetSeries;
  /// The namespace's time when it was decided: if a sample has moved it since, nothing is given up.
  int64_t event_time_ms = 0;
};
/// When the daemon was restarted, Unix milliseconds.
void EncodeRestart(int64_t now_ms, std::string& out);
Result<int64_t> DecodeRestart(std::string_view record);

/// Weights and all: a replay trains nothing.
struct ModelRecord {
  uint64_t name_space = 0;
  std::string_view workload_type;
  std::string_view workload;
  forecast::FittedModel fitted;
};
/// The texts point into the record.
void EncodeModel(const ModelRecord& model, std::string& out);
Result<ModelRecord> DecodeModel(std::string_view record);

void EncodeAgeing(const AgeingRecord& ageing, std::string& out);
Result<AgeingRecord> DecodeAgeing(std::string_view record);

}  // namespace tidemark::engine
