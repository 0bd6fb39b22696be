// Records on disk: what is good, what is not, and that the same record always looks the same.

#include "storage/frame.h"

#include <cstring>
#include <string>

#include "tests/catch.h"

namespace tidemark::storage {
namespace {

TEST_CASE("a frame gives its payload and the number before it, at its own number only",
          "[storage][frame]") {
  for (const uint64_t number : {uint64_t{1}, uint64_t{300}, ~uint64_t{0}}) {
    for (const size_t size : {size_t{0}, size_t{1}, size_t{16}, size_t{240}, size_t{100'000}}) {
      for (const uint64_t distance : {uint64_t{1}, number}) {
        const std::string payload(size, 'p');
        const std::string stored = FrameHead(number, number - distance, payload) + payload;
        const auto frame = ReadFrame(number, stored);
        REQUIRE(frame.has_value());
        CHECK(frame->payload == payload);
        CHECK(frame->previous == number - distance);
        CHECK_FALSE(ReadFrame(number - 1, stored).has_value());
        CHECK_FALSE(ReadFrame(number, stored + "x").has_value());
        CHECK_FALSE(ReadFrame(number, stored.substr(0, stored.size() - 1)).has_value());
      }
    }
  }
}

TEST_CASE("any flipped bit of a frame is noticed", "[storage][frame]") {
  const std::string payload(50, 'p');
  const std::string stored = FrameHead(1000, 700, payload) + payload;
  for (size_t bit = 0; bit < stored.size() * 8; ++bit) {
    std::string bad = stored;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << (bit % 8)));
    REQUIRE_FALSE(ReadFrame(1000, bad).has_value());
  }
}

TEST_CASE("a frame does not follow from what the stack held before", "[storage][frame]") {
  const std::string payload(5000, 'p');
  const std::string head = FrameHead(12, 11, payload);
  for (uint64_t number = 0; number < 2000; ++number) {
    // Leaves states with this number's seed, and then other things over parts of them.
    static_cast<void>(FrameHead(12 + number % 7, 11, payload));
    volatile char dirt[2048];
    for (size_t i = number % 64; i < sizeof dirt; i += 1 + number % 31) {
      dirt[i] = static_cast<char>(12);
    }
    REQUIRE(FrameHead(12, 11, payload) == head);
  }
}

}  // namespace
}  // namespace tidemark::storage
