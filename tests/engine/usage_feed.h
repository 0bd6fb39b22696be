#pragma once
// Hours of usage of one container, minute by minute, as cAdvisor tells it.

#include <functional>
#include <string>

#include "tests/engine/feed.h"

namespace tidemark::testing {

/// A container whose counter goes on from call to call.
class UsageFeed {
 public:
  UsageFeed(Bench& bench, std::string pod, std::string container = "app", std::string ns = "shop")
      : bench_(bench), pod_(std::move(pod)), container_(std::move(container)), ns_(std::move(ns)) {}

  /// From where the last call ended, `minutes` more; the functions are asked for each minute.
  void Go(int minutes, const std::function<double(int)>& cores,
          const std::function<double(int)>& bytes) {
    for (int i = 0; i < minutes; ++i) {
      if (minute_ == 0) Put(bytes(0));
      counter_ += 60 * cores(i);
      ++minute_;
      Put(bytes(i));
    }
  }
  void Go(int minutes, double cores, double bytes) {
    Go(
        minutes, [cores](int) { return cores; }, [bytes](int) { return bytes; });
  }
  /// Nothing comes for so long.
  void Skip(int minutes) { minute_ += minutes; }
  int64_t now_ms() const { return kT0 + minute_ * 60'000; }

 private:
  void Put(double bytes) {
    bench_.Put({{Cpu(pod_, container_, ns_), {{now_ms(), counter_}}},
                {Memory(pod_, container_, ns_), {{now_ms(), bytes}}}});
  }

  Bench& bench_;
  std::string pod_;
  std::string container_;
  std::string ns_;
  int64_t minute_ = 0;
  double counter_ = 0;
};

}  // namespace tidemark::testing
