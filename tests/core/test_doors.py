"""What Python hands to the core: every shape, range, size and layout is checked, and refused by a sentence."""

import re

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


def integers(*values, dtype=np.int64):
    return np.array(values, dtype=dtype)


LABELS = integers(0, 1, 0, 1, 0)
OPTIONS = dict(pairs=1, block_size=2, max_basis=10, max_block_products=50, tolerance=1e-8, norm=0.0, seed=0)
OPTIONS |= dict(start=np.zeros((3, 0), order="F"), deflate=np.zeros((3, 0), order="F"))
CSR = dict(row_starts=integers(0, 1, 2, 3), indices=np.arange(3, dtype=np.int32), values=np.arange(1.0, 4.0))
POINTS = dict(points=X, weights=np.ones((5, 2)), labels=LABELS, n_labels=2, keep=True)
LEFT_OUT = dict(X=X, codes=LABELS, own=np.ones(5), others=np.ones(5), weights=np.ones(5), kernel="gaussian")
LEFT_OUT |= dict(widths=np.ones(2), log_factors=np.zeros(2), log_least_sum=-9.0, log_largest_share=0.0)
STUMP = dict(kinds=integers(0, 1, 1, dtype=np.uint8), features=np.zeros(3, np.int32), numbers=np.arange(3.0))
STUMP |= dict(rights=integers(2, 0, 0, dtype=np.int32), roots=np.zeros(1, np.int32), levels=np.zeros((0, 256), bool))


def calls():
    """A valid call of every function of the core, by the names of its arguments."""
    of_sums = dict(queries=X, points=compiled.points(**POINTS), kernel="gaussian", rtol=0.1, n_threads=1)
    grouped = dict(query_groups=LABELS, point_groups=LABELS, excluded=LABELS, weights=np.ones((5, 1)))
    rule = dict(factors=np.zeros(2), offsets=np.zeros(2), log_share=np.zeros(2), rounding=0.0, step=0.0)
    one_group = dict(query_groups=None, point_groups=None, excluded=None, weights=None)
    form = dict(output="plain", all_pairs=False)
    pairs = dict(bandwidths=np.ones((2, 2)), factors=np.ones((2, 2)), scale=np.ones(5), product_threads=1)
    five = OPTIONS | dict(start=np.zeros((5, 0), order="F"), deflate=np.zeros((5, 0), order="F"))
    transposed = {f"transposed_{name.removeprefix('row_')}": values for name, values in CSR.items()}
    return {
        "points": POINTS,
        "kernel_sums": of_sums | form | grouped | dict(bandwidths=np.ones((3, 2)), rtol=0.0, atol=0.0),
        "kernel_sums within a tolerance": of_sums | form | one_group | dict(bandwidths=1.0, atol=0.1),
        "certain_labels": of_sums | rule | dict(bandwidths=1.0),
        "kernel_matrix": dict(
            queries=X, points=X, kernel="gaussian", bandwidth=1.0, factor=1.0, out=np.zeros((5, 5)), n_threads=1
        ),
        "ranked_points": LEFT_OUT,
        "conformal_weights": dict(points=compiled.ranked_points(**LEFT_OUT), Q=X, sums=np.ones((5, 2, 1)), n_threads=1)
        | dict(bounded=False, log_weights=np.zeros(5), within=False, beyond=None, log_background=-9.0, rounding=0.0),
        "log_odds": dict(sums=np.ones((5, 2)), log_background=-9.0, rounding=0.0),
        "equal_rows": dict(rows=X),
        "largest_size": dict(values=X),
        "index_points": dict(points=X),
        "knn": dict(queries=X, points=X, k=2, algorithm="auto", n_threads=1),
        "reverse_knn": dict(queries=X, points=X, radii=np.ones(5), n_threads=1),
        "forest": STUMP,
        "tree_sums": dict(forest=compiled.forest(**STUMP), X=X, out=np.zeros((5, 1)), n_threads=1),
        "combine_rows": dict(rows=np.ones((3, 5)), factors=np.ones((1, 3)), n_threads=1),
        "asymmetry": dict(A=np.eye(3), n_threads=1),
        "eigen_dense": dict(A=np.diag([3.0, 2.0, 1.0]), options=OPTIONS, n_threads=1),
        "eigen_csr": dict(**CSR, options=OPTIONS, n_threads=1),
        "eigen_gram": dict(**CSR, **transposed, options=OPTIONS, n_threads=1),
        "eigen_kernel": pairs | dict(points=compiled.points(**POINTS), kernel="gaussian", options=five, n_threads=1),
        "eigen_callback": dict(n=3, apply=lambda x: x, options=OPTIONS, n_threads=1),
        "set_pruning": dict(choice="sampled"),
    }


