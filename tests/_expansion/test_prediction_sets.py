"""Prediction sets: the guarantee on exchangeable draws, and agreement with refits that contain the query."""

import pickle

import numpy as np
import pytest
from scipy.special import logsumexp
from sklearn.base import clone
from sklearn.datasets import make_blobs

import spectralcls as sc
from spectralcls import metric, spectral
from spectralcls._conformal import sums_left_out
from spectralcls._core import compiled
from spectralcls._expansion.log_kernel import log_kernel

CLASS_SUMS = (
    sc.ParzenClassifier(bandwidth=0.8, scale=None),
    sc.ISEClassifier(bandwidth=0.8, scale=None),
    sc.CauchySchwarzClassifier(bandwidth=0.8, scale=None, weighting=None, kernel="laplace"),
    spectral.SpectralISEClassifier(bandwidth=0.8, scale=None, n_components="all"),
)
SPANS = sc.PerTurboClassifier(bandwidth=0.8, alpha=0.1, scale=None)
EXACT = (*CLASS_SUMS, SPANS)
RIDGE = sc.KernelRidgeClassifier(bandwidth=2.0, alpha=0.1, scale=None)
APPROXIMATE = (
    sc.LaplacianISEClassifier(bandwidth=0.8),
    sc.CauchySchwarzClassifier(bandwidth=0.8),
    spectral.LaplacianSpectralClassifier(bandwidth=0.8, n_components="all"),
    sc.ParzenClassifier(),
)


def name_of(model):
    return type(model).__name__


def draw(n, m, seed, n_classes=3):
    X, y = make_blobs(n + m, 2, centers=n_classes, cluster_std=1.6, center_box=(-3, 3), random_state=seed)
    return X[:n], y[:n], X[n:], y[n:]


def log_odds(scores, label, background):
    return scores[label] - logsumexp([*np.delete(scores, label), background])


def refit_scores(model, X, y, i):
    """Scores of point i by a model of all other points: for class sums those of Parzen's rule, at shares of classes."""
    kept = np.arange(len(X)) != i
    distance = np.sqrt(((X[kept] - X[i]) ** 2).sum(axis=1)) / 0.8
    k = np.exp(-distance if model.kernel == "laplace" else -(distance**2) / 2)
    return np.log([k[y[kept] == c].sum() for c in range(3)])


def ridge_probabilities(model, X, y, i):
    """Log probabilities of point i by the ridge regression of all others, at the shares and temperature of the fit."""
    kept = np.arange(len(X)) != i
    k = np.exp(-np.sqrt(((X[:, None] - X) ** 2).sum(axis=2)) / model.bandwidth_)
    A = np.linalg.solve(
        k[np.ix_(kept, kept)] + model.alpha_ * np.eye(kept.sum()), np.eye(3)[y[kept]] - model.class_prior_
    )
    scores = (k[i, kept] @ A + model.class_prior_) / model.temperature_
    return scores - logsumexp(scores)


def perturbo_scores(model, X, y, i):
    """log(1 - tau) of point i by the spans of all others."""
    out = np.empty(3)
    for c in range(3):
        own = np.flatnonzero((y == c) & (np.arange(len(X)) != i))
        k = np.exp(-((X[own, None] - X[np.append(own, i)]) ** 2).sum(axis=2) / (2 * model.bandwidth_**2))
        out[c] = np.log(k[:, -1] @ np.linalg.solve(k[:, :-1] + model.alpha_ * np.eye(len(own)), k[:, -1]))
    return out


def reference(model, scores, X, y, Q):
    """p-values among all and by class from refits: every query and label, each of the n + 1 points left out once."""
    out = np.empty((2, len(Q), 3))
    own = [scores(model, X, y, i)[y[i]] for i in range(len(X))]
    background = np.quantile(own, 0.02, method="averaged_inverted_cdf")
    for q, c in np.ndindex(*out.shape[1:]):
        X1, y1 = np.vstack([X, Q[q]]), np.append(y, c)
        odds = np.array([log_odds(scores(model, X1, y1, i), y1[i], background) for i in range(len(X1))])
        below = odds <= odds[-1] + 1e-9
        out[:, q, c] = below.mean(), below[y1 == c].mean()
    return out


