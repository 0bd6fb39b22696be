#include "tests/remote_write/counting_new.h"

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TIDEMARK_SANITIZER_HOOKS 1
// sanitizer/allocator_interface.h, which not every compiler installs.
extern "C" int __sanitizer_install_malloc_and_free_hooks(void (*)(const volatile void*, size_t),
                                                         void (*)(const volatile void*));
extern "C" size_t __sanitizer_get_allocated_size(const volatile void*);
#else
#include <malloc.h>
#endif

namespace {

// Signed: with hooks that come late more may be released than was counted.
std::atomic<int64_t> held{0};
std::atomic<int64_t> peak{0};

void Add(size_t size) {
  const auto amount = static_cast<int64_t>(size);
  const int64_t now = held.fetch_add(amount) + amount;
  int64_t seen = peak.load();
  while (seen < now && !peak.compare_exchange_weak(seen, now)) {
  }
}

void Subtract(size_t size) { held.fetch_sub(static_cast<int64_t>(size)); }

}  // namespace

#ifdef TIDEMARK_SANITIZER_HOOKS

// A sanitizer brings its own new and delete, which must not be mixed with others.
namespace {

void OnMalloc(const volatile void*, size_t size) { Add(size); }
void OnFree(const volatile void* memory) {
  if (memory != nullptr) Subtract(__sanitizer_get_allocated_size(memory));
}

[[maybe_unused]] const int kInstalled = __sanitizer_install_malloc_and_free_hooks(OnMalloc, OnFree);

}  // namespace

#else

namespace {

void* Count(void* memory) {
  if (memory == nullptr) std::abort();
  Add(malloc_usable_size(memory));
  return memory;
}

void Release(void* memory) noexcept {
  if (memory == nullptr) return;
  Subtract(malloc_usable_size(memory));
  std::free(memory);
}

}  // namespace

// The other forms of new and delete (arrays, nothrow, sized) end in these by default.
void* operator new(size_t size) { return Count(std::malloc(size == 0 ? 1 : size)); }
void* operator new(size_t size, std::align_val_t align) {
  const auto unit = static_cast<size_t>(align);
  return Count(std::aligned_alloc(unit, (size + unit - 1) / unit * unit));
}
void operator delete(void* memory) noexcept { Release(memory); }
void operator delete(void* memory, size_t) noexcept { Release(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { Release(memory); }
void operator delete(void* memory, size_t, std::align_val_t) noexcept { Release(memory); }

#endif

namespace tidemark::remote_write::test {

size_t HeldBytes() { return static_cast<size_t>(held.load()); }
size_t PeakBytes() { return static_cast<size_t>(peak.load()); }
void ResetPeak() { peak.store(held.load()); }

}  // namespace tidemark::remote_write::test
