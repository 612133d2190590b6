#include "spectralcls/eigen.hpp"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

namespace spectralcls {
namespace {

// The search space V, its projection V^T A V and the next block Q, which is orthogonal to V.
//
// Recurrence kept throughout: A V = V T + Z S^T, where Z is the part of the last product that lies outside V and
// S picks the last block's columns. A Ritz pair (theta, V s) has the residual |Z s_last|, which the Gram matrix of Z
// gives without another product. Because every product is orthogonalised against the whole basis, a restart is nothing
// special: V becomes the best Ritz vectors, T their values, and the next product finds the coupling by itself.
template <class T>
class BlockLanczos {
 public:
  BlockLanczos(index_t n, const BlockOperator<T>& apply, const Panel<T>& start, const Panel<T>& deflate,
               const EigenOptions& options, const Execution& execution)
      : n_(n), apply_(apply), options_(options), execution_(execution), fixed_(deflate.columns),
        room_(n - deflate.columns), width_(std::min(options.block_size, room_)) {
    options_.pairs = std::min(options_.pairs, room_);
    allocate();
    std::copy(deflate.data, deflate.data + n * fixed_, storage_.get());
    orthonormalise({storage_.get(), n, 0}, columns(-fixed_, fixed_), options_.seed, stream_, execution_);
    const index_t given = std::min(start.columns, width_);
    const Panel<T> block = columns(0, width_);
    std::copy(start.data, start.data + n * given, block.data);
    for (index_t j = given; j < width_; ++j) fill_random(block.data + j * n, n, options_.seed, stream_++);
    orthonormalise(columns(-fixed_, fixed_), block, options_.seed, stream_, execution_);
  }

  Eigenpairs<T> solve() {
    for (;;) {
      if (!expand()) break;
      if (!due()) {
        next_block();
        continue;
      }
      rayleigh_ritz();
      const bool whole = size_ == room_;
      if (whole || (size_ >= options_.pairs && converged())) {
        const index_t copies = largest_cluster();
        // A random block meets an eigenspace of dimension r in min(r, width) directions: a cluster with fewer
        // members than the block has columns is complete, a fuller one may hide more.
        if (whole || copies < width_ || size_ + width_ > room_) {
          result_.status = EigenStatus::converged;
          break;
        }
        added_ = width_;
      }
      if (result_.applications >= options_.max_applications) break;
      next_block();
    }
    return finish();
  }

 private:
  // Columns of the search space; the deflated vectors lie before column 0.
  Panel<T> columns(index_t first, index_t count) const {
    return {storage_.get() + (fixed_ + first) * n_, n_, count};
  }
  Panel<T> basis() const { return columns(-fixed_, fixed_ + size_); }

  index_t max_basis() const { return std::min(room_, std::max(options_.max_basis, options_.pairs + 3 * width_)); }

  // Room for the basis, the block, and its product. Pages that are never written cost nothing.
  void allocate() {
    const index_t wanted = fixed_ + max_basis() + 2 * width_;
    if (wanted <= capacity_) return;
    std::unique_ptr<T[]> grown(new T[static_cast<std::size_t>(wanted * n_)]);
    if (storage_) std::copy(storage_.get(), storage_.get() + capacity_ * n_, grown.get());
    storage_ = std::move(grown);
    capacity_ = wanted;
    projection_.conservativeResize(max_basis(), max_basis());
    block_.resize(static_cast<std::size_t>(2 * width_ * n_));
  }

  // Multiplies the block by the operator, adds it to the basis and leaves in its place the product's remainder.
  bool expand() {
    const Panel<T> block = columns(size_, width_), product = columns(size_ + width_, width_);
    using RowMajor = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    using ColumnMajor = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
    T* x = block_.data();
    T* y = x + n_ * width_;
    Eigen::Map<RowMajor>(x, n_, width_) = Eigen::Map<ColumnMajor>(block.data, n_, width_);
    apply_(x, y, width_);
    rescale(y);
    Eigen::Map<ColumnMajor>(product.data, n_, width_) = Eigen::Map<RowMajor>(y, n_, width_);
    ++result_.applications;
    result_.products += width_;
    size_ += width_;
    last_ = width_;

    const Matrix coefficients = inner(basis(), product, execution_);
    const Matrix rows = coefficients.bottomRows(size_);
    if (!coefficients.allFinite()) return fail(EigenStatus::not_finite);
    const Matrix corner = rows.bottomRows(last_);
    const double eps = std::numeric_limits<T>::epsilon();
    const double skew = (corner - corner.transpose()).cwiseAbs().maxCoeff();
    if (skew > std::sqrt(eps) * std::max(coefficients.norm(), result_.norm)) return fail(EigenStatus::not_symmetric);
    projection_.block(0, size_ - last_, size_, last_) = rows;
    projection_.block(size_ - last_, 0, last_, size_) = rows.transpose();
    projection_.block(size_ - last_, size_ - last_, last_, last_) = (corner + corner.transpose()) / 2;
    subtract(basis(), coefficients, product, execution_);
    remainder_ = inner(product, product, execution_);
    return remainder_.allFinite() || fail(EigenStatus::not_finite);
  }

