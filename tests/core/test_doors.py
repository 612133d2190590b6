"""What Python hands to the core: every shape, range, size and layout is checked, and refused by a sentence."""

import numpy as np
import pytest

import spectralcls
from spectralcls import KernelRegressor, ParzenClassifier, information, kernel_sums, knn, top_eigenpairs
from spectralcls._core import compiled
from spectralcls.information import entropic_dimension
from spectralcls.inspection import with_priors
from spectralcls.kernel_mean import reduce_training_set
from spectralcls.kernels import PackedPoints, kernel_matrix, silverman_bandwidth
from spectralcls.linalg import GramOperator, KernelOperator, rpcholesky
from spectralcls.neighbors import reverse_knn

X = np.random.default_rng(0).normal(size=(5, 2))


SUMS = {  # the arguments of compiled.kernel_sums, in their order
    **dict(queries=X, points=X, weights=None, labels=None, n_labels=1, kernel="gaussian", bandwidths=(1.0,)),
    **dict(excluded=None, query_groups=None, point_groups=None, n_groups=1, rtol=0.0, output="plain", n_threads=1),
}


def sums(**changed):
    given = SUMS | changed
    given["bandwidths"] = np.array(given["bandwidths"], dtype=float)
    return compiled.kernel_sums(*given.values())


def integers(*values):
    return np.array(values, dtype=np.int64)


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        (dict(points=X[0]), ValueError, "X must have 2 dimensions"),
        (dict(points=X.tolist()), TypeError, "X must be a NumPy array"),
        (dict(points=X.astype(np.int64)), TypeError, "X must be a NumPy array of dtype float32 or float64"),
        (
            dict(queries=X.astype(np.float32)),
            TypeError,
            "Q must be a NumPy array of dtype float64, got an array of dtype float32",
        ),
        (dict(queries=X[:, :1]), ValueError, "Q has 1 features, but X has 2"),
        (dict(points=X[:0]), ValueError, "X must have at least one row"),
        (dict(queries=X[:, :0], points=X[:, :0]), ValueError, "at least one column"),
        (dict(weights=np.zeros((5, 1, 0))), ValueError, "weights must have at least one column"),
        (dict(weights=np.zeros((4, 1))), ValueError, "weights must have shape"),
        (dict(weights=np.zeros((5, 2, 1))), ValueError, "weights must have shape"),
        (dict(labels=integers(0, 1, 7, 0, 0), n_labels=3), ValueError, r"labels must be at most 2, got 7"),
        (dict(labels=integers(0, 1)), ValueError, "labels must have 5 entries, got 2"),
        (dict(n_labels=2**31), ValueError, "n_labels must be in 1 ... 2147483647, got 2147483648"),
        (dict(n_labels=2**70), ValueError, "n_labels must be in"),
        (dict(n_labels=1.5), TypeError, "n_labels must be an integer, got 1.5"),
        (dict(n_labels=2**31 - 1, n_groups=2**31 - 1), MemoryError, "labels x groups"),
        (dict(excluded=integers(0, 0, 5, 0, 0)), ValueError, "exclude_self must be at most 4, got 5"),
        (dict(query_groups=integers(0, 0, 0, 0, 0)), ValueError, "exclude_groups must name the groups of Q and of X"),
        (
            dict(query_groups=integers(0, 0, 0, 0, 1), point_groups=integers(0, 0, 0, 0, 0)),
            ValueError,
            "exclude_groups must be in 0",
        ),
        (
            dict(query_groups=integers(0, 0, 0, 0, 0), point_groups=integers(0, -1, 0, 0, 0)),
            ValueError,
            "exclude_groups must be in 0",
        ),
        (dict(bandwidths=[0.0]), ValueError, "bandwidth must be positive and finite, got 0"),
        (dict(bandwidths=[1.0, np.nan]), ValueError, "bandwidth must be positive and finite, got nan"),
        (dict(bandwidths=[]), ValueError, "bandwidth must have shape"),
        (dict(bandwidths=[[1.0, 2.0]]), ValueError, "bandwidth must have shape"),
        (dict(kernel="box"), ValueError, "unknown kernel 'box'"),
        (dict(kernel=3), TypeError, "kernel must be a string"),
        (dict(output="sums"), ValueError, "output must be"),
        (dict(n_threads=0), ValueError, "n_jobs must be at least 1"),
    ],
)
def test_kernel_sums_of_the_core_name_the_argument(arguments, error, words):
    with pytest.raises(error, match=words) as raised:
        sums(**arguments)
    assert "incompatible function arguments" not in str(raised.value)


