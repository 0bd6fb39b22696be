#pragma once
// A SampleSink with a memory of its series, for tests that send more than one request.

#include <bit>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "model/sink.h"

namespace tidemark::remote_write::test {

/// Says of each sample what an engine that has just started would say, by the time and value of its
/// series' newest sample.
class StatefulSink final : public SampleSink {
 public:
  std::unique_ptr<WriteBatch> Begin() override { return std::make_unique<Batch>(*this); }

 private:
  class Batch final : public WriteBatch {
   public:
    explicit Batch(StatefulSink& sink) : sink_(sink) {}

    void Add(const IncomingSeries& series) override {
      auto& newest = sink_.newest_[std::string(series.label_bytes)];
      for (const Sample& sample : series.samples) Judge(newest, sample);
    }
    Result<WriteVerdict> Commit() override { return verdict_; }

   private:
    void Judge(std::optional<Sample>& newest, const Sample& sample) {
      const auto bits = [](const Sample& of) { return std::bit_cast<uint64_t>(of.value); };
      if (!newest || sample.timestamp_ms > newest->timestamp_ms) {
        ++verdict_.accepted;
        newest = sample;
      } else if (sample.timestamp_ms < newest->timestamp_ms) {
        verdict_.Ignore(IgnoreReason::kLate);
      } else if (bits(sample) == bits(*newest) || IsStaleMarker(sample.value)) {
        verdict_.Ignore(IgnoreReason::kDuplicate);
      } else {
        verdict_.Reject(RejectReason::kDuplicateTimestamp);
      }
    }
    StatefulSink& sink_;
    WriteVerdict verdict_;
  };
  std::map<std::string, std::optional<Sample>> newest_;
};

}  // namespace tidemark::remote_write::test
