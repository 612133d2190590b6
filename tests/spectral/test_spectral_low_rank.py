"""`rank` of the spectral methods: what F F^T gives, and K as the residual vanishes."""

import numpy as np
import pytest
import reference
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import make_blobs

import spectralcls
from spectralcls import KernelMap, SpectralKernel, SpectralKernelClassifier
from spectralcls._expansion import low_rank_spectrum
from spectralcls._expansion.low_rank_spectrum import classwise_spectrum
from spectralcls.spectral import (
    LaplacianSpectralClassifier,
    SpectralISEClassifier,
    SpectralLaplacianISEClassifier,
    _kernel_classifier,
)

LOW = dict(rank=40, random_state=0)
TOLERANCE = {np.float64: 1e-9, np.float32: 1e-4}


@pytest.fixture(scope="module")
def problem():
    X, y = make_blobs(400, centers=4, n_features=3, cluster_std=1.5, random_state=0)
    return X, y % 3, np.random.default_rng(0).uniform(0.1, 3, len(X)), 4 * np.random.default_rng(1).normal(size=(60, 3))


def aligned(Z, other):
    return Z * np.sign(np.sum(Z * other, axis=0))


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("weighting", [None, "symmetric"])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_map_is_that_of_the_factor(problem, weighting, weighted, dtype):
    """Eigenpairs of W^1/2 D^-1/2 F F^T D^-1/2 W^1/2, and queries through k(y, pivots) alone."""
    X, _, w, Q = problem
    X, Q, w = X.astype(dtype), Q.astype(dtype), w / w.mean() if weighted else np.ones(len(X))
    found = KernelMap(5, weighting=weighting, bandwidth=4.0, **LOW, scale=None).fit(X, sample_weight=w)
    landmarks = found._spectrum.anchors.astype(np.float64)
    rows = [int(np.flatnonzero((X == landmark).all(axis=1))[0]) for landmark in landmarks]
    assert len(set(rows)) == 40
    L = np.linalg.cholesky(reference.kernel_matrix(landmarks, landmarks, bandwidth=4.0))
    F, G = (np.linalg.solve(L, reference.kernel_matrix(landmarks, A, bandwidth=4.0)).T for A in (X, Q))
    own = F[rows].T @ w[rows]  # what the landmarks contribute
    f, fy = (np.maximum(A @ (F.T @ w), A @ own) / w.sum() if weighting else np.ones(len(A)) for A in (F, G))
    values, E = np.linalg.eigh(np.sqrt(w / f)[:, None] * (F @ F.T) * np.sqrt(w / f))
    values, E = values[::-1][:5], E[:, ::-1][:, :5]
    tolerance = dict(rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype])
    assert_allclose(found.eigenvalues_, values, **tolerance)
    Z = E * np.sqrt(values) / np.sqrt(w)[:, None]
    assert_allclose(aligned(found.transform(X), Z), Z, **tolerance)
    expected = G / np.sqrt(fy)[:, None] @ (F.T @ (E * np.sqrt(w / f)[:, None])) / np.sqrt(values)
    assert_allclose(aligned(found.transform(Q), expected), expected, **tolerance)
    K = reference.kernel_matrix(X, X, bandwidth=4.0)
    assert found.trace_residual_ == pytest.approx(w @ np.diag(K - F @ F.T) / w.sum(), rel=1e-3)
    if weighting:
        assert_allclose(found.inverse_density_, 1 / f, **tolerance)


@pytest.mark.parametrize("weighting", [None, "symmetric"])
def test_training_points_map_as_queries_and_the_exact_map_is_the_limit(problem, weighting):
    X, _, w, Q = problem
    exact = KernelMap(4, weighting=weighting, bandwidth=3.0, scale=None).fit(X, sample_weight=w)
    distances = []
    for rank in (20, 60, 180):
        low = KernelMap(4, weighting=weighting, bandwidth=3.0, rank=rank, scale=None)
        Z = low.fit_transform(X, sample_weight=w)
        assert_allclose(low.transform(X), Z, atol=1e-9)
        expected = exact.transform(Q)
        distances.append(np.abs(aligned(low.transform(Q), expected) - expected).max() / np.abs(expected).max())
    assert distances[2] < 1e-3 and distances[2] < distances[1] < distances[0]


