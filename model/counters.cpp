#include "model/counters.h"

namespace tidemark {

std::string_view ToString(RefusalCause cause) {
  switch (cause) {
    case RefusalCause::kBytes: return "bytes";
    case RefusalCause::kQueue: return "queue";
    case RefusalCause::kStopping: return "stopping";
  }
  return "unknown";
}

}  // namespace tidemark
