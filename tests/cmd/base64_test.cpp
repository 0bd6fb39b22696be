#include "cmd/base64.h"

#include <random>

#include "tests/catch.h"
#include "tests/seed.h"

namespace tidemark::cmd {

TEST_CASE("the examples of RFC 4648 hold", "[cmd][base64]") {
  const std::pair<std::string, std::string> examples[] = {{"", ""},
                                                          {"f", "Zg=="},
                                                          {"fo", "Zm8="},
                                                          {"foo", "Zm9v"},
                                                          {"foob", "Zm9vYg=="},
                                                          {"fooba", "Zm9vYmE="},
                                                          {"foobar", "Zm9vYmFy"}};
  for (const auto& [bytes, text] : examples) {
    CHECK(EncodeBase64(bytes) == text);
    CHECK(DecodeBase64(text) == bytes);
  }
  CHECK(DecodeBase64("Zm9v\n  YmFy\n") == "foobar");
  for (const char* const bad :
       {"Z", "Zg", "Zg=", "Zg===", "Z===", "====", "Zm9v=", "Zg==Zg==", "Zm-_", "Zm9v!"}) {
    INFO(bad);
    CHECK_FALSE(DecodeBase64(bad));
  }
}

TEST_CASE("any bytes come back", "[cmd][base64]") {
  const uint32_t seed = testing::Seed();
  INFO(seed);
  std::mt19937_64 random(seed);
  for (size_t size = 0; size < 200; ++size) {
    std::string bytes(size, '\0');
    for (char& c : bytes) c = static_cast<char>(random());
    CHECK(DecodeBase64(EncodeBase64(bytes)) == bytes);
  }
}

}  // namespace tidemark::cmd
