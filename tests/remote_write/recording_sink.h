#pragma once
// A SampleSink that remembers what it was given, and holds its callers to the contract of
// model/sink.h.

#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "model/sink.h"

namespace tidemark::remote_write::test {

using LabelList = std::vector<std::pair<std::string, std::string>>;

struct RecordedSeries {
  LabelList labels;
  std::vector<Sample> samples;
  bool from_ha_pair = false;
};

class RecordingSink final : public SampleSink {
 public:
  std::unique_ptr<WriteBatch> Begin() override { return std::make_unique<Batch>(*this); }

  /// What Commit answers instead of applying.
  std::optional<Error> error;
  /// What Commit reports; without it everything is accepted.
  std::optional<WriteVerdict> verdict;

  std::vector<RecordedSeries> series;  ///< of all batches that were applied
  size_t commits = 0;

  size_t samples() const {
    size_t count = 0;
    for (const RecordedSeries& entry : series) count += entry.samples.size();
    return count;
  }

 private:
  class Batch final : public WriteBatch {
   public:
    explicit Batch(RecordingSink& sink) : sink_(sink) {}

    void Add(const IncomingSeries& incoming) override {
      if (EncodeLabels(incoming.labels) != incoming.label_bytes) {
        throw std::logic_error("label_bytes are not the canonical encoding of labels");
      }
      kept_.push_back({incoming.label_bytes,
                       std::string(incoming.label_bytes),
                       {incoming.samples.begin(), incoming.samples.end()},
                       incoming.from_ha_pair});
    }

    Result<WriteVerdict> Commit() override {
      ++sink_.commits;
      if (sink_.error) return tl::unexpected<Error>(*sink_.error);
      WriteVerdict applied;
      for (Kept& kept : kept_) {
        if (kept.view != kept.copy) throw std::logic_error("label_bytes did not last until Commit");
        std::vector<LabelView> labels;
        if (!DecodeLabels(kept.view, labels))
          throw std::logic_error("label_bytes are no label set");
        RecordedSeries recorded;
        for (const LabelView& label : labels) recorded.labels.emplace_back(label.name, label.value);
        recorded.samples = std::move(kept.samples);
        recorded.from_ha_pair = kept.from_ha_pair;
        applied.accepted += recorded.samples.size();
        sink_.series.push_back(std::move(recorded));
      }
      return sink_.verdict.value_or(applied);
    }

   private:
    struct Kept {
      std::string_view view;
      std::string copy;
      std::vector<Sample> samples;
      bool from_ha_pair;
    };
    RecordingSink& sink_;
    std::vector<Kept> kept_;
  };
};

}  // namespace tidemark::remote_write::test
