#pragma once
// Rounding of amounts to steps.

#include "model/resource.h"

namespace tidemark {

/// How many of the whole amounts that Kubernetes counts in are in one unit: 1000 millicores (and
/// parts of a GPU, and of whatever the configuration names), 1 byte.
double WholeAmountsPerUnit(Resource resource);

/// `amount` without what is less than a whole amount; a thousandth of one is an error of binary
/// fractions and not taken away. Thread-safe.
double WholeAmount(Resource resource, double amount);

/// The smallest multiple of `step` that is not below `amount`, but for half a billionth of a step,
/// which is an error of binary fractions and no reason to round up. Of steps like 0.001 the result
/// is the number that its decimal text reads as (0.217, not 217 × 0.001). A step of 0 or less
/// leaves the amount alone. Thread-safe.
double RoundedUp(double amount, double step);

}  // namespace tidemark