@pytest.mark.parametrize(
    "model, scores",
    [*((model, refit_scores) for model in CLASS_SUMS), (SPANS, perturbo_scores)],
    ids=lambda value: getattr(value, "__name__", name_of(value)),
)
def test_p_values_are_those_of_refits_with_the_query(model, scores):
    X, y, Q, _ = draw(30, 6, seed=1)
    model = clone(model).fit(X, y)
    expected = reference(model, scores, X, y, Q)
    models = [model]
    if scores is perturbo_scores:
        models.append(clone(model).fit(X[:20], y[:20]).partial_fit(X[20:], y[20:]))
    for fitted in models:
        found = [fitted.conformal_p_values(Q, by_class=by_class) for by_class in (False, True)]
        np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_p_values_of_ridge_regression_compare_with_fits_to_the_others():
    X, y, Q, _ = draw(60, 30, seed=1)
    model = clone(RIDGE).fit(X, y)
    by_others = np.array([ridge_probabilities(model, X, y, i) for i in range(len(X))])
    points = model._leave_one_out()
    np.testing.assert_allclose(np.exp(points.scores[points.order]), np.exp(by_others), atol=1e-9)
    for loaded in (model, pickle.loads(pickle.dumps(model))):
        own = points.scores[np.arange(60), points.codes]
        background = np.quantile(own, 0.02, method="averaged_inverted_cdf")
        held_out = np.array([log_odds(*each, background) for each in zip(points.scores, points.codes, strict=True)])
        found = np.array([[log_odds(p, c, background) for c in range(3)] for p in model.predict_log_proba(Q)])
        below = held_out[:, None, None] <= found + 1e-9
        np.testing.assert_allclose(loaded.conformal_p_values(Q), (below.sum(axis=0) + 1) / 61)
        for c in range(3):
            expected = (below[points.codes == c, :, c].sum(axis=0) + 1) / ((y == c).sum() + 1)
            np.testing.assert_allclose(loaded.conformal_p_values(Q, by_class=True)[:, c], expected)


def coverage(model, n, draws, levels):
    """Coverages of one query a draw, so that draws are independent, and their standard errors."""
    hits = []
    for seed in range(draws):
        rng = np.random.default_rng(seed)
        y = rng.integers(0, 3, n + 1)
        X = rng.normal(size=(n + 1, 2)) + 1.5 * y[:, None]
        fitted = clone(model).fit(X[:n], y[:n])
        hits.append([fitted.predict_set(X[n:], coverage=level)[0, y[n]] for level in levels])
    return np.mean(hits, axis=0), np.sqrt(levels * (1 - levels) / draws)


@pytest.mark.parametrize("model", (*EXACT, RIDGE), ids=name_of)
def test_the_guarantee_holds_on_exchangeable_draws(model):
    levels = np.array([0.8, 0.95])
    found, error = coverage(model, 39, 300, levels)
    assert np.all((levels - 3 * error < found) & (found < levels + 1 / 40 + 3 * error))


@pytest.mark.parametrize("model", APPROXIMATE, ids=name_of)
def test_coverage_by_measurement_where_something_else_is_learned_from_the_points(model):
    found, error = coverage(model, 60, 150, np.array([0.9]))
    assert found > 0.9 - 3 * error


def test_coverage_by_class_holds_in_a_rare_class():
    hits = []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        y = np.repeat([0, 1], [60, 20])
        X = rng.normal(size=(80, 2)) + 1.2 * y[:, None]
        query = rng.normal(size=(1, 2)) + 1.2
        hits.append(sc.ParzenClassifier(bandwidth=0.8, scale=None).fit(X, y).predict_set(query, by_class=True)[0, 1])
    assert np.mean(hits) > 0.9 - 3 * np.sqrt(0.09 / 200)