def test_kernel_operators_of_the_core_name_the_argument():
    two = compiled.pack_points(X, None, integers(0, 1, 0, 1, 0), 2, 1)
    missing = compiled.pack_points(X, None, integers(0, 1, 0, -1, 0), 2, 1)
    options = dict(
        pairs=1,
        block_size=1,
        max_basis=5,
        max_block_products=99,
        tolerance=1e-6,
        norm=0.0,
        seed=0,
        start=np.zeros((5, 0)),
        deflate=np.zeros((5, 0)),
    )
    ones = np.ones((2, 2))
    cases = [
        (dict(points=X), TypeError, "X must be packed points"),
        (dict(points=missing), ValueError, "labels must name a label of 0 ... 1 for each row"),
        (dict(kernel="box"), ValueError, "unknown kernel"),
        (dict(bandwidths=np.ones((1, 4))), ValueError, "a row and a column for each of the 2 labels"),
        (dict(bandwidths=ones - np.eye(2)), ValueError, "bandwidth must be positive and finite, got 0"),
        (dict(factors=np.ones((2, 1))), ValueError, "a row and a column for each of the 2 labels"),
        (dict(factors=ones.astype(np.float32)), TypeError, "factors must be a NumPy array of dtype float64"),
        (dict(scale=np.ones(4)), ValueError, "scale must have 5 entries, got 4"),
        (dict(product_threads=0), ValueError, "n_jobs must be at least 1"),
    ]
    given = dict(
        points=two,
        kernel="gaussian",
        bandwidths=ones,
        factors=ones,
        scale=None,
        product_threads=1,
        options=options,
        n_threads=1,
    )
    for arguments, error, words in cases:
        with pytest.raises(error, match=words):
            compiled.eigen_kernel(**(given | arguments))
    assert compiled.eigen_kernel(**given)["status"] == "converged"


def test_matrices_neighbors_and_vectors_of_the_core_name_the_argument():
    out = np.empty((5, 5))
    cases = [
        (lambda: compiled.kernel_matrix(X, None, "gaussian", 1.0, 1.0, np.empty((4, 5)), 1), "out must be a writeable"),
        (
            lambda: compiled.kernel_matrix(X, None, "gaussian", 1.0, 1.0, np.empty((5, 10))[:, ::2], 1),
            "out must be a writeable",
        ),
        (lambda: compiled.kernel_matrix(X, X[:, :1], "gaussian", 1.0, 1.0, out, 1), "Q has 2 features, but X has 1"),
        (lambda: compiled.kernel_matrix(X, None, "gaussian", -1.0, 1.0, out, 1), "bandwidth must be positive"),
        (lambda: compiled.knn(X, X, 6, "auto", 1), "k must be in 1 ... 5, got 6"),
        (lambda: compiled.knn(X, X, 0, "auto", 1), "k must be in 1 ... 5, got 0"),
        (lambda: compiled.knn(X, X, 1, "ball", 1), "algorithm must be 'auto', 'brute' or 'kd_tree', got 'ball'"),
        (lambda: compiled.reverse_knn(X, X, X[:3, 0].copy(), 1), "radii must have 5 entries, got 3"),
        (lambda: compiled.combine_rows(out, np.ones((1, 4)), 1), "factors must have a column"),
        (lambda: compiled.asymmetry(np.ones((2, 3)), 1), "A must be square"),
        (
            lambda: compiled.approximate_sums(X, X, None, None, 1, 1.0, None, -1.0, 0.0, False, False, 1.0, 1),
            "rtol",
        ),
        (
            lambda: compiled.approximate_sums(
                X, X, None, integers(0, 9, 0, 0, 0), 1, 1.0, None, 1e-3, 0.0, False, False, 1.0, 1
            ),
            "labels",
        ),
    ]
    for call, words in cases:
        with pytest.raises(ValueError, match=words):
            call()


