#include "krylov/eigen.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "krylov/multivector.hpp"

namespace spectralcls {
namespace {

constexpr double hidden_tolerance = 1e-3;  // of the residual that shows where a complement's spectrum ends

// The search space V, its projection T = V^T A V and the next block Q, which is orthogonal to V.
//
// Recurrence kept throughout: A V = V T + Z S^T, where Z is the part of the last product that lies outside V and
// S picks the last block's columns. A Ritz pair (theta, V s) has the residual |Z s_last|, which the Gram matrix of Z
// gives without another product. Because every product is orthogonalized against the whole basis, a restart is nothing
// special: V becomes the best Ritz vectors, T their values, and the next product finds the coupling by itself.
//
// A random block of b vectors meets an eigenspace of dimension r in min(b, r) directions, so a cluster of fewer
// than b found values is complete. A fuller one may hide more: what was found is locked, and a search in
// its complement looks for values that belong among the first k.
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
        width_(std::min(options.block_size, room_)) {
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
      lock();
      allocate();
      const Multivector<T> block = columns(0, width_);
      algebra_.fill_random(block);
      algebra_.orthonormalize(basis(), block);
    }
    return finish();
  }

 private:
  // One search in the complement of the fixed vectors; true if what it found may hide further copies.
  bool search() {
    for (;;) {
      if (!expand()) return false;
      if (!due()) {
        next_block();
        continue;
      }
      rayleigh_ritz();
      if (size_ == room_ || settled()) {
        result_.status = EigenStatus::converged;
        return size_ < room_ && wanted() > 0 && largest_cluster() >= std::min(width_, options_.block_size);
      }
      if (result_.block_products >= options_.max_block_products) {
        result_.status = EigenStatus::not_converged;
        return false;
      }
      next_block();
    }
  }

  // Columns of the search space; the fixed vectors (deflated, then locked) lie before column 0.
  Multivector<T> columns(index_t first, index_t count) const {
    return {storage_.get() + (fixed_ + first) * n_, n_, count};
  }
  Multivector<T> basis() const { return columns(-fixed_, fixed_ + size_); }

  index_t max_basis() const { return std::min(room_, std::max(options_.max_basis, options_.pairs + 3 * width_)); }

  // Room for the basis, the block, and its product. Pages that are never written cost nothing.
  void allocate() {
    const index_t needed = fixed_ + max_basis() + 2 * width_;
    if (needed <= capacity_) return;
    std::unique_ptr<T[]> grown(new T[static_cast<std::size_t>(needed * n_)]);
    if (storage_) std::copy(storage_.get(), storage_.get() + (fixed_ + size_) * n_, grown.get());
    storage_ = std::move(grown);
    capacity_ = needed;
    projection_.conservativeResize(max_basis(), max_basis());
    block_.resize(static_cast<std::size_t>(2 * width_ * n_));
  }

  // Multiplies the block by the operator, adds it to the basis and leaves in its place the product's remainder.
  bool expand() {
    const Multivector<T> block = columns(size_, width_), product = columns(size_ + width_, width_);
    T* x = block_.data();
    T* y = x + n_ * width_;
    algebra_.to_rows(block, x);
    apply_(x, y, width_);
    rescale(y);
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
    if (skew > std::sqrt(eps) * std::max(coefficients.norm(), result_.norm)) return fail(EigenStatus::not_symmetric);
    projection_.block(0, size_ - last_, size_, last_) = rows;
    projection_.block(size_ - last_, 0, last_, size_) = rows.transpose();
    projection_.block(size_ - last_, size_ - last_, last_, last_) = (corner + corner.transpose()) / 2;
    remainder_ = algebra_.subtract(basis(), coefficients, product);
    if (!remainder_.allFinite()) return fail(EigenStatus::not_finite);
    follow_drift(coefficients.transpose() * coefficients + remainder_);  // |A Q|^2 by Pythagoras
    return true;
  }

  // A product is orthogonalized once; the columns of V that it overlaps, those of the last two blocks, hand on their
  // own lack of orthogonality, enlarged by the length that it loses. A second round is needed only where that adds up.
  void follow_drift(const Matrix& product) {
    const double longest = extremes(product).second, shortest = extremes(remainder_).first;
    condition_ = shortest > 0 ? longest / shortest : std::numeric_limits<double>::infinity();
    const double drift = std::sqrt(condition_) * std::max(drift_, drift_before_);
    drift_before_ = drift_;
    clean_ = drift <= most_drift;
    drift_ = clean_ ? drift : std::numeric_limits<T>::epsilon();
  }

