"""Functions of the core and of its thin modules against slow truth."""

import numpy as np
import reference
from fuzz.checks import allowed_error, check_sums
from fuzz.strategies import DTYPES, examples, layouts, points, refused, shapes, spread, sums, widths
from hypothesis import given
from hypothesis import strategies as st

import spectralcls
import spectralcls.kernels as bandwidths
from spectralcls import information
from spectralcls.neighbors import knn_graph, reverse_knn


@given(sums(), layouts, layouts)
def test_kernel_sums(arguments, of_queries, of_points):
    Q, X, options = arguments
    given_points = of_points(X)
    found = spectralcls.kernel_sums(given_points if Q is X else of_queries(Q), given_points, **options)
    check_sums(found, Q, X, options)


@given(st.data(), DTYPES)
def test_sums_of_distant_points(data, dtype):
    """Points that are nearly one for the queries, which are far from them; bandwidths of very different size."""
    lowest, d = -140 if dtype == np.float64 else -30, data.draw(st.integers(1, 5))
    size = st.integers(1, 19)
    X = (data.draw(points(data.draw(size), d)) * 10.0 ** data.draw(st.floats(lowest, 0))).astype(dtype)
    Q = (data.draw(points(data.draw(size), d)) * 10.0 ** data.draw(st.floats(-3, 2))).astype(dtype)
    kernel = data.draw(st.sampled_from(["gaussian", "laplace", "epanechnikov", "cosine"]))
    exponents = data.draw(st.lists(st.floats(-8, 8), min_size=3, max_size=3) | st.just([0.1, 0.5, 0.9]))
    options = {"kernel": kernel, "bandwidth": 10.0 ** np.sort(exponents)}
    if kernel in ("gaussian", "laplace") and data.draw(st.booleans()):
        options["log"] = True
    check_sums(spectralcls.kernel_sums(Q, X, **options), Q, X, options)


@given(st.data(), shapes(), DTYPES, layouts)
def test_kernel_matrix(data, shape, dtype, layout):
    m, n, d = shape
    X, Q = data.draw(points(n, d, dtype)), data.draw(points(m, d, dtype))
    kernel = data.draw(st.sampled_from(sorted(reference.COMPACT) + ["gaussian", "laplace"]))
    h = data.draw(widths(Q, X))
    found = spectralcls.kernel_matrix(layout(Q), layout(X), kernel=kernel, bandwidth=h)
    u = reference.distances(Q, X, np.longdouble) / h
    allowed = np.exp(allowed_error(kernel, dtype)(u)) + np.finfo(dtype).tiny
    assert found.dtype == dtype and np.all(np.abs(found - reference.PROFILES[kernel](u)) <= allowed)
    own = spectralcls.kernel_matrix(layout(X), kernel=kernel, bandwidth=h)
    assert np.all(own.diagonal() == 1) and np.array_equal(own, own.T)


@given(st.data(), shapes(), DTYPES, layouts)
def test_knn(data, shape, dtype, layout):
    m, n, d = shape
    X = data.draw(points(n, d, dtype))
    Q = X if data.draw(st.booleans()) else data.draw(points(m, d, dtype))
    most = 900 if dtype == np.float64 else 90
    unit, k = dtype.type(2.0 ** data.draw(st.integers(-most, most))), data.draw(st.integers(1, n))
    algorithm = data.draw(st.sampled_from(["auto", "brute", "kd_tree"])) if d < 12 else "auto"
    distances, indices = spectralcls.knn(layout(Q * unit), layout(X * unit), k, algorithm=algorithm)
    D = reference.distances(Q, X)
    scale = np.abs(np.r_[Q.ravel(), X.ravel()]).max() if dtype == np.float32 else 0
    truth = np.sort(D, axis=1)[:, :k]
    assert distances.shape == indices.shape == (len(Q), k) and distances.dtype == dtype
    assert indices.min() >= 0 and indices.max() < n
    assert np.diff(np.sort(indices, axis=1), axis=1).all()  # no point twice
    rtol, atol = 20 * np.finfo(dtype).eps, 1e-30 * scale
    np.testing.assert_allclose(distances.astype(np.float64) / float(unit), truth, rtol=rtol, atol=atol)
    np.testing.assert_allclose(np.take_along_axis(D, indices, 1), truth, rtol=rtol, atol=atol)


@given(st.data(), shapes(), layouts)
def test_reverse_knn(data, shape, layout):
    m, n, d = shape
    X, Q = data.draw(points(n, d)), data.draw(points(m, d))
    D = reference.distances(Q, X)
    radii = spread(Q, X) * np.linspace(data.draw(st.floats(0.1, 2)), data.draw(st.floats(0.1, 2)), n)
    found = reverse_knn(layout(Q), layout(X), radii).toarray()
    certain = np.abs(D - radii) > 1e-9 * radii
    np.testing.assert_allclose(found[certain], np.where(D < radii, D, 0)[certain], rtol=1e-12)


