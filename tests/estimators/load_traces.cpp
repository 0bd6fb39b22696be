#include "tests/estimators/load_traces.h"

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace tidemark::estimators {
namespace {

std::string Folder() {
  const char* const folder = std::getenv("TIDEMARK_TRACES");
  if (folder != nullptr && *folder != '\0') return folder;
  return TIDEMARK_TEST_DATA "/../../../shared/traces";
}

std::vector<std::string> Cells(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream in(line);
  for (std::string cell; std::getline(in, cell, ',');) cells.push_back(cell);
  return cells;
}

}  // namespace

std::optional<LoadTrace> ReadTrace(const std::string& file) {
  std::ifstream in(Folder() + "/" + file);
  if (!in) return std::nullopt;
  LoadTrace trace;
  trace.file = file;
  std::string line;
  std::getline(in, line);
  while (std::getline(in, line)) {
    const std::vector<std::string> cells = Cells(line);
    if (cells.size() != 2) throw std::runtime_error(file + ": a line has not two values: " + line);
    trace.seconds.push_back(std::stoll(cells[0]));
    trace.values.push_back(std::stod(cells[1]));
  }
  return trace;
}

std::vector<LoadTrace> ReadTraces() {
  std::vector<LoadTrace> traces;
  std::ifstream manifest(Folder() + "/manifest.csv");
  std::string line;
  std::getline(manifest, line);
  while (std::getline(manifest, line)) {
    const std::vector<std::string> cells = Cells(line);
    if (cells.size() < 6) throw std::runtime_error("manifest.csv: a line is too short: " + line);
    auto trace = ReadTrace(cells[0]);
    if (!trace) throw std::runtime_error("manifest.csv names a file that is not there: " + line);
    trace->kind = cells[1];
    trace->step_seconds = std::stoll(cells[3]);
    trace->pods_per_unit = std::stod(cells[5]);
    traces.push_back(std::move(*trace));
  }
  return traces;
}

}  // namespace tidemark::estimators
