#pragma once
// How a network is trained, and what it looks at. Plain values; thread-safe.

#include <cstdint>

#include "forecast/network_shape.h"

namespace tidemark::forecast {

/// The defaults are ours; where they differ from DEBI-HPA (PaperOptions) it is for this: 760
/// minutes hold no day, so two days are learnt from; after some hundred iterations the part that is
/// held back gets no better (design evidence: 400 to 800), and 10,000 would learn noise by heart at
/// half a minute of CPU a thousand; and one answer for each horizon says less wrong of the tenth
/// minute than ten answers built on each other.
struct NetworkOptions {
  int32_t hidden = 100;    ///< units of a direction; 1 or more
  int32_t look_back = 60;  ///< minutes of change that are read; 1 or more
  int32_t batch = 32;      ///< windows an iteration; 1 or more
  double rate = 1e-3;      ///< of Adam; above 0
  double clip_norm = 1;    ///< of the gradient; 0: not clipped
  int32_t max_iterations = 800;
  /// Training ends when the mean loss is below, in units of the changes scaled to [0, 1].
  double stop_loss = 1e-4;
  int32_t train_points = 2880;    ///< the newest so many minutes; 0: all
  double validation_ratio = 0.1;  ///< of these, the newest, held back to judge by; in [0, 0.5]
  int32_t check_every = 50;       ///< iterations, after which it is judged
  int32_t patience = 8;           ///< ends after so many judgements without a better one
  Readout readout = Readout::kFinalStates;
  /// One output, of the next minute; later ones from what was forecast for earlier ones. Otherwise
  /// an output for each horizon.
  bool recursive = false;
  /// A fit that begins from known weights takes at most this part of max_iterations; in (0, 1].
  double warm_ratio = 0.25;
};

/// As DEBI-HPA says it: 760 points, 90 to 10, one output and recursion, up to 10,000 iterations or
/// a loss below 1e-4. What it leaves open is as above.
inline NetworkOptions PaperOptions() {
  NetworkOptions options;
  options.max_iterations = 10'000;
  options.train_points = 760;
  options.recursive = true;
  return options;
}

}  // namespace tidemark::forecast