def test_an_empty_set_means_unlike_all_classes():
    X, y, _, _ = draw(120, 1, seed=0)
    model = sc.ParzenClassifier(bandwidth=0.8).fit(np.column_stack([X, np.zeros(len(X))]), y)
    between = [[*(X[y == 0].mean(axis=0) + X[y == 1].mean(axis=0)) / 2, 30.0]]
    assert not model.predict_set(between).any()
    assert model.predict_set(np.column_stack([X, np.zeros(len(X))])).any(axis=1).mean() > 0.8


def test_sets_grow_with_the_coverage():
    X, y, Q, _ = draw(100, 50, seed=3)
    model = sc.ISEClassifier(bandwidth=0.8).fit(X, y)
    levels = [model.predict_set(Q, coverage=level) for level in (0.5, 0.8, 0.9, 0.95)]
    assert all((a <= b).all() for a, b in zip(levels, levels[1:], strict=False))


@pytest.mark.parametrize("level", [0.0, 1.0, -0.1, 1.5, np.nan, "0.9", None, [0.9]], ids=str)
def test_a_coverage_out_of_range_is_an_error(level):
    X, y, Q, _ = draw(30, 2, seed=0)
    with pytest.raises(ValueError, match="coverage must be a number in"):
        sc.ParzenClassifier(bandwidth=1.0).fit(X, y).predict_set(Q, coverage=level)


@pytest.mark.parametrize("model", [sc.ParzenClassifier(), sc.PerTurboClassifier()], ids=name_of)
def test_queries_that_lack_values_and_other_wrong_kinds_are_named(model):
    X, y, Q, _ = draw(60, 2, seed=0)
    model = clone(model).fit(X, y)
    with pytest.raises(ValueError, match="X has missing values"):
        model.predict_set([[np.nan, 0.0]])
    with pytest.raises(AttributeError):
        clone(model).fit(np.where(X == X[0, 0], np.nan, X), y).predict_set(X)
    for method in (model.predict_set, model.conformal_p_values):
        with pytest.raises(ValueError, match="by_class must be"):
            method(Q, by_class="yes")


def test_too_few_points_give_all_classes_and_say_why():
    X, y, Q, _ = draw(18, 4, seed=0)
    model = sc.ParzenClassifier(bandwidth=1.0).fit(X, y)
    with pytest.warns(UserWarning, match="at least 19 are needed"):
        assert model.predict_set(Q, coverage=0.95).all()
    with pytest.warns(UserWarning, match=r"of the class\(es\) 0, 1, 2 .*at least 9 are needed"):
        assert model.predict_set(Q, coverage=0.9, by_class=True).all()


def test_one_sample_in_a_class_excludes_nothing_by_itself():
    X, y, Q, _ = draw(40, 5, seed=0)
    y[y == 2] = 1
    y[0] = 2
    model = sc.ParzenClassifier(bandwidth=1.0).fit(X, y)
    p = model.conformal_p_values(Q)
    assert np.isfinite(p).all() and p.min() > 0
    with pytest.warns(UserWarning, match=r"class\(es\) 2"):
        assert model.predict_set(Q, by_class=True)[:, 2].all()


@pytest.mark.parametrize(
    "model",
    [
        sc.ParzenClassifier(bandwidth=0.8),
        sc.LaplacianISEClassifier(bandwidth=0.8),
        sc.KernelRidgeClassifier(bandwidth=1.0, alpha=0.1),
    ],
    ids=name_of,
)
def test_weights_are_copies_and_zero_leaves_out(model):
    X, y, Q, _ = draw(40, 8, seed=5)
    weights = np.random.default_rng(0).integers(0, 4, len(X))
    model.set_params(scale=None)
    weighted = clone(model).fit(X, y, sample_weight=weights).conformal_p_values(Q)
    copied = clone(model).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights)).conformal_p_values(Q)
    np.testing.assert_allclose(weighted, copied, rtol=1e-9)


