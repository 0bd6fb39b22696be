#include "forecast/shift_products.h"

#include <cmath>
#include <random>

#include "forecast/cholesky.h"
#include "forecast/lag_regression.h"
#include "tests/catch.h"

namespace tidemark::forecast {
namespace {

constexpr size_t kTestHarmonics = 2;

std::vector<double> Noise(size_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<double> values(count);
  for (double& value : values) value = std::normal_distribution<>(0.3, 1)(random);
  return values;
}

/// Row by row.
std::vector<double> Plainly(const std::vector<double>& x, const std::vector<int64_t>& shifts,
                            int64_t minute_of_day, int64_t first, int64_t end, double weight) {
  const size_t n = shifts.size() + 1 + 2 * kTestHarmonics;
  std::vector<double> sums(n * n, 0);
  for (int64_t t = first; t < end; ++t) {
    std::vector<double> row;
    for (const int64_t shift : shifts) row.push_back(x[static_cast<size_t>(t - shift)]);
    row.resize(n);
    WriteHarmonics(minute_of_day + t, kTestHarmonics, &row[shifts.size()]);
    for (size_t i = 0; i < n; ++i) {
      for (size_t j = 0; j < n; ++j) sums[i * n + j] += weight * row[i] * row[j];
    }
  }
  return sums;
}

void CheckSame(const ShiftProducts& products, const std::vector<double>& expected) {
  const size_t n = products.size();
  REQUIRE(expected.size() == n * n);
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j < n; ++j) {
      INFO(i << ", " << j);
      CHECK(products(i, j) == Approx(expected[i * n + j]).margin(1e-8));
    }
  }
}

}  // namespace

TEST_CASE("sums over shifts are those of the rows one by one", "[forecast][ridge]") {
  const auto x = Noise(4000, 1);
  const std::vector<int64_t> shifts = {0, 1, 2, 3, 4, 5, 6, 7, -1, -3, -10, 1440, 1441, 1439, 1430};
  ShiftProducts products(shifts, kTestHarmonics);
  products.Add(x, 300, 1500, 3900, 0.5);
  CheckSame(products, Plainly(x, shifts, 300, 1500, 3900, 0.5));
  CHECK(products.rows() == Approx(1200));
}

TEST_CASE("a range shorter than the distance between shifts is summed as well",
          "[forecast][ridge]") {
  const auto x = Noise(2000, 2);
  const std::vector<int64_t> shifts = {0, 40, 3, -7, 500};
  for (const int64_t length : {1, 2, 5, 39, 41}) {
    ShiftProducts products(shifts, kTestHarmonics);
    products.Add(x, 0, 900, 900 + length, 1);
    CheckSame(products, Plainly(x, shifts, 0, 900, 900 + length, 1));
  }
}

TEST_CASE("a row that is taken away leaves the others, and sums add up", "[forecast][ridge]") {
  const auto x = Noise(500, 3);
  const std::vector<int64_t> shifts = {0, 1, 2, -1};
  ShiftProducts products(shifts, kTestHarmonics);
  products.Add(x, 7, 10, 400, 2);
  products.Remove(x, 7, 10, 2);
  CheckSame(products, Plainly(x, shifts, 7, 11, 400, 2));
  // Of more shifts only those count that both have.
  std::vector<int64_t> more = shifts;
  more.push_back(9);
  ShiftProducts further(more, kTestHarmonics);
  further.Add(x, 7, 400, 450, 1);
  ShiftProducts both(shifts, kTestHarmonics);
  both.Add(x, 7, 300, 400, 1);
  both.Add(further);
  CheckSame(both, Plainly(x, shifts, 7, 300, 450, 1));
}

TEST_CASE("a system is solved, and what is not positive definite refused", "[forecast][ridge]") {
  std::vector<double> matrix = {4, 0, 0, 2, 5, 0, 1, 3, 6};
  REQUIRE(Factorise(matrix, 3));
  std::vector<double> values = {4 + 4 + 3, 2 + 10 + 9, 1 + 6 + 18};  // of 1, 2, 3
  SolveFactorised(matrix, 3, values);
  CHECK(values[0] == Approx(1));
  CHECK(values[1] == Approx(2));
  CHECK(values[2] == Approx(3));
  std::vector<double> none = {1, 0, 2, 1};
  CHECK_FALSE(Factorise(none, 2));
  std::vector<double> infinite = {HUGE_VAL};
  CHECK_FALSE(Factorise(infinite, 1));
}

TEST_CASE("a regression finds the lags by which a series was made", "[forecast][ridge]") {
  // x[t+1] = x[t] + 0.5 (x[t-2] - x[t]) + noise
  std::mt19937_64 random(9);
  std::normal_distribution<> normal;
  std::vector<double> x{0, 1, 2};
  while (x.size() < 6000) {
    const size_t t = x.size() - 1;
    x.push_back(x[t] + 0.5 * (x[t - 2] - x[t]) + 0.1 * normal(random));
  }
  const std::vector<int32_t> horizons = {1};
  LagRegression regression(6, Horizons(horizons), nullptr);
  ShiftProducts products = regression.MakeProducts();
  products.Add(x, 0, 5, static_cast<int64_t>(x.size()) - 1, 1);
  regression.SetProducts(products);
  const LagWeights weights = regression.Solve(1e-6);
  REQUIRE(weights.size() == 5 + kClockFeatures);
  for (size_t i = 0; i < 5; ++i) {
    CHECK(weights[i] == Approx(i == 1 ? 0.5 : 0).margin(0.03));
  }
}

}  // namespace tidemark::forecast