  // Where the first product's largest entry is far from 1, all products are divided by a power of two near it: norms
  // of an operator of any magnitude then neither overflow nor underflow.
  void rescale(T* y) {
    if (result_.block_products == 0) {
      T largest = 0;
      for (index_t i = 0; i < n_ * width_; ++i) largest = std::max(largest, std::abs(y[i]));
      if (largest > 0 && std::isfinite(largest)) exponent_ = std::ilogb(largest);
      if (std::abs(exponent_) <= 16) exponent_ = 0;
      result_.norm = std::ldexp(options_.norm, -exponent_);
    }
    if (exponent_ == 0) return;
    for (index_t i = 0; i < n_ * width_; ++i) y[i] = std::ldexp(y[i], -exponent_);
  }

  bool fail(EigenStatus status) {
    result_.status = status;
    return false;
  }

  // The projected problem costs O(size^3): it is solved after growth by an eighth at least, or by half of the growth at
  // which the residuals would be small enough if they went on to fall as they did. They fall ever faster.
  bool due() const {
    const bool last = size_ == room_ || result_.block_products >= options_.max_block_products;
    const bool full = size_ + width_ > max_basis();
    return last || full || (size_ >= options_.pairs && 8 * (size_ - solved_) >= size_ && size_ >= expected_);
  }

  void rayleigh_ritz() {
    const index_t previous = std::exchange(solved_, size_);
    const SymmetricEigenpairs ascending = symmetric_eigenpairs(projection_.topLeftCorner(size_, size_));
    ritz_values_ = ascending.values.reverse();
    ritz_vectors_ = ascending.vectors.rowwise().reverse();
    result_.norm = std::max({result_.norm, std::abs(ritz_values_(0)), std::abs(ritz_values_(size_ - 1))});
    const index_t count = std::min(options_.pairs + 1, size_);
    residuals_.resize(count);
    for (index_t j = 0; j < count; ++j) {
      const Eigen::VectorXd tail = ritz_vectors_.col(j).tail(last_);
      residuals_(j) = std::sqrt(std::max(tail.dot(remainder_ * tail), 0.0));
    }
    expect(previous);
  }

  // When to solve the projected problem next, `previous` being the columns of V when it was solved before.
  void expect(index_t previous) {
    double excess = 0;  // digits (base e) that the wanted residuals have to fall
    for (index_t j = 0; j < std::min(wanted(), size_); ++j)
      excess = std::max(excess, std::log(residuals_(j) / allowed(ritz_values_(j))));
    const double fallen = excess_ - excess, growth = static_cast<double>(size_ - previous);
    const double needed = fallen > 0 && growth > 0 ? excess / fallen * growth : 0.0;
    expected_ = size_ + static_cast<index_t>(std::min(needed, static_cast<double>(size_)) / 2);
    excess_ = excess;
  }

  double allowed(double value) const {
    const double eps = std::numeric_limits<T>::epsilon();
    return std::max(options_.tolerance * std::abs(value), 10 * eps * result_.norm);
  }

  // How many Ritz pairs belong among the first k: all k at first, then those above the last locked values.
  index_t wanted() const {
    const auto& locked = result_.values;
    const index_t available = std::min(options_.pairs, size_);
    if (locked.empty()) return options_.pairs;
    index_t count = 0;
    while (count < available) {
      const double rival = locked[static_cast<std::size_t>(options_.pairs - 1 - count)];
      if (ritz_values_(count) <= rival + 2 * allowed(rival)) break;
      ++count;
    }
    return count;
  }

  // Whether all wanted pairs have converged; after locked ones also the next pair, to a tolerance that tells
  // that nothing larger is hidden.
  bool settled() const {
    const index_t count = wanted();
    if (size_ < count) return false;
    for (index_t j = 0; j < count; ++j)
      if (residuals_(j) > allowed(ritz_values_(j))) return false;
    if (result_.values.empty() || count == options_.pairs || count >= residuals_.size()) return true;
    return residuals_(count) <= std::max(allowed(ritz_values_(count)), hidden_tolerance * result_.norm);
  }

  // Members of the largest group of the wanted values that the tolerance cannot tell apart.
  index_t largest_cluster() const {
    index_t largest = 1, first = 0;
    for (index_t j = 1; j < wanted(); ++j) {
      if (ritz_values_(j - 1) - ritz_values_(j) > 2 * allowed(ritz_values_(j))) first = j;
      largest = std::max(largest, j - first + 1);
    }
    return largest;
  }

