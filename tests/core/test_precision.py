"""The promise of docs/guide/numerics.md on the error of a term w exp(-a), for any number of features."""

import numpy as np
import pytest
import reference

from spectralcls.kernels import PackedPoints, kernel_matrix, kernel_sums

DTYPES = [np.float32, np.float64]
FEATURES = [1, 3, 5, 7, 30, 100, 300, 1000]
EXPONENTS = {"gaussian": lambda u: u**2 / 2, "laplace": lambda u: u, "laplace_derivative": lambda u: u}


def exact_distances(Q, X, unit=1.0):
    """In units of `unit`, in the widest type that NumPy has."""
    Q, X = (A.astype(np.longdouble) / np.longdouble(unit) for A in (Q, X))
    return np.sqrt(np.array([((X - q) ** 2).sum(axis=1) for q in Q]))


def near_middle_and_far(rng, d, dtype, n=500, offset=0.0, size=1.0):
    """Points, and queries from a thousandth to a hundred times the spread of the points away from one of them."""
    X = rng.normal(size=(n, d)) + offset
    away = np.array([1e-3, 0.05, 0.3, 0.36, 0.43, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.5, 3, 100])
    Q = X[: len(away)] + away[:, None] * rng.normal(size=(len(away), d))
    return (Q * size).astype(dtype), (X * size).astype(dtype)


def assert_promise(Q, X, h, dtype, kernel="gaussian", distances=None):
    u = exact_distances(Q, X, h) if distances is None else distances / np.longdouble(h)
    a = EXPONENTS[kernel](u)
    terms = np.exp(-a)
    if kernel == "laplace_derivative":
        terms = np.where(u > 0, terms / np.where(u > 0, u, 1), 0)
    allowed = reference.rounding(a, dtype, kernel) * terms
    least = len(X) * np.finfo(dtype).tiny
    points = PackedPoints(X)
    sums = kernel_sums(Q, points, kernel=kernel, bandwidth=h)
    assert np.all(np.abs(sums - terms.sum(axis=1)) <= allowed.sum(axis=1) + least)
    # As a part of several bandwidths, and with signed weights, relative to the sum of absolute terms.
    w = np.random.default_rng(0).normal(size=len(X)).astype(dtype)
    sums = kernel_sums(Q, points, weights=w, kernel=kernel, bandwidth=[h / 2, h, 3 * h])[:, 1]
    assert np.all(np.abs(sums - terms @ w.astype(np.longdouble)) <= allowed @ np.abs(w) + least)
    assert np.all(np.abs(kernel_matrix(Q, X, kernel=kernel, bandwidth=h) - terms) <= allowed + least)
    if kernel == "laplace_derivative":
        return
    nearest = a.min(axis=1)
    relative = np.exp(nearest[:, None] - a)
    truth = np.log(relative.sum(axis=1)) - nearest
    allowed = (reference.rounding(a, dtype, kernel) * relative).sum(axis=1) / relative.sum(axis=1)
    logs = kernel_sums(Q, points, kernel=kernel, bandwidth=h, log=True)
    assert np.all(np.abs(logs - truth) <= allowed + np.finfo(dtype).eps * np.abs(truth))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("d", FEATURES)
