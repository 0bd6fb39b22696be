// No bytes crash the reader of label selectors, and what it takes it can evaluate.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "kubernetes/label_selector.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using tidemark::kubernetes::Label;
  using tidemark::kubernetes::LabelSelector;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto selector = LabelSelector::Parse(text);
  if (!selector) return selector.error().message.empty() ? (std::abort(), 0) : 0;
  std::vector<Label> labels;
  bool can_hold = true;
  for (const auto& requirement : selector->requirements()) {
    if (requirement.op == tidemark::kubernetes::SelectorOperator::kAbsent) can_hold = false;
    if (!requirement.values.empty()) labels.emplace_back(requirement.key, requirement.values[0]);
  }
  const bool holds = selector->Matches(labels);
  // All keys once, with the one value each: a selector of `in` alone must hold.
  if (selector->requirements().size() == 1 && can_hold &&
      selector->requirements()[0].op == tidemark::kubernetes::SelectorOperator::kIn && !holds) {
    std::abort();
  }
  return 0;
}
