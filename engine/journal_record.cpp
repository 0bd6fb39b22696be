#include "engine/journal_record.h"

#include <algorithm>

#include "model/byte_codec.h"
#include "workloads/identity.h"

namespace tidemark::engine {
namespace {

// Flags of an item.
constexpr uint8_t kByHash = 1;
constexpr uint8_t kFromHaPair = 2;
constexpr uint8_t kMayCreate = 4;
constexpr uint8_t kHasStartTimes = 8;
constexpr uint8_t kAllFlags = 15;

/// The least that an item takes: flags, namespace, labels of no length, number of samples.
constexpr size_t kLeastItemBytes = 4;
constexpr size_t kLeastSampleBytes = 9;

tl::unexpected<Error> Unreadable(std::string_view what) {
  return Fail(ErrorCode::kInvalidArgument,
              "a journal record " + std::string(what) + " cannot be read");
}

/// Numbers the namespaces of a record in the order in which they come. Items of one namespace
/// mostly come together.
class NameSpaceTable {
 public:
  size_t IndexOf(uint64_t name_space) {
    if (last_ < seen_.size() && seen_[last_] == name_space) return last_;
    for (size_t i = 0; i < std::min(seen_.size(), kLookedAt); ++i) {
      if (seen_[i] == name_space) return last_ = i;
    }
    seen_.push_back(name_space);
    return last_ = seen_.size() - 1;
  }
  const std::vector<uint64_t>& seen() const { return seen_; }