def wrong(value):
    """What an argument must not be, given a valid one: kinds and values."""
    if isinstance(value, np.ndarray):
        yield "list", value.tolist()
        yield "dtype", value.astype(np.float16 if value.dtype.kind == "f" else np.int16)
        yield "axes", value.reshape((1, 1, 1, *value.shape))
        if value.size:
            yield "rows", np.ascontiguousarray(value[:-1])
            yield "columns", np.ascontiguousarray(value[..., :-1])
        if value.dtype.kind == "f":
            for number in (np.nan, np.inf):
                yield "finite", np.where(np.arange(value.size).reshape(value.shape) == 1, number, value)
        elif value.dtype.kind == "i":
            for number in (-(2**30), 2**30):
                changed = value.copy()
                changed.flat[-1] = number
                yield "range", changed
    elif isinstance(value, bool):
        yield from (("type", other) for other in (1, "x", None))
    elif isinstance(value, int):
        yield from (("type", other) for other in (1.5, "1", None, [1]))
        yield from (("range", other) for other in (-1, -(2**70)))
        yield "large", 2**70
    elif isinstance(value, float):
        yield from (("type", other) for other in ("1", None, [1.0]))
        yield from (("range", other) for other in (-1.0, np.nan, np.inf, 10**400))
    elif isinstance(value, str):
        yield from (("type", other) for other in (3, None, b"gaussian"))
        yield "name", "box"
    elif value is not None and not callable(value) and not isinstance(value, dict):
        yield from (("type", other) for other in (X, None, 3))


# What these arguments may be all the same.
RIGHT = {
    "n_threads": "large",
    "product_threads": "large",
    "points queries": "rows",
    "points points": "columns",
    "points weights": "columns",
    "points labels": "range",  # a negative one leaves a point out
    "points n_labels": "type",  # None
    "kernel_sums excluded": "range",
    "kernel_sums bandwidths": "rows",
    "certain_labels factors": "finite",
    "certain_labels offsets": "finite",
    "certain_labels log_share": "finite",
    "kernel_matrix factor": "range",
    "kernel_matrix out": "finite",
    "ranked_points X": "columns",
    "ranked_points own": "finite",
    "ranked_points others": "finite",
    "ranked_points weights": "finite",
    "ranked_points log_factors": "finite",
    "log_least_sum": "range",
    "log_largest_share": "range",
    "log_background": "range",
    "conformal_weights sums": "finite",
    "log_weights": "finite",
    "log_odds sums": "rows columns finite",
    "equal_rows rows": "rows columns finite",
    "largest_size values": "axes rows columns finite",
    "index_points points": "rows columns",
    "knn points": "rows",
    "reverse_knn radii": "finite",
    "forest features": "range",
    "forest numbers": "finite",
    "forest rights": "range",
    "forest roots": "rows columns",
    "tree_sums X": "columns finite",
    "tree_sums out": "finite",
    "combine_rows rows": "columns finite",
    "combine_rows factors": "rows finite",
    "A": "finite",
    "values": "finite",
    "transposed_values": "finite",
    "eigen_kernel factors": "finite",
    "eigen_kernel scale": "finite",
}
# The names of arguments in Python, where they differ.
PUBLIC = dict(queries="Q", points="X|points", bandwidths="bandwidth", excluded="exclude_self")
PUBLIC |= dict(query_groups="exclude_groups", point_groups="exclude_groups", n="order of A", row_starts="row starts")
PUBLIC |= dict(n_threads="n_jobs", product_threads="n_jobs")
PUBLIC |= dict(transposed_starts="row starts", transposed_indices="indices", transposed_values="values", X="X|out")


@pytest.mark.parametrize(
    ("name", "argument", "kind", "given"),
    [
        pytest.param(name, argument, kind, given | {argument: value}, id=f"{name}-{argument}-{kind}")
        for name, given in calls().items()
        for argument, valid in given.items()
        for kind, value in wrong(valid)
    ],
)
def test_wrong_arguments_are_refused_by_name(name, argument, kind, given):
    name = name.split()[0]
    right = any(kind in RIGHT.get(key, "") for key in (argument, f"{name} {argument}", f"points {argument}"))
    try:
        getattr(compiled, name)(**given)
    except (ValueError, TypeError, MemoryError) as error:
        # Arguments that do not fit together may be named by the other one.
        named = given if kind in ("rows", "columns", "range", "large") else [argument]
        names = "|".join([PUBLIC.get(one, one) for one in named] + ["groups", "start", "trees are damaged"])
        assert re.search(rf"\b({names})\b", str(error)) and "incompatible function" not in str(error)
    else:
        assert right


def test_every_function_of_the_core_has_a_valid_call():
    """The test above takes its wrong arguments from them."""
    listed = {name.split()[0] for name in calls()}
    functions = {name for name, f in vars(compiled).items() if callable(f) and not isinstance(f, type)}
    administration = {"load", "use_lapack", "build_info", "supported_variants", "thread_limit"}
    assert {name for name in functions if name[0] != "_"} == listed | administration
    for name, given in calls().items():
        getattr(compiled, name.split()[0])(**given)


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
    with pytest.raises(ValueError, match="labels must be"):
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
        (lambda: kernel_sums(X, X, bandwidth=1.0, rtol=10**400), "rtol must be finite"),
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
    with pytest.raises(ValueError, match="n_labels=0"):
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
