#pragma once
// How many bytes this program has on the heap, for programs that link heap_bytes.cpp: it takes the
// place of operator new and delete. One thread at a time.

#include <cstddef>

namespace tidemark::bench {

/// What operator new has given out and not got back, what malloc rounds up to and its word of size
/// included.
size_t HeapBytes();

}  // namespace tidemark::bench