def test_ties_count_as_no_better():
    X = np.repeat([[0.0], [1.0], [2.0]], 5, axis=0)
    y = np.tile([0, 1, 1, 0, 1], 3)
    p = sc.ParzenClassifier(bandwidth=1.0, scale=None).fit(X, y).conformal_p_values([[1.0]])
    assert (p >= 1 / 16).all() and p[0, 1] > p[0, 0]


def test_far_queries_do_not_tie():
    """In numbers instead of logarithms all kernel values are zero there."""
    X, y, Q, _ = draw(60, 1, seed=2)
    model = sc.ParzenClassifier(bandwidth=0.01, scale=None).fit(X, y)
    assert len(np.unique(model.conformal_p_values(X[:30] + 0.3))) > 3


def test_a_refit_and_a_pickle_forget_the_points_of_before():
    X, y, Q, _ = draw(60, 5, seed=2)
    model = sc.ParzenClassifier(bandwidth=0.8).fit(X, y)
    before = model.conformal_p_values(Q)
    assert len(pickle.dumps(model)) < 1.1 * len(pickle.dumps(clone(model).fit(X, y)))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).conformal_p_values(Q), before)
    grown = clone(model).fit(X[:40], y[:40])
    grown.conformal_p_values(Q)
    np.testing.assert_allclose(grown.partial_fit(X[40:], y[40:]).conformal_p_values(Q).shape, before.shape)
    assert not np.array_equal(model.fit(X[:30], y[:30]).conformal_p_values(Q), before)


@pytest.mark.parametrize(
    "model",
    [
        spectral.SpectralISEClassifier(n_components=2, bandwidth=0.8),
        sc.SpectralKernelClassifier(),
        sc.CCDRClassifier(),
    ],
    ids=name_of,
)
def test_without_a_closed_leave_one_out_the_methods_do_not_exist(model):
    X, y, _, _ = draw(40, 1, seed=0)
    model.fit(X, y)
    assert not hasattr(model, "predict_set") and not hasattr(model, "conformal_p_values")
    with pytest.raises(AttributeError):
        model.predict_set(X)


def test_sets_of_the_vote_compare_with_out_of_fold_probabilities():
    X, y, Q, answers = draw(150, 400, seed=4)
    model = sc.AutoClassifier().fit(X, y)
    found = model.predict_set(Q)
    assert found[np.arange(len(Q)), answers].mean() > 0.9 - 3 * np.sqrt(0.09 / 150)
    p = model.conformal_p_values(Q)
    order = model.predict_proba(Q)
    assert (p.argmax(axis=1) == order.argmax(axis=1)).mean() > 0.95


def test_a_metric_learned_from_the_same_points_is_named():
    X, y, Q, _ = draw(80, 4, seed=0)
    with pytest.warns(UserWarning, match="FrozenEstimator"):
        sc.ParzenClassifier(metric="whiten").fit(X, y).predict_set(Q)
    held_out = metric.KernelMetric("whiten").fit(X[:40], y[:40])
    model = sc.ParzenClassifier(metric=held_out).fit(X[40:], y[40:])
    assert model.predict_set(Q).shape == (4, 3)


@pytest.mark.parametrize("model", (*EXACT, RIDGE), ids=name_of)
def test_copies_and_far_queries_have_p_values(model):
    X, y, Q, _ = draw(40, 5, seed=0)
    X = np.repeat(np.round(X), 2, axis=0)
    model = clone(model).fit(X, np.repeat(y, 2).astype(str))
    for queries in (X, Q.astype(np.float32), 1e6 * Q):
        p = model.conformal_p_values(queries)
        assert ((p > 0) & (p <= 1)).all()


