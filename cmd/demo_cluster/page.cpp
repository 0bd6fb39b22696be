#include "cmd/demo_cluster/page.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>

namespace tidemark::demo_cluster {
namespace {

void AppendEscaped(std::string_view text, std::string& out) {
  for (const char c : text) {
    switch (c) {
      case '\\': out.append("\\\\"); break;
      case '"': out.append("\\\""); break;
      case '\n': out.append("\\n"); break;
      default: out.push_back(c);
    }
  }
}

}  // namespace

void AppendNumber(double value, std::string& out) {
  std::array<char, 32> buffer{};
  const bool whole = std::abs(value) < 1e15 && std::trunc(value) == value;
  const auto [end, error] =
      whole ? std::to_chars(buffer.begin(), buffer.end(), static_cast<int64_t>(value))
            : std::to_chars(buffer.begin(), buffer.end(), value);
  out.append(buffer.data(), end);
}

void AppendLabels(std::initializer_list<PageLabel> labels, std::string& out) {
  for (const auto& [name, value] : labels) {
    if (!out.empty()) out.push_back(',');
    out.append(name).append("=\"");
    AppendEscaped(value, out);
    out.push_back('"');
  }
}

void Page::Row(std::initializer_list<PageLabel> labels, double value) {
  labels_.clear();
  AppendLabels(labels, labels_);
  Row(labels_, value);
}

}  // namespace tidemark::demo_cluster