 private:
  /// Beyond so many a namespace may stand twice, which costs its 8 bytes and no more.
  static constexpr size_t kLookedAt = 64;
  std::vector<uint64_t> seen_;
  size_t last_ = 0;
};

bool HasStartTimes(std::span<const Sample> samples) {
  return std::any_of(samples.begin(), samples.end(),
                     [](const Sample& sample) { return sample.start_timestamp_ms != 0; });
}

}  // namespace

RecordKind KindOf(std::string_view record) {
  return record.empty() ? RecordKind{} : static_cast<RecordKind>(record.front());
}

void EncodeWrite(std::span<const workloads::SeriesBatch> batches, std::string& out) {
  ByteWriter writer(out);
  writer.Byte(static_cast<uint8_t>(RecordKind::kWrite));
  writer.Signed(batches.empty() ? 0 : batches.front().arrival_ms);
  NameSpaceTable table;
  size_t items = 0;
  std::vector<uint32_t> indices;
  for (const workloads::SeriesBatch& batch : batches) {
    items += batch.items.size();
    for (const workloads::SeriesItem& item : batch.items) {
      indices.push_back(static_cast<uint32_t>(table.IndexOf(item.name_space)));
    }
  }
  writer.Varint(table.seen().size());
  for (const uint64_t name_space : table.seen()) writer.Fixed64(name_space);
  writer.Varint(items);
  size_t at = 0;
  int64_t last_ms = batches.empty() ? 0 : batches.front().arrival_ms;
  for (const workloads::SeriesBatch& batch : batches) {
    for (const workloads::SeriesItem& item : batch.items) {
      const auto samples =
          std::span<const Sample>(batch.samples).subspan(item.first_sample, item.sample_count);
      const bool start_times = HasStartTimes(samples);
      writer.Byte(static_cast<uint8_t>(
          (item.by_hash ? kByHash : 0) | (item.from_ha_pair ? kFromHaPair : 0) |
          (item.may_create ? kMayCreate : 0) | (start_times ? kHasStartTimes : 0)));
      writer.Varint(indices[at++]);
      if (item.by_hash) {
        writer.Fixed64(item.series.low);
        writer.Fixed64(item.series.high);
      } else {
        writer.Text(item.label_bytes);
      }
      writer.Varint(samples.size());
      for (const Sample& sample : samples) {
        writer.Signed(sample.timestamp_ms - last_ms);
        last_ms = sample.timestamp_ms;
        writer.Double(sample.value);
        if (start_times) writer.Signed(sample.start_timestamp_ms);
      }
    }
  }
}

std::optional<IgnoreReason> AddressByLabels(const Addressing& addressing, LabelsView labels,
                                            workloads::SeriesItem& item) {
  const auto source = addressing.sources.Find(labels);
  if (!source) return IgnoreReason::kNoRole;
  const auto identity = workloads::Identify(addressing.sources.at(*source), labels);
  if (!identity) return IgnoreReason::kNoContainer;
  item.source = *source;
  item.name_space = addressing.HashNamespace(identity->cluster, identity->name_space);
  return std::nullopt;
}

int64_t PlacesTaken(const workloads::SeriesBatch& batch) {
  return std::count_if(batch.items.begin(), batch.items.end(),
                       [](const workloads::SeriesItem& item) { return item.may_create; });
}

Result<void> WriteDecoder::Decode(std::string_view record,
                                  std::span<workloads::SeriesBatch> batches) {
  ByteReader reader(record);
  if (static_cast<RecordKind>(reader.Byte()) != RecordKind::kWrite) return Unreadable("of a write");
  int64_t last_ms = reader.Signed();
  for (workloads::SeriesBatch& batch : batches) batch.arrival_ms = last_ms;
  name_spaces_.resize(reader.Count(sizeof(uint64_t)));
  for (uint64_t& name_space : name_spaces_) name_space = reader.Fixed64();
  for (uint64_t items = reader.Count(kLeastItemBytes); items > 0 && !reader.failed(); --items) {
    workloads::SeriesItem item;
    const uint8_t flags = reader.Byte();
    const uint64_t index = reader.Varint();
    if (flags > kAllFlags || index >= name_spaces_.size()) {
      reader.Fail();
      break;
    }
    item.by_hash = (flags & kByHash) != 0;
    item.from_ha_pair = (flags & kFromHaPair) != 0;
    item.may_create = (flags & kMayCreate) != 0;
    item.name_space = name_spaces_[index];
    bool has_role = true;
    if (item.by_hash) {
      item.series.low = reader.Fixed64();
      item.series.high = reader.Fixed64();
    } else {
      item.label_bytes = reader.Text();
      if (reader.failed() || !DecodeLabels(item.label_bytes, labels_)) {
        reader.Fail();
        break;
      }
      item.series = addressing_.HashSeries(item.label_bytes);
      has_role = !AddressByLabels(addressing_, labels_, item);
    }
    workloads::SeriesBatch& batch = batches[item.name_space % batches.size()];
    item.first_sample = static_cast<uint32_t>(batch.samples.size());
    const uint64_t samples = reader.Count(kLeastSampleBytes);
    item.sample_count = static_cast<uint32_t>(samples);
    for (uint64_t i = 0; i < samples; ++i) {
      Sample sample;
      // Unsigned, so that no sum of foreign bytes can overflow.
      last_ms = static_cast<int64_t>(static_cast<uint64_t>(last_ms) +
                                     static_cast<uint64_t>(reader.Signed()));
      sample.timestamp_ms = last_ms;
      sample.value = reader.Double();
      if ((flags & kHasStartTimes) != 0) sample.start_timestamp_ms = reader.Signed();
      batch.samples.push_back(sample);
    }
    if (has_role && samples > 0) {
      batch.items.push_back(item);
    } else {
      batch.samples.resize(item.first_sample);
    }
  }
  if (!reader.AtEnd()) return Unreadable("of a write");
  return {};
}

void EncodeAgeing(const AgeingRecord& ageing, std::string& out) {
  ByteWriter writer(out);
  writer.Byte(static_cast<uint8_t>(RecordKind::kAgeing));
  writer.Fixed64(ageing.name_space);
  writer.Byte(static_cast<uint8_t>(ageing.what));
  writer.Signed(ageing.event_time_ms);
}

Result<AgeingRecord> DecodeAgeing(std::string_view record) {
  ByteReader reader(record);
  const auto kind = static_cast<RecordKind>(reader.Byte());
  AgeingRecord ageing;
  ageing.name_space = reader.Fixed64();
  ageing.what = static_cast<Ageing>(reader.Byte());
  ageing.event_time_ms = reader.Signed();
  const bool known = ageing.what == Ageing::kForgetSeries || ageing.what == Ageing::kDrop;
  if (kind != RecordKind::kAgeing || !known || !reader.AtEnd()) return Unreadable("of ageing");
  return ageing;
}

void EncodeRestart(int64_t now_ms, std::string& out) {
  ByteWriter writer(out);
  writer.Byte(static_cast<uint8_t>(RecordKind::kRestart));
  writer.Signed(now_ms);
}

Result<int64_t> DecodeRestart(std::string_view record) {
  ByteReader reader(record);
  const auto kind = static_cast<RecordKind>(reader.Byte());
  const int64_t now_ms = reader.Signed();
  if (kind != RecordKind::kRestart || !reader.AtEnd()) return Unreadable("of a restart");
  return now_ms;
}

void EncodeModel(const ModelRecord& model, std::string& out) {
  ByteWriter writer(out);
  writer.Byte(static_cast<uint8_t>(RecordKind::kModel));
  writer.Fixed64(model.name_space);
  writer.Text(model.workload_type);
  writer.Text(model.workload);
  const forecast::FittedModel& fitted = model.fitted;
  writer.Byte(static_cast<uint8_t>(fitted.model));
  writer.Signed(fitted.trained_minute);
  writer.Double(fitted.seconds);
  writer.Varint(fitted.report.iterations);
  writer.Double(fitted.report.loss);
  writer.Text(fitted.report.what);
  writer.Text(fitted.weights);
}

Result<ModelRecord> DecodeModel(std::string_view record) {
  ByteReader reader(record);
  const auto kind = static_cast<RecordKind>(reader.Byte());
  ModelRecord model;
  model.name_space = reader.Fixed64();
  model.workload_type = reader.Text();
  model.workload = reader.Text();
  forecast::FittedModel& fitted = model.fitted;
  const uint8_t which = reader.Byte();
  fitted.model = static_cast<ForecastModel>(which);
  fitted.trained_minute = reader.Signed();
  fitted.seconds = reader.Double();
  const uint64_t iterations = reader.Varint();
  fitted.report.iterations = static_cast<uint32_t>(iterations);
  fitted.report.loss = reader.Double();
  fitted.report.what = reader.Text();
  fitted.weights = reader.Text();
  if (kind != RecordKind::kModel || which >= kForecastModelCount || iterations > UINT32_MAX ||
      !reader.AtEnd()) {
    return Unreadable("of a trained model");
  }
  return model;
}

}  // namespace tidemark::engine