@pytest.mark.parametrize(
    "model", [sc.KernelRidgeClassifier(), sc.PerTurboClassifier(), sc.ParzenClassifier()], ids=name_of
)
def test_class_weights_keep_the_coverage(model):
    hits = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        y = (rng.random(300) < 0.25).astype(int)
        X = rng.normal(size=(300, 2)) + 1.5 * y[:, None]
        members = clone(model).set_params(class_weight="balanced").fit(X[:100], y[:100]).predict_set(X[100:])
        hits.append(members[np.arange(200), y[100:]].mean())
    assert abs(np.mean(hits) - 0.9) < 0.03


def counts_of_every_pair(points, Q, by_class):
    """The counts, from the odds of every point after every query joined every class; -inf for two sums of zero."""
    X, labels = points.expansion.points.X.astype(float), points.codes
    sums = points._sums(Q)
    limits, out = points.limits(sums[..., 0], Q.dtype), np.empty(sums.shape[:2])
    for c, h in enumerate(points.widths):
        k = log_kernel(Q.astype(float), X, points.expansion.kernel, h) + points.log_volume[c]
        k += points.log_weights(sums)[:, None]
        with np.errstate(invalid="ignore"):
            mates = np.logaddexp(points.own, k) - points.others
            odds = np.where(labels == c, mates, points.own - np.logaddexp(points.others, k))
        below = np.nan_to_num(odds, nan=-np.inf, posinf=np.inf, neginf=-np.inf) <= limits[:, c, None]
        out[:, c] = (below & (labels == c) if by_class else below) @ points.weights
    return out


