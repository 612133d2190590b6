"""`tolerance=` of the classifiers: the documented bounds on data made to break them, and the choice of method."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from tolerance_cases import DATA, clusters, dense_beside_empty

import spectralcls
from spectralcls import CauchySchwarzClassifier, ISEClassifier, LaplacianISEClassifier, ParzenClassifier
from spectralcls.kernels import kernel_sums

CLASSIFIERS = {
    ParzenClassifier: lambda t: t,
    ISEClassifier: lambda t: t,
    LaplacianISEClassifier: lambda t: 2 * t / (1 - t),
    CauchySchwarzClassifier: lambda t: ((1 + t) / (1 - t)) ** 1.5 - 1,
}
H = 0.6


@pytest.fixture
def always(pruning, request):
    """The grid is used wherever it is possible; beyond three features, where there is none, samples decide as ever."""
    if getattr(request.node, "callspec", None) is None or request.node.callspec.params.get("d", 2) <= 3:
        pruning("always")


def problem(data, d, n=1200, n_classes=3):
    """Classes that overlap, and queries from among the points to thousands of bandwidths away from all."""
    rng = np.random.default_rng(d)
    X = data(rng, n, d)
    y = (rng.integers(0, n_classes, n) + (X[:, 0] > np.median(X[:, 0]))) % n_classes
    Q = data(rng, 200, d)
    Q[:100] = X[:100] + rng.normal(size=(100, d)) * H * 10.0 ** rng.uniform(-1, 4, size=(100, 1))
    return X, y, Q


def inner_products(classifier, Q):
    """k(y) A of the fitted model relative to the largest entry of a row, and that entry's logarithm."""
    return classifier._model._evaluate(Q, scaled_log_sums, len(classifier.classes_))


def scaled_log_sums(sums):
    return sums.log_scale if sums.log_density is None else sums.log_scale - sums.log_density[:, None] / 2


def assert_within(exact, approximate, bound, Q):
    truth, found = inner_products(exact, Q), inner_products(approximate, Q)
    top = truth.max(axis=1, keepdims=True)
    truth, found = np.exp(truth - top), np.exp(found - top)
    errors = np.abs(found - truth).sum(axis=1) / truth.sum(axis=1)
    assert errors.max() <= bound + 1e-9
    offsets = exact._model.offsets
    assert np.all(np.abs(approximate._model.offsets - offsets) <= (bound + 1e-9) * offsets)


@pytest.mark.filterwarnings("ignore:.*as far from the column")
@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("d", [1, 2, 3, 5])
@pytest.mark.parametrize("Classifier", CLASSIFIERS)
def test_the_documented_bound(always, data, d, Classifier):
    X, y, Q = problem(data, d)
    exact = Classifier(bandwidth=H).fit(X, y)
    for tolerance in (0.1, 1e-3):
        approximate = Classifier(bandwidth=H, tolerance=tolerance).fit(X, y)
        assert_within(exact, approximate, CLASSIFIERS[Classifier](tolerance), Q)


@pytest.mark.parametrize("Classifier", CLASSIFIERS)
@pytest.mark.parametrize(
    "options",
    [
        dict(bandwidth={0: 0.3, 1: 0.6, 2: 1.2}),
        dict(kernel="epanechnikov", bandwidth=1.5),
        dict(weighted=True),
    ],
)
def test_bandwidths_by_class_compact_kernels_and_sample_weights(always, Classifier, options):
    X, y, Q = problem(dense_beside_empty, 2)
    options = dict(options)
    weights = np.random.default_rng(1).uniform(0, 5, len(X)) if options.pop("weighted", False) else None
    options = {"bandwidth": H, "scale": None} | options
    if options.get("kernel"):
        Q = X[:100] + 0.01
    exact = Classifier(**options).fit(X, y, weights)
    approximate = Classifier(tolerance=1e-2, **options).fit(X, y, weights)
    assert_within(exact, approximate, CLASSIFIERS[Classifier](1e-2), Q)
    if options.get("kernel"):
        assert_array_equal(approximate.predict(50 * Q), exact.predict(50 * Q))  # classes of the nearest points


@pytest.mark.parametrize("Classifier", [ParzenClassifier, ISEClassifier])
def test_labels_of_many_queries_are_exact_unless_two_classes_nearly_tie(pruning, Classifier):
    """`predict` computes only the sums that decide, whatever the tolerance is."""
    pruning("sampled")
    rng = np.random.default_rng(0)
    X, y, Q = rng.normal(size=(6000, 2)), rng.integers(3, size=6000), rng.normal(size=(3000, 2))
    exact, approximate = (Classifier(bandwidth=0.05, tolerance=t).fit(X, y).predict(Q) for t in (None, 0.3))
    assert np.mean(exact != approximate) <= 0.002


@pytest.mark.filterwarnings("ignore:.*as far from the column")
@pytest.mark.parametrize("data", DATA)
def test_posteriors_and_densities_of_the_parzen_classifier(always, data):
    X, y, Q = problem(data, 2)
    options = dict(bandwidth=H, priors=[0.7, 0.2, 0.1])
    exact = ParzenClassifier(**options).fit(X, y)
    approximate = ParzenClassifier(tolerance=1e-2, **options).fit(X, y)
    truth, found = exact.predict_proba(Q), approximate.predict_proba(Q)
    assert np.abs(found - truth).max() <= 1e-2 / (1 - 1e-2) + 1e-9
    assert_allclose(approximate.score_samples(Q), exact.score_samples(Q), atol=0.0101, rtol=1e-12)
    best = np.sort(truth, axis=1)
    clear = best[:, -1] - best[:, -2] > 2.1e-2
    assert clear.sum() > 50
    assert_array_equal(approximate.predict(Q)[clear], exact.predict(Q)[clear])
    assert np.isfinite(approximate.decision_function(Q)).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("Classifier", CLASSIFIERS)
