// The histogram bit for bit, as it outlives the process.
#include <fmt/format.h>

#include <limits>
#include <string>

#include "estimators/decaying_histogram.h"
#include "estimators/time_codec.h"

namespace tidemark::estimators {

namespace {

tl::unexpected<Error> Refuse(std::string what) {
  return Fail(ErrorCode::kInvalidArgument, "saved histogram: " + std::move(what));
}

}  // namespace

void DecayingHistogram::Save(ByteWriter& out) const {
  out.Byte(static_cast<uint8_t>(precision()));
  SaveDuration(out, half_life_);
  out.Bool(has_reference_);
  if (has_reference_) SaveTime(out, reference_);
  out.Double(total_weight_);
  weights_.Save(out);
  out.Varint(min_bucket_);
  out.Varint(max_bucket_);
}

Result<DecayingHistogram> DecayingHistogram::Restore(const HistogramOptions* options,
                                                     ByteReader& in, int format) {
  if (format < 1 || format > kSavedFormat) {
    return Refuse(fmt::format("format is {}, must be from 1 to {}", format, kSavedFormat));
  }
  const uint8_t precision = format == 1 ? uint8_t{0} : in.Byte();
  if (precision > static_cast<uint8_t>(Precision::kCompact)) {
    return Refuse(fmt::format("precision is {}, must be 0 or 1", precision));
  }
  const std::chrono::nanoseconds half_life = RestoreDuration(in);
  if (half_life <= std::chrono::nanoseconds::zero()) {
    return Refuse(fmt::format("half-life is {} ns, must be above zero", half_life.count()));
  }
  DecayingHistogram histogram(options, half_life, static_cast<Precision>(precision));
  const double most = histogram.MaxTotal();
  histogram.has_reference_ = in.Bool();
  if (histogram.has_reference_) histogram.reference_ = RestoreTime(in);
  histogram.total_weight_ = in.Double();
  if (!(histogram.total_weight_ >= 0 && histogram.total_weight_ <= most)) {
    return Refuse(
        fmt::format("total weight is {}, must be from 0 to {}", histogram.total_weight_, most));
  }
  const int buckets = options->NumBuckets();
  if (!histogram.weights_.Restore(in, buckets, most)) {
    return Refuse(
        fmt::format("a weight is not from 0 to {} or not in one of {} buckets", most, buckets));
  }
  const uint64_t first = in.Varint();
  const uint64_t last = in.Varint();
  if (in.failed()) return Refuse("it is cut or damaged");
  // Either none is occupied, or the first and the last of the range are.
  const auto last_bucket = static_cast<uint64_t>(buckets - 1);
  // (Compact: they were when they were last looked at.)
  const double least =
      histogram.IsCompact() ? std::numeric_limits<double>::denorm_min() : options->Epsilon();
  const auto occupied = [&](uint64_t bucket) {
    return histogram.weights_.Get(static_cast<int>(bucket)) >= least;
  };
  const bool in_layout = first <= last_bucket && last <= last_bucket;
  const bool is_empty =
      in_layout && first == last_bucket && last == 0 && (histogram.IsCompact() || !occupied(first));
  const bool is_range = in_layout && first <= last && occupied(first) && occupied(last);
  if (!is_empty && !is_range) {
    return Refuse(fmt::format("buckets {} to {} are not an occupied range", first, last));
  }
  histogram.min_bucket_ = static_cast<uint16_t>(first);
  histogram.max_bucket_ = static_cast<uint16_t>(last);
  return histogram;
}

}  // namespace tidemark::estimators
