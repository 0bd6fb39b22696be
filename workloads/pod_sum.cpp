#include "workloads/pod_sum.h"

#include <algorithm>
#include <limits>

#include "workloads/saved_text.h"

namespace tidemark::workloads {

bool PodSum::Add(UsageMinute minute, std::optional<double> request) {
  if (minute.start_ms < given_until_ms_) return false;
  auto at = std::ranges::lower_bound(open_, minute.start_ms, {}, &Open::start_ms);
  if (at == open_.end() || at->start_ms != minute.start_ms) {
    at = open_.insert(at, Open{.start_ms = minute.start_ms});
  }
  at->usage += minute.usage;
  at->request += request.value_or(0);
  at->all_requests = at->all_requests && request.has_value();
  return true;
}

void PodSum::Close(int64_t until_ms, std::vector<Minute>& out) {
  auto at = open_.begin();
  for (; at != open_.end() && at->start_ms + kMinuteMs <= until_ms; ++at) {
    out.push_back(
        {{at->start_ms, at->usage}, at->all_requests ? std::optional(at->request) : std::nullopt});
    given_until_ms_ = at->start_ms + kMinuteMs;
  }
  open_.erase(open_.begin(), at);
}

void PodSum::Flush(std::vector<Minute>& out) { Close(std::numeric_limits<int64_t>::max(), out); }

void PodSum::Save(ByteWriter& out, int64_t base_ms) const {
  SaveMs(out, given_until_ms_, base_ms);
  out.Varint(open_.size());
  for (const Open& open : open_) {
    SaveMs(out, open.start_ms, base_ms);
    out.Double(open.usage);
    out.Double(open.request);
    out.Bool(open.all_requests);
  }
}

std::optional<PodSum> PodSum::Restore(ByteReader& in, int64_t base_ms) {
  PodSum sum;
  sum.given_until_ms_ = RestoreMs(in, base_ms);
  constexpr size_t kLeastOpen = 2 + 2 * sizeof(double);
  const uint64_t count = in.Count(kLeastOpen);
  for (uint64_t i = 0; i < count; ++i) {
    Open open;
    open.start_ms = RestoreTakenMs(in, base_ms);
    open.usage = in.Double();
    open.request = in.Double();
    open.all_requests = in.Bool();
    const bool good = open.start_ms % kMinuteMs == 0 && open.start_ms >= sum.given_until_ms_ &&
                      (sum.open_.empty() || sum.open_.back().start_ms < open.start_ms);
    if (in.failed() || !good) {
      in.Fail();
      return std::nullopt;
    }
    sum.open_.push_back(open);
  }
  if (in.failed()) return std::nullopt;
  return sum;
}

}  // namespace tidemark::workloads
