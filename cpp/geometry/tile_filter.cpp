#include "geometry/tile_filter.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace spectralcls::detail {
namespace {

constexpr int W = lanes<float>;
constexpr index_t prefetch_ahead = 10;  // in coordinates
// Coordinates and the sums of their products are rounded. The bounds remain valid because norms are reduced by this
// fraction.
constexpr double rounding = 2.0 * (TileFilter::most_coordinates + 8) * std::numeric_limits<float>::epsilon();
// Rounding error of centers and half widths, relative to the largest norm.
constexpr double box_rounding = 4.0 * std::numeric_limits<float>::epsilon();

// Calls body(begin, end) for every segment of coordinates.
template <class Body>
void for_each_segment(const std::vector<index_t>& ends, Body&& body) {
  index_t begin = 0;
  for (const index_t end : ends) {
    body(begin, end);
    begin = end;
  }
}

double squared_norm(const float* x, index_t begin, index_t end) {
  double sum = 0;
  for (index_t k = begin; k < end; ++k) sum += static_cast<double>(x[k]) * x[k];
  return sum;
}

// Returns whether any of the sums is negative.
inline bool any_negative(const Vec<float> (&sum)[tile_rows][panel_vectors]) {
  Bits<float> bits = (Bits<float>)sum[0][0];
#pragma GCC unroll 8
  for (int r = 0; r < tile_rows; ++r)
#pragma GCC unroll 3
    for (int v = 0; v < panel_vectors; ++v) bits |= (Bits<float>)sum[r][v];
  return sign_bits<float>(bits) != 0;
}

// Sets in bits[r], for each row r, the bits of the points of a panel whose squared distance may be below reach[r]. The
// bits of the panel start at `shift`. Returns the total number of bits set, over all rows.
int panel_hits(const std::vector<index_t>& ends, const float* q, const float* x, const float* reach, int shift,
               std::uint64_t* bits, index_t& n_coordinates) {
  Vec<float> sum[tile_rows][panel_vectors];
#pragma GCC unroll 8
  for (int r = 0; r < tile_rows; ++r)
#pragma GCC unroll 3
    for (int v = 0; v < panel_vectors; ++v) sum[r][v] = broadcast<float>(-reach[r]);
  index_t begin = 0;
  for (const index_t end : ends) {
#pragma GCC unroll 8
    for (int r = 0; r < tile_rows; ++r)
#pragma GCC unroll 3
      for (int v = 0; v < panel_vectors; ++v) sum[r][v] += load(x + v * W) + q[r];
    x += panel_vectors * W;
    q += tile_rows;
    for (index_t k = begin; k < end; ++k) {
      Vec<float> xk[panel_vectors];
#pragma GCC unroll 3
      for (int v = 0; v < panel_vectors; ++v) {
        xk[v] = load(x + v * W);
        __builtin_prefetch(x + (prefetch_ahead * panel_vectors + v) * W);
      }
#pragma GCC unroll 8
      for (int r = 0; r < tile_rows; ++r)
#pragma GCC unroll 3
        for (int v = 0; v < panel_vectors; ++v) sum[r][v] += xk[v] * q[r];
      x += panel_vectors * W;
      q += tile_rows;
    }
    n_coordinates += end - begin + 2;
    if (!any_negative(sum)) return 0;
    begin = end;
  }
  int n = 0;
#pragma GCC unroll 8
  for (int r = 0; r < tile_rows; ++r) {
    std::uint64_t row = 0;
#pragma GCC unroll 3
    for (int v = 0; v < panel_vectors; ++v) row |= std::uint64_t{less_bits<float>(sum[r][v], Vec<float>{})} << (v * W);
    n += __builtin_popcountll(row);
    bits[r] |= row << shift;
  }
  return n;
}

}  // namespace

TileFilter::TileFilter(const std::vector<Tile>& tiles, index_t points_a_vector, const std::vector<index_t>& rows,
                       const float* coordinates, index_t width, const Execution& execution)
    : width_(width),
      n_tiles_(length(tiles)),
      n_groups_((n_tiles_ + tiles_a_group - 1) / tiles_a_group),
      stride_((n_groups_ + W - 1) / W * W) {
  for (const index_t end : segment_ends) {
    ends_.push_back(std::min(end, width));
    if (end >= width) break;
  }
  first_panel_.push_back(0);
  for (const Tile& tile : tiles)
    first_panel_.push_back(first_panel_.back() + (tile.n_vectors * points_a_vector + panel_points - 1) / panel_points);
  panels_.resize(first_panel_.back() * (width + length(ends_)) * panel_points);
  center_.resize(n_groups_ * width * tiles_a_group);
  half_.resize(center_.size());
  constexpr index_t tiles_a_chunk = 64;
  for_each_chunk((n_tiles_ + tiles_a_chunk - 1) / tiles_a_chunk, execution, [&](index_t chunk, Checkpoint&) {
    for (index_t t = chunk * tiles_a_chunk; t < std::min((chunk + 1) * tiles_a_chunk, n_tiles_); ++t) {
      const Tile& tile = tiles[t];
      pack_tile(t, {tile.first, tile.first + tile.n_vectors * points_a_vector}, rows, coordinates);
    }
  });
  pack_groups();
}