def test_isolated_points_that_the_factor_does_not_reach_stay_finite():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(300, 2)), 1e3 * rng.normal(size=(60, 2))])
    found = KernelMap(3, weighting="symmetric", bandwidth=0.7, rank=12, scale=None)
    Z = found.fit_transform(X)
    assert np.isfinite(Z).all() and found.inverse_density_.max() <= len(X)
    assert_allclose(found.transform(X), Z, atol=1e-9)
    assert_array_equal(found.transform(np.array([[1e9, 0.0]])), 0)


@pytest.mark.parametrize("center", ["mean", "median"])
@pytest.mark.parametrize("Classifier", [SpectralISEClassifier, SpectralLaplacianISEClassifier])
def test_classifiers(problem, Classifier, center):
    X, y, w, Q = problem
    options = dict(bandwidth=3.0, n_components=4, center=center)
    exact = Classifier(**options).fit(X, y, w)
    low = Classifier(**options, rank=180).fit(X, y, w)
    expected = exact.decision_function(Q)
    assert_allclose(low.decision_function(Q), expected, atol=1e-3 * np.abs(expected).max())
    assert 0 < low.trace_residual_ == low.map_.trace_residual_ < 1e-3
    assert len(low._model.points.X) == 180  # queries are evaluated against the landmarks
    low.set_params(rank=None).fit(X, y)
    assert low.trace_residual_ == 0
    for rank in (len(X), None):  # as many landmarks as points: exact
        assert_array_equal(
            low.set_params(rank=rank).fit(X, y).decision_function(Q), exact.fit(X, y).decision_function(Q)
        )


def test_the_classwise_kernel_and_its_classifier(problem):
    X, y, w, Q = problem
    options = dict(n_components=4, bandwidth={0: 2.0, 1: 3.0, 2: 2.5})
    exact = LaplacianSpectralClassifier(**options).fit(X, y, w)
    low = LaplacianSpectralClassifier(**options, rank=150).fit(X, y, w)
    assert_allclose(low.eigenvalues_, exact.eigenvalues_, rtol=1e-3)
    expected = exact.decision_function(Q)
    assert_allclose(low.decision_function(Q), expected, atol=1e-2 * np.abs(expected).max())
    assert 0 < low.trace_residual_ < 0.05
    operator = spectralcls.linalg.KernelOperator(X, bandwidth={0: 2.0, 1: 3.0, 2: 2.5}, labels=y)
    spectrum, residual = classwise_spectrum(
        X, y, np.array([2.0, 3.0, 2.5]), np.ones(len(X)), 4, rank=400, random_state=0
    )
    K = operator.toarray()
    assert_allclose(spectrum.values, np.linalg.eigvalsh(K)[::-1][:4], rtol=1e-9)
    assert residual < 1e-9


@pytest.mark.parametrize("weighting", ["symmetric", None])
@pytest.mark.parametrize("embedding", ["a", "b"])
def test_spectral_kernel(problem, weighting, embedding):
    X, y, _, Q = problem
    options = dict(kernel="gaussian", bandwidth=3.0, weighting=weighting, embedding=embedding, normalize=False)
    exact = SpectralKernel(4, **options).fit(X)
    low = SpectralKernel(4, **options, rank=180)
    Z = low.fit_transform(X)
    assert_allclose(low.transform(X), Z, atol=1e-9 * np.abs(Z).max())
    expected = exact.transform(Q)
    assert_allclose(aligned(low.transform(Q), expected), expected, atol=1e-3 * np.abs(expected).max())
    assert low.X_fit_.shape == (180, 3) and 0 < low.trace_residual_ < 1e-3


def test_spectral_kernel_classifier(problem):
    X, y, _, Q = problem
    options = dict(kernel="gaussian", bandwidth=3.0, n_components=8)
    exact = SpectralKernelClassifier(**options).fit(X, y)
    low = SpectralKernelClassifier(**options, rank=180).fit(X, y)
    assert_array_equal(low.predict(X), exact.predict(X))
    assert low.spectral_kernel_.trace_residual_ < 1e-3


