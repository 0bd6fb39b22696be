#include "cmd/loadgen/series.h"

#include <cmath>
#include <numbers>

namespace tidemark::loadgen {
namespace {

constexpr double kDaySeconds = 86'400;
constexpr double kTurn = 2 * std::numbers::pi / kDaySeconds;  // radians a second

}  // namespace

double ValueAt(const Shape& shape, int64_t time_ms) {
  if (shape.kind == Shape::Kind::kConstant) return shape.level;
  const double seconds = static_cast<double>(time_ms - shape.origin_ms) / 1000;
  const double angle = shape.phase + kTurn * seconds;
  if (shape.kind == Shape::Kind::kBytes) {
    constexpr double kPage = 4096;
    return std::floor(shape.level * (1 + 0.1 * std::sin(angle)) / kPage) * kPage;
  }
  if (seconds <= 0) return 0;
  // The integral of level * (1 + 0.3 sin(angle)).
  return shape.level * (seconds + 0.3 / kTurn * (std::cos(shape.phase) - std::cos(angle)));
}

}  // namespace tidemark::loadgen
