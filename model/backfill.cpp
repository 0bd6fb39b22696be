#include "model/backfill.h"

namespace tidemark {

std::string_view ToString(BackfillState state) {
  switch (state) {
    case BackfillState::kIdle: return "idle";
    case BackfillState::kRunning: return "running";
    case BackfillState::kFailed: return "failed";
    case BackfillState::kCancelled: return "cancelled";
    case BackfillState::kFinished: return "finished";
  }
  return "unknown";
}

}  // namespace tidemark
