// How fast bodies of remote write are decoded, step by step, on one core:
//
//   decode_bench [FOLDER [FOLDER_V2]]
//
// FOLDER holds *.snappy bodies of 1.0, FOLDER_V2 of 2.0; default: rw1 and rw2 of
// tests/data/payloads, which hold the same series. Each line is one step with all steps before it.
// The sink takes series and does nothing with them.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <limits>
#include <string>
#include <vector>

#include "remote_write/batch_filler.h"
#include "remote_write/decoder_v1.h"
#include "remote_write/decoder_v2.h"
#include "remote_write/label_check.h"
#include "remote_write/snappy_block.h"

namespace {

using namespace tidemark;
using namespace tidemark::remote_write;

constexpr int kPasses = 20;
constexpr int64_t kNowMs = 1'796'004'600'000;

class NullBatch final : public WriteBatch {
 public:
  void Add(const IncomingSeries& series) override { bytes_ += series.label_bytes.size(); }
  Result<WriteVerdict> Commit() override { return WriteVerdict{}; }

 private:
  uint64_t bytes_ = 0;
};

class NullVisitor final : public SeriesVisitor {
 public:
  void OnLabels(const WireLabels& labels) override { sum_ += labels.count; }
  void OnSamples(std::span<const Sample> samples) override { sum_ += samples.size(); }
  void OnHistogram(std::string_view) override {}
  void OnExemplars(uint64_t) override {}
  void OnSeriesEnd() override {}

 private:
  uint64_t sum_ = 0;
};

std::vector<std::string> ReadBodies(const char* folder) {
  std::vector<std::string> bodies;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".snappy") continue;
    std::ifstream file(entry.path(), std::ios::binary);
    bodies.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return bodies;
}

double CpuSeconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// The best pass over all bodies.
void Measure(const char* name, const std::vector<std::string>& bodies, uint64_t samples,
             const std::function<void(std::string_view)>& work) {
  const Limits limits;
  UnpackBuffer buffer;
  double best = std::numeric_limits<double>::max();
  for (int pass = 0; pass < kPasses; ++pass) {
    const double start = CpuSeconds();
    for (const std::string& body : bodies) {
      work(UnpackBlock(body, limits.max_unpacked_bytes, buffer).value_or(""));
    }
    best = std::min(best, CpuSeconds() - start);
  }
  const double millions = static_cast<double>(samples) / 1e6;
  std::printf("%-40s %8.2f M samples/s %8.3f CPU-s per M samples\n", name, millions / best,
              best / millions);
}

/// The steps of one protocol; false when there is nothing to measure.
template <class Validate, class Walk, class Clear>
bool MeasureProtocol(const char* name, const char* folder, Validate validate, Walk walk,
                     Clear clear) {
  const std::vector<std::string> bodies = ReadBodies(folder);
  const Limits limits;
  UnpackBuffer buffer;
  uint64_t samples = 0;
  uint64_t bytes = 0;
  for (const std::string& body : bodies) {
    RequestShape shape;
    const std::string_view message =
        UnpackBlock(body, limits.max_unpacked_bytes, buffer).value_or("");
    if (validate(message, shape) != DecodeError::kNone) return false;
    samples += shape.samples;
    bytes += message.size();
  }
  if (samples == 0) return false;
  std::printf("%s: %zu bodies, %llu samples, %llu bytes unpacked\n", name, bodies.size(),
              static_cast<unsigned long long>(samples), static_cast<unsigned long long>(bytes));

  LabelChecker checker(limits);
  Measure("snappy", bodies, samples, [](std::string_view) {});
  Measure("+ first walk (shape)", bodies, samples, [&](std::string_view message) {
    RequestShape shape;
    static_cast<void>(validate(message, shape));
  });
  Measure("+ second walk", bodies, samples, [&](std::string_view message) {
    RequestShape shape;
    NullVisitor visitor;
    static_cast<void>(validate(message, shape));
    static_cast<void>(walk(message, shape, visitor));
    clear();
  });
  Measure("+ label check, canonical bytes, times", bodies, samples, [&](std::string_view message) {
    RequestShape shape;
    NullBatch batch;
    BatchFiller filler(batch, checker, limits, kNowMs);
    static_cast<void>(validate(message, shape));
    static_cast<void>(walk(message, shape, filler));
    checker.Clear();
    clear();
  });
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const Limits limits;
  DecoderV1 v1(limits.max_labels);
  DecoderV2 v2(limits.max_labels, limits.max_unpacked_bytes);
  const bool v1_measured = MeasureProtocol(
      "1.0", argc > 1 ? argv[1] : TIDEMARK_TEST_DATA "/payloads/rw1",
      [](std::string_view message, RequestShape& shape) { return ValidateV1(message, shape); },
      [&](std::string_view message, const RequestShape&, SeriesVisitor& visitor) {
        return v1.Walk(message, visitor);
      },
      [] {});
  const bool v2_measured = MeasureProtocol(
      "2.0", argc > 2 ? argv[2] : TIDEMARK_TEST_DATA "/payloads/rw2", ValidateV2,
      [&](std::string_view message, const RequestShape& shape, SeriesVisitor& visitor) {
        return v2.Walk(message, shape, visitor);
      },
      [&] { v2.Clear(); });
  return v1_measured && v2_measured ? 0 : 1;
}