def options(n, **changed):
    return (
        dict(
            pairs=1,
            block_size=2,
            max_basis=10,
            max_block_products=50,
            tolerance=1e-8,
            norm=0.0,
            seed=0,
            start=np.zeros((n, 0), order="F"),
            deflate=np.zeros((n, 0), order="F"),
        )
        | changed
    )


def test_eigenproblems_of_the_core_name_the_argument():
    A = np.diag([3.0, 2.0, 1.0])
    starts, indices, values = integers(0, 1, 2, 3), np.arange(3, dtype=np.int32), np.ones(3)
    cases = [
        (lambda: compiled.eigen_dense(A[:2], options(3), 1), "A must be square"),
        (lambda: compiled.eigen_dense(A, options(2), 1), "start must have 3 rows"),
        (lambda: compiled.eigen_dense(A, options(3, pairs=-1), 1), "k must be at least 1, got -1"),
        (lambda: compiled.eigen_dense(A, options(3, block_size=0), 1), "block_size must be at least 1"),
        (lambda: compiled.eigen_dense(A, options(3, deflate=np.eye(3, order="F")), 1), "deflate must leave"),
        (
            lambda: compiled.eigen_csr(starts, indices + 1, values, options(3), 1),
            "the indices of A must be in 0 ... 2, got 3",
        ),
        (
            lambda: compiled.eigen_csr(starts[::-1].copy(), indices, values, options(3), 1),
            "the row starts of A must rise",
        ),
        (
            lambda: compiled.eigen_csr(starts, indices[:2].copy(), values, options(3), 1),
            "the indices of A must have 3 entries",
        ),
        (lambda: compiled.eigen_callback(3, lambda x: x[:2], options(3), 1), "the operator's answer has shape"),
    ]
    for call, words in cases:
        with pytest.raises(ValueError, match=words):
            call()


def test_counts_of_any_size_are_limits():
    """Numbers of threads, block sizes and sizes of a basis beyond every integer mean "as many as are useful"."""
    np.testing.assert_array_equal(
        kernel_sums(X, X, bandwidth=1.0, n_jobs=2**31), kernel_sums(X, X, bandwidth=1.0, n_jobs=1)
    )
    np.testing.assert_array_equal(knn(X, X, 2, n_jobs=2**70)[1], knn(X, X, 2, n_jobs=1)[1])
    A = np.diag(np.arange(300.0))
    for size in (dict(block_size=2**62), dict(max_basis=2**70)):
        np.testing.assert_allclose(top_eigenpairs(A, 2, solver="lanczos", **size).values, [299, 298])


@pytest.mark.parametrize("labels", [[2**31 - 1] * 5, np.array([2**63] * 5, dtype=np.uint64)])
def test_huge_labels_have_a_sentence(labels):
    with pytest.raises(ValueError, match="labels go up to"):
        kernel_sums(X, X, labels=labels, bandwidth=1.0)


def test_results_beyond_the_memory_have_a_sentence():
    with pytest.raises(MemoryError, match="would take .* GB, but this machine has .* GB of memory"):
        kernel_sums(np.zeros((10**6, 1)), [[0.0]], labels=[0], n_labels=2**31 - 1, bandwidth=1.0)


def test_weights_without_a_column_are_refused():
    with pytest.raises(ValueError, match="weights must have shape"):
        kernel_sums(X, X, weights=np.zeros((5, 1, 0)), bandwidth=[1.0])


