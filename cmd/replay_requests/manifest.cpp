#include "cmd/replay_requests/manifest.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <system_error>
#include <unordered_set>

#include "cmd/replay_requests/csv_lines.h"
#include "cmd/text.h"

namespace tidemark::replay_requests {
namespace {

using cmd::Shown;

constexpr size_t kNone = SIZE_MAX;
constexpr size_t kMaxName = 255;
constexpr double kLeastPods = 1e-12;
constexpr double kMostPods = 1e12;

bool IsFileName(std::string_view text) {
  return !text.empty() && text.size() <= kMaxName && text != "." && text != ".." &&
         text.find('/') == std::string_view::npos && !cmd::FindBadByte(text);
}

class Reader {
 public:
  Reader(std::string_view text, const std::string& file) : lines_(text), file_(file) {}

  Result<std::vector<ManifestLine>> Read() {
    std::vector<std::string_view> cells;
    if (lines_.Next(cells)) FindColumns(cells);
    if (file_column_ == kNone) {
      return Wrong(
          "its first line has no column \"file\", allowed: file, class, real, "
          "original_cpu_cores, original_memory_bytes and others");
    }
    columns_ = cells.size();
    std::vector<ManifestLine> lines;
    std::unordered_set<std::string> seen;
    while (lines_.Next(cells)) {
      if (lines.size() >= kMaxManifestLines) {
        return Wrong(fmt::format("too many lines, allowed: {}", kMaxManifestLines));
      }
      auto line = ReadLine(cells);
      if (!line) return tl::unexpected(line.error());
      if (!seen.insert(line->file).second) {
        return Wrong(fmt::format("file: {} stands here twice, allowed: once", Shown(line->file)));
      }
      lines.push_back(*std::move(line));
    }
    return lines;
  }

 private:
  tl::unexpected<Error> Wrong(std::string_view what) const {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("{}:{}: {}", file_, std::max<size_t>(lines_.number(), 1), what));
  }

  void FindColumns(const std::vector<std::string_view>& cells) {
    const auto find = [&](std::string_view name) {
      const auto found = std::ranges::find(cells, name);
      return found == cells.end() ? kNone : static_cast<size_t>(found - cells.begin());
    };
    file_column_ = find("file");
    kind_column_ = find("class");
    real_column_ = find("real");
    pods_column_ = find("pods_per_unit");
    original_columns_ = {find("original_cpu_cores"), find("original_memory_bytes")};
  }

  Result<ManifestLine> ReadLine(const std::vector<std::string_view>& cells) const {
    if (cells.size() != columns_) {
      return Wrong(
          fmt::format("{} cells, allowed: {}, as in the first line", cells.size(), columns_));
    }
    ManifestLine line;
    const std::string_view file = cells[file_column_];
    if (!IsFileName(file)) {
      return Wrong(fmt::format("file: {} is no name, allowed: that of a file beside the manifest",
                               Shown(file, true)));
    }
    line.file = file;
    if (kind_column_ != kNone) {
      const std::string_view kind = cells[kind_column_];
      if (kind.size() > kMaxName || cmd::FindBadByte(kind)) {
        return Wrong(fmt::format("class: {} is no name, allowed: up to {} bytes of UTF-8",
                                 Shown(kind, true), kMaxName));
      }
      line.kind = kind;
    }
    if (real_column_ != kNone) {
      const std::string_view real = cells[real_column_];
      if (real != "0" && real != "1") {
        return Wrong(fmt::format("real: {} is neither, allowed: 0, 1", Shown(real, true)));
      }
      line.real = real == "1";
    }
    if (pods_column_ != kNone && !cells[pods_column_].empty()) {
      const std::string_view cell = cells[pods_column_];
      double pods = 0;
      const auto [end, wrong] = std::from_chars(cell.data(), cell.data() + cell.size(), pods);
      if (wrong != std::errc() || end != cell.data() + cell.size() || !(pods >= kLeastPods) ||
          pods > kMostPods) {
        return Wrong(fmt::format("pods_per_unit: {} is no number of pods, allowed: {:g} to {:g}, or "
                                 "nothing",
                                 Shown(cell, true), kLeastPods, kMostPods));
      }
      line.pods_per_unit = pods;
    }
    for (size_t r = 0; r < kReplayed.size(); ++r) {
      if (original_columns_[r] == kNone || cells[original_columns_[r]].empty()) continue;
      const std::string_view cell = cells[original_columns_[r]];
      double amount = 0;
      const auto [end, wrong] = std::from_chars(cell.data(), cell.data() + cell.size(), amount);
      const double most = r == 0 ? kMaxCores : kMaxBytes;
      if (wrong != std::errc() || end != cell.data() + cell.size() || !(amount > 0) ||
          amount > most) {
        return Wrong(fmt::format("{}: {} is no amount, allowed: above 0 to {:g}, or nothing",
                                 r == 0 ? "original_cpu_cores" : "original_memory_bytes",
                                 Shown(cell, true), most));
      }
      line.original[r] = amount;
    }
    return line;
  }

  CsvLines lines_;
  const std::string& file_;
  size_t columns_ = 0;
  size_t file_column_ = kNone;
  size_t kind_column_ = kNone;
  size_t pods_column_ = kNone;
  size_t real_column_ = kNone;
  ByResource<size_t> original_columns_{kNone, kNone};
};

}  // namespace

Result<std::vector<ManifestLine>> ParseManifest(std::string_view text,
                                                const std::string& file_name) {
  return Reader(text, file_name).Read();
}

}  // namespace tidemark::replay_requests