@pytest.mark.parametrize(
    "estimator, message",
    [
        (KernelMap(2, kernel="uniform", rank=40, scale=None), "positive semi-definite kernel"),
        (KernelMap(50, rank=40, scale=None), "n_components=50 exceeds rank=40"),
        (
            LaplacianSpectralClassifier("silverman_per_class", n_components=50, rank=40),
            "n_components=50 exceeds rank=40",
        ),
        (SpectralKernel(kernel="linear", rank=500), "kernel='gaussian' and dense X"),
    ],
)
def test_what_does_not_go_together_is_named(problem, estimator, message):
    X, y, _, _ = problem
    with pytest.raises(ValueError, match=message):
        clone(estimator).fit(abs(X), y)


@pytest.mark.parametrize(
    "Classifier",
    [
        SpectralISEClassifier,
        SpectralLaplacianISEClassifier,
        LaplacianSpectralClassifier,
    ],
)
def test_no_more_components_are_tried_than_the_factor_has(problem, Classifier):
    X, y, _, Q = problem
    model = Classifier(n_components="cv", rank=5).fit(X[:80], y[:80])
    assert max(model.cv_results_["param_n_components"]) == 5 >= model.n_components_
    assert_array_equal(model.classes_[model.decision_function(Q).argmax(axis=1)], model.predict(Q))


@pytest.mark.parametrize(
    "estimator",
    [
        KernelMap(3),
        KernelMap(3, order="entropy", kernel="laplace"),
        SpectralKernel(5),
        SpectralKernelClassifier(n_components=(5, 20)),
    ],
)
def test_many_points_are_replaced_by_landmarks(problem, estimator, monkeypatch):
    """The landmarks depend neither on the order of the samples nor on how often they are repeated."""
    X, y, _, Q = problem
    monkeypatch.setattr(low_rank_spectrum, "MANY", 300)
    monkeypatch.setattr(low_rank_spectrum, "LEAST", 60)
    monkeypatch.setattr(low_rank_spectrum, "MOST", 150)
    monkeypatch.setattr(_kernel_classifier, "MANY", 250)  # samples that choose the number of components
    monkeypatch.setattr(_kernel_classifier, "BLOCK", 150)
    counts = np.random.default_rng(2).integers(1, 4, len(X))
    order = np.random.default_rng(3).permutation(counts.sum())
    again = np.repeat(np.arange(len(X)), counts)[order]

    def result(fitted):
        return (fitted.decision_function if hasattr(fitted, "predict") else fitted.transform)(Q)

    def fitted(X, y, weights=None):
        return clone(estimator).set_params(scale=None).fit(X, y, sample_weight=weights)

    whole = fitted(X, y, counts)
    repeated = fitted(X[again], y[again])
    inner = whole.spectral_kernel_ if hasattr(whole, "spectral_kernel_") else whole
    assert 0 < inner.trace_residual_ < 0.3
    assert_allclose(result(repeated), result(whole), atol=1e-6 * np.abs(result(whole)).max())
    exact = fitted(X, y)
    if hasattr(exact, "predict"):
        exact.set_params(rank=len(X)).fit(X, y)
        assert np.mean(whole.predict(Q) == exact.predict(Q)) > 0.9


def test_samples_replaced_by_landmarks_cannot_grow(problem, monkeypatch):
    X = problem[0]
    monkeypatch.setattr(low_rank_spectrum, "MANY", 300)
    monkeypatch.setattr(low_rank_spectrum, "LEAST", 60)
    model = SpectralKernel(5).partial_fit(X)
    assert model.trace_residual_ >= 0 and not hasattr(model, "partial_fit")
    assert hasattr(model.fit(X[:200]), "partial_fit")


def test_a_fitted_model_is_saved_without_its_factor(problem, tmp_path):
    X, y, _, Q = problem
    fitted = SpectralLaplacianISEClassifier(bandwidth=3.0, n_components=3, **LOW).fit(X, y)
    path = tmp_path / "model.skops"
    spectralcls.save(fitted, path)
    assert_array_equal(spectralcls.load(path).predict(Q), fitted.predict(Q))  # which reads nothing foreign
    assert path.stat().st_size < 400 * 40 * 8
