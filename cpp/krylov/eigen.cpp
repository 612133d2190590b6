#include "krylov/eigen.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "krylov/multivector.hpp"
#include "krylov/ritz.hpp"

namespace spectralcls {
namespace {

using detail::Convergence;
using detail::RitzPairs;
using detail::Schedule;

// Scales the operator. If the largest entry of the first product is far from 1, all products are divided by a power of
// two near it. Norms then neither overflow nor underflow, whatever the magnitude of the operator.
template <class T>
class ScaledOperator {
 public:
  explicit ScaledOperator(const BlockOperator<T>& apply) : apply_(apply) {}

  // Computes y = A x / scale. Both x and y are n x columns.
  void operator()(const T* x, T* y, index_t n, index_t columns) {
    apply_(x, y, columns);
    if (first_) {
      T largest = 0;
      for (index_t i = 0; i < n * columns; ++i) largest = std::max(largest, std::abs(y[i]));
      if (largest > 0 && std::isfinite(largest)) exponent_ = std::ilogb(largest);
      if (std::abs(exponent_) <= 16) exponent_ = 0;
      first_ = false;
    }
    if (exponent_ == 0) return;
    for (index_t i = 0; i < n * columns; ++i) y[i] = std::ldexp(y[i], -exponent_);
  }
  double to_scale(double value) const { return std::ldexp(value, -exponent_); }
  double from_scale(double value) const { return std::ldexp(value, exponent_); }

 private:
  const BlockOperator<T>& apply_;
  bool first_ = true;
  int exponent_ = 0;
};

// A bound on the loss of orthogonality between the next block and the basis. Each product is orthogonalized once. It
// overlaps the last two blocks and inherits their loss, magnified by the ratio of its lengths before and after
// orthogonalization. A second round is needed only if the bound grows too large.
template <class T>
class OrthogonalityLoss {
 public:
  // Takes the Gram matrices of a product before and after it was orthogonalized, and a bound on the norm of A. What a
  // product of an operator of low rank leaves may be rounding errors, which overlap all blocks, not only the last two.
  void follow(const Matrix& product, const Matrix& remainder, double norm) {
    const double longest = extremes(product).second, shortest = extremes(remainder).first;
    condition_ = shortest > 0 ? longest / shortest : std::numeric_limits<double>::infinity();
    const double loss = std::sqrt(condition_) * std::max(last_, before_), noise = most * norm;
    before_ = last_;
    negligible_ = loss <= most && shortest > noise * noise;
    last_ = negligible_ ? loss : std::numeric_limits<T>::epsilon();
  }
  // Must be called after a restart, because the next product then overlaps all vectors that were kept.
  void restart() { before_ = most; }
  bool negligible() const { return negligible_; }
  // Returns whether one round of whitening is not enough.
  bool ill_conditioned() const { return condition_ * std::numeric_limits<T>::epsilon() > most; }

 private:
  // Largest accepted loss of orthogonality.
  static constexpr double most = 64 * static_cast<double>(std::numeric_limits<T>::epsilon());

  // Returns the least and the largest eigenvalue.
  static std::pair<double, double> extremes(const Matrix& gram) {
    const Eigen::VectorXd values = symmetric_eigenvalues(gram);
    return {values(0), values(values.size() - 1)};
  }

  bool negligible_ = false;
  double condition_ = 1, last_ = most, before_ = most;
};

// The search space V, its projection T = V^T A V, and the next block Q, which is orthogonal to V.
//
// The recurrence A V = V T + Z S^T holds throughout. Z is the part of the last product outside V, and S selects the
// columns of the last block. A Ritz pair (theta, V s) has the residual |Z S^T s|, which follows from the Gram matrix of
// Z without another product. Every product is orthogonalized against the whole basis, so a restart needs no special
// step: V becomes the best Ritz vectors, T their values, and the next product yields the coupling.
//
// A random block of b vectors finds min(b, r) directions of an eigenspace of dimension r, so a cluster is complete if
// fewer than b of its values were found. Otherwise it may have further values. The vectors found are then locked, and a
// block of twice the width, at most `widest`, searches their complement for further values among the k largest. Up to
// this width, about log2(r / b) searches find r copies.
template <class T>
class BlockLanczos {
 public:
  BlockLanczos(index_t n, const BlockOperator<T>& apply, const Multivector<const T>& start,
               const Multivector<const T>& deflate, const EigenOptions& options, const TallProducts<T>& products,
               const Execution& execution)
      : n_(n),
        apply_(apply),
        options_(options),
        algebra_(products, options.seed, execution),
        fixed_(deflate.columns),
        room_(n - deflate.columns),
        block_size_(options.block_size),
        width_(std::min(block_size_, room_)),
        convergence_(std::min(options.pairs, room_), options.tolerance, std::numeric_limits<T>::epsilon()) {
    options_.pairs = std::min(options_.pairs, room_);
    allocate();
    std::copy(deflate.data, deflate.data + n * fixed_, storage_.get());
    algebra_.orthonormalize({storage_.get(), n, 0}, columns(-fixed_, fixed_));
    const index_t given = std::min(start.columns, width_);
    const Multivector<T> block = columns(0, width_);
    std::copy(start.data, start.data + n * given, block.data);
    algebra_.fill_random(block.middle(given, width_ - given));
    algebra_.orthonormalize(columns(-fixed_, fixed_), block);
  }