@pytest.mark.parametrize("offset", [0.0, 100.0])
def test_gaussian_sums_keep_the_promise_for_any_number_of_features(offset, d, dtype):
    for seed, width in enumerate([0.02, 0.05, 0.1, 0.2, 0.35, 0.7, 3]):
        Q, X = near_middle_and_far(np.random.default_rng(seed), d, dtype, offset=offset)
        assert_promise(Q, X, width * np.sqrt(d), dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("d", FEATURES)
@pytest.mark.parametrize("kernel", ["laplace", "laplace_derivative"])
def test_other_unbounded_kernels_keep_it(kernel, d, dtype):
    for seed, width in enumerate([0.02, 0.1, 0.5, 3]):
        Q, X = near_middle_and_far(np.random.default_rng(seed), d, dtype)
        assert_promise(Q, X, width * np.sqrt(d), dtype, kernel)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("d", FEATURES)
@pytest.mark.parametrize(("offset", "size"), [(0.0, 1.0), (1e3, 1e-3), (1e3, 1e3)])
def test_compact_kernels_are_off_by_as_much_of_their_value_at_zero(offset, size, d, dtype):
    Q, X = near_middle_and_far(np.random.default_rng(d), d, dtype, offset=offset, size=size)
    h = 2 * np.sqrt(d) * size
    u = exact_distances(Q, X, h)
    for kernel in ("epanechnikov", "quartic", "triweight", "cosine", "linear"):
        truth = reference.COMPACT[kernel](u)
        assert np.all(
            np.abs(kernel_matrix(Q, X, kernel=kernel, bandwidth=h) - truth) <= reference.rounding(1, dtype, kernel)
        )
        sums = kernel_sums(Q, X, kernel=kernel, bandwidth=h)
        assert np.all(np.abs(sums - truth.sum(axis=1)) <= reference.rounding(1, dtype, kernel) * (u <= 1).sum(axis=1))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("d", [7, 30, 300])
def test_clusters_keep_it(d, dtype):
    """Where many pairs of a tile are near ones, all its distances come from differences."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        centers = 3 * rng.normal(size=(5, d))
        X = (centers[rng.integers(5, size=700)] + rng.normal(size=(700, d)) * 10.0**-seed).astype(dtype)
        Q = (centers[rng.integers(5, size=60)] + rng.normal(size=(60, d)) * 10.0**-seed).astype(dtype)
        distances = exact_distances(Q, X)
        for width in (0.3, 1):
            assert_promise(Q, X, width * np.sqrt(d) * 10.0**-seed, dtype, distances=distances)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("d", [30, 64, 256, 784, 1000])
@pytest.mark.parametrize("kind", ["bits", "pixels", "eighths", "offset", "copies", "nearly copies"])
def test_features_of_equal_terms_keep_it(kind, d, dtype):
    """Equal terms are rounded the same way."""
    rng = np.random.default_rng(d)
    Z = rng.normal(size=(400, d))
    Z[12:24, d // 10 :] = Z[:12, d // 10 :]  # near pairs
    X = {
        "bits": Z > 0,
        "pixels": np.clip(np.round(128 + 80 * Z), 0, 255),
        "eighths": np.round(8 * Z) / 8,
        "offset": Z + 3e5,
        "copies": Z[:, -1:] + 0 * Z,
        "nearly copies": Z[:, -1:] + 0.01 * Z,
    }[kind].astype(dtype)
    Q, X = X[:12], X[12:]
    distances = exact_distances(Q, X)
    typical = float(np.sqrt(np.median(distances**2)))
    for kernel in ("gaussian", "laplace"):
        for width in (0.15, 0.3, 0.7, 1, 1.4):
            assert_promise(Q, X, typical * width, dtype, kernel, distances)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("d", [7, 30, 300])
@pytest.mark.parametrize("size", ["subnormal", "small", "large"])
def test_data_near_the_limits_of_numbers_keep_it(size, d, dtype):
    limits = np.finfo(dtype)
    unit = {"subnormal": 2.0**20 * limits.smallest_subnormal, "small": limits.tiny, "large": limits.max / 1e4}[size]
    for seed in range(3):
        Q, X = near_middle_and_far(np.random.default_rng(seed), d, dtype, size=float(unit))
        assert_promise(Q, X, float(unit) * 0.3 * np.sqrt(d), dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("d", [1, 7, 100])
@pytest.mark.parametrize(("kernel", "step"), [("gaussian", 2**0.5), ("laplace", 2)])
def test_a_grid_of_bandwidths_keeps_it_by_squares(kernel, step, d, dtype):
    """Term by term: next to 1 a rounding is doubled by each square."""
    for seed in range(3):
        Q, X = near_middle_and_far(np.random.default_rng(seed), d, dtype, n=200)
        bandwidths = 30 * np.sqrt(d) * float(step) ** -np.arange(16)
        terms = kernel_sums(Q, X, kernel=kernel, bandwidth=bandwidths, labels=np.arange(len(X)))
        distances = exact_distances(Q, X)
        for b, h in enumerate(bandwidths):
            a = EXPONENTS[kernel](distances / np.longdouble(h))
            allowed = reference.rounding(a, dtype, kernel, grid=True) * np.exp(-a)
            assert np.all(np.abs(terms[:, b] - np.exp(-a)) <= allowed + np.finfo(dtype).tiny)
