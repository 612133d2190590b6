// Chunks of queries. One chunk is one thread's task.
#pragma once

#include <algorithm>
#include <vector>

#include "geometry/points.hpp"
#include "infrastructure/parallel.hpp"

namespace spectralcls {

template <class T>
struct QueryChunk {
  MatrixView<T> queries;  // all queries
  Range places;           // positions of the chunk's queries in the order of computation
  const index_t* rows;    // row of the query at each position
  PackedQueries<T> packed;

  QueryChunk(MatrixView<T> all, const std::vector<index_t>& order, const Range& at, const Geometry& geometry)
      : queries(all), places(at), rows(order.data() + at.begin) {
    packed.pack(queries, rows, places.size(), geometry);
  }
  index_t n_blocks() const { return packed.n_blocks; }
  // Returns the number of queries in a block.
  index_t size_of(index_t block) const { return std::min<index_t>(tile_rows, places.size() - block * tile_rows); }
  // Returns the rows of the queries in a block.
  const index_t* rows_of(index_t block) const { return rows + block * tile_rows; }
  // Returns the original coordinates of query r of a block.
  const T* row(index_t block, index_t r) const { return queries.row(rows_of(block)[r]); }
};

inline index_t n_query_chunks(index_t n_queries, index_t chunk_rows) {
  return (n_queries + chunk_rows - 1) / chunk_rows;
}

// Calls body(number of the chunk, chunk, checkpoint) for every chunk of `chunk_rows` queries.
template <class T, class Body>
void for_each_query_chunk(MatrixView<T> queries, const std::vector<index_t>& order, index_t chunk_rows,
                          const Geometry& geometry, const Execution& execution, Body&& body) {
  for_each_chunk(n_query_chunks(queries.rows, chunk_rows), execution, [&](index_t c, Checkpoint& checkpoint) {
    const QueryChunk<T> chunk(queries, order, {c * chunk_rows, std::min((c + 1) * chunk_rows, queries.rows)}, geometry);
    const FlushSubnormals guard;  // not earlier: queries may be subnormal until they are scaled
    body(c, chunk, checkpoint);
  });
}

}  // namespace spectralcls
