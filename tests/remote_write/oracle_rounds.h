#pragma once
// The rounds of random messages that both protocols are compared with libprotobuf in.

#include <string>

#include "remote_write/request_shape.h"
#include "remote_write/wire_reader.h"
#include "tests/catch.h"
#include "tests/remote_write/oracle_common.h"
#include "tests/remote_write/random_request.h"
#include "tests/seed.h"

namespace tidemark::remote_write::test {

/// One protocol: `Request` is libprotobuf's.
template <class Request>
struct Comparison {
  std::string (*make_message)(RandomRequest&);
  DecodeError (*validate)(const std::string& bytes, RequestShape& shape);
  /// Requires that the receiver takes of `bytes` what stands in the request.
  void (*compare_taken)(const std::string& bytes, const Request& request);
  size_t (*count_taken)(const Request& request);
  const MessageType& type;
};

template <class Request>
void CompareLegalMessages(const Comparison<Request>& comparison, int64_t now_ms) {
  const uint32_t seed = testing::Seed();
  INFO("seed " << seed);
  RandomRequest random(seed, now_ms);
  size_t taken = 0;
  for (int round = 0; round < 600; ++round) {
    CAPTURE(round);
    const std::string bytes = comparison.make_message(random);
    Request request;
    REQUIRE(request.ParseFromString(bytes));
    RequestShape shape;
    REQUIRE(comparison.validate(bytes, shape) == DecodeError::kNone);
    comparison.compare_taken(bytes, request);
    taken += comparison.count_taken(request);
    // The same message as libprotobuf would write it is the same request.
    comparison.compare_taken(request.SerializeAsString(), request);
  }
  REQUIRE(taken > 600);
}

template <class Request>
void CompareBrokenMessages(const Comparison<Request>& comparison, int64_t now_ms) {
  const uint32_t seed = testing::Seed();
  INFO("seed " << seed);
  RandomRequest random(seed, now_ms);
  size_t accepted = 0;
  size_t refused = 0;
  size_t explained = 0;
  for (int round = 0; round < 300; ++round) {
    const std::string message = comparison.make_message(random);
    for (int i = 0; i < 40; ++i) {
      CAPTURE(round, i);
      const std::string bytes = random.Mutate(message);
      Request request;
      const bool oracle_accepts = request.ParseFromString(bytes);
      RequestShape shape;
      const DecodeError error = comparison.validate(bytes, shape);
      CAPTURE(Message(error));
      if (error == DecodeError::kNone && oracle_accepts) {
        ++accepted;
        if (!shape.looks_like_other) comparison.compare_taken(bytes, request);
      } else if (error != DecodeError::kNone && !oracle_accepts) {
        ++refused;
      } else if (error == DecodeError::kWrongWireType) {
        ++explained;  // libprotobuf takes it for an unknown field
      } else {
        ++explained;
        REQUIRE(HasLongKeyOrLength(bytes, comparison.type));
      }
    }
  }
  REQUIRE(accepted > 500);
  REQUIRE(refused > 2000);
  REQUIRE(explained < (accepted + refused) / 5);
}

}  // namespace tidemark::remote_write::test
