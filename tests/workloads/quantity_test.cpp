#include "workloads/quantity.h"

#include <cmath>
#include <random>
#include <string>

#include "tests/catch.h"
#include "tests/seed.h"

using tidemark::workloads::ParseQuantity;

TEST_CASE("quantities are read as Kubernetes does", "[workloads][quantity]") {
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

TEST_CASE("what is no quantity is refused", "[workloads][quantity]") {
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
          "[workloads][quantity]") {
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
