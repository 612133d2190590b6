/* Counts calls of malloc, calloc, realloc and aligned_alloc; loaded ahead of the C library (test_allocations.py). */
#define _GNU_SOURCE
#include <stdatomic.h>
#include <stddef.h>

static atomic_size_t calls;

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

size_t allocations_so_far(void) { return atomic_load(&calls); }

void *malloc(size_t size) {
  atomic_fetch_add(&calls, 1);
  return __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
  atomic_fetch_add(&calls, 1);
  return __libc_calloc(count, size);
}

void *realloc(void *block, size_t size) {
  atomic_fetch_add(&calls, 1);
  return __libc_realloc(block, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
  atomic_fetch_add(&calls, 1);
  return __libc_memalign(alignment, size);
}

int posix_memalign(void **block, size_t alignment, size_t size) {
  atomic_fetch_add(&calls, 1);
  *block = __libc_memalign(alignment, size);
  return *block ? 0 : 12;
}