  // Moves the wanted Ritz vectors behind the locked ones and keeps the best k of both, in order.
  void lock() {
    const index_t found = std::min(wanted(), size_), old = static_cast<index_t>(result_.values.size());
    algebra_.multiply(columns(0, size_), ritz_vectors_.leftCols(found), columns(0, found));
    std::vector<std::pair<double, index_t>> order;
    for (index_t j = 0; j < old; ++j) order.emplace_back(result_.values[static_cast<std::size_t>(j)], j);
    for (index_t j = 0; j < found; ++j) order.emplace_back(ritz_values_(j), old + j);
    std::stable_sort(order.begin(), order.end(), [](auto& a, auto& b) { return a.first > b.first; });
    order.resize(std::min(order.size(), static_cast<std::size_t>(options_.pairs)));

    const Multivector<T> all = columns(-old, old + found);
    std::vector<T> sorted(order.size() * static_cast<std::size_t>(n_));
    std::vector<double> residuals = result_.residuals;
    for (index_t j = 0; j < found; ++j) residuals.push_back(residuals_(j));
    result_.values.clear();
    result_.residuals.clear();
    for (std::size_t j = 0; j < order.size(); ++j) {
      const T* column = all.data + order[j].second * n_;
      std::copy(column, column + n_, sorted.data() + j * static_cast<std::size_t>(n_));
      result_.values.push_back(order[j].first);
      result_.residuals.push_back(residuals[static_cast<std::size_t>(order[j].second)]);
    }
    std::copy(sorted.begin(), sorted.end(), all.data);
    const index_t added = static_cast<index_t>(order.size()) - old;
    fixed_ += added;
    room_ -= added;
    size_ = solved_ = expected_ = 0;
    width_ = std::min(options_.block_size, room_);
  }

  // Makes the next block out of the product's remainder; compresses the basis first where it is full.
  void next_block() {
    width_ = std::min(last_, room_ - size_);
    index_t target = size_;
    if (size_ + width_ > max_basis()) {
      target = std::min(size_ - 1, options_.pairs + (max_basis() - width_ - options_.pairs) / 2);
      algebra_.multiply(columns(0, size_), ritz_vectors_.leftCols(target), columns(0, target));
      projection_.topLeftCorner(target, target) = ritz_values_.head(target).asDiagonal();
      solved_ = expected_ = target;
    }
    const Multivector<T> remainder = columns(size_, width_), block = columns(target, width_);
    if (target != size_) {
      std::copy(remainder.data, remainder.data + width_ * n_, block.data);
      drift_before_ = most_drift;  // the next product overlaps all that is kept
    }
    size_ = target;
    if (!clean_ || width_ < last_) return algebra_.orthonormalize(basis(), block);
    algebra_.whiten(block, remainder_, 0);
    if (condition_ * std::numeric_limits<T>::epsilon() > most_drift)
      algebra_.whiten(block, algebra_.inner(block, block), 0);
  }

  Eigenpairs<T> finish() {
    result_.block_size = options_.block_size;
    if (result_.status == EigenStatus::not_finite || result_.status == EigenStatus::not_symmetric)
      return std::move(result_);
    lock();
    const index_t count = static_cast<index_t>(result_.values.size());
    for (auto& value : result_.values) value = std::ldexp(value, exponent_);
    for (auto& residual : result_.residuals) residual = std::ldexp(residual, exponent_);
    result_.vectors.resize(static_cast<std::size_t>(n_ * count));
    for (index_t j = 0; j < count; ++j) {
      const T* column = columns(j - count, 1).data;
      for (index_t i = 0; i < n_; ++i) result_.vectors[static_cast<std::size_t>(i * count + j)] = column[i];
    }
    return std::move(result_);
  }

  // The least and the largest eigenvalue.
  static std::pair<double, double> extremes(const Matrix& gram) {
    const Eigen::VectorXd values = symmetric_eigenvalues(gram);
    return {values(0), values(values.size() - 1)};
  }

  static constexpr double most_drift = 64 * static_cast<double>(std::numeric_limits<T>::epsilon());

  index_t n_;
  const BlockOperator<T>& apply_;
  EigenOptions options_;
  MultivectorAlgebra<T> algebra_;
  index_t fixed_, room_, width_;  // fixed columns; dimension that is left; width of the block
  index_t size_ = 0;              // columns of V
  index_t last_ = 0;              // columns of the last product
  index_t solved_ = 0;            // columns of V when the projected problem was last solved
  index_t expected_ = 0;          // columns of V before which it need not be solved again
  index_t capacity_ = 0;
  bool clean_ = false;  // whether the last product's remainder is orthogonal to V already
  double excess_ = std::numeric_limits<double>::infinity();  // logarithm of the worst residual over what is allowed
  double condition_ = 1;                                     // a bound of its Gram matrix's condition number
  double drift_ = most_drift, drift_before_ = most_drift;    // bounds of what the last two blocks have in common with V
  int exponent_ = 0;                                         // products are divided by 2^exponent_
  std::unique_ptr<T[]> storage_;
  std::vector<T> block_;
  Matrix projection_, remainder_, ritz_vectors_;
  Eigen::VectorXd ritz_values_, residuals_;
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
