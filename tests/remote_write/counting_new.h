#pragma once
// How much memory `new` holds, for the program that counting_new.cpp is linked into.

#include <cstddef>

namespace tidemark::remote_write::test {

/// Bytes held at the moment.
size_t HeldBytes();
/// The most that was held since the last ResetPeak.
size_t PeakBytes();
void ResetPeak();

}  // namespace tidemark::remote_write::test
