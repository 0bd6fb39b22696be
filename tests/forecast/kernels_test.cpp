// Every instruction set that this machine has, against libm and plain loops.
#include "forecast/kernels.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "forecast/products.h"
#include "tests/catch.h"

namespace tidemark::forecast {
namespace {

std::vector<float> Draw(size_t count, float range, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<float> values(count);
  for (float& value : values) value = std::uniform_real_distribution<float>(-range, range)(random);
  return values;
}

double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

bool Near(double actual, double expected, double relative) {
  return std::abs(actual - expected) <= relative * std::abs(expected) + 1e-37;
}

}  // namespace

TEST_CASE("activations are within a millionth of libm's, near 0 and far from it") {
  std::vector<float> values = {0, -0.0F, 1e-30F, -1e-30F, 1e-7F, 39.9F, 1e4F, -1e4F, 3e38F, -3e38F};
  for (int exponent = -20; exponent <= 5; ++exponent) {
    for (const float value :
         Draw(200, std::ldexp(1.0F, exponent), static_cast<uint64_t>(exponent + 99))) {
      values.push_back(value);
    }
  }
  const size_t hidden = values.size();
  for (const Kernels* const kernels : KernelsThatRun()) {
    CAPTURE(std::string(kernels->name));
    std::vector<float> gates;
    for (int gate = 0; gate < 4; ++gate) gates.insert(gates.end(), values.begin(), values.end());
    const std::vector<float> before(hidden, 0.0F);
    std::vector<float> state(hidden);
    std::vector<float> tanh_state(hidden);
    std::vector<float> output(hidden);
    kernels->cell_forward(1, hidden, gates.data(), before.data(), state.data(), tanh_state.data(),
                          output.data(), hidden);
    for (size_t u = 0; u < hidden; ++u) {
      const double x = double{values[u]};
      CAPTURE(x);
      for (const size_t gate : {0U, 1U, 3U}) {
        // Below exp(-40) it is as good as 0.
        REQUIRE((Near(double{gates[gate * hidden + u]}, Sigmoid(x), 1e-6) || x < -39));
        REQUIRE(gates[gate * hidden + u] >= 0);
        REQUIRE(gates[gate * hidden + u] <= 1.000001F);
      }
      REQUIRE(Near(double{gates[2 * hidden + u]}, std::tanh(x), 1e-6));
      REQUIRE(Near(double{tanh_state[u]}, std::tanh(double{state[u]}), 1e-6));
    }
  }
}

TEST_CASE("a cell of any width goes forward and back as the formulas say") {
  for (const Kernels* const kernels : KernelsThatRun()) {
    for (const size_t hidden : {1U, 3U, 4U, 7U, 8U, 9U, 15U, 16U, 17U, 100U}) {
      CAPTURE(std::string(kernels->name), hidden);
      constexpr size_t kRows = 3;
      const size_t stride = hidden + 3;
      const auto sums = Draw(kRows * 4 * hidden, 2, 1);
      const auto before = Draw(kRows * hidden, 1, 2);
      const auto slope = Draw(kRows * hidden, 1, 3);
      const auto later = Draw(kRows * hidden, 1, 4);
      auto gates = sums;
      std::vector<float> state(kRows * hidden);
      std::vector<float> tanh_state(kRows * hidden);
      std::vector<float> output(kRows * stride, 77);
      kernels->cell_forward(kRows, hidden, gates.data(), before.data(), state.data(),
                            tanh_state.data(), output.data(), stride);
      auto state_gradient = later;
      auto back = gates;
      kernels->cell_backward(kRows, hidden, back.data(), before.data(), tanh_state.data(),
                             slope.data(), state_gradient.data());
      for (size_t row = 0; row < kRows; ++row) {
        for (size_t u = 0; u < hidden; ++u) {
          const size_t at = row * hidden + u;
          const size_t gate = row * 4 * hidden + u;
          const double i = Sigmoid(double{sums[gate]});
          const double f = Sigmoid(double{sums[gate + hidden]});
          const double g = std::tanh(double{sums[gate + 2 * hidden]});
          const double o = Sigmoid(double{sums[gate + 3 * hidden]});
          const double c = f * double{before[at]} + i * g;
          const double t = std::tanh(c);
          REQUIRE(double{state[at]} == Approx(c).margin(1e-6));
          REQUIRE(double{output[row * stride + u]} == Approx(o * t).margin(1e-6));
          const double h_slope = double{slope[at]};
          const double c_slope = double{later[at]} + h_slope * o * (1 - t * t);
          const double expected[] = {c_slope * g * i * (1 - i),
                                     c_slope * double{before[at]} * f * (1 - f),
                                     c_slope * i * (1 - g * g), h_slope * t * o * (1 - o)};
          for (size_t k = 0; k < 4; ++k) {
            REQUIRE(double{back[gate + k * hidden]} == Approx(expected[k]).margin(2e-6));
          }
          REQUIRE(double{state_gradient[at]} == Approx(c_slope * f).margin(2e-6));
        }
        // What lies between the rows is let be.
        for (size_t u = hidden; u < stride; ++u) REQUIRE(output[row * stride + u] == 77);
      }
    }
  }
}

TEST_CASE("vector times matrix, squares and Adam are what plain loops make") {
  for (const Kernels* const kernels : KernelsThatRun()) {
    for (const size_t columns : {1U, 5U, 16U, 33U, 64U, 129U, 400U}) {
      CAPTURE(std::string(kernels->name), columns);
      constexpr size_t kInputs = 23;
      const auto x = Draw(kInputs, 1, 5);
      const auto w = Draw(kInputs * columns, 1, 6);
      std::vector<float> y(columns + 1, 77);
      kernels->vector_times_matrix(kInputs, columns, x.data(), w.data(), y.data());
      for (size_t c = 0; c < columns; ++c) {
        double sum = 0;
        for (size_t r = 0; r < kInputs; ++r) sum += double{x[r]} * double{w[r * columns + c]};
        REQUIRE(double{y[c]} == Approx(sum).margin(1e-5));
      }
      REQUIRE(y[columns] == 77);

      double squares = 0;
      for (const float value : w) squares += double{value} * double{value};
      CHECK(kernels->sum_of_squares(w.size(), w.data()) == Approx(squares).epsilon(1e-6));

      auto weights = Draw(columns, 1, 7);
      const auto gradient = Draw(columns, 1, 8);
      auto m = Draw(columns, 1, 9);
      auto v = Draw(columns, 1, 10);
      for (float& value : v) value = std::abs(value);
      const auto weights_before = weights;
      const auto m_before = m;
      const auto v_before = v;
      kernels->adam(columns, weights.data(), gradient.data(), 0.5F, m.data(), v.data(), 0.9F,
                    0.999F, 0.01F, 1e-8F);
      for (size_t c = 0; c < columns; ++c) {
        const double slope = 0.5 * double{gradient[c]};
        const double mean = 0.9 * double{m_before[c]} + 0.1 * slope;
        const double square = 0.999 * double{v_before[c]} + 0.001 * slope * slope;
        REQUIRE(double{m[c]} == Approx(mean).margin(1e-6));
        REQUIRE(double{v[c]} == Approx(square).margin(1e-6));
        REQUIRE(double{weights[c]} ==
                Approx(double{weights_before[c]} - 0.01 * mean / (std::sqrt(square) + 1e-8))
                    .margin(1e-5));
      }
    }
  }
}

TEST_CASE("every product that can be chosen is right") {
  const size_t m = 13;
  const size_t n = 37;
  const size_t k = 29;
  const auto a = Draw(60 * 60, 1, 11);
  const auto b = Draw(60 * 60, 1, 12);
  REQUIRE(!ProductsThatRun().empty());
  for (const Products* const products : ProductsThatRun()) {
    CAPTURE(std::string(products->name));
    const auto check = [&](Products::Function function, auto&& left, auto&& right) {
      std::vector<float> c(m * 40, 77);
      function(m, n, k, a.data(), 50, b.data(), 41, c.data(), 40);
      for (size_t row = 0; row < m; ++row) {
        for (size_t column = 0; column < n; ++column) {
          double sum = 0;
          for (size_t i = 0; i < k; ++i) sum += double{left(row, i)} * double{right(i, column)};
          REQUIRE(double{c[row * 40 + column]} == Approx(sum).margin(1e-4));
        }
        for (size_t column = n; column < 40; ++column) REQUIRE(c[row * 40 + column] == 77);
      }
    };
    const auto plain_a = [&](size_t row, size_t i) { return a[row * 50 + i]; };
    const auto plain_b = [&](size_t i, size_t column) { return b[i * 41 + column]; };
    const auto turned_a = [&](size_t row, size_t i) { return a[i * 50 + row]; };
    const auto turned_b = [&](size_t i, size_t column) { return b[column * 41 + i]; };
    check(products->times, plain_a, plain_b);
    check(products->times_transposed, plain_a, turned_b);
    check(products->transposed_times, turned_a, plain_b);
  }
}

}  // namespace tidemark::forecast