void TileFilter::pack_tile(index_t t, Range columns, const std::vector<index_t>& rows, const float* coordinates) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  std::vector<float> low(width_, infinity), high(low.size(), -infinity);
  double farthest = 0;
  for (index_t panel = first_panel_[t]; panel < first_panel_[t + 1]; ++panel)
    for (index_t j = 0; j < panel_points; ++j) {
      const index_t column = columns.begin + (panel - first_panel_[t]) * panel_points + j;
      const index_t row = column < columns.end ? rows[column] : -1;
      const float* point = row < 0 ? nullptr : coordinates + row * width_;
      float* to = panels_.data() + panel * per_panel() + j;
      double slack = 0;
      if (point) {
        const double norm = squared_norm(point, 0, width_);
        slack = rounding * norm;
        farthest = std::max(farthest, norm);
        for (index_t k = 0; k < width_; ++k) {
          low[k] = std::min(low[k], point[k]);
          high[k] = std::max(high[k], point[k]);
        }
      }
      for_each_segment(ends_, [&](index_t begin, index_t end) {
        *to = point ? static_cast<float>(squared_norm(point, begin, end) - (begin == 0 ? slack : 0)) : infinity;
        to += panel_points;
        for (index_t k = begin; k < end; ++k, to += panel_points) *to = point ? point[k] : 0.0f;
      });
    }
  for (index_t k = 0; k < width_; ++k) {
    const float center = low[k] + (high[k] - low[k]) / 2;
    center_[at(t, k)] = center;
    half_[at(t, k)] =
        std::max(high[k] - center, center - low[k]) + static_cast<float>(box_rounding * std::sqrt(farthest));
  }
}

void TileFilter::pack_groups() {
  group_center_.resize(width_ * stride_);
  group_half_.resize(group_center_.size());
  for (index_t g = 0; g < n_groups_; ++g)
    for (index_t k = 0; k < width_; ++k) {
      float low = std::numeric_limits<float>::infinity(), high = -low;
      for (index_t t = g * tiles_a_group; t < std::min((g + 1) * tiles_a_group, n_tiles_); ++t) {
        low = std::min(low, center_[at(t, k)] - half_[at(t, k)]);
        high = std::max(high, center_[at(t, k)] + half_[at(t, k)]);
      }
      const float center = low + (high - low) / 2;
      group_center_[k * stride_ + g] = center;
      // The sums above are rounded.
      group_half_[k * stride_ + g] = std::max(high - center, center - low) +
                                     static_cast<float>(2 * box_rounding) * std::max(std::abs(low), std::abs(high));
    }
}

void TileFilter::Block::set(const TileFilter& filter, const float* coordinates, const index_t* rows, index_t n_rows) {
  if (filter_ != &filter) measured_.assign(filter.n_groups_, 0);
  filter_ = &filter;
  const index_t width = filter.width_;
  stream_.resize((width + length(filter.ends_)) * tile_rows);
  for (index_t r = 0; r < tile_rows; ++r) {
    const float* query = coordinates + rows[std::min(r, n_rows - 1)] * width;
    const double slack = rounding * squared_norm(query, 0, width);
    float* to = stream_.data() + r;
    for_each_segment(filter.ends_, [&](index_t begin, index_t end) {
      *to = static_cast<float>(squared_norm(query, begin, end) - (begin == 0 ? slack : 0));
      to += tile_rows;
      for (index_t k = begin; k < end; ++k, to += tile_rows) *to = -2 * query[k];
    });
  }
  queries_.resize(width * tile_rows);
  for (index_t k = 0; k < width; ++k)
    for (index_t r = 0; r < tile_rows; ++r)
      queries_[k * tile_rows + r] = coordinates[rows[std::min(r, n_rows - 1)] * width + k];
  set_box(coordinates, rows, n_rows);
}

