// The manual's examples are good, and it names every key and flag.

#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "cmd/config.h"
#include "cmd/flags.h"
#include "tests/catch.h"
#include "workloads/sources.h"

namespace tidemark::cmd {
namespace {

constexpr std::string_view kIndent = "    ";

std::vector<std::string> ManualLines() {
  std::ifstream file(TIDEMARK_TEST_DATA "/../../docs/configuration.md");
  REQUIRE(file);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

/// The indented blocks of the manual, without their indentation.
std::vector<std::string> Examples() {
  std::vector<std::string> examples;
  bool inside = false;
  for (const std::string& line : ManualLines()) {
    if (!line.starts_with(kIndent)) {
      inside = false;
      continue;
    }
    if (!inside) examples.emplace_back();
    inside = true;
    examples.back().append(line.substr(kIndent.size())).append("\n");
  }
  return examples;
}

bool ManualNames(const std::string& name) {
  for (const std::string& line : ManualLines()) {
    if (line.find('`' + name) != std::string::npos) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("The examples of the manual are good configurations", "[cmd][docs]") {
  size_t configurations = 0;
  for (const std::string& example : Examples()) {
    if (example.starts_with("tidemark ") || example.starts_with("tidetool ") ||
        example.starts_with("# of Prometheus: "))
      continue;
    CAPTURE(example);
    const auto config = ParseConfig(example, "example");
    INFO((config ? "" : config.error().message));
    CHECK(config);
    ++configurations;
  }
  CHECK(configurations == 17);
}

TEST_CASE("The manual names every flag, every key and every role", "[cmd][docs]") {
  for (const FlagSpec& flag : FlagsSpec().flags) {
    CAPTURE(flag.name);
    CHECK(ManualNames("--" + flag.name + "="));
  }
  const auto config = ParseConfig(
      "profiles: [{name: a, selector: '{}'}]\nforecast: {workloads: [{selector: '{}'}]}\nscaling: "
      "{workloads: [{selector: '{}'}]}\nrightsizing: {rules: [{selector: '{}', mode: off}]}",
      "one");
  REQUIRE(config);
  const std::string dump = DumpConfig(*config);
  for (size_t begin = 0; begin < dump.size();) {
    const size_t end = dump.find('\n', begin);
    std::string key = dump.substr(begin, dump.find(':', begin) - begin);
    key.erase(0, key.find_first_not_of(" -"));
    CAPTURE(key);
    CHECK((ManualNames(key + "`") || key == "sources" || key == "estimation" || key == "profiles" ||
           key == "forecast" || key == "scaling" || key == "rightsizing" || key == "kubernetes" ||
           key == "compat" || key == "remote_write" || key == "limits" || key == "storage" ||
           key == "backfill" || key == "prices"));
    begin = end + 1;
  }
  for (auto role = workloads::Role::kNone; role <= workloads::Role::kPodLabels;
       role = static_cast<workloads::Role>(static_cast<uint8_t>(role) + 1)) {
    CAPTURE(workloads::ToString(role));
    CHECK(ManualNames(std::string(workloads::ToString(role)) + "`"));
  }
}

}  // namespace tidemark::cmd
