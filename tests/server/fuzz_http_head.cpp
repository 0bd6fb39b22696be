// Any bytes as the start of a connection: header block, target, credentials, chunked body. No
// crash, no endless loop, and the verdict does not depend on how the bytes are cut.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "server/chunked_body.h"
#include "server/credentials.h"
#include "server/head_scanner.h"
#include "server/request_head.h"

namespace {

using tidemark::server::ChunkedBody;
using tidemark::server::HeadScanner;

constexpr uint64_t kMaxBody = 4096;
constexpr size_t kMaxExtra = 256;

void Require(bool condition) {
  if (!condition) std::abort();
}

/// The scan of the input, `step` bytes more each time.
HeadScanner ScanInSteps(std::string_view input, size_t step, HeadScanner::State& state) {
  HeadScanner scanner;
  state = HeadScanner::State::kIncomplete;
  for (size_t size = step; state == HeadScanner::State::kIncomplete; size += step) {
    state = scanner.Scan(input.substr(0, std::min(size, input.size())));
    if (size >= input.size()) break;
  }
  return scanner;
}

struct Body {
  ChunkedBody::State state = ChunkedBody::State::kIncomplete;
  size_t consumed = 0;
  std::string data;
};

Body ReadInSteps(std::string_view input, size_t step) {
  ChunkedBody chunks(kMaxBody, kMaxExtra);
  Body body;
  while (body.state == ChunkedBody::State::kIncomplete && body.consumed < input.size()) {
    const std::string_view piece = input.substr(body.consumed, step);
    const ChunkedBody::Step done = chunks.Feed(piece, body.data);
    body.state = done.state;
    body.consumed += done.consumed;
    Require(done.state != ChunkedBody::State::kIncomplete || done.consumed == piece.size());
  }
  Require(body.data.size() <= kMaxBody);
  return body;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  auto state = HeadScanner::State::kIncomplete;
  auto bytewise = HeadScanner::State::kIncomplete;
  const HeadScanner scanner = ScanInSteps(input, std::max<size_t>(size, 1), state);
  const HeadScanner other = ScanInSteps(input, 1, bytewise);
  Require(state == bytewise);
  if (state != HeadScanner::State::kComplete) return 0;
  Require(scanner.size() == other.size() && scanner.begin() == other.begin());

  const auto head = tidemark::server::ParseRequestHead(
      input.substr(scanner.begin(), scanner.size() - scanner.begin()));
  if (!head) {
    Require(head.error().status >= 400 && head.error().status <= 499);
    Require(!head.error().text.empty());
    return 0;
  }
  Require(head->request.path.starts_with('/'));
  Require(!head->chunked || !head->request.content_length);
  const auto credentials = tidemark::server::ReadCredentials(head->request);
  Require(credentials.user.find(':') == std::string::npos);

  if (!head->chunked) return 0;
  const std::string_view rest = input.substr(scanner.size());
  const Body whole = ReadInSteps(rest, std::max<size_t>(rest.size(), 1));
  const Body pieces = ReadInSteps(rest, 1);
  Require(whole.state == pieces.state && whole.consumed == pieces.consumed);
  Require(whole.data == pieces.data);
  return 0;
}