void TileFilter::Block::set_box(const float* coordinates, const index_t* rows, index_t n_rows) {
  const index_t width = filter_->width_;
  double farthest = 0;
  for (index_t r = 0; r < n_rows; ++r)
    farthest = std::max(farthest, squared_norm(coordinates + rows[r] * width, 0, width));
  slack_ = static_cast<float>(box_rounding * std::sqrt(farthest));
  for (index_t k = 0; k < width; ++k) {
    float low = coordinates[rows[0] * width + k], high = low;
    for (index_t r = 1; r < n_rows; ++r) {
      low = std::min(low, coordinates[rows[r] * width + k]);
      high = std::max(high, coordinates[rows[r] * width + k]);
    }
    center_[k] = low + (high - low) / 2;
    half_[k] = std::max(high - center_[k], center_[k] - low) + static_cast<float>(box_rounding * std::sqrt(farthest));
  }
  const index_t stride = filter_->stride_;
  group_bounds_.resize(stride);
  group_centers_.resize(stride);
  bounds_.resize(filter_->n_groups_ * tiles_a_group);
  centers_.resize(bounds_.size());
  ++n_set_;
  for (index_t g = 0; g < stride; g += W)
    compare(filter_->group_center_.data() + g, filter_->group_half_.data() + g, stride, group_bounds_.data() + g,
            group_centers_.data() + g);
}

void TileFilter::Block::compare(const float* centers, const float* halves, index_t stride, float* to_bounds,
                                float* to_centers) {
  const index_t width = filter_->width_;
  Vec<float> gaps{}, distances{};
  for (index_t k = 0; k < width; ++k, centers += stride, halves += stride) {
    const Vec<float> offset = load(centers) - center_[k];
    const Vec<float> gap = maximum<float>(maximum<float>(offset, -offset) - (load(halves) + half_[k]), Vec<float>{});
    gaps += gap * gap;
    distances += offset * offset;
  }
  store(to_bounds, gaps * (1 - static_cast<float>(rounding)));
  store(to_centers, gaps + distances * 0.01f);
  n_box_coordinates_ += width;
}

void TileFilter::Block::measure_tiles(index_t group) {
  const index_t at = group * filter_->width_ * tiles_a_group;
  for (index_t t = 0; t < tiles_a_group; t += W)
    compare(filter_->center_.data() + at + t, filter_->half_.data() + at + t, tiles_a_group,
            bounds_.data() + group * tiles_a_group + t, centers_.data() + group * tiles_a_group + t);
}

std::uint32_t TileFilter::Block::within(index_t group, const float* squared) const {
  const index_t width = filter_->width_;
  std::uint32_t found = 0;
  for (index_t t = 0; t < tiles_a_group; t += W) {
    const float* centers = filter_->center_.data() + group * width * tiles_a_group + t;
    const float* halves = filter_->half_.data() + group * width * tiles_a_group + t;
    Vec<float> gaps[tile_rows] = {};
    for (index_t k = 0; k < width; ++k, centers += tiles_a_group, halves += tiles_a_group) {
      const Vec<float> center = load(centers), half = load(halves) + slack_;
      const float* q = queries_.data() + k * tile_rows;
#pragma GCC unroll 8
      for (int r = 0; r < tile_rows; ++r) {
        const Vec<float> offset = center - q[r];
        const Vec<float> gap = maximum<float>(maximum<float>(offset, -offset) - half, Vec<float>{});
        gaps[r] += gap * gap;
      }
    }
    std::uint32_t any = 0;
    for (int r = 0; r < tile_rows; ++r)
      any |= less_bits<float>(gaps[r] * (1 - static_cast<float>(rounding)), broadcast<float>(squared[r]));
    found |= any << t;
  }
  return found;
}

index_t TileFilter::Block::nearest(index_t begin, index_t end) {
  std::pair<float, index_t> best{std::numeric_limits<float>::infinity(), begin};
  auto look = [&](index_t group) {
    measure(group);
    const index_t last = std::min((group + 1) * tiles_a_group, end);
    for (index_t t = std::max(group * tiles_a_group, begin); t < last; ++t) best = std::min(best, {centers_[t], t});
  };
  const index_t first_group = begin / tiles_a_group, last_group = (end - 1) / tiles_a_group;
  const auto at = group_centers_.begin();
  look(std::min_element(at + first_group, at + last_group + 1) - at);
  for (index_t g = first_group; g <= last_group; ++g)
    if (group_bounds_[g] <= best.first) look(g);
  return best.second;
}

void TileFilter::Block::prefetch(index_t tile) const {
  const float* panel = filter_->panels_.data() + filter_->first_panel_[tile] * filter_->per_panel();
  for (index_t k = 0; k < prefetch_ahead * panel_points; k += W) __builtin_prefetch(panel + k);
}

int TileFilter::Block::hits(index_t tile, const float* squared, std::uint64_t* bits) {
  std::fill_n(bits, tile_rows, std::uint64_t{0});
  int n = 0, shift = 0;
  for (index_t panel = filter_->first_panel_[tile]; panel < filter_->first_panel_[tile + 1];
       ++panel, shift += panel_points)
    n += panel_hits(filter_->ends_, stream_.data(), filter_->panels_.data() + panel * filter_->per_panel(), squared,
                    shift, bits, n_coordinates_);
  return n;
}

}  // namespace spectralcls::detail
