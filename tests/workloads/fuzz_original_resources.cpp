// Any bytes as the annotation of original requests: what is read is sorted, finite and not
// negative, and comes back from its saved bytes.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "workloads/original_resources.h"

namespace {

void Require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tidemark;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  {
    ByteReader in(text);  // as saved bytes
    static_cast<void>(workloads::RestoreOriginalRequests(in));
  }
  const auto requests = workloads::ParseOriginalRequests(text);
  if (!requests) return 0;
  for (const auto& of : *requests) {
    Require(workloads::FindOriginalRequest(*requests, of.container) == &of);
    of.request.ForEach([](Resource, const auto& request) {
      Require(!request || (std::isfinite(*request) && *request >= 0));
    });
  }
  std::string bytes;
  ByteWriter out(bytes);
  workloads::SaveOriginalRequests(*requests, out);
  ByteReader in(bytes);
  const auto again = workloads::RestoreOriginalRequests(in);
  Require(again && *again == *requests && in.AtEnd());
  return 0;
}