def test_a_point_a_thousand_bandwidths_away_keeps_its_class(always, Classifier, dtype):
    rng = np.random.default_rng(0)
    y = np.arange(900) % 3
    X = (rng.normal(size=(900, 2)) + 8 * np.eye(3)[y, :2]).astype(dtype)
    directions = np.array([[1, 0.1], [0.1, 1], [-1, -1], [0.9, 1]])
    Q = (np.concatenate([10.0**k * directions for k in range(1, 5)]) * 0.3).astype(dtype)
    exact = Classifier(bandwidth=0.3).fit(X, y)
    approximate = Classifier(bandwidth=0.3, tolerance=1e-2).fit(X, y)
    truth = exact.decision_function(Q)
    assert_array_equal(approximate.predict(Q), exact.predict(Q))
    far = slice(8, None)
    assert_allclose(approximate.decision_function(Q)[far], truth[far], rtol=0.03, atol=0.1)


def test_the_laplacian_spectral_classifier(always):
    X, y, Q = problem(clusters, 2)
    exact = spectralcls.spectral.LaplacianSpectralClassifier().fit(X, y)
    approximate = spectralcls.spectral.LaplacianSpectralClassifier(tolerance=1e-2).fit(X, y)
    truth, found = inner_products(exact, Q), inner_products(approximate, Q)
    assert np.abs(np.exp(found - truth) - 1).max() <= (1.01 / 0.99) ** 1.5 - 1 + 1e-9
    assert_allclose(approximate.inverse_density_, exact.inverse_density_, rtol=0.0102)


def test_logarithms_within_a_tolerance(always):
    X, y, Q = problem(clusters, 2)
    W = np.random.default_rng(0).uniform(size=(len(X), 2)) * [1, 1e-9]
    options = dict(weights=W, labels=y, bandwidth=[0.5, 0.9], normalize=True)
    exact = kernel_sums(Q, X, log=True, **options)
    logs = kernel_sums(Q, X, log=True, rtol=1e-2, **options)
    scale, sums = kernel_sums(Q, X, log="pair", rtol=1e-2, **options)
    with np.errstate(divide="ignore"):
        assert_allclose(np.log(sums) + scale[..., None], logs, rtol=1e-9)
    top = exact.max(axis=2, keepdims=True)
    truth, found = np.exp(exact - top), np.exp(logs - top)
    assert np.max(np.abs(found - truth).sum(axis=2) / truth.sum(axis=2)) <= 1e-2
    assert exact.min() < -1e4 and np.isfinite(logs.max(axis=2)).all()


@pytest.mark.parametrize("options", [dict(atol=1.0), dict(exclude_groups=True)])
def test_what_a_tolerance_does_not_go_with(options):
    X = np.random.default_rng(0).normal(size=(30, 2))
    if "exclude_groups" in options:
        options = dict(exclude_groups=(np.zeros(30, int), np.zeros(30, int)))
    with pytest.raises(ValueError, match="rtol"):
        kernel_sums(X, X, bandwidth=1.0, log="pair", rtol=1e-3, **options)


def scores_of_all_pairs(classifier, Q):
    return classifier._model.scores(Q, all_pairs=True)


class TestChoice:
    """The grid is used where it is predicted to be faster."""

    def test_all_pairs_of_few_points(self):
        X, y, Q = problem(clusters, 2, n=300)
        fitted = ParzenClassifier(bandwidth=H, scale=None).fit(X, y)
        assert_array_equal(fitted._model.scores(Q), scores_of_all_pairs(fitted, Q))

    def test_all_pairs_where_they_win_and_their_very_numbers(self):
        rng = np.random.default_rng(0)
        X, y = rng.normal(size=(400, 12)), rng.integers(0, 2, 400)
        exact, tolerant = (ParzenClassifier(bandwidth=2.0, tolerance=t).fit(X, y) for t in (None, 1e-3))
        assert_array_equal(tolerant.decision_function(X), exact.decision_function(X))

    @pytest.mark.parametrize("tolerance", [None, 1e-3])
    def test_the_grid_where_it_wins(self, tolerance):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(30_000, 2))
        y = (X[:, 0] + 0.3 * rng.normal(size=len(X)) > 0).astype(int)
        fitted = ParzenClassifier(bandwidth=0.2, tolerance=tolerance, scale=None).fit(X, y)
        assert np.mean(fitted._model.scores(X[:5000]) == scores_of_all_pairs(fitted, X[:5000])) < 0.5

    def test_tuning_stays_exact(self):
        X, y, _ = problem(clusters, 2, n=300)
        fitted = [ISEClassifier(tolerance=t).fit(X, y) for t in (None, 1e-2)]
        assert_array_equal(fitted[1].cv_results_["mean_test_score"], fitted[0].cv_results_["mean_test_score"])


@pytest.mark.parametrize("tolerance", [0.0, 1.0, -1e-3, "small"])
def test_a_bad_tolerance_is_named(tolerance):
    X, y, _ = problem(clusters, 2, n=100)
    with pytest.raises(ValueError, match="'tolerance' parameter"):
        ParzenClassifier(tolerance=tolerance).fit(X, y)