@pytest.mark.parametrize("dtype", ["u1", "u2", "u8", "i1", bool])
def test_labels_and_positions_of_every_integer_type(dtype):
    labels = np.array([0, 1, 0, 1, 0])
    np.testing.assert_array_equal(
        kernel_sums(X, X, labels=labels.astype(dtype), bandwidth=1.0), kernel_sums(X, X, labels=labels, bandwidth=1.0)
    )
    if dtype is not bool:
        np.testing.assert_array_equal(
            kernel_sums(X, X, exclude_self=np.arange(5, dtype=dtype), bandwidth=1.0),
            kernel_sums(X, X, exclude_self=True, bandwidth=1.0),
        )
        groups = labels.astype(dtype)
        np.testing.assert_array_equal(
            kernel_sums(X, X, exclude_groups=(groups, groups), bandwidth=1.0),
            kernel_sums(X, X, exclude_groups=(labels, labels), bandwidth=1.0),
        )


def test_labels_that_are_all_false_are_one_label():
    assert kernel_sums(X, X, labels=np.zeros(5, bool), bandwidth=1.0).shape == (5, 1)


@pytest.mark.parametrize("far", [10**9, 2**40])
def test_groups_need_no_memory_for_numbers_without_members(far):
    of_queries, of_points = np.array([far, 0, far, 1, 2]), np.array([0, far, 1, far, 1])
    compact = [np.where(groups == far, 3, groups) for groups in (of_queries, of_points)]
    np.testing.assert_array_equal(
        kernel_sums(X, X, exclude_groups=(of_queries, of_points), bandwidth=1.0),
        kernel_sums(X, X, exclude_groups=tuple(compact), bandwidth=1.0),
    )


def test_numbers_that_no_float_holds_are_refused_by_the_name_of_their_argument():
    huge = [[10**400] * 2] * 5
    for call, name in (
        (lambda: kernel_sums(huge, X, bandwidth=1.0), "Q: int too large"),
        (lambda: kernel_sums(X, huge, bandwidth=1.0), "X: int too large"),
        (lambda: kernel_sums(X, X, bandwidth=1.0, weights=huge), "weights: int too large"),
        (lambda: kernel_sums(X, X, bandwidth=1.0, weights=["a"] * 5), "weights: could not convert"),
        (lambda: kernel_sums(X, X, bandwidth=[[1.0], [1.0, 2.0]]), "bandwidth must be numeric"),
        (lambda: kernel_sums(X, X, bandwidth=1.0, rtol=10**400), "rtol must be a finite number"),
        (lambda: knn(huge, X, 2), "int too large"),
        (lambda: information.renyi_entropy(huge, bandwidth=1.0), "X: int too large"),
        (lambda: information.renyi_entropy(X, bandwidth=10**400), "'bandwidth' parameter .* in the range"),
        (
            lambda: information.cross_information_potential(X, X, bandwidth=10**400),
            "'bandwidth' parameter .* in the range",
        ),
        (lambda: information.renyi_entropy(X, bandwidth=1.0, sample_weight=huge[0][:1] * 5), "sample_weight: int too"),
        (lambda: rpcholesky(huge, rank=2, bandwidth=1.0), "X: int too large"),
        (lambda: entropic_dimension(huge), "X: int too large"),
        (lambda: silverman_bandwidth(huge), "X: int too large"),
    ):
        with pytest.raises(ValueError, match=name):
            call()


def test_every_negative_label_leaves_a_point_out():
    lowest = np.iinfo(np.int64).min
    sums = kernel_sums(X, X, labels=[lowest, 0, -1, 0, -(2**40)], bandwidth=1.0)
    np.testing.assert_array_equal(sums, kernel_sums(X, X, labels=[-1, 0, -1, 0, -1], bandwidth=1.0))
    np.testing.assert_array_equal(
        kernel_sums(X, X, exclude_self=[lowest] * 5, bandwidth=1.0), kernel_sums(X, X, bandwidth=1.0)
    )
    with pytest.raises(ValueError, match="got 0"):
        kernel_sums(X, X, labels=[lowest] * 5, bandwidth=1.0)


