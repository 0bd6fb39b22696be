#pragma once
// What an estimator saves, and reads again.

#include <string>
#include <string_view>

#include "model/byte_codec.h"
#include "model/result.h"

namespace tidemark::estimators {

template <class Estimator>
std::string Saved(const Estimator& estimator) {
  std::string bytes;
  ByteWriter out(bytes);
  estimator.Save(out);
  return bytes;
}

/// Of all of `bytes`: an error where some are left.
template <class Estimator>
Result<Estimator> RestoredAs(std::string_view bytes) {
  ByteReader in(bytes);
  auto read = Estimator::Restore(in);
  if (read && !in.AtEnd()) return Fail(ErrorCode::kInternal, "bytes are left");
  return read;
}

}  // namespace tidemark::estimators
