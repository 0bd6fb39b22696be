#include "model/byte_budget.h"

#include <thread>
#include <vector>

#include "tests/catch.h"

namespace tidemark {
namespace {

TEST_CASE("a byte budget is never passed", "[model][budget]") {
  ByteBudget budget(100);
  CHECK(budget.TryTake(60));
  CHECK_FALSE(budget.HasRoom(41));
  CHECK_FALSE(budget.TryTake(41));
  CHECK_FALSE(budget.TryTake(UINT64_MAX));
  CHECK(budget.HasRoom(40));
  CHECK(budget.TryTake(40));
  CHECK(budget.taken() == 100);
  budget.Give(100);
  CHECK(budget.taken() == 0);
}

TEST_CASE("what a share takes the whole loses, and the share cannot take all of it",
          "[model][budget]") {
  std::atomic<int64_t> taken_now = 0;
  ByteBudget whole(100, nullptr, &taken_now);
  ByteBudget share(50, &whole);
  CHECK_FALSE(share.TryTake(51));
  CHECK(share.TryTake(50));
  CHECK(whole.taken() == 50);
  CHECK(taken_now == 50);
  CHECK_FALSE(share.TryTake(1));
  CHECK(whole.TryTake(50));
  share.Give(50);
  CHECK(whole.taken() == 50);

  SECTION("a share that has room takes nothing when the whole has none") {
    CHECK(whole.TryTake(30));
    CHECK_FALSE(share.HasRoom(21));
    CHECK_FALSE(share.TryTake(21));
    CHECK(share.taken() == 0);
    CHECK(whole.taken() == 80);
    CHECK(share.TryTake(20));
    CHECK(taken_now == 100);
  }
}

TEST_CASE("many threads lose and gain no byte", "[model][budget]") {
  std::atomic<int64_t> taken_now = 0;
  ByteBudget whole(1000, nullptr, &taken_now);
  ByteBudget share(500, &whole);
  std::atomic<bool> passed = false;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      ByteBudget& budget = i % 2 == 0 ? whole : share;
      for (int round = 0; round < 20'000; ++round) {
        const uint64_t bytes = static_cast<uint64_t>(round % 400);
        if (!budget.TryTake(bytes)) continue;
        if (whole.taken() > 1000 || share.taken() > 500) passed = true;
        budget.Give(bytes);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK_FALSE(passed);
  CHECK(whole.taken() == 0);
  CHECK(share.taken() == 0);
  CHECK(taken_now == 0);
}

}  // namespace
}  // namespace tidemark
