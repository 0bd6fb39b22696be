#include "forecast/network_fit.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tidemark::forecast {

NetworkFit::NetworkFit(const NetworkOptions& options, const NetworkShape& shape,
                       const NetworkData& data, std::span<const float> start, uint64_t seed)
    : options_(options),
      data_(data),
      random_(seed),
      adam_(shape.WeightCount(), {.rate = options.rate, .clip_norm = options.clip_norm}),
      warm_(!start.empty()),
      most_iterations_(options.max_iterations),
      order_(data.training) {
  // Without a part held back, what is learnt from judges.
  const std::vector<int32_t>& all = data.validation.empty() ? data.training : data.validation;
  // Evenly spread; neighbouring windows say almost the same, and more would cost a tenth of all.
  const size_t most = static_cast<size_t>(options.batch) * kJudgedBatches;
  const size_t every = (all.size() + most - 1) / most;
  for (size_t i = 0; i < all.size(); i += every) judged_.push_back(all[i]);
  weights_.resize({shape.WeightCount()});
  gradient_.resize({shape.WeightCount()});
  if (!warm_) {
    DrawWeights(shape, random_.Next(), std::span(weights_.data(), weights_.size()));
  } else {
    std::ranges::copy(start, weights_.data());
    most_iterations_ =
        std::max(1, static_cast<int32_t>(options.max_iterations * options.warm_ratio));
  }
  best_ = weights_;
  windows_.resize({static_cast<size_t>(options.batch), static_cast<size_t>(options.look_back)});
  targets_.resize({static_cast<size_t>(options.batch), static_cast<size_t>(shape.outputs)});
  Shuffle();
}

void NetworkFit::Shuffle() {
  for (size_t i = order_.size(); i > 1; --i) std::swap(order_[i - 1], order_[random_.Below(i)]);
  next_ = 0;
}

void NetworkFit::FillBatch(std::span<const int32_t> minutes) {
  const size_t length = windows_.shape(1);
  const size_t outputs = targets_.shape(1);
  for (size_t row = 0; row < minutes.size(); ++row) {
    const auto minute = static_cast<size_t>(minutes[row]);
    std::copy_n(data_.inputs.data() + minute + 1 - length, length, windows_.data() + row * length);
    std::copy_n(data_.targets.data() + minute * outputs, outputs, targets_.data() + row * outputs);
  }
}

std::span<const float> NetworkFit::Windows(size_t rows) const {
  return {windows_.data(), rows * windows_.shape(1)};
}

std::span<const float> NetworkFit::Targets(size_t rows) const {
  return {targets_.data(), rows * targets_.shape(1)};
}

void NetworkFit::Iterate(LstmPass<float>& pass) {
  const auto rows = static_cast<size_t>(options_.batch);
  if (next_ + rows > order_.size()) Shuffle();
  FillBatch(std::span(order_).subspan(next_, rows));
  next_ += rows;
  const std::span<const float> weights(weights_.data(), weights_.size());
  pass.Forward(weights, Windows(rows));
  loss_sum_ += pass.Loss(Targets(rows));
  pass.Backward(weights, Targets(rows), {gradient_.data(), gradient_.size()});
  broken_ = !adam_.Step({weights_.data(), weights_.size()}, {gradient_.data(), gradient_.size()});
  ++iterations_;
}

bool NetworkFit::GoOn(const FitOptions& how) {
  if (how.pause) how.pause();
  return !how.stop.stop_requested();
}

std::optional<double> NetworkFit::JudgedLoss(LstmPass<float>& pass, const FitOptions& how) {
  const auto most = static_cast<size_t>(options_.batch);
  double sum = 0;
  for (size_t at = 0; at < judged_.size(); at += most) {
    if (!GoOn(how)) return std::nullopt;
    const size_t rows = std::min(most, judged_.size() - at);
    FillBatch(std::span(judged_).subspan(at, rows));
    pass.Forward({weights_.data(), weights_.size()}, Windows(rows));
    sum += pass.Loss(Targets(rows)) * static_cast<double>(rows);
  }
  return sum / static_cast<double>(judged_.size());
}

bool NetworkFit::Run(LstmPass<float>& pass, const FitOptions& how) {
  if (warm_) {
    // What it begins from is kept unless something better comes.
    const auto begin = JudgedLoss(pass, how);
    if (!begin) return false;
    best_loss_ = *begin;
  }
  int32_t without_better = 0;
  int32_t judged_at = 0;
  while (iterations_ < most_iterations_ && !broken_) {
    if (!GoOn(how)) return false;
    Iterate(pass);
    if (iterations_ % options_.check_every != 0 && iterations_ != most_iterations_) continue;
    const auto loss = JudgedLoss(pass, how);
    if (!loss) return false;
    const double learnt = loss_sum_ / (iterations_ - judged_at);
    judged_at = iterations_;
    loss_sum_ = 0;
    if (*loss < best_loss_) {
      best_loss_ = *loss;
      best_ = weights_;
      without_better = 0;
    } else if (++without_better >= options_.patience) {
      break;
    }
    if (learnt / kSquaresOfUnit < options_.stop_loss) break;
  }
  return true;
}

}  // namespace tidemark::forecast
