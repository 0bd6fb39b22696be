#include "scaling/stabilisation_window.h"

#include <algorithm>

#include "model/scaling.h"

namespace tidemark::scaling {
namespace {

constexpr int64_t kMostMinute = int64_t{1} << 40;  // beyond every time there is

}  // namespace

int32_t StabilisationWindow::Add(int64_t minute, int32_t recommended) {
  const auto in_window = [&](const Entry& entry) { return entry.minute > minute - minutes_; };
  falling_.erase(falling_.begin(), std::find_if(falling_.begin(), falling_.end(), in_window));
  while (!falling_.empty() && falling_.back().recommended <= recommended) falling_.pop_back();
  falling_.push_back({minute, recommended});
  return falling_.front().recommended;
}

bool StabilisationWindow::IsEmptyAt(int64_t minute) const {
  return falling_.empty() || falling_.back().minute <= minute - minutes_;
}

size_t StabilisationWindow::MemoryBytes() const {
  return sizeof(*this) + falling_.capacity() * sizeof(Entry);
}

void StabilisationWindow::Save(ByteWriter& out) const {
  out.Varint(falling_.size());
  int64_t before = 0;
  for (const Entry& entry : falling_) {
    out.Varint(static_cast<uint64_t>(entry.minute - before));
    out.Varint(static_cast<uint64_t>(entry.recommended));
    before = entry.minute;
  }
}

void StabilisationWindow::Restore(ByteReader& in) {
  falling_.clear();
  const uint64_t count = in.Count(2);
  if (count > PolicySettings::kMaxWindowMinutes) in.Fail();
  Entry last{.minute = 0, .recommended = kMaxReplicas + 1};
  for (uint64_t i = 0; i < count && !in.failed(); ++i) {
    const uint64_t later = in.Varint();
    const uint64_t recommended = in.Varint();
    if (later > static_cast<uint64_t>(kMostMinute - last.minute) || (i > 0 && later == 0) ||
        recommended >= static_cast<uint64_t>(last.recommended)) {
      in.Fail();
      break;
    }
    last = {last.minute + static_cast<int64_t>(later), static_cast<int32_t>(recommended)};
    falling_.push_back(last);
  }
  if (in.failed()) falling_.clear();
}

}  // namespace tidemark::scaling