  Eigenpairs<T> solve() {
    while (search()) {
      block_size_ = std::max(block_size_, std::min(2 * block_size_, widest));
      lock();
      allocate();
      const Multivector<T> block = columns(0, width_);
      algebra_.fill_random(block);
      algebra_.orthonormalize(basis(), block);
    }
    return finish();
  }

 private:
  // Largest width of a block that searches for further copies. About a dozen searches find 600 copies of an eigenvalue.
  static constexpr index_t widest = 64;

  // Runs one search in the complement of the fixed vectors. Returns whether further copies of the eigenvalues found may
  // remain.
  bool search() {
    for (;;) {
      if (!expand()) return false;
      if (!due()) {
        next_block();
        continue;
      }
      rayleigh_ritz();
      if (size_ == room_ || convergence_.settled(ritz_, result_.values)) {
        result_.status = EigenStatus::converged;
        return size_ < room_ && wanted() > 0 &&
               convergence_.largest_cluster(ritz_, wanted()) >= std::min(width_, block_size_);
      }
      if (result_.block_products >= options_.max_block_products) {
        result_.status = EigenStatus::not_converged;
        return false;
      }
      next_block();
    }
  }

  // Returns columns of the search space. The fixed vectors, first the deflated and then the locked ones, lie before
  // column 0.
  Multivector<T> columns(index_t first, index_t count) const {
    assert(fixed_ + first >= 0 && fixed_ + first + count <= capacity_);
    return {storage_.get() + (fixed_ + first) * n_, n_, count};
  }
  Multivector<T> basis() const { return columns(-fixed_, fixed_ + size_); }

  index_t max_basis() const { return std::min(room_, std::max(options_.max_basis, options_.pairs + 3 * width_)); }

  // Allocates the basis, the block and its product. Pages that are never written take no physical memory.
  void allocate() {
    block_.resize(2 * width_ * n_);
    if (projection_.rows() < max_basis()) projection_.conservativeResize(max_basis(), max_basis());
    const index_t needed = fixed_ + max_basis() + 2 * width_;
    if (needed <= capacity_) return;
    std::unique_ptr<T[]> grown(new T[needed * n_]);
    if (storage_) std::copy(storage_.get(), storage_.get() + (fixed_ + size_) * n_, grown.get());
    storage_ = std::move(grown);
    capacity_ = needed;
  }

  // Multiplies the block by the operator and adds the block to the basis. The part of the product outside the basis is
  // stored in the columns after the basis. Returns false if this fails.
  bool expand() {
    const Multivector<T> block = columns(size_, width_), product = columns(size_ + width_, width_);
    T* x = block_.data();
    T* y = x + n_ * width_;
    algebra_.to_rows(block, x);
    apply_(x, y, n_, width_);
    if (result_.block_products == 0) convergence_.norm = apply_.to_scale(options_.norm);
    ++result_.block_products;
    result_.matvecs += width_;
    size_ += width_;
    last_ = width_;

    const Matrix coefficients = algebra_.from_rows(y, product, basis());
    const Matrix rows = coefficients.bottomRows(size_);
    if (!coefficients.allFinite()) return fail(EigenStatus::not_finite);
    const Matrix corner = rows.bottomRows(last_);
    const double eps = std::numeric_limits<T>::epsilon();
    const double skew = (corner - corner.transpose()).cwiseAbs().maxCoeff();
    // The product of an operator of low rank may consist of rounding errors alone, which are not symmetric. Asymmetry
    // is therefore measured relative to |A|, not to this product.
    convergence_.norm = std::max(convergence_.norm, coefficients.colwise().norm().maxCoeff());
    if (skew > std::sqrt(eps) * convergence_.norm) return fail(EigenStatus::not_symmetric);
    projection_.block(0, size_ - last_, size_, last_) = rows;
    projection_.block(size_ - last_, 0, last_, size_) = rows.transpose();
    projection_.block(size_ - last_, size_ - last_, last_, last_) = (corner + corner.transpose()) / 2;
    remainder_ = algebra_.subtract(basis(), coefficients, product);
    if (!remainder_.allFinite()) return fail(EigenStatus::not_finite);
    const Matrix product_gram = coefficients.transpose() * coefficients + remainder_;  // |A Q|^2 by Pythagoras
    loss_.follow(product_gram, remainder_, convergence_.norm);
    return true;
  }

  bool fail(EigenStatus status) {
    result_.status = status;
    return false;
  }

  bool due() const {
    const bool last = size_ == room_ || result_.block_products >= options_.max_block_products;
    const bool full = size_ + width_ > max_basis();
    return last || full || (size_ >= options_.pairs && schedule_.due(size_));
  }

  void rayleigh_ritz() {
    ritz_ = RitzPairs(projection_.topLeftCorner(size_, size_), remainder_, std::min(options_.pairs + 1, size_));
    convergence_.norm = std::max(convergence_.norm, ritz_.largest());
    schedule_.solved(size_, convergence_.excess(ritz_, wanted()));
  }

