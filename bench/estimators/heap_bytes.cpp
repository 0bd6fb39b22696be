#include "bench/estimators/heap_bytes.h"

#include <malloc.h>

#include <cstdlib>
#include <new>

namespace {

size_t heap_bytes = 0;

size_t SizeOf(void* memory) { return malloc_usable_size(memory) + sizeof(size_t); }

}  // namespace

void* operator new(size_t size) {
  void* const memory = std::malloc(size);
  if (memory == nullptr) std::abort();
  heap_bytes += SizeOf(memory);
  return memory;
}

void operator delete(void* memory) noexcept {
  if (memory == nullptr) return;
  heap_bytes -= SizeOf(memory);
  std::free(memory);
}

void operator delete(void* memory, size_t) noexcept { operator delete(memory); }

namespace tidemark::bench {

size_t HeapBytes() { return heap_bytes; }

}  // namespace tidemark::bench
