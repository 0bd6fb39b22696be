#pragma once
// How much a pool that is both static and dynamic wants to know before it goes by the histogram.

namespace tidemark {

/// Days of samples (ResourceAdvice::confidence_days). Until then such a pool goes by its ratio, in
/// what is recommended (where the original request is known) and in what right-sizing makes of it.
inline constexpr double kEnoughDays = 1;

}  // namespace tidemark
