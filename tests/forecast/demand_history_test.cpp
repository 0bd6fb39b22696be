#include "forecast/demand_history.h"

#include <cmath>
#include <random>

#include "tests/catch.h"

namespace tidemark::forecast {
namespace {

constexpr int64_t kStart = 20'000 * 1440LL + 700;

std::string Bytes(const DemandHistory& history) {
  std::string bytes;
  ByteWriter out(bytes);
  history.Save(out);
  return bytes;
}

}  // namespace

TEST_CASE("what is put is read to within a 65534th of the day's largest") {
  DemandHistory history;
  std::mt19937_64 random(7);
  std::vector<double> put;
  double largest = 0;
  for (int i = 0; i < 700; ++i) {  // all of one day
    put.push_back(std::uniform_real_distribution<>(0, 40)(random));
    largest = std::max(largest, put.back());
    history.Put(kStart + i, put.back());
  }
  for (int i = 0; i < 700; ++i) {
    // Half a code, for the scale leaves room to grow; and half of each that was made anew.
    REQUIRE(std::abs(history.At(kStart + i) - put[static_cast<size_t>(i)]) <= 4 * largest / 65534);
  }
}

TEST_CASE("a gap stays one, and what is older than eight days is gone") {
  DemandHistory history;
  history.Put(kStart, 3);
  history.Put(kStart + 5, 4);
  CHECK(std::isnan(history.At(kStart + 1)));
  CHECK(std::isnan(history.At(kStart + 6)));
  CHECK(history.Span() == 6);
  history.Put(kStart + 8 * 1440 + 2, 5);
  CHECK(std::isnan(history.At(kStart)));
  CHECK(history.oldest() == kStart + 5);
  history.Put(kStart + 1, 7);  // before the window
  CHECK(std::isnan(history.At(kStart + 1)));
  history.Put(kStart + 3, 7);
  CHECK(history.oldest() == kStart + 3);
  CHECK(history.At(kStart + 3) == Approx(7).epsilon(1e-4));
  history.Put(kStart + 30 * 1440, 1);
  CHECK(history.Span() == 1);
  CHECK(std::isnan(history.At(kStart + 8 * 1440 + 2)));
}

TEST_CASE("nothing is known of nothing") {
  DemandHistory history;
  CHECK(history.IsEmpty());
  CHECK(std::isnan(history.At(0)));
  CHECK(history.Series().values.empty());
  history.Put(-1, 1);
  history.Put(5, std::nan(""));
  CHECK(history.IsEmpty());
  history.Put(5, 0);
  CHECK(history.At(5) == 0);
}

TEST_CASE("a history is the same after it was saved, and other bytes are refused") {
  DemandHistory history;
  std::mt19937_64 random(3);
  for (int i = 0; i < 12'000; ++i) {
    if (random() % 10 != 0) history.Put(kStart + i, static_cast<double>(random() % 1000) / 7);
  }
  const std::string bytes = Bytes(history);
  ByteReader in(bytes);
  DemandHistory restored;
  restored.Restore(in);
  REQUIRE(in.AtEnd());
  CHECK(Bytes(restored) == bytes);
  for (int64_t step = history.oldest(); step <= history.newest(); ++step) {
    const float before = history.At(step);
    const float after = restored.At(step);
    REQUIRE((before == after || (std::isnan(before) && std::isnan(after))));
  }
  for (size_t cut = 0; cut < bytes.size(); cut += 97) {
    ByteReader half(std::string_view(bytes).substr(0, cut));
    restored.Restore(half);
    REQUIRE(half.failed());
    REQUIRE(restored.IsEmpty());
  }
}

TEST_CASE("a window is what the steps are, with gaps before the first") {
  DemandHistory history;
  for (int i = 0; i < 2000; ++i) history.Put(kStart + i, i);
  std::vector<float> window(2100);
  history.Window(kStart + 1999, window);
  CHECK(std::isnan(window[99]));
  CHECK(window[100] == 0);
  CHECK(window[2099] == Approx(1999).epsilon(1e-4));
}

TEST_CASE("an earlier history fills what is not known and changes nothing else") {
  DemandHistory past;
  for (int i = 0; i < 100; ++i) past.Put(kStart + i, 5);
  DemandHistory live;
  for (int i = 80; i < 120; ++i) live.Put(kStart + i, 9);
  live.FillFrom(past);
  CHECK(live.oldest() == kStart);
  CHECK(live.At(kStart + 79) == Approx(5).epsilon(1e-3));
  CHECK(live.At(kStart + 80) == Approx(9).epsilon(1e-3));
}

TEST_CASE("coarser steps are means of what is known") {
  DemandHistory history;
  const int64_t at = 20'000 * 1440LL;
  history.Put(at, 2);
  history.Put(at + 1, 4);
  history.Put(at + 6, 8);
  const DemandHistory coarse = history.InStepsOf(5);
  CHECK(coarse.At(at / 5) == Approx(3).epsilon(1e-3));
  CHECK(coarse.At(at / 5 + 1) == Approx(8).epsilon(1e-3));
}

}  // namespace tidemark::forecast
