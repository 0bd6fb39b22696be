// What is kept of the decisions on one workload, as bytes.
#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include "engine/scaling_state.h"

namespace tidemark::engine {
namespace {

using scaling::Scaler;
using workloads::kMinuteMs;

/// Why a minute was not decided on. Their places are what is written: they stay.
constexpr std::array<std::string_view, 5> kReasons = {"", "no_bounds", "no_replicas", "no_request",
                                                      "no_limit"};

bool IsAmount(double value) { return std::isfinite(value) && value > 0; }

void SaveNumber(ByteWriter& out, const std::optional<double>& value) {
  out.Bool(value.has_value());
  if (value) out.Double(*value);
}

std::optional<double> ReadNumber(ByteReader& in) {
  if (!in.Bool()) return std::nullopt;
  return in.Double();
}

/// Of 0 to kMaxReplicas.
int32_t ReadCount(ByteReader& in) {
  const uint64_t count = in.Varint();
  if (count <= static_cast<uint64_t>(kMaxReplicas)) return static_cast<int32_t>(count);
  in.Fail();
  return 0;
}

void SaveFacts(const WorkloadScaling& newest, ByteWriter& out) {
  out.Signed(newest.minute_ms);
  out.Double(newest.demand.value_or(0));
  SaveNumber(out, newest.request);
  out.Bool(newest.bounds.has_value());
  if (newest.bounds) {
    out.Varint(static_cast<uint64_t>(newest.bounds->min));
    out.Varint(static_cast<uint64_t>(newest.bounds->max));
  }
  out.Bool(newest.current_replicas.has_value());
  if (newest.current_replicas) out.Varint(static_cast<uint64_t>(*newest.current_replicas));
  out.Varint(static_cast<uint64_t>(newest.startup_ms));
  out.Bool(newest.is_startup_measured);
  out.Varint(static_cast<uint64_t>(int64_t{newest.ready_pods} + 1));
  out.Varint(newest.missing_pods);
  out.Bool(newest.is_censored);
  const auto* const why = std::find(kReasons.begin(), kReasons.end(), newest.why);
  out.Byte(static_cast<uint8_t>(why - kReasons.begin()));
}

/// Fails the reader where it is nothing that SaveFacts can have written.
WorkloadScaling ReadFacts(ByteReader& in) {
  constexpr int64_t kMostMs = INT64_MAX / 4;
  WorkloadScaling newest;
  newest.minute_ms = in.Signed();
  newest.demand = in.Double();
  newest.request = ReadNumber(in);
  if (in.Bool()) {
    newest.bounds = ReplicaBounds{.min = ReadCount(in), .max = ReadCount(in)};
    if (newest.bounds->min < 1 || newest.bounds->max < newest.bounds->min) in.Fail();
  }
  if (in.Bool()) newest.current_replicas = ReadCount(in);
  const uint64_t startup_ms = in.Varint();
  newest.startup_ms = static_cast<int64_t>(startup_ms);
  newest.is_startup_measured = in.Bool();
  const uint64_t ready = in.Varint();
  newest.ready_pods = static_cast<int32_t>(ready) - 1;
  const uint64_t missing = in.Varint();
  newest.missing_pods = static_cast<uint32_t>(missing);
  newest.is_censored = in.Bool();
  const uint8_t why = in.Byte();
  const bool good = newest.minute_ms >= 0 && newest.minute_ms < kMostMs &&
                    std::isfinite(*newest.demand) && *newest.demand >= 0 &&
                    (!newest.request || IsAmount(*newest.request)) &&
                    startup_ms <= static_cast<uint64_t>(kMaxStartupMs) &&
                    ready <= static_cast<uint64_t>(kMaxReplicas) + 1 && missing <= UINT32_MAX &&
                    why < kReasons.size();
  if (!good) {
    in.Fail();
    return {};
  }
  newest.lead_minutes = scaling::LeadMinutes(newest.startup_ms);
  newest.why = kReasons[why];
  return newest;
}

}  // namespace

void ScalingState::Save(uint32_t container, const ResourceTable& names, ByteWriter& out) const {
  const KeptScaling& kept = *Find(container)->kept;
  out.Text(names.NameOf(kept.resource));
  SaveFacts(kept.newest, out);
  out.Bool(kept.scaler.has_value());
  if (kept.scaler) kept.scaler->Save(out);
}

Result<std::optional<KeptScaling>> ScalingState::Read(uint32_t container,
                                                      const ResourceTable& names,
                                                      ByteReader& in) const {
  const Entry* const entry = Find(container);
  const Terms& terms = entry == nullptr ? usual_ : entry->terms;
  KeptScaling kept;
  const auto resource = names.Parse(in.Text());
  kept.newest = ReadFacts(in);
  const bool has_scaler = in.Bool();
  if (has_scaler && !in.failed()) {
    auto scaler = Scaler::Restore(in, terms.policy, true);
    if (!scaler) return tl::unexpected(std::move(scaler.error()));
    kept.scaler.emplace(std::move(*scaler));
  }
  // Decided on is the newest minute where nothing stood in the way, by the scaler's last decision.
  const bool is_decided = !in.failed() && kept.newest.why.empty();
  const bool good =
      !is_decided ||
      (kept.scaler && kept.scaler->last() && kept.newest.bounds && kept.newest.current_replicas &&
       kept.scaler->last_minute() == kept.newest.minute_ms / kMinuteMs);
  if (in.failed() || !good) {
    return Fail(ErrorCode::kInvalidArgument,
                "saved decisions on replicas: they are cut, or numbers in them cannot be");
  }
  if (is_decided) kept.newest.decision = kept.scaler->last();
  // The base goes by the rule, and so does its kind.
  kept.newest.base_kind = terms.base_kind;
  if (!resource || !terms.enabled) return std::optional<KeptScaling>();
  kept.resource = *resource;
  return std::optional(std::move(kept));
}

}  // namespace tidemark::engine
