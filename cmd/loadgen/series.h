#pragma once
// One series of the load: its labels as they go over the wire, and its value as a function of time.
// Values and times of a series depend on the seed and the time alone, so that a run can be cut in
// two and the second half goes on where the first ended.

#include <cstdint>
#include <string>

namespace tidemark::loadgen {

/// How a value moves.
struct Shape {
  enum class Kind : uint8_t {
    kConstant,  ///< `level`
    kCounter,  ///< grows by `level` a second on average, ±30 % in a daily wave, from 0 at origin_ms
    kBytes,    ///< `level` ±10 % in a daily wave, in whole pages of 4 KiB
  };
  Kind kind = Kind::kConstant;
  double level = 0;
  int64_t origin_ms = 0;
  double phase = 0;  ///< of the wave, in radians
};

/// Never negative; a counter never falls.
double ValueAt(const Shape& shape, int64_t time_ms);

/// The metric that a series is of: what it is called, and what a 2.0 sender tells of it.
struct Family {
  const char* name;
  const char* help;
  bool is_counter;
};

struct LoadSeries {
  std::string label_bytes;  ///< canonical encoding (model/label.h)
  const Family* family = nullptr;
  Shape shape;
  int32_t offset_ms = 0;  ///< when in a round its target is scraped
  bool ends = false;      ///< this round brings its stale marker
};

}  // namespace tidemark::loadgen
