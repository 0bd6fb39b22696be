#include "cmd/replay_requests/trace_csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <system_error>
#include <unordered_map>
#include <utility>

#include "cmd/replay_requests/csv_lines.h"
#include "cmd/text.h"

namespace tidemark::replay_requests {
namespace {

using cmd::Shown;

constexpr std::string_view kHeader = "unix_seconds,pod,cpu_cores,memory_bytes";
constexpr size_t kCells = 4;
constexpr size_t kMaxPodName = 253;              // as long as Kubernetes lets it be
constexpr int64_t kMaxSeconds = 99'999'999'999;  // the year 5138

struct Row {
  uint32_t time = 0;  // its place among the times
  uint32_t pod = 0;
  ByResource<double> samples{};
};

class Reader {
 public:
  Reader(std::string_view text, const std::string& file) : lines_(text), file_(file) {}

  Result<Trace> Read() {
    std::vector<std::string_view> cells;
    if (!lines_.Next(cells) || lines_.line() != kHeader) {
      return Wrong(std::max<size_t>(lines_.number(), 1),
                   fmt::format("{} is not the first line of a trace, allowed: {}",
                               Shown(lines_.line(), true), kHeader));
    }
    while (lines_.Next(cells)) {
      if (auto good = ReadRow(cells); !good) return tl::unexpected(good.error());
    }
    return Assemble();
  }

 private:
  tl::unexpected<Error> Wrong(size_t line, std::string_view what) const {
    return Fail(ErrorCode::kInvalidArgument, fmt::format("{}:{}: {}", file_, line, what));
  }
  tl::unexpected<Error> WrongHere(std::string_view what) const {
    return Wrong(lines_.number(), what);
  }

  Result<void> ReadRow(const std::vector<std::string_view>& cells) {
    if (cells.size() != kCells) {
      return WrongHere(fmt::format("{} cells, allowed: {} ({})", cells.size(), kCells, kHeader));
    }
    if (rows_.size() >= kMaxCells) {
      return WrongHere(fmt::format("too many samples, allowed: {}", kMaxCells));
    }
    if (auto good = ReadTime(cells[0]); !good) return good;
    Row row{.time = static_cast<uint32_t>(times_.size() - 1)};
    if (auto good = ReadPod(cells[1], row.pod); !good) return good;
    for (const auto& [cell, most, unit, sample] :
         {std::tuple(cells[2], kMaxCores, "cores", &row.samples[0]),
          std::tuple(cells[3], kMaxBytes, "bytes", &row.samples[1])}) {
      if (auto good = ReadSample(cell, most, unit, *sample); !good) return good;
    }
    rows_.push_back(row);
    return {};
  }

  Result<void> ReadTime(std::string_view cell) {
    int64_t seconds = 0;
    const auto [end, wrong] = std::from_chars(cell.data(), cell.data() + cell.size(), seconds);
    if (wrong != std::errc() || end != cell.data() + cell.size() || seconds < 0 ||
        seconds > kMaxSeconds) {
      return WrongHere(fmt::format("unix_seconds: {} is no time, allowed: whole seconds since 1970",
                                   Shown(cell, true)));
    }
    if (times_.empty() || seconds > times_.back()) {
      times_.push_back(seconds);
      time_lines_.push_back(lines_.number());
    } else if (seconds < times_.back()) {
      return WrongHere(fmt::format("unix_seconds: {} comes after {}, allowed: rows sorted by time",
                                   seconds, times_.back()));
    }
    return {};
  }

  Result<void> ReadPod(std::string_view cell, uint32_t& pod) {
    if (cell.empty() || cell.size() > kMaxPodName || cmd::FindBadByte(cell)) {
      return WrongHere(fmt::format("pod: {} is no name, allowed: 1 to {} bytes of UTF-8",
                                   Shown(cell, true), kMaxPodName));
    }
    const auto [place, added] =
        pod_places_.try_emplace(std::string(cell), static_cast<uint32_t>(pods_.size()));
    if (added) {
      if (pods_.size() >= kMaxPods) {
        return WrongHere(fmt::format("pod: too many pods, allowed: {}", kMaxPods));
      }
      pods_.push_back(place->first);
      last_times_.push_back(0);
    } else if (last_times_[place->second] == times_.size()) {
      return WrongHere(fmt::format("pod: {} stands at {} twice, allowed: once at each time",
                                   Shown(cell), times_.back()));
    }
    pod = place->second;
    last_times_[pod] = times_.size();
    return {};
  }

  Result<void> ReadSample(std::string_view cell, double most, std::string_view unit,
                          double& sample) {
    sample = kAbsent;
    if (cell.empty()) return {};
    const auto [end, wrong] = std::from_chars(cell.data(), cell.data() + cell.size(), sample);
    if (wrong != std::errc() || end != cell.data() + cell.size() || !(sample >= 0) ||
        sample > most) {
      return WrongHere(
          fmt::format("{} is no usage, allowed: 0 to {:g} {}, or nothing where it is "
                      "not known",
                      Shown(cell, true), most, unit));
    }
    return {};
  }

  Result<Trace> Assemble() {
    if (times_.size() < 2) {
      return Wrong(lines_.number(),
                   fmt::format("samples of {} times, allowed: at least 2", times_.size()));
    }
    int64_t step = kMaxSeconds;
    for (size_t i = 1; i < times_.size(); ++i) step = std::min(step, times_[i] - times_[i - 1]);
    for (size_t i = 1; i < times_.size(); ++i) {
      if ((times_[i] - times_[0]) % step == 0) continue;
      return Wrong(time_lines_[i],
                   fmt::format("unix_seconds: {} is not a multiple of {} s after the first time, "
                               "allowed: even steps (missing ones may be left out)",
                               times_[i], step));
    }
    const int64_t step_ms = step * 1000;
    if (step_ms < kMinStepMs || step_ms > kMaxStepMs) {
      return Wrong(time_lines_[1], fmt::format("steps of {} s, allowed: {} s to {} s", step,
                                               kMinStepMs / 1000, kMaxStepMs / 1000));
    }
    const auto steps = static_cast<uint64_t>((times_.back() - times_[0]) / step + 1);
    if (steps > kMaxCells / pods_.size()) {
      return Wrong(time_lines_.back(), fmt::format("{} steps of {} pods, allowed: {} in all", steps,
                                                   pods_.size(), kMaxCells));
    }
    Trace trace;
    trace.start_ms = times_[0] * 1000;
    trace.step_ms = step_ms;
    trace.steps = steps;
    for (std::string& pod : pods_) {
      PodUsage& usage = trace.pods.emplace_back();
      usage.pod = std::move(pod);
      for (auto& samples : usage.samples) samples.assign(steps, kAbsent);
    }
    for (const Row& row : rows_) {
      const auto place = static_cast<size_t>((times_[row.time] - times_[0]) / step);
      for (size_t r = 0; r < kReplayed.size(); ++r) {
        trace.pods[row.pod].samples[r][place] = row.samples[r];
      }
    }
    return trace;
  }

  CsvLines lines_;
  const std::string& file_;
  std::vector<Row> rows_;
  std::vector<int64_t> times_;  // in seconds, ascending
  std::vector<size_t> time_lines_;
  std::vector<std::string> pods_;
  std::vector<size_t> last_times_;  // of each pod: how many times there were at its last sample
  std::unordered_map<std::string, uint32_t> pod_places_;
};

}  // namespace

Result<Trace> ParseTraceCsv(std::string_view text, const std::string& file_name) {
  return Reader(text, file_name).Read();
}

}  // namespace tidemark::replay_requests
