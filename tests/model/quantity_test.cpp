#include "model/quantity.h"

#include <cmath>
#include <random>
#include <string>

#include "tests/catch.h"
#include "tests/seed.h"

using tidemark::ParseQuantity;

TEST_CASE("quantities are read as Kubernetes does", "[model][quantity]") {
  const auto [text, value] = GENERATE(table<std::string, double>({
      {"0", 0},
      {"1", 1},
      {"100m", 0.1},
      {"650m", 0.65},
      {"2", 2},
      {"1.5", 1.5},
      {".5", 0.5},
      {"5.", 5},
      {"+3", 3},
      {"-3m", -0.003},
      {"4Gi", 4294967296.0},
      {"1.5Ki", 1536},
      {"128M", 128e6},
      {"1k", 1000},
      {"2e3", 2000},
      {"2E3", 2000},
      {"1e-3", 0.001},
      {"1e+2", 100},
      {"1E", 1e18},
      {"1Ei", 1152921504606846976.0},
      {"12n", 12e-9},
      {"7u", 7e-6},
      {"3T", 3e12},
      {"1P", 1e15},
      {"64Mi", 67108864},
      {"2Ti", 2199023255552.0},
      {"1Pi", 1125899906842624.0},
  }));
  INFO(text);
  REQUIRE(ParseQuantity(text));
  CHECK(*ParseQuantity(text) == value);
}

TEST_CASE("what is no quantity is refused", "[model][quantity]") {
  const std::string text = GENERATE(
      "", " ", ".", "-", "+", "1.1.M", "1+1.0M", "0.1mi", "0.1am", "aoeu", ".5i", "1i", "-3.01i",
      "-3.01e-", " 1", "1 ", "1K", "1ki", "e3", "1e", "1e1.5", "1e3m", "--1", "+-1", "1e+-2",
      "1e++2", "0x10", "inf", "nan", "1e999", "1e99999999999999999999", "1,5", "1Mib");
  INFO(text);
  CHECK_FALSE(ParseQuantity(text));
  CHECK_FALSE(ParseQuantity(std::string(65, '1')));
  CHECK(ParseQuantity(std::string(64, '1')));
}

TEST_CASE("any number with any suffix is that many of its units, and no bytes do harm",
          "[model][quantity]") {
  const uint32_t seed = tidemark::testing::Seed();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  const std::pair<const char*, double> units[] = {{"", 1},         {"k", 1e3},  {"M", 1e6},
                                                  {"G", 1e9},      {"m", 1e-3}, {"Ki", 1024},
                                                  {"Mi", 1048576}, {"e2", 100}, {"E-1", 0.1}};
  for (int i = 0; i < 20'000; ++i) {
    const uint64_t whole = random() % 100'000;
    const std::string text = std::to_string(whole) + "." + std::to_string(random() % 1000);
    const auto& [suffix, unit] = units[random() % std::size(units)];
    INFO(text << suffix);
    const auto value = ParseQuantity(text + suffix);
    REQUIRE(value);
    REQUIRE(*value == Approx(std::stod(text) * unit).epsilon(1e-14));
    std::string bytes;
    for (uint64_t n = random() % 8; n > 0; --n)
      bytes += "0123456789.+-eEinumkKMGTP \xff"[random() % 28];
    const auto any = ParseQuantity(bytes);
    if (any) REQUIRE(std::isfinite(*any));
  }
}

TEST_CASE("quantities are written canonically", "[model][quantity]") {
  using tidemark::QuantityFormat;
  using tidemark::QuantityText;
  const auto [value, text] = GENERATE(table<double, std::string>({{7, "7"},
                                                                  {0, "0"},
                                                                  {1.5, "1500m"},
                                                                  {7000, "7k"},
                                                                  {2016, "2016"},
                                                                  {1e6, "1M"},
                                                                  {0.65, "650m"},
                                                                  {0.0005, "1m"},
                                                                  {1.1, "1100m"},
                                                                  {0.1 + 0.2, "300m"},
                                                                  {0.30001, "301m"},
                                                                  {1e12, "1T"}}));
  INFO(value);
  CHECK(QuantityText(value) == text);
  CHECK(QuantityText(1610612736, QuantityFormat::kBinarySi) == "1536Mi");
  CHECK(QuantityText(128e6, QuantityFormat::kBinarySi) == "125000Ki");
  CHECK(QuantityText(1023, QuantityFormat::kBinarySi) == "1023");
  CHECK(QuantityText(1000, QuantityFormat::kBinarySi) == "1k");
  CHECK(QuantityText(123456789, QuantityFormat::kBinarySi) == "123456789");
  for (const double none : {-1.0, -0.001, std::nan(""), HUGE_VAL, 9.1e12}) {
    CHECK_FALSE(QuantityText(none));
  }
}

TEST_CASE("what is written reads as the same, rounded up by less than a thousandth",
          "[model][quantity]") {
  const uint32_t seed = tidemark::testing::Seed();
  CAPTURE(seed);
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> exponent(-4, 12);
  for (int i = 0; i < 20'000; ++i) {
    double value = std::pow(10, exponent(random));
    if (i % 3 == 0) value = std::floor(value);
    if (i % 3 == 1) value = std::floor(value * 1000) / 1000;
    const auto format =
        i % 2 == 0 ? tidemark::QuantityFormat::kDecimalSi : tidemark::QuantityFormat::kBinarySi;
    const auto text = tidemark::QuantityText(value, format);
    if (value > 9.0e12) continue;
    CAPTURE(value);
    REQUIRE(text);
    CAPTURE(*text);
    const auto read = ParseQuantity(*text);
    REQUIRE(read);
    CHECK(*read >= value * (1 - 1e-15));
    CHECK(*read - value < 0.001 + value * 1e-15);
    // Canonical: no fraction, no sign, and the same again.
    CHECK(text->find_first_of(".eE+-") == std::string::npos);
    CHECK(tidemark::QuantityText(*read, format) == text);
  }
}
