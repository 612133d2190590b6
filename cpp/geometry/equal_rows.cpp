// A hash table, because a sort would read each row about log2(n) times, from places far apart. Here a row is read once,
// in order, and compared only if a row with the same hash came before. One thread fills the table, so that the numbers
// follow the order of the rows; a row takes 60 ns, or the time to read its values from memory if it is long.
#include "geometry/equal_rows.hpp"

#include <algorithm>
#include <cstring>

namespace spectralcls {
namespace {

using Word = std::uint64_t;

// Multiplies and folds the upper half onto the lower one, so that each bit reaches all others after two steps.
inline Word mixed(Word value) {
  value *= 0xbf58476d1ce4e5b9u;
  return value ^ value >> 32;
}

// The bits of a value; equal values have equal bits.
template <class T>
Word bits_of(T value) {
  if (value != value) return ~Word{0};
  value += 0;  // -0 becomes 0
  Word bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}

template <class T>
Word hash(const T* row, index_t d) {
  constexpr index_t chains = 4;  // independent of each other, to hide the latency of multiplications
  Word states[chains] = {1, 2, 3, 4};
  for (index_t a = 0; a < d; ++a) states[a % chains] = mixed(states[a % chains] ^ bits_of(row[a]));
  Word all = 0;
  for (const Word state : states) all = mixed(all ^ state);
  return mixed(all);
}

template <class T>
bool equal(const T* a, const T* b, index_t d) {
  return std::equal(a, a + d, b, [](T x, T y) { return x == y || (x != x && y != y); });
}

}  // namespace

template <class T>
std::vector<std::int64_t> equal_rows(MatrixView<T> rows, std::int64_t* group, const Execution& execution) {
  struct Slot {
    Word hash;
    std::int64_t number;  // of the distinct row; -1: none
  };
  index_t size = 16;
  while (size < 2 * rows.rows) size *= 2;
  std::vector<Slot> table(size, {0, -1});
  std::vector<std::int64_t> first;
  constexpr index_t block = 1024;  // rows hashed together, so that the searches for them in the table overlap
  Word hashes[block];
  auto take = [&](index_t begin, index_t end) {
    for (index_t i = begin; i < end; ++i) hashes[i - begin] = hash(rows.row(i), rows.cols);
    for (index_t i = begin; i < end; ++i) {
      const Word mine = hashes[i - begin];
      auto differs = [&](const Slot& slot) {
        return slot.hash != mine || !equal(rows.row(first[slot.number]), rows.row(i), rows.cols);
      };
      index_t at = static_cast<index_t>(mine) & (size - 1);
      while (table[at].number >= 0 && differs(table[at])) at = (at + 1) & (size - 1);
      if (table[at].number < 0) {
        table[at] = {mine, length(first)};
        first.push_back(i);
      }
      group[i] = table[at].number;
    }
  };
  Execution in_order = execution;
  in_order.n_threads = 1;
  for_each_chunk((rows.rows + block - 1) / block, in_order, [&](index_t c, Checkpoint& checkpoint) {
    take(c * block, std::min((c + 1) * block, rows.rows));
    checkpoint();
  });
  return first;
}

template std::vector<std::int64_t> equal_rows(MatrixView<float>, std::int64_t*, const Execution&);
template std::vector<std::int64_t> equal_rows(MatrixView<double>, std::int64_t*, const Execution&);

}  // namespace spectralcls
