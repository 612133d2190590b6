"""`SpectralKernel.partial_fit`: `fit` on all samples, up to what the first samples have beyond the known components."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp

from spectralcls.spectral import SpectralKernel

OPTIONS = [
    {"kernel": "linear", "n_components": 6},
    {"kernel": "linear", "n_components": 6, "weighting": None, "embedding": "a"},
    {"kernel": "gaussian", "n_components": "all", "bandwidth": 1.0},
    {"kernel": "gaussian", "n_components": "all", "bandwidth": 1.0, "normalize": False},
    {"kernel": "polynomial", "n_components": "all"},
    {"kernel": "exponential", "n_components": "all"},
]


def samples(n=40, d=6):
    return np.abs(np.random.default_rng(0).normal(size=(n, d))) / 2


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("step", [1, 7, 20])
def test_growing_is_fitting_where_all_components_are_kept(options, step):
    X = samples()
    grown, whole = (SpectralKernel(scale=None, **options) for _ in range(2))
    for start in range(0, len(X), step):
        grown.partial_fit(X[start : start + step])
    queries = samples(50)[40:] + 0.1
    expected = whole.fit(X).kernel_matrix(queries, X)
    np.testing.assert_allclose(grown.kernel_matrix(queries, X), expected, atol=1e-5 * np.abs(expected).max())
    if options["n_components"] == 6:
        np.testing.assert_allclose(grown.eigenvalues_, whole.eigenvalues_, rtol=1e-9)


def test_sparse_samples_with_weights():
    X, weights = sp.csr_array(samples() * (samples() > 0.3)), np.random.default_rng(1).integers(0, 4, 40)
    grown = SpectralKernel(6).partial_fit(X[:25], sample_weight=weights[:25]).partial_fit(X[25:], None, weights[25:])
    whole = SpectralKernel(6).fit(X, sample_weight=weights)
    np.testing.assert_allclose(grown.kernel_matrix(X), whole.kernel_matrix(X), atol=1e-8)
    assert len(grown.coefficients_) == X.shape[1]


@pytest.mark.parametrize("weighting", [None, "symmetric"])
def test_what_is_lost_is_bounded_by_the_first_eigenvalue_left_out(weighting):
    X = np.random.default_rng(2).normal(size=(80, 3))
    options = {"weighting": weighting, "kernel": "gaussian", "bandwidth": 1.5, "scale": None}
    grown = SpectralKernel(10, **options).partial_fit(X[:40]).partial_fit(X[40:])
    beyond = SpectralKernel(11, **options).fit(X[:40]).eigenvalues_[10]
    exact = SpectralKernel(10, **options).fit(X).eigenvalues_
    assert np.all(grown.eigenvalues_ <= exact * (1 + 1e-9)) and np.all(exact - grown.eigenvalues_ <= beyond)


def test_a_document_like_none_before_and_its_first_relative():
    X = np.eye(4)[[0, 0, 1, 2, 2]] + 0.0
    X[3:, 3] = 0.5
    grown = SpectralKernel("all").partial_fit(sp.csr_array(X[:4])).partial_fit(sp.csr_array(X[4:]))
    whole = SpectralKernel("all").fit(sp.csr_array(X))
    np.testing.assert_allclose(grown.kernel_matrix(X), whole.kernel_matrix(X), atol=1e-9)


def test_fit_begins_anew_and_failures_change_nothing():
    X = samples()
    model = SpectralKernel(4, kernel="linear").partial_fit(X[:20])
    before = model.transform(X)
    with pytest.raises(ValueError, match="Negative values"):
        model.partial_fit(-X[20:])
    with pytest.raises(ValueError, match="features"):
        model.partial_fit(X[20:, :3])
    np.testing.assert_array_equal(model.transform(X), before)
    again = pickle.loads(pickle.dumps(model)).partial_fit(X[20:])
    np.testing.assert_allclose(again.transform(X), model.partial_fit(X[20:]).transform(X))
    np.testing.assert_allclose(model.fit(X[:20]).partial_fit(X[20:]).transform(X), again.transform(X))


@pytest.mark.parametrize("options", [{"kernel": "precomputed"}, {"rank": 5}])
def test_what_cannot_grow_says_so(options):
    assert not hasattr(SpectralKernel(3, **options), "partial_fit")


def test_single_precision_stays():
    X = samples().astype(np.float32)
    model = SpectralKernel(4, kernel="linear").partial_fit(X[:20]).partial_fit(X[20:])
    assert model.transform(X).dtype == model.coefficients_.dtype == np.float32
