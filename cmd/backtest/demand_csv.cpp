#include "cmd/backtest/demand_csv.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "cmd/replay_requests/csv_lines.h"
#include "cmd/replay_requests/trace_csv.h"
#include "cmd/replay_requests/trace_files.h"
#include "cmd/text.h"

namespace tidemark::backtest {
namespace {

using cmd::Shown;
using replay_requests::CsvLines;

constexpr std::string_view kHeader = "unix_seconds,value";
constexpr std::string_view kByPod = "unix_seconds,pod,cpu_cores,memory_bytes";
constexpr int64_t kMaxSeconds = 99'999'999'999;  // the year 5138
constexpr double kMaxValue = 1e30;
constexpr size_t kMaxRows = 10'000'000;

template <class T>
std::optional<T> ToNumber(std::string_view cell) {
  T value{};
  const auto [end, wrong] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (wrong != std::errc() || end != cell.data() + cell.size()) return std::nullopt;
  return value;
}

class Reader {
 public:
  Reader(std::string_view text, const std::string& file) : lines_(text), file_(file) {}

  Result<Demand> Read() {
    std::vector<std::string_view> cells;
    if (!lines_.Next(cells) || lines_.line() != kHeader) {
      return Wrong(fmt::format("{} is not the first line of a demand, allowed: {} or {}",
                               Shown(lines_.line(), true), kHeader, kByPod));
    }
    std::vector<TimedValue> values;
    int64_t before = -1;
    while (lines_.Next(cells)) {
      if (cells.size() != 2) return Wrong(fmt::format("{} cells, allowed: 2", cells.size()));
      const auto seconds = ToNumber<int64_t>(cells[0]);
      if (!seconds || *seconds < 0 || *seconds > kMaxSeconds) {
        return Wrong(fmt::format("unix_seconds: {} is no time, allowed: whole seconds since 1970",
                                 Shown(cells[0], true)));
      }
      if (*seconds <= before) {
        return Wrong(
            fmt::format("unix_seconds: {} comes after {}, allowed: rows sorted by time, "
                        "each time once",
                        *seconds, before));
      }
      before = *seconds;
      if (cells[1].empty()) continue;
      const auto value = ToNumber<double>(cells[1]);
      if (!value || !(*value >= 0) || *value > kMaxValue) {
        return Wrong(
            fmt::format("value: {} is no demand, allowed: 0 to {:g}, or nothing where it "
                        "is not known",
                        Shown(cells[1], true), kMaxValue));
      }
      if (values.size() >= kMaxRows) {
        return Wrong(fmt::format("too many values, allowed: {}", kMaxRows));
      }
      values.push_back({*seconds, *value});
    }
    Demand demand;
    if (auto good = SetMinutes(values, demand); !good) return Wrong(good.error().message);
    return demand;
  }

 private:
  tl::unexpected<Error> Wrong(std::string_view what) const {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("{}:{}: {}", file_, std::max<size_t>(lines_.number(), 1), what));
  }

  CsvLines lines_;
  const std::string& file_;
};

/// The sum of what is known of all pods.
Result<Demand> SumOfPods(std::string_view text, const std::string& file_name) {
  const auto trace = replay_requests::ParseTraceCsv(text, file_name);
  if (!trace) return tl::unexpected(trace.error());
  std::vector<TimedValue> values;
  for (size_t step = 0; step < trace->steps; ++step) {
    double sum = 0;
    bool known = false;
    for (const auto& pod : trace->pods) {
      const double cores = pod.samples[0][step];
      if (!replay_requests::IsThere(cores)) continue;
      sum += cores;
      known = true;
    }
    if (known) values.push_back({trace->TimeOf(step) / 1000, sum});
  }
  Demand demand;
  if (auto good = SetMinutes(values, demand); !good) {
    return Fail(good.error().code, fmt::format("{}: {}", file_name, good.error().message));
  }
  return demand;
}

}  // namespace

Result<Demand> ParseDemandCsv(std::string_view text, const std::string& file_name) {
  std::vector<std::string_view> cells;
  CsvLines lines(text);
  if (lines.Next(cells) && lines.line() == kByPod) return SumOfPods(text, file_name);
  return Reader(text, file_name).Read();
}

Result<std::vector<Demand>> LoadDemands(const std::string& path) {
  const auto files = replay_requests::FindTraceFiles(path);
  if (!files) return tl::unexpected(files.error());
  std::vector<Demand> demands;
  for (const auto& line : files->lines) {
    const auto text = replay_requests::ReadTraceFile(files->folder, line);
    if (!text) return tl::unexpected(text.error());
    const std::string shown =
        cmd::OneLine((std::filesystem::path(files->folder) / line.file).string());
    auto demand = ParseDemandCsv(*text, shown);
    if (!demand) return tl::unexpected(demand.error());
    demand->name = replay_requests::TraceNameOf(line);
    demand->kind = line.kind;
    demand->pods_per_unit = line.pods_per_unit;
    demands.push_back(*std::move(demand));
  }
  return demands;
}

}  // namespace tidemark::backtest
