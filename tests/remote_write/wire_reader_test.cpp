#include "remote_write/wire_reader.h"

#include "tests/catch.h"
#include "tests/remote_write/wire_builder.h"

using namespace tidemark::remote_write;
using namespace tidemark::remote_write::test;

namespace {

DecodeError SkipOne(std::string_view bytes) {
  WireReader reader(bytes);
  uint32_t key = 0;
  if (const DecodeError error = reader.ReadKey(key); error != DecodeError::kNone) return error;
  return reader.Skip(key);
}

}  // namespace

TEST_CASE("a varint is read whatever its length up to ten bytes", "[remote_write][wire]") {
  for (const uint64_t value : {uint64_t{0}, uint64_t{1}, uint64_t{127}, uint64_t{128},
                               uint64_t{16384}, uint64_t{UINT32_MAX}, UINT64_MAX}) {
    for (size_t size = 1; size <= 10; ++size) {
      const std::string bytes = Varint(value, size);
      CAPTURE(value, size);
      WireReader reader(bytes);
      uint64_t read = 77;
      REQUIRE(reader.ReadVarint(read) == DecodeError::kNone);
      REQUIRE(read == value);
      REQUIRE(reader.AtEnd());
    }
  }
}

TEST_CASE("a varint of eleven bytes is refused", "[remote_write][wire]") {
  const std::string bytes = Varint(1, 11);
  WireReader reader(bytes);
  uint64_t read = 0;
  REQUIRE(reader.ReadVarint(read) == DecodeError::kVarintTooLong);
}

TEST_CASE("whatever ends in the middle is truncated, never a shorter value",
          "[remote_write][wire]") {
  const std::vector<std::string> fields = {
      VarintField(3, 1ULL << 40), Fixed64Field(3, 7), Key(3, 5) + "abcd",
      Key(3, 3) + VarintField(1, 5) + Key(3, 4), VarintField(400000, 1)};
  for (const std::string& field : fields) {
    REQUIRE(SkipOne(field) == DecodeError::kNone);
    for (size_t size = 0; size < field.size(); ++size) {
      CAPTURE(size);
      REQUIRE(SkipOne(std::string_view(field).substr(0, size)) == DecodeError::kTruncated);
    }
  }
}

TEST_CASE("a length that passes the end of the message is refused", "[remote_write][wire]") {
  REQUIRE(SkipOne(BytesField(1, "abc")) == DecodeError::kNone);
  const std::string cut = BytesField(1, "abc").substr(0, 4);
  REQUIRE(SkipOne(cut) == DecodeError::kLengthPastEnd);
  REQUIRE(SkipOne(Key(1, 2) + Varint(UINT64_MAX)) == DecodeError::kLengthPastEnd);
  REQUIRE(SkipOne(Key(1, 2) + Varint(1ULL << 63) + "abc") == DecodeError::kLengthPastEnd);
}

TEST_CASE("field numbers and wire types that do not exist are refused", "[remote_write][wire]") {
  REQUIRE(SkipOne(Key(0, 0) + Varint(1)) == DecodeError::kBadFieldNumber);
  REQUIRE(SkipOne(Varint(uint64_t{1} << 32) + Varint(1)) == DecodeError::kBadFieldNumber);
  REQUIRE(SkipOne(Key((1U << 29) - 1, 0) + Varint(1)) == DecodeError::kNone);
  REQUIRE(SkipOne(Key(1, 6)) == DecodeError::kBadWireType);
  REQUIRE(SkipOne(Key(1, 7)) == DecodeError::kBadWireType);
}

TEST_CASE("unknown groups are skipped with all that is in them", "[remote_write][wire]") {
  const std::string inner =
      Key(9, 3) + BytesField(2, "text") + Fixed64Field(3, 1) + Key(4, 5) + "1234" + Key(9, 4);
  const std::string bytes = Key(5, 3) + inner + inner + Key(5, 4) + VarintField(1, 3);
  WireReader reader(bytes);
  uint32_t key = 0;
  REQUIRE(reader.ReadKey(key) == DecodeError::kNone);
  REQUIRE(reader.Skip(key) == DecodeError::kNone);
  REQUIRE(reader.ReadKey(key) == DecodeError::kNone);
  REQUIRE(key == FieldKey(1, WireType::kVarint));
}

TEST_CASE("groups that do not match or are nested too deep are refused", "[remote_write][wire]") {
  REQUIRE(SkipOne(Key(5, 4)) == DecodeError::kGroupMismatch);
  REQUIRE(SkipOne(Key(5, 3) + Key(6, 4)) == DecodeError::kGroupMismatch);
  std::string open;
  std::string close;
  for (size_t i = 0; i < WireReader::kMaxGroupDepth; ++i) {
    open += Key(5, 3);
    close += Key(5, 4);
  }
  REQUIRE(SkipOne(open + close) == DecodeError::kNone);
  REQUIRE(SkipOne(Key(5, 3) + open + close + Key(5, 4)) == DecodeError::kGroupTooDeep);
  REQUIRE(SkipOne(std::string(1 << 20, Key(5, 3)[0])) == DecodeError::kGroupTooDeep);
}

TEST_CASE("a known field with another wire type is refused, an unknown one skipped",
          "[remote_write][wire]") {
  const std::string bytes = VarintField(1, 5) + VarintField(40, 5);
  WireReader reader(bytes);
  uint32_t key = 0;
  REQUIRE(reader.ReadKey(key) == DecodeError::kNone);
  REQUIRE(SkipUnknown(reader, key, 1U << 1) == DecodeError::kWrongWireType);
  REQUIRE(SkipUnknown(reader, key, 1U << 2) == DecodeError::kNone);
  REQUIRE(reader.ReadKey(key) == DecodeError::kNone);
  REQUIRE(SkipUnknown(reader, key, ~0U) == DecodeError::kNone);
  REQUIRE(reader.AtEnd());
}

TEST_CASE("every error has a text of its own", "[remote_write][wire]") {
  std::vector<std::string_view> seen;
  for (uint8_t i = 1; i <= static_cast<uint8_t>(DecodeError::kGroupTooDeep); ++i) {
    const std::string_view text = Message(static_cast<DecodeError>(i));
    REQUIRE_FALSE(text.empty());
    REQUIRE(std::find(seen.begin(), seen.end(), text) == seen.end());
    seen.push_back(text);
  }
  REQUIRE(Message(DecodeError::kNone).empty());
}
