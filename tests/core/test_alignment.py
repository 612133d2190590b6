"""Numbers at odd addresses, and those of another machine's byte order, are copied before the core reads them."""

import numpy as np
import pytest
from fuzz.strategies import unaligned

from spectralcls import kernel_matrix, kernel_sums, knn, top_eigenpairs
from spectralcls.kernels import PackedPoints
from spectralcls.linalg import rpcholesky
from spectralcls.neighbors import reverse_knn

X = np.random.default_rng(0).standard_normal((60, 3))
A = X @ X.T
CALLS = {
    "kernel_sums": lambda change: kernel_sums(change(X), change(X[:9]), bandwidth=1.0),
    "weights": lambda change: kernel_sums(X, X, weights=change(X), bandwidth=1.0),
    "packed": lambda change: kernel_sums(X, PackedPoints(change(X)), bandwidth=1.0),
    "tolerance": lambda change: kernel_sums(change(X), change(X), rtol=1e-3, bandwidth=1.0),
    "kernel_matrix": lambda change: kernel_matrix(change(X), bandwidth=1.0),
    "brute": lambda change: knn(change(X), change(X), 4, algorithm="brute"),
    "kd_tree": lambda change: knn(change(X), change(X), 4, algorithm="kd_tree"),
    "reverse_knn": lambda change: reverse_knn(change(X), X, change(np.ones(60))).toarray(),
    "rpcholesky": lambda change: rpcholesky(change(X), 9, bandwidth=1.0, random_state=0).factor,
    "eigenpairs": lambda change: top_eigenpairs(change(A), 2, solver="lanczos").values,
    "start": lambda change: top_eigenpairs(A, 2, solver="lanczos", start=change(X)).values,
    "deflate": lambda change: top_eigenpairs(A, 1, solver="lanczos", deflate=change(X[:, :1])).values,
}


@pytest.mark.parametrize("change", [unaligned, lambda array: array.astype(array.dtype.newbyteorder())])
@pytest.mark.parametrize("name", CALLS)
def test_the_answer_is_that_of_aligned_native_numbers(name, change):
    np.testing.assert_array_equal(CALLS[name](change), CALLS[name](lambda array: array))


def test_unaligned_arrays_of_single_precision_are_copied_and_none_is_filled():
    single = X.astype(np.float32)
    U = unaligned(single)
    expected = kernel_sums(single, single, weights=single, bandwidth=1.0)
    np.testing.assert_array_equal(kernel_sums(U, U, weights=U, bandwidth=1.0), expected)
    with pytest.raises(ValueError, match="out must be a writeable, aligned"):
        kernel_matrix(X, bandwidth=1.0, out=unaligned(np.empty((60, 60))))
