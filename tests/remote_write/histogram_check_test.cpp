#include "remote_write/histogram_check.h"

#include <limits>

#include "model/sample.h"
#include "tests/catch.h"
#include "tests/remote_write/wire_builder.h"

using namespace tidemark::remote_write;
using namespace tidemark::remote_write::test;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

uint64_t Zigzag(int64_t value) {
  return static_cast<uint64_t>(value) << 1 ^ static_cast<uint64_t>(value >> 63);
}
std::string Span(uint32_t field, int64_t offset, uint64_t length) {
  return BytesField(field, VarintField(1, Zigzag(offset)) + VarintField(2, length));
}
std::string Deltas(uint32_t field, const std::vector<int64_t>& deltas) {
  std::string packed;
  for (const int64_t delta : deltas) packed += Varint(Zigzag(delta));
  return BytesField(field, packed);
}
std::string Doubles(uint32_t field, const std::vector<double>& values) {
  std::string packed;
  for (const double value : values) packed += DoubleField(1, value).substr(1);
  return BytesField(field, packed);
}
std::string Count(uint64_t count) { return VarintField(1, count); }
std::string FloatCount(double count) { return DoubleField(2, count); }
std::string Sum(double sum) { return DoubleField(3, sum); }
std::string Schema(int64_t schema) { return VarintField(4, Zigzag(schema)); }

bool IsConsistent(const std::string& message) {
  bool consistent = false;
  REQUIRE(CheckHistogram(message, consistent) == DecodeError::kNone);
  return consistent;
}

/// Buckets 10, 12 and 8 after two spans.
const std::string kBuckets = Span(11, -2, 2) + Span(11, 3, 1) + Deltas(12, {10, 2, -4});

}  // namespace

TEST_CASE("a histogram that adds up is consistent", "[remote_write][histogram]") {
  REQUIRE(IsConsistent(""));
  REQUIRE(IsConsistent(Sum(tidemark::StaleMarker())));
  REQUIRE(IsConsistent(Count(30) + Sum(12.5) + Schema(3) + kBuckets));
  REQUIRE(IsConsistent(Count(34) + VarintField(6, 4) + kBuckets));
  REQUIRE(IsConsistent(Count(60) + kBuckets + Span(8, 0, 1) + Deltas(9, {30})));
  REQUIRE(IsConsistent(Count(30) + VarintField(14, 3) + VarintField(15, 1) + kBuckets +
                       BytesField(99, "unknown")));
}

TEST_CASE("the count must be what the buckets hold, at least that when the sum is not a number",
          "[remote_write][histogram]") {
  REQUIRE_FALSE(IsConsistent(Count(99) + Sum(1) + kBuckets));
  REQUIRE_FALSE(IsConsistent(Count(29) + Sum(1) + kBuckets));
  REQUIRE(IsConsistent(Count(99) + Sum(kNan) + kBuckets));
  REQUIRE_FALSE(IsConsistent(Count(29) + Sum(kNan) + kBuckets));
  REQUIRE_FALSE(IsConsistent(Count(30) + VarintField(6, 4) + kBuckets));
}

TEST_CASE("spans must cover exactly the buckets that are given", "[remote_write][histogram]") {
  REQUIRE_FALSE(IsConsistent(Count(30) + Span(11, 0, 4) + Deltas(12, {10, 2, -4})));
  REQUIRE_FALSE(IsConsistent(Count(30) + Span(11, 0, 2) + Deltas(12, {10, 2, -4})));
  REQUIRE_FALSE(IsConsistent(Count(30) + Deltas(12, {10, 2, -4})));
  REQUIRE_FALSE(IsConsistent(Span(11, 0, UINT32_MAX)));
  REQUIRE_FALSE(IsConsistent(Count(2) + Span(11, 0, 1) + Span(11, -1, 1) + Deltas(12, {1, 0})));
}

TEST_CASE("no bucket may be negative and no sum may overflow", "[remote_write][histogram]") {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  REQUIRE_FALSE(IsConsistent(Count(10) + Span(11, 0, 2) + Deltas(12, {10, -11})));
  REQUIRE_FALSE(IsConsistent(Span(11, 0, 2) + Deltas(12, {kMax, kMax})));
  REQUIRE_FALSE(IsConsistent(Span(11, 0, 3) + Deltas(12, {kMax, 0, 0})));
  REQUIRE_FALSE(IsConsistent(Span(11, 0, 1) + Deltas(12, {std::numeric_limits<int64_t>::min()})));
  REQUIRE_FALSE(
      IsConsistent(Count(1) + VarintField(6, UINT64_MAX) + Span(11, 0, 1) + Deltas(12, {2})));
}

