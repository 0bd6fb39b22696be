#include "cmd/replay_requests/trace_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>
#include <system_error>
#include <utility>

#include "cmd/replay_requests/manifest.h"
#include "cmd/replay_requests/trace_csv.h"
#include "cmd/text.h"

namespace tidemark::replay_requests {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMaxFileBytes = 1ULL << 30;
constexpr std::string_view kManifest = "manifest.csv";

Result<std::string> ReadFile(const fs::path& path) {
  std::error_code wrong;
  const bool regular = fs::is_regular_file(path, wrong);
  const uint64_t size = regular ? fs::file_size(path, wrong) : 0;
  std::ifstream file;
  if (regular) file.open(path, std::ios::binary);  // to open a pipe is to wait for its writer
  if (wrong || !regular || !file) {
    return Fail(ErrorCode::kIo, fmt::format("{}: cannot be read, allowed: a CSV file or a folder "
                                            "of them",
                                            cmd::OneLine(path.string())));
  }
  if (size > kMaxFileBytes) {
    return Fail(
        ErrorCode::kInvalidArgument,
        fmt::format("{}: {} bytes, allowed: {}", cmd::OneLine(path.string()), size, kMaxFileBytes));
  }
  std::string text;
  try {  // the stream's iterators throw where reading fails, whatever its exceptions() say
    text.assign(std::istreambuf_iterator<char>(file), {});
  } catch (const std::ios_base::failure&) {
    return Fail(ErrorCode::kIo, fmt::format("{}: it cannot be read", cmd::OneLine(path.string())));
  }
  // Spreadsheets put a byte order mark before what they save as "CSV UTF-8".
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (text.starts_with(kByteOrderMark)) text.erase(0, kByteOrderMark.size());
  return text;
}

Result<std::vector<ManifestLine>> ReadManifest(const fs::path& folder) {
  const fs::path path = folder / kManifest;
  auto text = ReadFile(path);
  if (!text) return tl::unexpected(text.error());
  return ParseManifest(*text, cmd::OneLine(path.string()));
}

Result<Trace> ReadTrace(const fs::path& folder, const ManifestLine& line) {
  const fs::path path = folder / line.file;
  auto text = ReadTraceFile(folder.string(), line);
  if (!text) return tl::unexpected(text.error());
  auto trace = ParseTraceCsv(*text, cmd::OneLine(path.string()));
  if (!trace) return trace;
  trace->name = TraceNameOf(line);
  trace->kind = line.kind;
  trace->real = line.real;
  trace->original = line.original;
  trace->workload.workload = trace->name;
  return trace;
}

/// All CSV files of a folder that has no manifest.
std::vector<ManifestLine> FilesOf(const fs::path& folder) {
  std::vector<ManifestLine> files;
  std::error_code wrong;
  for (fs::directory_iterator at(folder, wrong), end; !wrong && at != end; at.increment(wrong)) {
    if (at->path().extension() != ".csv" || files.size() >= kMaxManifestLines) continue;
    files.emplace_back().file = at->path().filename().string();
  }
  std::ranges::sort(files, {}, &ManifestLine::file);
  return files;
}

/// What the manifest beside it says of one file, if it stands in one.
Result<ManifestLine> LineOf(const fs::path& file) {
  ManifestLine line;
  line.file = file.filename().string();
  std::error_code wrong;
  const fs::path folder = file.parent_path();
  if (!fs::is_regular_file(folder / kManifest, wrong)) return line;
  auto manifest = ReadManifest(folder);
  if (!manifest) return tl::unexpected(manifest.error());
  const auto found = std::ranges::find(*manifest, line.file, &ManifestLine::file);
  return found == manifest->end() ? line : *found;
}

}  // namespace

Result<TraceFiles> FindTraceFiles(const std::string& path) {
  std::error_code wrong;
  fs::path folder = path;
  std::vector<ManifestLine> lines;
  if (!fs::is_directory(path, wrong)) {
    folder = fs::path(path).parent_path();
    auto line = LineOf(path);
    if (!line) return tl::unexpected(line.error());
    lines.push_back(*std::move(line));
  } else if (fs::exists(folder / kManifest, wrong)) {
    auto manifest = ReadManifest(folder);
    if (!manifest) return tl::unexpected(manifest.error());
    lines = *std::move(manifest);
  } else {
    lines = FilesOf(folder);
  }
  if (lines.empty()) {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("{}: no traces, allowed: a CSV file, or a folder with manifest.csv or "
                            "*.csv",
                            cmd::OneLine(path)));
  }
  return TraceFiles{folder.string(), std::move(lines)};
}

Result<std::string> ReadTraceFile(const std::string& folder, const ManifestLine& line) {
  return ReadFile(fs::path(folder) / line.file);
}

std::string TraceNameOf(const ManifestLine& line) {
  std::string name = cmd::OneLine(fs::path(line.file).stem().string());
  while (const auto bad = cmd::FindBadByte(name)) name[*bad] = '?';
  return name;
}

Result<std::vector<Trace>> LoadTraces(const std::string& path) {
  const auto files = FindTraceFiles(path);
  if (!files) return tl::unexpected(files.error());
  std::vector<Trace> traces;
  uint64_t cells = 0;
  for (const ManifestLine& line : files->lines) {
    auto trace = ReadTrace(files->folder, line);
    if (!trace) return tl::unexpected(trace.error());
    cells += trace->steps * trace->pods.size();
    if (cells > kMaxCellsOfAll) {
      return Fail(ErrorCode::kInvalidArgument,
                  fmt::format("{}: too many samples in all, allowed: {}", cmd::OneLine(path),
                              kMaxCellsOfAll));
    }
    traces.push_back(*std::move(trace));
  }
  return traces;
}

}  // namespace tidemark::replay_requests
