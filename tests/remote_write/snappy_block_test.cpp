#include "remote_write/snappy_block.h"

#include "tests/catch.h"
#include "tests/remote_write/wire_builder.h"

using namespace tidemark;
using namespace tidemark::remote_write;
using namespace tidemark::remote_write::test;
using namespace std::string_literals;
using Catch::Matchers::Contains;

namespace {

constexpr uint64_t kLimit = 1 << 20;

std::string ErrorOf(std::string_view block, uint64_t limit = kLimit) {
  UnpackBuffer buffer;
  const auto result = UnpackBlock(block, limit, buffer);
  REQUIRE_FALSE(result.has_value());
  REQUIRE(result.error().code == ErrorCode::kInvalidArgument);
  return result.error().message;
}

}  // namespace

TEST_CASE("a block is unpacked into the buffer it is given", "[remote_write][snappy]") {
  UnpackBuffer buffer;
  for (const std::string& text : {""s, "x"s, std::string(70000, 'a'), "short again"s}) {
    const auto result = UnpackBlock(Pack(text), kLimit, buffer);
    REQUIRE(result.has_value());
    REQUIRE(*result == text);
  }
}

// row 10 of docs/remote-write.md.
TEST_CASE("a block is refused on its claim and nothing is reserved", "[remote_write][snappy]") {
  UnpackBuffer buffer;
  const std::string huge = Varint(UINT32_MAX) + std::string(100, 'x');
  REQUIRE_FALSE(UnpackBlock(huge, kLimit, buffer).has_value());
  REQUIRE(buffer.capacity() == 0);
  REQUIRE_THAT(ErrorOf(huge), Contains("4294967295") && Contains("1048576"));
  REQUIRE_THAT(ErrorOf(Varint(1ULL << 33) + "x"), Contains("size"));

  REQUIRE(UnpackBlock(Pack(std::string(kLimit, 'a')), kLimit, buffer).has_value());
  REQUIRE_FALSE(UnpackBlock(Pack(std::string(kLimit + 1, 'a')), kLimit, buffer).has_value());
}

TEST_CASE("a claim that the block's length cannot hold reserves nothing",
          "[remote_write][snappy]") {
  UnpackBuffer buffer;
  const std::string liar = Varint(kLimit) + std::string(40, '\0');
  REQUIRE_FALSE(UnpackBlock(liar, kLimit, buffer).has_value());
  REQUIRE(buffer.capacity() == 0);
}

// row 9 of docs/remote-write.md.
TEST_CASE("cut, damaged and prolonged blocks are refused", "[remote_write][snappy]") {
  std::string text;
  for (int i = 0; i < 2000; ++i) text += std::to_string(i * i);
  const std::string block = Pack(text);
  for (size_t size = 0; size < block.size(); size += 7) {
    CAPTURE(size);
    ErrorOf(std::string_view(block).substr(0, size));
  }
  ErrorOf(std::string_view(block).substr(0, block.size() - 1));
  ErrorOf(block + "x");
  ErrorOf(Pack("") + "x");
  REQUIRE_THAT(ErrorOf(""), Contains("empty"));
}

TEST_CASE("the error names what the first bytes look like", "[remote_write][snappy]") {
  REQUIRE_THAT(ErrorOf("\x1f\x8b\x08\x00\x00\x00\x00\x00"s), Contains("gzip"));
  REQUIRE_THAT(ErrorOf("\x28\xb5\x2f\xfd\x04\x00"s), Contains("zstd"));
  REQUIRE_THAT(ErrorOf("\xff\x06\x00\x00sNaPpY\x01\x00"s), Contains("framed"));
  REQUIRE_THAT(ErrorOf("{\"streams\": []}"), Contains("JSON"));
  REQUIRE_THAT(ErrorOf(Series({{"__name__", "up"}}, 1, 1)), Contains("plain protobuf"));
  REQUIRE_THAT(ErrorOf("\x05nothing that is known"), !Contains("look like"));
}

TEST_CASE("memory over the kept size is given back", "[remote_write][snappy]") {
  UnpackBuffer buffer;
  const std::string large(UnpackBuffer::kKeptBytes + 1, 'a');
  REQUIRE(UnpackBlock(Pack(large), 32 << 20, buffer).has_value());
  REQUIRE(buffer.capacity() >= large.size());
  buffer.Trim();
  REQUIRE(buffer.capacity() == 0);
  REQUIRE(*UnpackBlock(Pack("small"), kLimit, buffer) == "small");
  const size_t kept = buffer.capacity();
  buffer.Trim();
  REQUIRE(buffer.capacity() == kept);
}
