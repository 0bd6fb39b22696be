// Any bytes as a configuration: no crash, one line of error, and what is taken is dumped and read
// again as the same.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "cmd/config.h"

namespace {

void Require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view yaml(reinterpret_cast<const char*>(data), size);
  const auto config = tidemark::cmd::ParseConfig(yaml, "fuzz.yml");
  if (!config) {
    const std::string& message = config.error().message;
    Require(message.starts_with("fuzz.yml:"));
    Require(std::none_of(message.begin(), message.end(),
                         [](char c) { return static_cast<unsigned char>(c) < 0x20; }));
    return 0;
  }
  const std::string dump = tidemark::cmd::DumpConfig(*config);
  const auto again = tidemark::cmd::ParseConfig(dump, "dump.yml");
  Require(again.has_value());
  Require(tidemark::cmd::DumpConfig(*again) == dump);
  return 0;
}
