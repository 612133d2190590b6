// Variants of std::vector whose memory is aligned to 64 bytes, the width of the largest registers.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace spectralcls {

template <class T>
struct AlignedAllocator {
  using value_type = T;
  AlignedAllocator() = default;
  template <class U>
  AlignedAllocator(const AlignedAllocator<U>&) {}
  T* allocate(std::size_t n) { return static_cast<T*>(::operator new(n * sizeof(T), std::align_val_t(64))); }
  void deallocate(T* p, std::size_t) { ::operator delete(p, std::align_val_t(64)); }
  bool operator==(const AlignedAllocator&) const { return true; }
  bool operator!=(const AlignedAllocator&) const { return false; }
};
template <class T>
using AlignedVector = std::vector<T, AlignedAllocator<T>>;

// Makes resize() leave new elements uninitialized. Large buffers are overwritten anyway, so clearing them would waste
// time.
template <class T>
struct UninitializedAllocator : AlignedAllocator<T> {
  UninitializedAllocator() = default;
  template <class U>
  UninitializedAllocator(const UninitializedAllocator<U>&) {}
  template <class U>
  struct rebind {
    using other = UninitializedAllocator<U>;
  };
  template <class U>
  void construct(U* p) {
    ::new (static_cast<void*>(p)) U;
  }
};
template <class T>
using UninitializedVector = std::vector<T, UninitializedAllocator<T>>;

}  // namespace spectralcls
