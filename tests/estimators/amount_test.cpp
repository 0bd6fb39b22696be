#include "estimators/amount.h"

#include <cmath>
#include <limits>

#include "tests/catch.h"

using namespace tidemark::estimators;

TEST_CASE("an amount is truncated toward zero and kept in range", "[estimators][amount]") {
  CHECK(AmountFromDouble(0) == 0);
  CHECK(AmountFromDouble(0.999) == 0);
  CHECK(AmountFromDouble(1.999) == 1);
  CHECK(AmountFromDouble(-0.5) == 0);
  CHECK(AmountFromDouble(-7) == 0);
  CHECK(AmountFromDouble(1e14) == kMaxAmount);
  CHECK(AmountFromDouble(1.0001e14) == kMaxAmount);
  CHECK(AmountFromDouble(std::numeric_limits<double>::infinity()) == kMaxAmount);
  CHECK(AmountFromDouble(-std::numeric_limits<double>::infinity()) == 0);
  CHECK(AmountFromDouble(std::nan("")) == 0);
}

TEST_CASE("an amount is scaled and cut again", "[estimators][amount]") {
  CHECK(ScaleAmount(25, 0.5) == 12);
  CHECK(ScaleAmount(262'144'000, 1.0 / 3) == 87'381'333);
  CHECK(ScaleAmount(kMaxAmount, 2) == kMaxAmount);
  CHECK(ScaleAmount(10, -1) == 0);
  CHECK(ScaleAmount(10, std::nan("")) == 0);
}

TEST_CASE("the margin is truncated before it is added", "[estimators][amount]") {
  CHECK(AddMargin(10, 0.15) == 11);
  CHECK(AddMargin(20, 0.15) == 23);
  CHECK(AddMargin(20'499'999, 0.15) == 23'574'998);  // seen in reports of VPA users
  CHECK(AddMargin(6, 0.15) == 6);
  CHECK(AddMargin(100, 0) == 100);
  CHECK(AddMargin(100, -0.5) == 100);
  CHECK(AddMargin(100, std::nan("")) == 100);
  CHECK(AddMargin(kMaxAmount, 10) == 2 * kMaxAmount);
}
