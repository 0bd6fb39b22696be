#include "backfill/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tidemark::backfill {
namespace {

constexpr size_t kMaxNotes = 50;
constexpr double kLogStep = 0.1;
// Before this much is done an estimate of the rest is a guess.
constexpr double kFirstEstimate = 0.005;

}  // namespace

void Progress::Show(const Cursor& cursor, BackfillState state, std::string error) {
  const std::lock_guard lock(mutex_);
  status_ = {};
  status_.state = state;
  status_.url = cursor.url;
  status_.start_ms = cursor.grid.start_ms;
  status_.end_ms = cursor.grid.end_ms;
  status_.step_ms = cursor.grid.step_ms;
  status_.namespaces_done = cursor.namespaces_done;
  status_.namespaces_total = cursor.namespaces_total;
  status_.containers = cursor.containers;
  status_.minutes = cursor.minutes;
  status_.samples = cursor.samples;
  status_.not_covered = cursor.not_covered;
  status_.not_covered_total = cursor.not_covered_total;
  status_.error = std::move(error);
  if (state == BackfillState::kFinished) {
    status_.progress_ratio = 1;
  } else if (cursor.namespaces_total > 0) {
    status_.progress_ratio =
        static_cast<double>(cursor.namespaces_done) / static_cast<double>(cursor.namespaces_total);
  }
}

void Progress::Begin(const Cursor& cursor) {
  Show(cursor, BackfillState::kRunning, "");
  const std::lock_guard lock(mutex_);
  status_.started_ms = ToUnixMs(clock_.Now());
  weight_ = done_ = partly_ = done_at_begin_ = logged_ratio_ = 0;
  began_ = logged_ = std::chrono::steady_clock::now();
}

void Progress::End(BackfillState state, std::string error) {
  const std::lock_guard lock(mutex_);
  status_.state = state;
  status_.ended_ms = ToUnixMs(clock_.Now());
  status_.eta_ms = -1;
  status_.current_namespaces.clear();
  status_.window_start_ms = status_.window_end_ms = 0;
  if (state == BackfillState::kFinished) {
    status_.progress_ratio = 1;
    counters_.last_finished_ms = status_.ended_ms;
  } else {
    status_.progress_ratio = Ratio();
    counters_.last_error_ms = status_.ended_ms;
  }
  status_.error = std::move(error);
}

void Progress::Planned(uint64_t namespaces, double weight, double done) {
  const std::lock_guard lock(mutex_);
  status_.namespaces_total = namespaces;
  weight_ = weight;
  done_ = done_at_begin_ = done;
  logged_ratio_ = Ratio();
}

void Progress::UnitBegins(const Unit& unit) {
  const std::lock_guard lock(mutex_);
  status_.current_namespaces = unit.Text();
  partly_ = 0;
}

void Progress::UnitEnds(const Unit& unit, double weight, const Cursor& cursor) {
  const std::lock_guard lock(mutex_);
  counters_.merged_containers += cursor.containers - status_.containers;
  counters_.merged_minutes += cursor.minutes - status_.minutes;
  status_.namespaces_done += unit.namespaces.size();
  status_.containers = cursor.containers;
  status_.minutes = cursor.minutes;
  done_ += weight;
  partly_ = 0;
  status_.current_namespaces.clear();
  status_.window_start_ms = status_.window_end_ms = 0;
}

void Progress::WindowBegins(int64_t start_ms, int64_t end_ms, double part, double weight) {
  const std::lock_guard lock(mutex_);
  status_.window_start_ms = start_ms;
  status_.window_end_ms = end_ms;
  partly_ = part * weight;
}

void Progress::Queried(uint64_t samples, uint64_t bytes) {
  counters_.samples += samples;
  counters_.received_bytes += bytes;
  const std::lock_guard lock(mutex_);
  ++status_.queries;
  status_.samples += samples;
  status_.bytes += bytes;
}

void Progress::NotCovered(std::string line) {
  ++counters_.windows_not_covered;
  counters_.last_error_ms = ToUnixMs(clock_.Now());
  const std::lock_guard lock(mutex_);
  ++status_.not_covered_total;
  if (status_.not_covered.size() < kMaxNotCovered) {
    line.resize(std::min(line.size(), kMaxNotCoveredBytes));
    status_.not_covered.push_back(std::move(line));
  }
}

void Progress::Note(std::string line) {
  const std::lock_guard lock(mutex_);
  if (std::ranges::find(status_.notes, line) != status_.notes.end()) return;
  if (status_.notes.size() < kMaxNotes) status_.notes.push_back(std::move(line));
}

double Progress::Ratio() const {
  if (status_.state == BackfillState::kFinished) return 1;
  if (weight_ <= 0) return status_.progress_ratio;
  return std::clamp((done_ + partly_) / weight_, 0.0, 1.0);
}

BackfillStatus Progress::Status() const {
  const std::lock_guard lock(mutex_);
  BackfillStatus out = status_;
  if (out.state != BackfillState::kRunning) return out;
  out.progress_ratio = Ratio();
  const double here = weight_ <= 0 ? 0 : (done_ + partly_ - done_at_begin_) / weight_;
  if (here >= kFirstEstimate) {
    const std::chrono::duration<double, std::milli> spent =
        std::chrono::steady_clock::now() - began_;
    out.eta_ms = static_cast<int64_t>(spent.count() * (1 - out.progress_ratio) / here);
  }
  return out;
}

bool Progress::LogIsDue(std::chrono::milliseconds every) {
  const std::lock_guard lock(mutex_);
  const auto now = std::chrono::steady_clock::now();
  const double ratio = Ratio();
  if (now - logged_ < every && ratio < logged_ratio_ + kLogStep) return false;
  logged_ = now;
  logged_ratio_ = ratio;
  return true;
}

std::string PercentText(double ratio) { return fmt::format("{:.1f}%", ratio * 100); }

std::string LeftText(int64_t eta_ms) {
  if (eta_ms < 0) return "unknown";
  const int64_t seconds = (eta_ms + 999) / 1000;
  if (seconds < 60) return fmt::format("{}s", seconds);
  if (seconds < 3600) return fmt::format("{}m{}s", seconds / 60, seconds % 60);
  return fmt::format("{}h{}m", seconds / 3600, seconds / 60 % 60);
}

}  // namespace tidemark::backfill
