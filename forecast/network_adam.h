#pragma once
// Adam (Kingma, Ba 2015, algorithm 1) over one run of weights, with the gradient's norm clipped
// before (Pascanu, Mikolov, Bengio 2013).

#include <cstdint>
#include <memory>
#include <span>

namespace tidemark::forecast {

struct AdamOptions {
  double rate = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double clip_norm = 0;  ///< the norm of the whole gradient is at most this; 0: as it is
};

/// Not thread-safe. Two moments a weight.
template <class T>
class Adam {
 public:
  Adam(size_t weights, const AdamOptions& options);
  ~Adam();
  Adam(Adam&&) noexcept;
  Adam& operator=(Adam&&) noexcept;

  /// Moves the weights by one step. A gradient that is not finite moves nothing: false.
  bool Step(std::span<T> weights, std::span<const T> gradient);

 private:
  struct Moments;
  AdamOptions options_;
  int64_t steps_ = 0;
  std::unique_ptr<Moments> moments_;
};

extern template class Adam<float>;
extern template class Adam<double>;

}  // namespace tidemark::forecast
