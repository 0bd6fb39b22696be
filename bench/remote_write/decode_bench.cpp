// How fast recorded bodies of remote write 1.0 are decoded, step by step, on one core:
//
//   decode_bench [FOLDER]     FOLDER holds *.snappy bodies; default: tests/data/payloads/rw1
//
// Each line is one step with all steps before it. The sink takes series and does nothing with them.

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

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> bodies =
      ReadBodies(argc > 1 ? argv[1] : TIDEMARK_TEST_DATA "/payloads/rw1");
  const Limits limits;
  UnpackBuffer buffer;
  uint64_t samples = 0;
  uint64_t bytes = 0;
  for (const std::string& body : bodies) {
    RequestShape shape;
    const std::string_view message =
        UnpackBlock(body, limits.max_unpacked_bytes, buffer).value_or("");
    if (ValidateV1(message, shape) != DecodeError::kNone) return 1;
    samples += shape.samples;
    bytes += message.size();
  }
  if (samples == 0) return 1;
  std::printf("%zu bodies, %llu samples, %llu bytes unpacked\n", bodies.size(),
              static_cast<unsigned long long>(samples), static_cast<unsigned long long>(bytes));

  DecoderV1 decoder(limits.max_labels);
  LabelChecker checker(limits);
  Measure("snappy", bodies, samples, [](std::string_view) {});
  Measure("+ first walk (shape)", bodies, samples, [](std::string_view message) {
    RequestShape shape;
    static_cast<void>(ValidateV1(message, shape));
  });
  Measure("+ second walk", bodies, samples, [&](std::string_view message) {
    RequestShape shape;
    NullVisitor visitor;
    static_cast<void>(ValidateV1(message, shape));
    static_cast<void>(decoder.Walk(message, visitor));
  });
  Measure("+ label check, canonical bytes, times", bodies, samples, [&](std::string_view message) {
    RequestShape shape;
    NullBatch batch;
    BatchFiller filler(batch, checker, limits, kNowMs);
    static_cast<void>(ValidateV1(message, shape));
    static_cast<void>(decoder.Walk(message, filler));
    checker.Clear();
  });
  return 0;
}
