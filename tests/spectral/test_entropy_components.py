"""`KernelMap(order="entropy")` against all eigenpairs, and against the information potential that they make up."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris, load_wine
from sklearn.preprocessing import scale

from spectralcls import KernelMap
from spectralcls.information import information_potential
from spectralcls.kernels import kernel_matrix

WINE, IRIS = scale(load_wine().data), scale(load_iris().data)


def dense(X, bandwidth, weighting=None, kernel="gaussian"):
    """Eigenvalues, eigenvectors and shares of all pairs, the largest share first."""
    K = kernel_matrix(X, kernel=kernel, bandwidth=bandwidth)
    if weighting is not None:
        root = np.sqrt(K.mean(axis=1))
        K = K / root / root[:, None]
    values, vectors = np.linalg.eigh(K)
    shares = values * vectors.sum(axis=0) ** 2
    order = np.argsort(-shares)
    return values[order], vectors[:, order], shares[order]


@pytest.mark.parametrize("weighting", [None, "symmetric"])
@pytest.mark.parametrize("bandwidth", [1.2, 2.0])
@pytest.mark.parametrize("X", [WINE, IRIS], ids=["wine", "iris"])
def test_components_of_the_largest_shares_of_all(X, bandwidth, weighting):
    model = KernelMap(3, order="entropy", weighting=weighting, bandwidth=bandwidth, scale=None).fit(X)
    values, vectors, shares = dense(X, bandwidth, weighting)
    assert shares[2] > 1e-6 * shares[0]
    assert_allclose(model.eigenvalues_, values[:3], rtol=1e-6)
    assert_allclose(np.abs(model.eigenvectors_), np.abs(vectors[:, :3]), atol=1e-5)


def test_they_carry_more_of_the_potential_than_the_leading_ones():
    by_share, by_value = (KernelMap(3, order=o, bandwidth=0.8, scale=None).fit(WINE) for o in ("entropy", "eigenvalue"))
    shares, others = (model.eigenvectors_.sum(axis=0) ** 2 @ model.eigenvalues_ for model in (by_share, by_value))
    assert shares > 1.05 * others


def test_shares_add_up_to_the_information_potential():
    h = 1.0
    model = KernelMap("all", order="entropy", bandwidth=np.sqrt(2) * h, scale=None).fit(IRIS)
    shares = model.eigenvalues_ * model.eigenvectors_.sum(axis=0) ** 2
    assert np.all(np.diff(shares) <= 1e-12)
    constant = (4 * np.pi * h**2) ** (IRIS.shape[1] / 2)
    assert_allclose(shares.sum() / len(IRIS) ** 2 / constant, information_potential(IRIS, bandwidth=h), rtol=1e-10)


def test_new_points_go_where_training_points_are():
    model = KernelMap(4, order="entropy", bandwidth=1.0, scale=None)
    assert_allclose(model.fit_transform(IRIS), model.transform(IRIS), atol=1e-8)


@pytest.mark.parametrize("options", [{}, {"rank": 60}])
def test_weights_are_repetitions(options):
    X, counts = IRIS[::3], np.random.default_rng(0).integers(1, 4, 50)
    model = KernelMap(3, order="entropy", bandwidth=1.0, scale=None, **options)
    weighted = model.fit(X, sample_weight=counts).transform(X)
    repeated = model.fit(np.repeat(X, counts, axis=0)).transform(X)
    assert_allclose(np.abs(weighted), np.abs(repeated), atol=1e-7)


def test_a_low_rank_factor_gives_the_same_components():
    exact, low = (KernelMap(4, order="entropy", bandwidth=1.5, scale=None, rank=r).fit(WINE) for r in (None, 178))
    assert_allclose(low.eigenvalues_, exact.eigenvalues_, rtol=1e-6)
    assert_allclose(np.abs(low.transform(WINE)), np.abs(exact.transform(WINE)), atol=1e-6)


@pytest.mark.filterwarnings("ignore:The kernel matrix is not positive:UserWarning")
def test_a_kernel_with_negative_eigenvalues():
    X, h = IRIS, 1.0
    values, _, shares = dense(X, h, kernel="epanechnikov")
    model = KernelMap(3, order="entropy", kernel="epanechnikov", bandwidth=h, scale=None).fit(X)
    assert_allclose(model.eigenvalues_, values[values > 1e-9][:3], rtol=1e-6)
    assert np.all(shares[:3] > 0)


def test_no_more_pairs_than_the_certificate_asks_for(monkeypatch):
    import spectralcls.spectral._kernel_map as module

    asked, original = [], module.spectrum_of
    monkeypatch.setattr(module, "spectrum_of", lambda *arguments: asked.append(arguments[-1]) or original(*arguments))
    X = np.random.default_rng(0).standard_normal((600, 2))
    KernelMap(3, order="entropy", bandwidth=2.0, scale=None).fit(X)
    assert asked == [6]


def test_ties_keep_the_order_of_the_eigenvalues():
    X = np.array([[0.0], [100.0], [200.0]])
    values = KernelMap("all", order="entropy", bandwidth=1.0, scale=None).fit(X).eigenvalues_
    assert_array_equal(values, np.sort(values)[::-1])
