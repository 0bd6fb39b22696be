#pragma once
// Bucket layouts in use, each made once: histograms point at theirs.

#include <map>
#include <memory>

#include "estimators/histogram_options.h"
#include "model/profile.h"

namespace tidemark::engine {

/// Not thread-safe. Layouts live as long as the pool; there are as many as configurations have ever
/// named.
class LayoutPool {
 public:
  /// A layout that cannot be made (the configuration refuses those) is VPA's for CPU.
  const estimators::HistogramOptions* Of(const BucketLayout& layout);

 private:
  std::map<BucketLayout, std::unique_ptr<estimators::HistogramOptions>> layouts_;
};

}  // namespace tidemark::engine
