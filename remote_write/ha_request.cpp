#include "remote_write/ha_request.h"

namespace tidemark::remote_write {

HaRequest::HaRequest(HaTracker& tracker, int64_t arrival_ms)
    : tracker_(tracker), arrival_ms_(arrival_ms) {
  cluster_values_.resize(tracker.options().cluster_labels.size());
}

HaRequest::~HaRequest() { Settle(false, false); }

HaDecision HaRequest::Decide(LabelsView labels, std::string_view replica) {
  if (IsAsBefore(labels, replica)) return current_->seat.decision;
  std::pair<std::string, std::string> key(ClusterName(), replica);
  const auto found = parts_.find(key);
  if (found != parts_.end()) {
    current_ = &found->second;
    return current_->seat.decision;
  }
  const HaTracker::Seat seat = tracker_.Decide(key.first, key.second, arrival_ms_);
  if (seat.cluster == nullptr) {  // not kept: a peer can name as many as it likes
    current_ = &refused_;
  } else {
    current_ = &parts_.emplace(std::move(key), Part{seat, 0}).first->second;
  }
  return current_->seat.decision;
}

void HaRequest::Count(uint64_t samples) { current_->samples += samples; }

void HaRequest::Answered(bool applied) { Settle(true, applied); }

/// Whether the series is of the same pair and replica as the one before; else remembers its values.
bool HaRequest::IsAsBefore(LabelsView labels, std::string_view replica) {
  bool same = current_ != nullptr && replica == replica_;
  replica_ = replica;
  const std::vector<std::string>& names = tracker_.options().cluster_labels;
  for (size_t i = 0; i < names.size(); ++i) {
    const std::string_view value = FindLabel(labels, names[i]);
    same = same && value == cluster_values_[i];
    cluster_values_[i] = value;
  }
  return same;
}

/// The values joined by `;`, as Prometheus joins source labels, with `\` before what is not a
/// separator: two pairs never have one name.
std::string HaRequest::ClusterName() const {
  std::string name;
  for (size_t i = 0; i < cluster_values_.size(); ++i) {
    if (i > 0) name.push_back(';');
    for (const char c : cluster_values_[i]) {
      if (c == ';' || c == '\\') name.push_back('\\');
      name.push_back(c);
    }
  }
  return name;
}

void HaRequest::Settle(bool answered, bool applied) {
  for (const auto& [key, part] : parts_) {
    const bool take = part.seat.decision == HaDecision::kTake;
    tracker_.Settle(part.seat, arrival_ms_,
                    {.answered = answered,
                     .applied = applied,
                     .taken = take ? part.samples : 0,
                     .shed = take ? 0 : part.samples});
  }
  parts_.clear();
  current_ = nullptr;
}

}  // namespace tidemark::remote_write
