#include "cmd/config_kubernetes.h"

#include <fmt/format.h>

#include <chrono>

#include "cmd/config_fields.h"
#include "cmd/config_given.h"
#include "cmd/units.h"

namespace tidemark::cmd {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

Result<void> ReadFreshness(const YamlValue& value, kubernetes::Freshness& out) {
  GivenKeys given;
  constexpr milliseconds kMost{kubernetes::kMostHeldMs};
  auto done = value.ReadMap({{"serve", given.Noting("serve", Duration(out.serve_ms, 1s, kMost))},
                             {"hold", given.Noting("hold", Duration(out.hold_ms, 1s, kMost))}});
  if (done && out.serve_ms > out.hold_ms) {
    return given.Last({"serve", "hold"}, value)
        .Wrong(fmt::format("serve ({}) is longer than hold ({}), allowed: at most as long",
                           FormatDuration(milliseconds(out.serve_ms)),
                           FormatDuration(milliseconds(out.hold_ms))));
  }
  return done;
}

}  // namespace

Result<void> ReadKubernetes(const YamlValue& value, kubernetes::Freshness& out) {
  return value.ReadMap(
      {{"freshness", [&out](const YamlValue& map) { return ReadFreshness(map, out); }}});
}

std::string DumpKubernetes(const kubernetes::Freshness& freshness) {
  return fmt::format("kubernetes:\n  freshness:\n    serve: {}\n    hold: {}\n",
                     FormatDuration(milliseconds(freshness.serve_ms)),
                     FormatDuration(milliseconds(freshness.hold_ms)));
}

}  // namespace tidemark::cmd
