#pragma once
// Native histograms. Tidemark has no use for them (no usage metric is one), but a sender must hear
// when one of its histograms contradicts itself, and a good one is taken and counted.
//
// The rules are those of Prometheus 3 (model/histogram, Validate):
//  - the schema is within -4 and 8 (exponential buckets) or -53 (custom bounds);
//  - the spans of each side cover exactly the buckets that are given, and only the first may have a
//  negative offset;
//  - no bucket and no count is negative; counts of integers and of floats are not mixed;
//  - integers: count = zero count + sum of all buckets, or at least that much when `sum` is NaN.
//  For floats rounding
//    forbids such a comparison, there as here;
//  - custom bounds rise strictly, are finite, stand only with schema -53, and cover every bucket;
//  such a histogram has
//    neither negative nor zero buckets.

#include <string_view>

#include "remote_write/wire_reader.h"

namespace tidemark::remote_write {

/// Reads one Histogram message. The fields of 1.0 and 2.0 are the same but for 17, the start time
/// stamp of 2.0 (`has_start`), which 1.0 does not know. An error is one of shape; then `consistent`
/// means nothing. Its time stamps are not judged, as nothing of it is kept. Pure, allocates
/// nothing, one pass.
[[nodiscard]] DecodeError CheckHistogram(std::string_view message, bool& consistent,
                                         bool has_start = false);

}  // namespace tidemark::remote_write
