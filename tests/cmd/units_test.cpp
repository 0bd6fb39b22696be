// Durations, sizes and quantities: tables of good and bad texts, and that what is written is read
// again.

#include "cmd/units.h"

#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <utility>

#include "tests/catch.h"
#include "tests/seed.h"

namespace tidemark::cmd {
namespace {

using std::chrono::milliseconds;

constexpr int64_t kDay = 24LL * 3600 * 1000;

/// Numbers of all magnitudes, small and round ones often.
uint64_t AnyMagnitude(std::mt19937_64& random, int max_bits) {
  const int bits = std::uniform_int_distribution<int>(0, max_bits)(random);
  const uint64_t value = random() >> (64 - std::max(bits, 1));
  return random() % 3 == 0 ? (uint64_t{1} << bits) : value;
}

}  // namespace

TEST_CASE("Durations are read as Prometheus writes them", "[cmd][units]") {
  const std::pair<std::string_view, int64_t> good[] = {{"0", 0},
                                                       {"0s", 0},
                                                       {"1ms", 1},
                                                       {"90s", 90'000},
                                                       {"1h30m", 5400'000},
                                                       {"24h", kDay},
                                                       {"7d", 7 * kDay},
                                                       {"2w", 14 * kDay},
                                                       {"1y", 365 * kDay},
                                                       {"007s", 7'000},
                                                       {"1d1ms", kDay + 1},
                                                       {"1y2w3d4h5m6s7ms", 382 * kDay + 14'706'007},
                                                       {"292y", 292 * 365 * kDay}};
  for (const auto& [text, ms] : good) {
    CAPTURE(text);
    REQUIRE(ParseDuration(text));
    CHECK(ParseDuration(text)->count() == ms);
  }
}

TEST_CASE("What is no duration is refused with the reason", "[cmd][units]") {
  const std::pair<std::string_view, std::string_view> bad[] = {
      {"", "it is empty"},
      {"1", "a unit is missing"},
      {"00", "a unit is missing"},
      {"h", "a number is missing"},
      {"-1h", "a number is missing"},
      {"1h30", "a unit is missing"},
      {"1.5h", "it has a wrong character"},
      {"1 h", "it has a wrong character"},
      {"1h ", "a number is missing"},
      {"1H", "there is no unit H"},
      {"1us", "there is no unit us"},
      {"30m1h", "h is out of order"},
      {"1h1h", "h is out of order"},
      {"292y1ms", "it is longer than 292y"},
      {"99999999999999999999s", "it is longer than 292y"},
      {"9223372036854775807w", "it is longer than 292y"}};
  for (const auto& [text, why] : bad) {
    CAPTURE(text);
    const auto duration = ParseDuration(text);
    REQUIRE_FALSE(duration);
    CHECK(duration.error().code == ErrorCode::kInvalidArgument);
    CHECK(duration.error().message.find(" is not a duration: " + std::string(why) +
                                        ", allowed: ") != std::string::npos);
  }
}

TEST_CASE("Durations are written in days, hours, minutes, seconds and milliseconds",
          "[cmd][units]") {
  CHECK(FormatDuration(milliseconds(0)) == "0s");
  CHECK(FormatDuration(milliseconds(1)) == "1ms");
  CHECK(FormatDuration(milliseconds(5400'000)) == "1h30m");
  CHECK(FormatDuration(milliseconds(365 * kDay)) == "365d");
  CHECK(FormatDuration(milliseconds(kDay + 1001)) == "1d1s1ms");
}

TEST_CASE("A written duration is read as the same duration", "[cmd][units]") {
  const auto seed = tidemark::testing::Seed();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  for (int round = 0; round < 20'000; ++round) {
    const milliseconds duration(static_cast<int64_t>(AnyMagnitude(random, 43)));
    CAPTURE(duration.count());
    REQUIRE(ParseDuration(FormatDuration(duration)).value() == duration);
  }
}

TEST_CASE("Sizes are read in powers of 1024", "[cmd][units]") {
  const std::pair<std::string_view, uint64_t> good[] = {
      {"0", 0},
      {"0B", 0},
      {"1B", 1},
      {"512KB", 512u << 10},
      {"512KiB", 512u << 10},
      {"64MB", 64u << 20},
      {"64MiB", 64u << 20},
      {"1.5GB", 3ull << 29},
      {"1GiB", 1ull << 30},
      {"2TB", 2ull << 40},
      {"0.000000KB", 0},
      {"2TiB", 2ull << 40},
      {"9223372036854775807B", 9223372036854775807ull}};
  for (const auto& [text, bytes] : good) {
    CAPTURE(text);
    REQUIRE(ParseSize(text));
    CHECK(*ParseSize(text) == bytes);
  }
}

TEST_CASE("What is no size is refused with the reason", "[cmd][units]") {
  const std::pair<std::string_view, std::string_view> bad[] = {
      {"", "it does not begin with a number"},
      {"MB", "it does not begin with a number"},
      {"-1MB", "it does not begin with a number"},
      {"1", "a unit is missing"},
      {"1.5", "a unit is missing"},
      {"1mb", "there is no unit mb"},
      {"1M", "there is no unit M"},
      {"1PB", "there is no unit PB"},
      {"1.MB", "1 to 6 digits belong after the point"},
      {"1.1234567MB", "1 to 6 digits belong after the point"},
      {"0.1KB", "it is not a whole number of bytes"},
      {"1.5B", "it is not a whole number of bytes"},
      {"8388608TB", "it is too large"},
      {"9223372036854775808B", "it is too large"},
      {"99999999999999999999B", "it is too large"}};
  for (const auto& [text, why] : bad) {
    CAPTURE(text);
    const auto size = ParseSize(text);
    REQUIRE_FALSE(size);
    CHECK(size.error().message.find(" is not a size: " + std::string(why) + ", allowed: ") !=
          std::string::npos);
  }
}

TEST_CASE("A written size is read as the same size", "[cmd][units]") {
  const auto seed = tidemark::testing::Seed();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  CHECK(FormatSize(0) == "0B");
  CHECK(FormatSize(1536) == "1536B");
  CHECK(FormatSize(64u << 20) == "64MB");
  for (int round = 0; round < 20'000; ++round) {
    const uint64_t bytes = AnyMagnitude(random, 62);
    REQUIRE(ParseSize(FormatSize(bytes)).value() == bytes);
  }
}

TEST_CASE("Quantities are read as Kubernetes writes them", "[cmd][units]") {
  const std::pair<std::string_view, double> good[] = {
      {"0", 0},        {"1", 1},          {"250m", 0.25}, {"1.5", 1.5},     {".5", 0.5},
      {"5.", 5},       {"+1", 1},         {"-1", -1},     {"-250m", -0.25}, {"128Mi", 134217728},
      {"1Gi", 0x1p30}, {"0.5Gi", 0x1p29}, {"1Ki", 1024},  {"1Ti", 0x1p40},  {"1Pi", 0x1p50},
      {"1Ei", 0x1p60}, {"1e3", 1000},     {"1E3", 1000},  {"1E", 1e18},     {"12e-1", 1.2},
      {"1e+2", 100},   {"500M", 5e8},     {"1k", 1000},   {"1G", 1e9},      {"1T", 1e12},
      {"1P", 1e15},    {"100u", 1e-4},    {"100n", 1e-7}, {"100m", 0.1},    {"16777216", 16777216}};
  for (const auto& [text, value] : good) {
    CAPTURE(text);
    REQUIRE(ParseQuantity(text));
    CHECK(*ParseQuantity(text) == value);
  }
}

TEST_CASE("What is no quantity is refused with the reason", "[cmd][units]") {
  const std::pair<std::string_view, std::string_view> bad[] = {
      {"", "it does not begin with a number"},
      {"m", "it does not begin with a number"},
      {"-", "it does not begin with a number"},
      {".", "it does not begin with a number"},
      {"--1", "it does not begin with a number"},
      {"nan", "it does not begin with a number"},
      {"inf", "it does not begin with a number"},
      {"1e", "there is no unit e"},
      {"1e1.5", "there is no unit e1.5"},
      {"1x", "there is no unit x"},
      {"1 Mi", "there is no unit \" Mi\""},
      {"1mi", "there is no unit mi"},
      {"1K", "there is no unit K"},
      {"0x10", "there is no unit x10"},
      {"1.2.3", "there is no unit .3"},
      {"1e400", "its exponent is too large or too small"}};
  for (const auto& [text, why] : bad) {
    CAPTURE(text);
    const auto quantity = ParseQuantity(text);
    REQUIRE_FALSE(quantity);
    CHECK(quantity.error().message.find(" is not a quantity: " + std::string(why) +
                                        ", allowed: ") != std::string::npos);
  }
  CHECK_FALSE(ParseQuantity(std::string(400, '9')));
  CHECK_FALSE(ParseQuantity(std::string(308, '9') + "Ei"));
}

TEST_CASE("Quantities are written short in their style", "[cmd][units]") {
  CHECK(FormatQuantity(0, QuantityStyle::kDecimal) == "0");
  CHECK(FormatQuantity(0, QuantityStyle::kBinary) == "0");
  CHECK(FormatQuantity(0.25, QuantityStyle::kDecimal) == "250m");
  CHECK(FormatQuantity(2, QuantityStyle::kDecimal) == "2");
  CHECK(FormatQuantity(0x1p30, QuantityStyle::kBinary) == "1Gi");
  CHECK(FormatQuantity(1.5 * 0x1p30, QuantityStyle::kBinary) == "1536Mi");
  CHECK(FormatQuantity(1000, QuantityStyle::kBinary) == "1000");
}

TEST_CASE("A written quantity is read as the same number", "[cmd][units]") {
  const auto seed = tidemark::testing::Seed();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  for (int round = 0; round < 20'000; ++round) {
    double value = 0;
    switch (round % 3) {
      case 0: value = static_cast<double>(AnyMagnitude(random, 63)); break;
      case 1: value = static_cast<double>(AnyMagnitude(random, 40)) / 1000; break;
      default:  // any finite, non-negative double by its bits
        do {
          value = std::abs(std::bit_cast<double>(random()));
        } while (!std::isfinite(value));
    }
    for (const QuantityStyle style : {QuantityStyle::kDecimal, QuantityStyle::kBinary}) {
      const std::string text = FormatQuantity(value, style);
      CAPTURE(value, text);
      REQUIRE(ParseQuantity(text).value() == value);
    }
  }
}

}  // namespace tidemark::cmd
