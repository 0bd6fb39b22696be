// Gradients against differences of the loss, for every tensor of every kind of network.
#include "forecast/lstm.h"

#include <cmath>
#include <random>
#include <vector>

#include "forecast/lstm_single.h"
#include "forecast/network_adam.h"
#include "tests/catch.h"

namespace tidemark::forecast {
namespace {

constexpr int32_t kLength = 7;
constexpr int32_t kRows = 3;

template <class T>
std::vector<T> Draw(size_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<T> values(count);
  for (T& value : values) value = std::uniform_real_distribution<T>(-1, 1)(random);
  return values;
}

std::vector<NetworkShape> Shapes() {
  std::vector<NetworkShape> shapes;
  for (const bool both : {false, true}) {
    for (const Readout readout : {Readout::kFinalStates, Readout::kLastStep}) {
      for (const int32_t outputs : {1, 3}) shapes.push_back({5, outputs, both, readout});
    }
  }
  return shapes;
}

}  // namespace

TEST_CASE("the gradient of every weight is the slope of the loss") {
  for (const NetworkShape& shape : Shapes()) {
    CAPTURE(shape.both_directions, shape.outputs, static_cast<int>(shape.readout));
    std::vector<double> weights(shape.WeightCount());
    DrawWeights<double>(shape, 3, weights);
    const auto windows = Draw<double>(kRows * kLength, 4);
    const auto targets = Draw<double>(static_cast<size_t>(kRows * shape.outputs), 5);
    LstmPass<double> pass(shape, kLength, kRows);
    std::vector<double> gradient(weights.size());
    pass.Forward(weights, windows);
    pass.Backward(weights, targets, gradient);

    const std::vector<TensorPlace> places = Tensors(shape);
    REQUIRE(places.size() == static_cast<size_t>(4 * shape.directions() + 2));
    size_t seen = 0;
    for (size_t tensor = 0; tensor < places.size(); ++tensor) {
      const TensorPlace& place = places[tensor];
      double moves = 0;
      for (int32_t r = 0; r < place.rows; ++r) {
        for (int32_t c = 0; c < place.columns; ++c) {
          const size_t at = place.at + r * place.row_stride + c * place.column_stride;
          constexpr double kStep = 1e-5;
          const double before = weights[at];
          weights[at] = before + kStep;
          pass.Forward(weights, windows);
          const double above = pass.Loss(targets);
          weights[at] = before - kStep;
          pass.Forward(weights, windows);
          const double below = pass.Loss(targets);
          weights[at] = before;
          const double slope = (above - below) / (2 * kStep);
          CAPTURE(tensor, r, c);
          REQUIRE(std::abs(slope - gradient[at]) <= 1e-9 + 1e-6 * std::abs(slope));
          moves = std::max(moves, std::abs(slope));
          ++seen;
        }
      }
      // What is checked is not nothing. weight_hh of a direction that takes one step is: the state
      // before it is 0.
      const bool one_step = shape.readout == Readout::kLastStep && tensor == 5;
      if (shape.both_directions && one_step) {
        CHECK(moves == 0);
      } else {
        CHECK(moves > 1e-6);
      }
    }
    CHECK(seen == shape.WeightCount());
  }
}

TEST_CASE("single precision says what double does") {
  for (const int32_t hidden : {1, 4, 13, 32, 100}) {
    const NetworkShape shape{hidden, 3, true, Readout::kFinalStates};
    CAPTURE(hidden);
    std::vector<double> exact(shape.WeightCount());
    DrawWeights<double>(shape, 9, exact);
    const std::vector<float> weights(exact.begin(), exact.end());
    const auto windows = Draw<double>(kRows * kLength, 10);
    const auto targets = Draw<double>(kRows * 3, 11);
    const std::vector<float> narrow_windows(windows.begin(), windows.end());
    const std::vector<float> narrow_targets(targets.begin(), targets.end());
    LstmPass<double> pass(shape, kLength, kRows);
    LstmPass<float> narrow(shape, kLength, kRows);
    const auto said = pass.Forward(exact, windows);
    const auto narrow_said = narrow.Forward(weights, narrow_windows);
    for (size_t i = 0; i < said.size(); ++i) CHECK(std::abs(said[i] - narrow_said[i]) < 1e-5);
    std::vector<double> gradient(exact.size());
    std::vector<float> narrow_gradient(exact.size());
    pass.Backward(exact, targets, gradient);
    narrow.Backward(weights, narrow_targets, narrow_gradient);
    double worst = 0;
    for (size_t i = 0; i < gradient.size(); ++i) {
      worst = std::max(worst, std::abs(gradient[i] - double{narrow_gradient[i]}));
    }
    CHECK(worst < 1e-5);
  }
}

TEST_CASE("one window alone is answered as among others") {
  for (NetworkShape shape : Shapes()) {
    shape.hidden = 21;
    std::vector<float> weights(shape.WeightCount());
    DrawWeights<float>(shape, 3, weights);
    const auto windows = Draw<float>(kRows * kLength, 4);
    LstmPass<float> pass(shape, kLength, kRows);
    const auto said = pass.Forward(weights, windows);
    for (size_t row = 0; row < kRows; ++row) {
      std::vector<float> alone(static_cast<size_t>(shape.outputs));
      ForwardSingle(shape, weights, std::span(windows).subspan(row * kLength, kLength), alone);
      for (size_t o = 0; o < alone.size(); ++o) {
        CHECK(std::abs(alone[o] - said[row * alone.size() + o]) < 2e-6);
      }
    }
  }
}

TEST_CASE("fewer rows than there is room for are answered as the same rows among more") {
  const NetworkShape shape{8, 2, true, Readout::kFinalStates};
  std::vector<double> weights(shape.WeightCount());
  DrawWeights<double>(shape, 3, weights);
  const auto windows = Draw<double>(5 * kLength, 4);
  const auto targets = Draw<double>(2 * 2, 5);
  LstmPass<double> wide(shape, kLength, 5);
  LstmPass<double> narrow(shape, kLength, 2);
  wide.Forward(weights, windows);  // leaves something behind in the buffers
  const auto few = std::span(windows).first(2 * kLength);
  const auto a = wide.Forward(weights, few);
  const auto b = narrow.Forward(weights, few);
  REQUIRE(a.size() == 4);
  for (size_t i = 0; i < a.size(); ++i) CHECK(a[i] == Approx(b[i]).epsilon(1e-13));
  std::vector<double> from_wide(weights.size());
  std::vector<double> from_narrow(weights.size());
  wide.Backward(weights, targets, from_wide);
  narrow.Backward(weights, targets, from_narrow);
  for (size_t i = 0; i < weights.size(); ++i) {
    CHECK(from_wide[i] == Approx(from_narrow[i]).epsilon(1e-10).margin(1e-15));
  }
}

TEST_CASE(
    "a gradient that is too long is cut to its norm, and one that is no number moves nothing") {
  const std::vector<double> gradient = {30, -40};  // norm 50
  std::vector<double> weights = {1, 1};
  std::vector<double> cut = {1, 1};
  Adam<double> plain(2, {.rate = 0.1, .epsilon = 1});
  Adam<double> clipped(2, {.rate = 0.1, .epsilon = 1, .clip_norm = 5});
  REQUIRE(plain.Step(weights, gradient));
  REQUIRE(clipped.Step(cut, gradient));
  // The first step is rate * g / (|g| + epsilon).
  CHECK(weights[0] == Approx(1 - 0.1 * 30 / 31));
  CHECK(weights[1] == Approx(1 + 0.1 * 40 / 41));
  CHECK(cut[0] == Approx(1 - 0.1 * 3 / 4));
  CHECK(cut[1] == Approx(1 + 0.1 * 4 / 5));

  std::vector<float> narrow = {1, 1};
  Adam<float> adam(2, {.rate = 0.1, .epsilon = 1, .clip_norm = 5});
  REQUIRE(adam.Step(narrow, std::vector<float>{30, -40}));
  CHECK(narrow[0] == Approx(cut[0]));
  CHECK(narrow[1] == Approx(cut[1]));
  const std::vector<float> before = narrow;
  CHECK_FALSE(adam.Step(narrow, std::vector<float>{std::nanf(""), 1}));
  CHECK(narrow == before);
}

}  // namespace tidemark::forecast
