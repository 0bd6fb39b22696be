#include "cmd/demo_cluster/text_page.h"

namespace tidemark::demo_cluster {

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

}  // namespace tidemark::demo_cluster