  // Where the first product's largest entry is far from 1, all products are divided by a power of two near it: norms
  // of an operator of any magnitude then neither overflow nor underflow.
  void rescale(T* y) {
    if (result_.applications == 0) {
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

  // The projected problem costs about 10 size^3 operations, a step 4 n size width: where many pairs are wanted it is
  // solved after every growth by an eighth, at a restart and at the end, not after every step.
  bool due() const {
    const bool last = size_ == room_ || result_.applications >= options_.max_applications;
    const bool full = size_ + width_ > max_basis();
    return last || full || (size_ >= options_.pairs && 8 * (size_ - solved_) >= size_);
  }

  void rayleigh_ritz() {
    solved_ = size_;
    const Eigen::SelfAdjointEigenSolver<Matrix> solver(projection_.topLeftCorner(size_, size_));
    if (solver.info() != Eigen::Success) throw std::runtime_error("the projected eigenproblem did not converge");
    ritz_values_ = solver.eigenvalues().reverse();
    ritz_vectors_ = solver.eigenvectors().rowwise().reverse();
    result_.norm = std::max({result_.norm, std::abs(ritz_values_(0)), std::abs(ritz_values_(size_ - 1))});
    const index_t count = std::min(options_.pairs, size_);
    result_.residuals.resize(static_cast<std::size_t>(count));
    for (index_t j = 0; j < count; ++j) {
      const Eigen::VectorXd tail = ritz_vectors_.col(j).tail(last_);
      result_.residuals[static_cast<std::size_t>(j)] = std::sqrt(std::max(tail.dot(remainder_ * tail), 0.0));
    }
  }

  double allowed(index_t j) const {
    const double eps = std::numeric_limits<T>::epsilon();
    return std::max(options_.tolerance * std::abs(ritz_values_(j)), 10 * eps * result_.norm);
  }

  bool converged() const {
    for (index_t j = 0; j < options_.pairs; ++j)
      if (result_.residuals[static_cast<std::size_t>(j)] > allowed(j)) return false;
    return true;
  }

  // Members of the largest group of the wanted values that the tolerance cannot tell apart.
  index_t largest_cluster() const {
    index_t largest = 1, first = 0;
    for (index_t j = 1; j < options_.pairs; ++j) {
      if (ritz_values_(j - 1) - ritz_values_(j) > 2 * allowed(j)) first = j;
      largest = std::max(largest, j - first + 1);
    }
    return largest;
  }

  // Makes the next block out of the product's remainder, and of `added_` random columns; compresses the basis
  // first where it is full.
  void next_block() {
    const index_t width = std::min(last_ + added_, room_ - size_);
    if (width > width_) {
      width_ = width;
      allocate();
    }
    width_ = width;
    index_t target = size_;
    if (size_ + width_ > max_basis()) {
      const index_t kept = std::min(size_ - 1, options_.pairs + (max_basis() - width_ - options_.pairs) / 2);
      transform(columns(0, size_), ritz_vectors_.leftCols(kept), execution_);
      projection_.topLeftCorner(kept, kept) = ritz_values_.head(kept).asDiagonal();
      target = solved_ = kept;
    }
    const Panel<T> remainder = columns(size_, last_), block = columns(target, width_);
    std::copy(remainder.data, remainder.data + std::min(last_, width_) * n_, block.data);
    for (index_t j = last_; j < width_; ++j) fill_random(block.data + j * n_, n_, options_.seed, stream_++);
    size_ = target;
    added_ = 0;
    orthonormalise(basis(), block, options_.seed, stream_, execution_);
  }

  Eigenpairs<T> finish() {
    result_.block_size = width_;
    if (result_.status == EigenStatus::not_finite || result_.status == EigenStatus::not_symmetric) return result_;
    const index_t count = static_cast<index_t>(result_.residuals.size());
    transform(columns(0, size_), ritz_vectors_.leftCols(count), execution_);
    result_.values.assign(ritz_values_.data(), ritz_values_.data() + count);
    for (auto& value : result_.values) value = std::ldexp(value, exponent_);
    for (auto& residual : result_.residuals) residual = std::ldexp(residual, exponent_);
    result_.vectors.resize(static_cast<std::size_t>(n_ * count));
    for (index_t j = 0; j < count; ++j) {
      const T* column = columns(j, 1).data;
      for (index_t i = 0; i < n_; ++i) result_.vectors[static_cast<std::size_t>(i * count + j)] = column[i];
    }
    return std::move(result_);
  }

  index_t n_;
  const BlockOperator<T>& apply_;
  EigenOptions options_;
  const Execution& execution_;
  index_t fixed_, room_, width_;  // deflated columns; dimension that is left; width of the block
  index_t size_ = 0;              // columns of V
  index_t last_ = 0;              // columns of the last product
  index_t solved_ = 0;            // columns of V when the projected problem was last solved
  index_t added_ = 0;             // random columns that the next block shall have
  index_t capacity_ = 0;
  int exponent_ = 0;  // products are divided by 2^exponent_
  std::unique_ptr<T[]> storage_;
  std::vector<T> block_;
  std::uint64_t stream_ = 0;
  Matrix projection_, remainder_, ritz_vectors_;
  Eigen::VectorXd ritz_values_;
  Eigenpairs<T> result_;
};

}  // namespace

template <class T>
Eigenpairs<T> top_eigenpairs(index_t n, const BlockOperator<T>& apply, const Panel<T>& start, const Panel<T>& deflate,
                             const EigenOptions& options, const Execution& execution) {
  return BlockLanczos<T>(n, apply, start, deflate, options, execution).solve();
}

template Eigenpairs<float> top_eigenpairs<float>(index_t, const BlockOperator<float>&, const Panel<float>&,
                                                 const Panel<float>&, const EigenOptions&, const Execution&);
template Eigenpairs<double> top_eigenpairs<double>(index_t, const BlockOperator<double>&, const Panel<double>&,
                                                   const Panel<double>&, const EigenOptions&, const Execution&);

}  // namespace spectralcls