@pytest.mark.parametrize("name", ["f4", "f8"])
def test_a_dtype_is_known_by_its_value(name):
    dtype = np.dtype(name, copy=True)  # as equal, and another object
    assert dtype is not np.dtype(name)
    np.testing.assert_array_equal(
        kernel_sums(X.astype(dtype), X.astype(dtype), bandwidth=1.0),
        kernel_sums(X.astype(name), X.astype(name), bandwidth=1.0),
    )


# Scales: what a bandwidth reaches, the points' spread and the distance of a query may differ by any factor.


@pytest.mark.parametrize(
    ("dtype", "query", "points"),
    [
        ("f4", 1.0, [1e-20, 2e-20, -1e-20]),
        ("f8", 1.0, [1e-200, 2e-200]),
        ("f8", 100.0, [1e-310, 2e-310]),
        ("f4", 3.0, [0.0, 0.0]),
    ],
)
def test_points_that_nearly_coincide_and_a_query_far_beyond_their_spread(dtype, query, points):
    Q, P = np.array([[query]], dtype), np.array(points, dtype)[:, None]
    expected = len(points) * np.exp(-0.5 * query**2)
    rtol = 1e-5 if dtype == "f4" else 1e-12
    np.testing.assert_allclose(kernel_sums(Q, P, bandwidth=1.0), [expected], rtol=rtol)
    np.testing.assert_allclose(kernel_sums(Q, PackedPoints(P), bandwidth=1.0), [expected], rtol=rtol)
    np.testing.assert_allclose(
        kernel_sums(Q, P, bandwidth=1.0, log=True), [np.log(len(points)) - 0.5 * query**2], rtol=rtol
    )
    np.testing.assert_allclose(
        kernel_matrix(Q, P, bandwidth=1.0), [[expected / len(points)] * len(points)], rtol=rtol, atol=1e-300
    )


def test_a_tiny_bandwidth_in_a_grid_spoils_no_other():
    Q, P = np.ones((1, 2)), np.zeros((7, 2))
    expected = [[0.0, 7 * np.exp(-1.0), 7.0]]
    np.testing.assert_allclose(kernel_sums(Q, P, bandwidth=[1e-300, 1.0, 1e300]), expected, rtol=1e-12)
    np.testing.assert_allclose(
        kernel_sums(Q, P, bandwidth=[1e300, 1e-300, 1.0]), [[7.0, 0.0, 7 * np.exp(-1.0)]], rtol=1e-12
    )
    weights = np.stack([np.full((7, 1), w) for w in (1.0, 2.0, 3.0)], axis=1)
    np.testing.assert_allclose(
        kernel_sums(Q, P, weights=weights, bandwidth=[1e300, 1e-300, 1.0])[..., 0],
        [[7.0, 0.0, 21 * np.exp(-1.0)]],
        rtol=1e-12,
    )
    scale, sums_ = kernel_sums(Q, P, bandwidth=[1e300, 1.0], log="pair")
    np.testing.assert_allclose(np.exp(scale) * sums_, [[7.0, 7 * np.exp(-1.0)]], rtol=1e-12)


def test_queries_and_bandwidths_whose_squares_are_zero():
    """Which distances need differences is decided by norms that are scaled before they are squared."""
    rng = np.random.default_rng(0)
    P = rng.normal(size=(300, 4))
    Q = np.concatenate([rng.normal(size=(9, 4)) * 100, P[:9] + 1e-4])
    for least in (2.0**-960, 1.0):
        np.testing.assert_array_equal(
            kernel_matrix(Q * least, P * least, bandwidth=least / 10), kernel_matrix(Q, P, bandwidth=1 / 10)
        )
        np.testing.assert_array_equal(
            kernel_sums(Q * least, P * least, bandwidth=least / 10), kernel_sums(Q, P, bandwidth=1 / 10)
        )