TEST_CASE("float histograms carry counts instead of deltas", "[remote_write][histogram]") {
  const std::string buckets = Span(11, 0, 2) + Doubles(13, {1.5, 2.5});
  REQUIRE(IsConsistent(FloatCount(4) + buckets));
  REQUIRE(IsConsistent(FloatCount(4.0000001) + buckets + DoubleField(7, 0.25)));
  REQUIRE_FALSE(IsConsistent(Count(4) + buckets));
  REQUIRE_FALSE(IsConsistent(FloatCount(4) + Span(11, 0, 1) + Deltas(12, {4})));
  REQUIRE_FALSE(IsConsistent(FloatCount(-4) + buckets));
  REQUIRE_FALSE(IsConsistent(FloatCount(kNan) + buckets));
  REQUIRE_FALSE(IsConsistent(FloatCount(4) + DoubleField(7, -1) + buckets));
  REQUIRE_FALSE(IsConsistent(FloatCount(4) + VarintField(6, 1) + buckets));
  REQUIRE_FALSE(IsConsistent(FloatCount(1) + Span(11, 0, 1) + Doubles(13, {-1})));
  REQUIRE_FALSE(IsConsistent(FloatCount(1) + Span(8, 0, 1) + Doubles(10, {kNan})));
  SECTION("the last of two counts decides what it is") {
    REQUIRE(IsConsistent(Count(9) + FloatCount(4) + buckets));
    REQUIRE_FALSE(IsConsistent(FloatCount(4) + Count(9) + buckets));
  }
}

TEST_CASE("schemas that do not exist are refused", "[remote_write][histogram]") {
  for (int schema = -4; schema <= 8; ++schema) REQUIRE(IsConsistent(Schema(schema)));
  for (const int schema : {-54, -52, -5, 9, 52, 1000}) REQUIRE_FALSE(IsConsistent(Schema(schema)));
}

TEST_CASE("custom bounds rise, are finite and have neither negative nor zero buckets",
          "[remote_write][histogram]") {
  const std::string custom = Schema(-53) + Count(3) + Span(11, 0, 3) + Deltas(12, {1, 0, 0});
  REQUIRE(IsConsistent(custom + Doubles(16, {0.5, 1})));
  REQUIRE(IsConsistent(custom + DoubleField(16, 0.5) + DoubleField(16, 1)));
  REQUIRE(IsConsistent(custom + Doubles(16, {-3, 1, 7, 9})));
  REQUIRE_FALSE(IsConsistent(custom + Doubles(16, {1})));
  REQUIRE_FALSE(IsConsistent(custom + Doubles(16, {1, 1})));
  REQUIRE_FALSE(IsConsistent(custom + Doubles(16, {2, 1})));
  REQUIRE_FALSE(IsConsistent(custom + Doubles(16, {1, kInf})));
  REQUIRE_FALSE(IsConsistent(custom + Doubles(16, {-kInf, 1})));
  REQUIRE_FALSE(IsConsistent(custom + Doubles(16, {1, kNan})));
  REQUIRE_FALSE(IsConsistent(custom + Doubles(16, {0.5, 1}) + DoubleField(5, 0.1)));
  REQUIRE_FALSE(IsConsistent(Schema(-53) + Count(4) + Span(11, 0, 3) + Deltas(12, {1, 0, 0}) +
                             Doubles(16, {0.5, 1}) + VarintField(6, 1)));
  REQUIRE_FALSE(IsConsistent(custom + Doubles(16, {0.5, 1}) + Span(8, 0, 1) + Deltas(9, {0})));
  REQUIRE_FALSE(IsConsistent(Schema(-53) + Count(1) + Span(11, -1, 1) + Deltas(12, {1}) +
                             Doubles(16, {0.5})));
  REQUIRE_FALSE(IsConsistent(Schema(2) + Doubles(16, {0.5})));
}

TEST_CASE("numbers may be packed, loose or in pieces", "[remote_write][histogram]") {
  REQUIRE(IsConsistent(Count(30) + Span(11, -2, 3) + VarintField(12, Zigzag(10)) + Deltas(12, {2}) +
                       VarintField(12, Zigzag(-4))));
  REQUIRE(IsConsistent(FloatCount(3) + Doubles(13, {1}) + Span(11, -2, 2) + DoubleField(13, 2)));
}

TEST_CASE("a histogram whose shape is wrong is an error, not inconsistent",
          "[remote_write][histogram]") {
  bool consistent = false;
  REQUIRE(CheckHistogram(VarintField(3, 1), consistent) == DecodeError::kWrongWireType);
  REQUIRE(CheckHistogram(BytesField(13, "1234567"), consistent) == DecodeError::kTruncated);
  REQUIRE(CheckHistogram(BytesField(12, "\x80"), consistent) == DecodeError::kTruncated);
  REQUIRE(CheckHistogram(BytesField(11, "\x0d"), consistent) == DecodeError::kWrongWireType);
  REQUIRE(CheckHistogram(Key(1, 0), consistent) == DecodeError::kTruncated);
}
