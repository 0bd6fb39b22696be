#include "forecast/network_shape.h"

#include <cmath>

#include "forecast/network_random.h"

namespace tidemark::forecast {

std::vector<TensorPlace> Tensors(const NetworkShape& shape) {
  std::vector<TensorPlace> places;
  const auto gates = static_cast<size_t>(shape.gates());
  const auto hidden = static_cast<size_t>(shape.hidden);
  for (int32_t direction = 0; direction < shape.directions(); ++direction) {
    const size_t at = shape.DirectionAt(direction);
    const auto row = [&](size_t r) {
      return TensorPlace{.at = at + r * gates,
                         .rows = shape.gates(),
                         .columns = 1,
                         .row_stride = 1,
                         .column_stride = gates};
    };
    places.push_back(row(hidden));
    TensorPlace recurrent = row(0);
    recurrent.columns = shape.hidden;
    places.push_back(recurrent);
    places.push_back(row(hidden + 1));
    places.push_back(row(hidden + 2));
  }
  const auto features = static_cast<size_t>(shape.features());
  places.push_back({shape.LinearAt(), shape.outputs, shape.features(), features, 1});
  places.push_back({shape.LinearBiasAt(), shape.outputs, 1, 1, 1});
  return places;
}

template <class T>
void DrawWeights(const NetworkShape& shape, uint64_t seed, std::span<T> weights) {
  SplitMix random(seed);
  const std::vector<TensorPlace> places = Tensors(shape);
  for (size_t i = 0; i < places.size(); ++i) {
    const TensorPlace& place = places[i];
    const double range = 1 / std::sqrt(i + 2 < places.size() ? shape.hidden : shape.features());
    for (int32_t r = 0; r < place.rows; ++r) {
      for (int32_t c = 0; c < place.columns; ++c) {
        weights[place.at + r * place.row_stride + c * place.column_stride] =
            static_cast<T>((2 * random.Unit() - 1) * range);
      }
    }
  }
}

template void DrawWeights<float>(const NetworkShape&, uint64_t, std::span<float>);
template void DrawWeights<double>(const NetworkShape&, uint64_t, std::span<double>);

}  // namespace tidemark::forecast