@pytest.mark.parametrize(
    "options",
    [
        *({"bandwidth": h} for h in (0.004, 0.05, 0.6, 60.0, {0: 0.3, 1: 0.6, 2: 0.6})),
        *({"bandwidth": 0.8, "kernel": kernel} for kernel in ("laplace", "epanechnikov", "cosine", "linear")),
        {"bandwidth": 0.6, "tolerance": 1e-3},
    ],
    ids=str,
)
@pytest.mark.parametrize("by_class", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_counts_are_those_of_every_pair(options, by_class, weighted, dtype):
    """Of points that bounds decide at once, of those they do not, and of sums that only logarithms hold."""
    X, y, Q, _ = draw(700, 40, 0)
    weights = np.random.default_rng(0).integers(1, 4, 700) if weighted else None
    model = sc.ParzenClassifier(scale=None, **options).fit(X.astype(dtype), y, weights)
    Q = np.vstack([Q, X[:5], 30 * Q[:3], 1e4 * Q[:3]]).astype(dtype)
    points = sums_left_out.SumsLeftOut(model._model)
    expected = counts_of_every_pair(points, Q, by_class)
    np.testing.assert_allclose(points.counts(Q, by_class), expected, rtol=1e-12, atol=1e-9)
    for beyond in np.quantile(expected, [0.05, 0.1, 0.3, 0.8]) + [1e-6, 0.5, -1, 1e-6]:  # decided without all points
        np.testing.assert_array_equal(points.counts(Q, by_class, beyond) > beyond, expected > beyond)


def test_counts_do_not_depend_on_threads_or_other_queries():
    X, y, Q, _ = draw(900, 300, 0)
    counts = []
    for n_jobs in (1, 3):
        points = sc.ParzenClassifier(0.6, scale=None, n_jobs=n_jobs).fit(X, y)._leave_one_out()
        counts += [points.counts(Q, False), np.vstack([points.counts(Q[i::7], False) for i in range(7)])]
    order = np.concatenate([np.arange(i, 300, 7) for i in range(7)])
    for i, found in enumerate(counts):
        np.testing.assert_array_equal(found, counts[0][order] if i % 2 else counts[0])


@pytest.mark.parametrize("n_classes", [1, 2, 5, 17])
def test_log_odds_need_no_common_scale(n_classes):
    rng = np.random.default_rng(0)
    for scale in (1, 100, 1e5):
        sums = scale * rng.normal(size=(50, n_classes))
        sums[rng.random(sums.shape) < 0.1] = -np.inf
        for background in (-np.inf, -3.0 * scale, scale):
            with np.errstate(invalid="ignore", divide="ignore"):
                expected = [[log_odds(row, c, background) for c in range(n_classes)] for row in sums]
            expected = np.where(np.isneginf(sums), -np.inf, expected)
            np.testing.assert_allclose(compiled.log_odds(sums, background, 0.0), expected, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("model", [sc.ParzenClassifier(0.7), sc.CauchySchwarzClassifier(0.7)], ids=name_of)
@pytest.mark.parametrize("n", [60, 500])
def test_what_is_decided_without_counting_is_what_counts_say(model, dtype, n):
    """Many small changes, and few large ones: queries among the points, between them and far."""
    X, y, Q, _ = draw(n, 200, 3)
    X, Q = (np.hstack([A, A[:, ::-1] / 3]).astype(dtype) for A in (X, 1.5 * Q))
    points = clone(model).fit(X, y, np.arange(n) % 2 + 1)._leave_one_out()
    for within in (False, True):
        counts = points.counts(Q, within)
        for beyond in np.quantile(counts, np.linspace(0.02, 0.98, 25)) + 1e-6:
            np.testing.assert_array_equal(points.counts(Q, within, beyond) > beyond, counts > beyond)


@pytest.mark.parametrize("balanced", [None, "balanced"])
def test_counts_are_those_of_the_whole_inverse(balanced):
    """Bounds and shared terms change nothing: weights of points and of classes, as each query's matrix says itself."""
    X, y, many, _ = draw(90, 150, seed=2)
    model = clone(SPANS).set_params(class_weight=balanced, bandwidth=1.0)
    model.fit(X, y, np.random.default_rng(0).integers(1, 4, 90))
    points, Q = model._leave_one_out(), np.vstack([many[:2], X[:2], 30 * many[:1]])
    among_all, of_class = np.empty((len(Q), 3)), np.empty((len(Q), 3))
    for q, c in np.ndindex(*among_all.shape):
        found, limit = grown_spans(points, Q[q : q + 1], c)
        below = found <= limit + 1e-9 * max(1, abs(limit))
        among_all[q, c], of_class[q, c] = points.weights @ below, points.weights @ (below & (points.codes == c))
    for by_class, expected in ((False, among_all), (True, of_class)):
        np.testing.assert_allclose(points.counts(Q, by_class), expected, rtol=1e-12)
        for beyond in np.quantile(expected, [0.05, 0.3, 0.8]) + [0, 0.5, -1]:
            np.testing.assert_array_equal(points.counts(Q, by_class, beyond) > beyond, expected > beyond)
        singly = np.concatenate([points.counts(many[i : i + 1], by_class) for i in range(len(many))])
        np.testing.assert_allclose(points.counts(many, by_class), singly, rtol=1e-12)


def grown_spans(points, q, c):
    """The same by the spans of the classes: q joins that of c."""
    X, roots = np.vstack([points.X, q]), np.append(points.roots, np.sqrt(points.units[c]))
    codes, scores = np.append(points.codes, c), np.empty((len(X), 3))
    K = np.exp(-((X[:, None] - X) ** 2).sum(axis=2) / 2)
    for i, label in np.ndindex(len(X), 3):
        own = np.flatnonzero((codes == label) & (np.arange(len(X)) != i))
        M = roots[own, None] * K[np.ix_(own, own)] * roots[own] + 0.1 * np.eye(len(own))
        scores[i, label] = roots[own] * K[own, i] @ np.linalg.solve(M, roots[own] * K[own, i])
    with np.errstate(divide="ignore"):
        odds = [log_odds(np.log(s), label, points.background) for s, label in zip(scores, codes, strict=True)]
    return np.nan_to_num(odds[:-1], nan=-np.inf), np.nan_to_num(odds[-1], nan=-np.inf)
