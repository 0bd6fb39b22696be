#include "engine/layout_pool.h"

#include <utility>

namespace tidemark::engine {
namespace {

/// A thousandth of the smallest sample weight, as in VPA 1.8.
constexpr double kEpsilon = 0.0001;

}  // namespace

const estimators::HistogramOptions* LayoutPool::Of(const BucketLayout& layout) {
  auto& slot = layouts_[layout];
  if (!slot) {
    auto made =
        estimators::HistogramOptions::Exponential(layout.max, layout.first, layout.ratio, kEpsilon);
    slot = std::make_unique<estimators::HistogramOptions>(
        made ? std::move(*made) : estimators::HistogramOptions::Cpu());
  }
  return slot.get();
}

}  // namespace tidemark::engine