@pytest.mark.parametrize("d", [1, 5, 40])
@pytest.mark.parametrize("n", [40, 2000])
def test_points_whose_differences_no_number_holds(d, n):
    unit = 2.0**1023
    rng = np.random.default_rng(0)
    P = np.where(rng.random((n, 1)) < 0.2, -1, 1) * rng.uniform(1.6, 1.99, (n, d))
    Q = np.concatenate([P[:30] * 0.99, rng.uniform(-1.99, 1.99, (30, d))])
    for bandwidth in (0.1, 0.5):
        for log in (False, True):
            given = kernel_sums(Q * unit, P * unit, bandwidth=bandwidth * unit, log=log)
            np.testing.assert_allclose(given, kernel_sums(Q, P, bandwidth=bandwidth, log=log), rtol=1e-11, atol=1e-300)
        given = kernel_matrix(Q * unit, P * unit, bandwidth=bandwidth * unit)
        np.testing.assert_allclose(given, kernel_matrix(Q, P, bandwidth=bandwidth), rtol=1e-11, atol=1e-300)


def test_neighbors_of_a_query_far_beyond_the_spread_of_the_points():
    for dtype, far in (("f8", 1e155), ("f4", 1e19)):
        distances, _ = knn(np.array([[far]], dtype), np.array([[1e-5], [2e-5], [4e-5]], dtype), 1)
        np.testing.assert_allclose(distances, [[far]], rtol=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_normalized_sums_whose_constant_overflows(dtype):
    """A density in many dimensions: its constant is beyond the dtype, the product with a vanishing sum is not."""
    rng = np.random.default_rng(2)
    Z = rng.normal(size=(6, 1000)).astype(dtype)
    logs = kernel_sums(Z.astype(float), Z[:3].astype(float), bandwidth=0.1, normalize=True, log=True)
    with np.errstate(over="ignore"):
        expected = np.exp(logs).astype(dtype)
    actual = kernel_sums(Z, Z[:3], bandwidth=0.1, normalize=True)
    np.testing.assert_allclose(actual, expected, rtol=1e-5)
    assert np.isinf(actual[:3]).all() and (actual[3:] == 0).all()
    wide = kernel_sums(Z, Z[:3], bandwidth=[0.1, 8.0], normalize=True, weights=[1.0, -2.0, 0.0])
    assert wide.shape == (6, 2) and not np.isnan(wide).any()
    K = kernel_matrix(Z, bandwidth=0.1, normalize=True)
    assert np.isinf(np.diag(K)).all() and (K[~np.eye(6, dtype=bool)] == 0).all()


def test_stub_lists_every_function_of_the_core():
    """The stub is what editors and type checkers see of the compiled module."""
    import ast
    from pathlib import Path

    tree = ast.parse((Path(spectralcls.__file__).parent / "_core" / "__init__.pyi").read_text())
    stub = next(node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "compiled")
    listed = {node.name: [a.arg for a in node.args.args] for node in stub.body if isinstance(node, ast.FunctionDef)}
    functions = {name for name in vars(compiled) if not name.startswith("_") and callable(getattr(compiled, name))}
    assert set(listed) == {name for name in functions if not isinstance(getattr(compiled, name), type)}
    for name, arguments in listed.items():
        signature = getattr(compiled, name).__doc__.splitlines()[0]
        named = [
            part.split(":")[0].strip() for part in signature.split("(", 1)[1].split(") ->")[0].split(",") if ":" in part
        ]
        assert named == arguments, signature


MASKED = np.ma.array(np.ones((5, 2)), mask=np.arange(10).reshape(5, 2) == 3)


@pytest.mark.parametrize(
    "call",
    [
        lambda A: kernel_sums(A, X, bandwidth=1),
        lambda A: kernel_sums(X, A, bandwidth=1),
        lambda A: kernel_sums(X, X, weights=A[:, 1], bandwidth=1),
        lambda A: kernel_matrix(A, bandwidth=1),
        lambda A: PackedPoints(A),
        lambda A: knn(A, X, 1),
        lambda A: knn(X, A, 1),
        lambda A: silverman_bandwidth(A),
        lambda A: entropic_dimension(A),
        lambda A: information.renyi_entropy(A, bandwidth=1),
        lambda A: information.cauchy_schwarz_divergence(A, X, bandwidth=1),
        lambda A: KernelOperator(A, bandwidth=1),
        lambda A: GramOperator(A),
        lambda A: top_eigenpairs(np.ma.array(np.eye(2), mask=np.eye(2) == 0), 1),
        lambda A: top_eigenpairs(np.eye(5), 1, start=A[:, 1:]),
        lambda A: ParzenClassifier(bandwidth=1).fit(X, [0, 1, 0, 1, 0], sample_weight=A[:, 1]),
        lambda A: KernelRegressor(bandwidth=1).fit(X, A[:, 1]),
        lambda A: ParzenClassifier(bandwidth=1).fit(X, A[:, 1].astype(int)),
        lambda A: ParzenClassifier(bandwidth=1).fit(X, A[:, 1].astype(str)),
    ],
)
def test_nothing_is_read_from_under_a_mask(call):
    with pytest.raises(ValueError, match="NaN"):
        call(MASKED)


def masked(*values, dtype=float):
    """Numbers of which the last one is hidden."""
    return np.ma.array(values, mask=np.arange(len(values)) == len(values) - 1, dtype=dtype)


LABELS = masked(0, 1, 0, 1, 1, dtype=int)


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: kernel_sums(X, X, labels=LABELS, bandwidth=1.0), "labels"),
        (lambda: kernel_sums(X, X, bandwidth=masked(1.0, 2.0)), "bandwidth"),
        (lambda: kernel_sums(X, X, bandwidth=1.0, exclude_self=LABELS), "exclude_self"),
        (lambda: kernel_sums(X, X, bandwidth=1.0, exclude_groups=(LABELS, np.arange(5))), "exclude_groups"),
        (lambda: kernel_sums(X, X, bandwidth=1.0, weights=masked(1, 1, 1, 1, 1)), "weights"),
        (lambda: PackedPoints(X, labels=LABELS), "labels"),
        (lambda: reverse_knn(X, X, masked(1, 1, 1, 1, 1)), "radii"),
        (lambda: KernelOperator(X, bandwidth={0: 1.0, 1: 2.0}, labels=LABELS), "labels"),
        (lambda: reduce_training_set(X, LABELS, 2), "y"),
        (lambda: reduce_training_set(np.ma.array(X, mask=X > 1), [0, 1, 0, 1, 1], 2), "X"),
        (lambda: with_priors(ParzenClassifier(1.0).fit(X, [0, 1, 0, 1, 1]), masked(0.5, 0.5)), "priors"),
        (lambda: ParzenClassifier(1.0, priors=masked(0.5, 0.5)).fit(X, [0, 1, 0, 1, 1]), "priors"),
    ],
)
def test_what_a_mask_hides_is_not_read(call, name):
    with pytest.raises(ValueError, match=name):
        call()


def test_radii_that_are_no_numbers_are_named_by_their_row():
    with pytest.raises(ValueError, match="got nan for row 3"):
        reverse_knn(X, X, [1, 1, 1, np.nan, 1])


def test_a_tolerance_with_a_constant_beyond_the_dtype_speaks_of_the_constant():
    Q = np.zeros((3, 100), dtype=np.float32)
    with pytest.raises(ValueError, match="normalize=True, with a constant that float"):
        kernel_sums(Q, Q, bandwidth=0.01, normalize=True, atol=1e-3)
    with pytest.raises(ValueError, match="^log takes only rtol"):
        kernel_sums(Q, Q, bandwidth=0.01, log=True, atol=1e-3)
