#pragma once
// What the sender of a refused request is told. Senders log only the first 256 to 1,024 bytes of an
// answer, so the reason comes first, then how much was refused for which reason, then one example.

#include <string>

#include "model/sink.h"
#include "remote_write/batch_filler.h"
#include "remote_write/limits.h"

namespace tidemark::remote_write {

/// No answer is longer than this, its newline included.
inline constexpr size_t kMaxTextBytes = 1024;

/// The text for a request of which something was refused: here (`tally`) or by the engine
/// (`verdict`). Empty when nothing was. Fit to be shown: valid UTF-8, no control bytes.
std::string RefusalText(const FillTally& tally, const WriteVerdict& verdict, const Limits& limits);

}  // namespace tidemark::remote_write