  index_t wanted() const { return convergence_.wanted(ritz_, result_.values); }

  // Adds the wanted Ritz vectors to the locked ones, and keeps those of the k largest values, in descending order.
  void lock() {
    const index_t found = std::min(wanted(), size_), old = length(result_.values);
    algebra_.multiply(columns(0, size_), ritz_.vectors.leftCols(found), columns(0, found));
    std::vector<std::pair<double, index_t>> order;
    for (index_t j = 0; j < old; ++j) order.emplace_back(result_.values[j], j);
    for (index_t j = 0; j < found; ++j) order.emplace_back(ritz_.values(j), old + j);
    std::stable_sort(order.begin(), order.end(), [](auto& a, auto& b) { return a.first > b.first; });
    order.resize(std::min(length(order), options_.pairs));

    const Multivector<T> all = columns(-old, old + found);
    std::vector<T> sorted(length(order) * n_);
    std::vector<double> residuals = result_.residuals;
    for (index_t j = 0; j < found; ++j) residuals.push_back(ritz_.residuals(j));
    result_.values.clear();
    result_.residuals.clear();
    for (index_t j = 0; j < length(order); ++j) {
      const T* column = all.data + order[j].second * n_;
      std::copy(column, column + n_, sorted.data() + j * n_);
      result_.values.push_back(order[j].first);
      result_.residuals.push_back(residuals[order[j].second]);
    }
    std::copy(sorted.begin(), sorted.end(), all.data);
    const index_t added = length(order) - old;
    fixed_ += added;
    room_ -= added;
    size_ = 0;
    schedule_.restart(0);
    width_ = std::min(block_size_, room_);
  }

  // Makes the next block from the remainder of the product. Compresses the basis first if it is full.
  void next_block() {
    width_ = std::min(last_, room_ - size_);
    index_t target = size_;
    if (size_ + width_ > max_basis()) {
      target = std::min(size_ - 1, options_.pairs + (max_basis() - width_ - options_.pairs) / 2);
      algebra_.multiply(columns(0, size_), ritz_.vectors.leftCols(target), columns(0, target));
      projection_.topLeftCorner(target, target) = ritz_.values.head(target).asDiagonal();
      schedule_.restart(target);
    }
    const Multivector<T> remainder = columns(size_, width_), block = columns(target, width_);
    if (target != size_) {
      std::copy(remainder.data, remainder.data + width_ * n_, block.data);
      loss_.restart();
    }
    size_ = target;
    if (!loss_.negligible() || width_ < last_) return algebra_.orthonormalize(basis(), block);
    algebra_.whiten(block, remainder_, 0);
    if (loss_.ill_conditioned()) algebra_.whiten(block, algebra_.inner(block, block), 0);
  }

  Eigenpairs<T> finish() {
    result_.block_size = options_.block_size;
    if (result_.status == EigenStatus::not_finite || result_.status == EigenStatus::not_symmetric)
      return std::move(result_);
    lock();
    const index_t count = length(result_.values);
    for (auto& value : result_.values) value = apply_.from_scale(value);
    for (auto& residual : result_.residuals) residual = apply_.from_scale(residual);
    result_.vectors.resize(n_ * count);
    for (index_t j = 0; j < count; ++j) {
      const T* column = columns(j - count, 1).data;
      for (index_t i = 0; i < n_; ++i) result_.vectors[i * count + j] = column[i];
    }
    return std::move(result_);
  }

  index_t n_;
  ScaledOperator<T> apply_;
  EigenOptions options_;
  MultivectorAlgebra<T> algebra_;
  index_t fixed_, room_;        // fixed columns; dimension of their complement
  index_t block_size_, width_;  // width of the blocks of this search; width of the current block, which may be narrower
  index_t size_ = 0;            // columns of V
  index_t last_ = 0;            // columns of the last product
  index_t capacity_ = 0;
  Convergence convergence_;
  Schedule schedule_;
  OrthogonalityLoss<T> loss_;
  RitzPairs ritz_;
  std::unique_ptr<T[]> storage_;
  std::vector<T> block_;
  Matrix projection_, remainder_;
  Eigenpairs<T> result_;
};

}  // namespace

template <class T>
Eigenpairs<T> top_eigenpairs(index_t n, const BlockOperator<T>& apply, const Multivector<const T>& start,
                             const Multivector<const T>& deflate, const EigenOptions& options,
                             const TallProducts<T>& products, const Execution& execution) {
  return BlockLanczos<T>(n, apply, start, deflate, options, products, execution).solve();
}

#define SPECTRALCLS_INSTANTIATE(T)                                                                                   \
  template Eigenpairs<T> top_eigenpairs<T>(index_t, const BlockOperator<T>&, const Multivector<const T>&,            \
                                           const Multivector<const T>&, const EigenOptions&, const TallProducts<T>&, \
                                           const Execution&);
SPECTRALCLS_INSTANTIATE(float)
SPECTRALCLS_INSTANTIATE(double)
#undef SPECTRALCLS_INSTANTIATE

}  // namespace spectralcls
