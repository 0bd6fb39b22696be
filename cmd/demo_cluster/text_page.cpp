#include "cmd/demo_cluster/text_page.h"

#include <array>
#include <charconv>
#include <cmath>

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

void AppendNumber(double value, std::string& out) {
  std::array<char, 32> buffer{};
  // Whole numbers in full, for people who read the page; everything else as short as it is exact.
  const bool whole = std::abs(value) < 1e15 && std::trunc(value) == value;
  const auto [end, error] =
      whole ? std::to_chars(buffer.begin(), buffer.end(), static_cast<int64_t>(value))
            : std::to_chars(buffer.begin(), buffer.end(), value);
  out.append(buffer.data(), end);
}

}  // namespace

void AppendLabels(std::initializer_list<PageLabel> labels, std::string& out) {
  for (const auto& [name, value] : labels) {
    if (!out.empty()) out.push_back(',');
    out.append(name).append("=\"");
    AppendEscaped(value, out);
    out.push_back('"');
  }
}

void TextPage::Family(std::string_view name, std::string_view type, std::string_view help) {
  name_ = name;
  text_.append("# HELP ").append(name).append(" ").append(help).append("\n# TYPE ");
  text_.append(name).append(" ").append(type).append("\n");
}

void TextPage::Row(std::string_view labels, double value) {
  text_.append(name_).append("{").append(labels).append("} ");
  AppendNumber(value, text_);
  text_.push_back('\n');
}

void TextPage::Row(std::initializer_list<PageLabel> labels, double value) {
  labels_.clear();
  AppendLabels(labels, labels_);
  Row(labels_, value);
}

}  // namespace tidemark::demo_cluster