@given(st.data(), shapes(), layouts)
def test_knn_graph(data, shape, layout):
    n = max(shape[1], 3)
    X, k = data.draw(points(n, shape[2])), data.draw(st.integers(1, min(n, 12) - 1))
    mode = data.draw(st.sampled_from(["connectivity", "heat", "distance"]))
    symmetrize = data.draw(st.sampled_from(["or", "and"]))
    graph = knn_graph(layout(X), k, mode=mode, symmetrize=symmetrize)
    dense = graph.toarray()
    assert np.array_equal(dense, dense.T) and np.all(dense.diagonal() == 0) and np.all(np.isfinite(dense))
    assert graph.indices.max(initial=0) < n
    if symmetrize == "or":
        assert np.diff(graph.indptr).min() >= k
    if mode == "distance":
        rows, columns = graph.nonzero()
        np.testing.assert_allclose(dense[rows, columns], reference.distances(X, X)[rows, columns], rtol=1e-10)


@examples(0.3)
@given(st.data(), shapes(), DTYPES, layouts)
def test_rpcholesky(data, shape, dtype, layout):
    n, d = min(shape[1], 300), min(shape[2], 30)
    X = data.draw(points(n, d, dtype))
    h, rank = data.draw(widths(X, X)), data.draw(st.integers(1, n))
    options = {
        "method": data.draw(st.sampled_from(["random", "greedy"])),
        "random_state": data.draw(st.integers(0, 999)),
    }
    options["block_size"] = data.draw(st.sampled_from([None, 1, 2, 7, 50, 10**6]))
    factor = spectralcls.linalg.rpcholesky(layout(X), rank, bandwidth=h, **options)
    F = factor.factor.astype(np.float64)
    residual = reference.kernel_matrix(X, X, bandwidth=h) - F @ F.T
    tolerance = 1e-9 if dtype == np.float64 else 5e-3
    assert factor.rank <= rank and len(set(factor.pivots)) == factor.rank
    assert np.linalg.eigvalsh(residual).min() > -tolerance * n
    assert np.abs(residual[:, factor.pivots]).max(initial=0) < tolerance
    assert abs(factor.trace_residual - residual.trace()) < tolerance * n


@examples(0.3)
@given(st.data(), st.integers(3, 200), layouts)
def test_top_eigenpairs(data, n, layout):
    k, rng = data.draw(st.integers(1, max(1, n // 4))), np.random.default_rng(data.draw(st.integers(0, 999)))
    A = rng.standard_normal((n, n))
    kinds = {
        "symmetric": lambda: A + A.T,
        "low rank": lambda: A[:, : n // 2] @ A[:, : n // 2].T,
        "many equal eigenvalues": lambda: np.diag(np.round(rng.uniform(-3, 3, n))),
    }
    A = kinds[data.draw(st.sampled_from(sorted(kinds)))]()
    solver, options = data.draw(st.sampled_from(["auto", "lanczos", "dense"])), {}
    if data.draw(st.booleans()):
        options["block_size"] = data.draw(st.sampled_from([1, 2, 3, 9, 10**6]))
    result = spectralcls.top_eigenpairs(layout(A), k, solver=solver, **options)
    V, norm = result.vectors, max(np.abs(A).max() * n, 1e-300)
    np.testing.assert_allclose(V.T @ V, np.eye(k), atol=1e-9)
    np.testing.assert_allclose(A @ V, V * result.values, atol=1e-8 * norm)
    if result.converged and not options:
        np.testing.assert_allclose(result.values, np.linalg.eigvalsh(A)[::-1][:k], atol=1e-8 * norm)


@examples(0.3)
@given(st.data(), shapes(), layouts)
def test_divergences(data, shape, layout):
    m, n, d = (max(2, min(size, 200)) for size in shape)
    X, Y = data.draw(points(n, d)), data.draw(points(m, d))
    h = data.draw(widths(X, Y))
    K = [reference.kernel_matrix(A, B, bandwidth=h * np.sqrt(2)) for A, B in ((X, Y), (X, X), (Y, Y))]
    cross, own_X, own_Y = (M.mean() for M in K)
    if cross > 1e-250:
        found = information.cauchy_schwarz_divergence(layout(X), layout(Y), bandwidth=h)
        np.testing.assert_allclose(found, -np.log(cross / np.sqrt(own_X * own_Y)), rtol=1e-8, atol=1e-9)
    entropy = information.renyi_entropy(layout(X), bandwidth=h)
    truth = -np.log(own_X) + reference.log_normalizer("gaussian", d, h * np.sqrt(2))
    np.testing.assert_allclose(entropy, truth, rtol=1e-8, atol=1e-9)


@given(st.data(), shapes(), st.integers(-300, 300))
def test_bandwidth_rules(data, shape, exponent):
    X, unit = data.draw(points(max(shape[1], 2), shape[2])), 2.0**exponent
    for rule in (bandwidths.silverman_bandwidth, bandwidths.bandwidth_grid):
        try:
            plain = np.asarray(rule(X))
        except ValueError as error:
            assert not np.ptp(X, axis=0).any()
            refused(error)
            return
        assert np.all(np.isfinite(plain)) and np.all(plain > 0)
        if np.ptp(X, axis=0).any():
            np.testing.assert_allclose(np.asarray(rule(X * unit)) / unit, plain, rtol=1e-9)
