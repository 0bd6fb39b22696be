#include "forecast/training_queue.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace tidemark::forecast {
namespace {

/// What loading and handing over take, whatever the fit: cheaper ones are not told apart.
constexpr double kLeastSeconds = 1e-3;
/// Networks that cost up to so many times the first are trained together with it.
constexpr double kLikeCost = 1.25;

double Worth(const TrainingWish& wish) {
  return wish.staleness / std::max(wish.cost_seconds, kLeastSeconds);
}

/// The order of a heap; of equals it does not depend on the order in which they were wished.
bool ComesLater(const TrainingWish& a, const TrainingWish& b) {
  const double worth_a = Worth(a);
  const double worth_b = Worth(b);
  if (worth_a != worth_b) return worth_a < worth_b;
  return std::tie(a.owner, a.workload, a.model) > std::tie(b.owner, b.workload, b.model);
}

bool IsNetwork(ForecastModel model) {
  return model == ForecastModel::kLstm || model == ForecastModel::kBiLstm;
}

bool IsOverdue(const TrainingWish& wish) { return wish.staleness >= TrainingQueue::kOverdue; }

}  // namespace

void TrainingQueue::Set(std::vector<TrainingWish> wishes, double now) {
  std::erase_if(not_before_, [now](const auto& entry) { return entry.second <= now; });
  short_.clear();
  long_.clear();
  overdue_ = 0;
  seconds_ = 0;
  for (TrainingWish& wish : wishes) {
    if (not_before_.contains(wish)) continue;
    if (IsOverdue(wish)) ++overdue_;
    seconds_ += wish.cost_seconds;
    (wish.cost_seconds <= kShortSeconds ? short_ : long_).push_back(std::move(wish));
  }
  std::make_heap(short_.begin(), short_.end(), ComesLater);
  std::make_heap(long_.begin(), long_.end(), ComesLater);
}

TrainingQueue::Heap& TrainingQueue::Cheapest() {
  if (short_.empty()) return long_;
  if (long_.empty()) return short_;
  return ComesLater(short_.front(), long_.front()) ? long_ : short_;
}

TrainingQueue::Place TrainingQueue::Stalest() {
  Place stalest{&Cheapest(), 0};
  for (Heap* const heap : {&short_, &long_}) {
    for (size_t i = 0; i < heap->size(); ++i) {
      if ((*heap)[i].staleness > (*stalest.heap)[stalest.at].staleness) stalest = {heap, i};
    }
  }
  return stalest;
}

TrainingWish TrainingQueue::Remove(Place place) {
  Heap& heap = *place.heap;
  if (place.at == 0) {
    std::pop_heap(heap.begin(), heap.end(), ComesLater);
  } else {
    std::swap(heap[place.at], heap.back());
  }
  TrainingWish wish = std::move(heap.back());
  heap.pop_back();
  if (place.at != 0) std::make_heap(heap.begin(), heap.end(), ComesLater);
  if (IsOverdue(wish)) --overdue_;
  seconds_ = size() == 0 ? 0 : std::max(0.0, seconds_ - wish.cost_seconds);
  not_before_[wish] = std::numeric_limits<double>::infinity();
  return wish;
}

std::vector<TrainingWish> TrainingQueue::Take(size_t most_together) {
  std::vector<TrainingWish> taken;
  if (size() == 0) return taken;
  Place place{&Cheapest(), 0};
  if (overdue_ == 0) {
    owed_ = 0;
  } else if (const Place stalest = Stalest(); owed_ >= (*stalest.heap)[stalest.at].cost_seconds) {
    place = stalest;
    owed_ -= (*stalest.heap)[stalest.at].cost_seconds;
  } else {
    owed_ += (*place.heap)[place.at].cost_seconds;
  }
  taken.push_back(Remove(place));
  const TrainingWish first = taken.front();
  Heap& heap = *place.heap;
  while (IsNetwork(first.model) && taken.size() < most_together && !heap.empty() &&
         heap.front().model == first.model &&
         heap.front().cost_seconds <= kLikeCost * first.cost_seconds) {
    taken.push_back(Remove({&heap, 0}));
  }
  return taken;
}

std::vector<TrainingWish> TrainingQueue::TakeShort() {
  std::vector<TrainingWish> taken;
  if (!short_.empty()) taken.push_back(Remove({&short_, 0}));
  return taken;
}

void TrainingQueue::End(const TrainingWish& wish, double until) { not_before_[wish] = until; }

}  // namespace tidemark::forecast
