"""Parzen's density and its outliers: against slow sums, integrals, and scikit-learn's estimator."""

from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from reference import PROFILES, distances, log_normalizer
from scipy.integrate import trapezoid
from scipy.special import logsumexp
from scipy.stats import multivariate_normal
from sklearn.base import clone
from sklearn.neighbors import KernelDensity

from spectralcls import ParzenDensity, ParzenOutlierDetector

KERNELS = ("gaussian", "tophat", "epanechnikov", "exponential", "linear", "cosine", "quartic", "triweight")
OURS = {"tophat": "uniform", "exponential": "laplace"}


def points(n=60, d=2, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) * rng.uniform(0.5, 2, d), rng.normal(size=(20, d)), rng.uniform(0.5, 2, n)


@cache
def constant(kernel, d):
    return log_normalizer(kernel, d, 1.0)


def slow_log_density(Q, X, w, kernel, widths, share=1.0):
    """log sum_j w_j share_j k(|q - x_j| / h_j) / (h_j^d c) / sum w, the kernel's logarithm where it has one."""
    kernel = OURS.get(kernel, kernel)
    u = distances(Q, X) / widths
    if kernel == "gaussian":
        logs = -(u**2) / 2
    else:
        with np.errstate(divide="ignore"):
            logs = -u if kernel == "laplace" else np.log(PROFILES[kernel](u))
    constants = constant(kernel, X.shape[1]) + X.shape[1] * np.log(np.broadcast_to(widths, len(X)))
    return logsumexp(logs - constants + np.log(share * w / w.sum()), axis=1)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kernel", KERNELS)
def test_it_is_the_mean_of_the_kernels(kernel, weighted):
    X, Q, w = points()
    w = w if weighted else np.ones(len(X))
    found = ParzenDensity(0.9, kernel=kernel).fit(X, sample_weight=w).score_samples(Q)
    assert_allclose(found, slow_log_density(Q, X, w, kernel, 0.9), rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("kernel", KERNELS[:6])
def test_it_is_scikit_learns(kernel):
    X, Q, w = points(d=3)
    theirs = KernelDensity(kernel=kernel, bandwidth=2.0).fit(X, sample_weight=w)
    ours = ParzenDensity(2.0, kernel=kernel).fit(X, sample_weight=w)
    assert_allclose(ours.score_samples(Q), theirs.score_samples(Q), rtol=1e-6)  # theirs is not exact
    assert_allclose(ours.score(Q), theirs.score(Q), rtol=1e-6)


@pytest.mark.parametrize("kernel", ["gaussian", "laplace"])
def test_log_densities_a_thousand_bandwidths_away_in_fifty_dimensions(kernel):
    X, _, w = points(d=50)
    Q = X[:5] + 1000 * 0.3 * np.eye(50)[:5]
    found = ParzenDensity(0.3, kernel=kernel).fit(X, sample_weight=w).score_samples(Q)
    assert_allclose(found, slow_log_density(Q, X, w, kernel, 0.3), rtol=0, atol=1e-6)


def test_a_subsample_is_held_out_from_all_points():
    X, _, _ = points(400)
    few = ParzenDensity(max_tuning_samples=300).fit(X)
    assert few.n_tuning_samples_ == 300 and few.bandwidth_ == ParzenDensity().fit(X).bandwidth_


def test_a_sample_that_outweighs_all_others_is_left_out():
    X = np.random.default_rng(0).normal(size=(30, 2))
    found = ParzenOutlierDetector(ParzenDensity(0.5)).fit(X, sample_weight=np.where(np.arange(30) == 3, 1.0, 1e-20))
    without = ParzenDensity(0.5).fit(np.delete(X, 3, axis=0))
    assert_allclose(found.leave_one_out_score_[3], without.score_samples(X[3:4])[0], rtol=1e-12)


@pytest.mark.parametrize("rule, factor", [("scott", 1.0), ("silverman", (4 / 5) ** (1 / 6))])
def test_rules_include_the_spread(rule, factor):
    X, _, _ = points(200)
    deviations = X.std(axis=0, ddof=1)
    for scale, spread in (("auto", np.sqrt(np.prod(deviations))), (None, np.sqrt(np.mean(deviations**2)))):
        found = ParzenDensity(rule, scale=scale).fit(X).bandwidth_
        assert_allclose(found, factor * spread * 200 ** (-1 / 6))


def test_shapes_of_the_kernels():
    """A matrix, numbers for the features, and the covariance of the data: all are the normal density around a point."""
    X, Q, _ = points()
    H = np.array([[0.5, 0.2], [0.2, 0.3]])
    cases = {
        "matrix": (ParzenDensity(1.0, covariance_type=H), H),
        "features": (ParzenDensity(2.0, covariance_type=[0.2**2, 0.45**2]), np.diag([0.4**2, 0.9**2])),
        "diag": (ParzenDensity(0.5, covariance_type="diag"), 0.25 * np.diag(X.var(axis=0))),
        "full": (ParzenDensity(0.5, covariance_type="full"), 0.25 * np.cov(X.T, bias=True)),
    }
    for name, (density, covariance) in cases.items():
        expected = logsumexp([multivariate_normal(x, covariance).logpdf(Q) for x in X], axis=0) - np.log(len(X))
        assert_allclose(density.fit(X).score_samples(Q), expected, rtol=1e-10, err_msg=name)


def test_units_of_the_features_do_not_matter_to_full_covariances():
    X, Q, w = points(d=3)
    units = np.array([1.0, 1e9, 1e-9])
    expected = ParzenDensity(0.7, covariance_type="full").fit(X, sample_weight=w).score_samples(Q)
    found = ParzenDensity(0.7, covariance_type="full").fit(X * units, sample_weight=w).score_samples(Q * units)
    assert_allclose(found + np.log(units).sum(), expected, rtol=1e-9)
    for kind in ({"covariance_type": "full"}, {"covariance_type": np.ones((3, 3))}):
        with pytest.raises(ValueError, match="not positive definite"):
            ParzenDensity(**kind).fit(np.column_stack([X[:, :2], X[:, :2].sum(axis=1)]) * units)


def test_the_shape_of_the_data_comes_back_by_any_linear_map():
    X, Q, _ = points()
    A = np.array([[3.0, 1.0], [0.5, 2.0]])
    plain = ParzenDensity(covariance_type="full").fit(X)
    mapped = ParzenDensity(covariance_type="full").fit(X @ A)
    assert_allclose(mapped.bandwidth_, plain.bandwidth_, rtol=1e-9)
    expected = plain.score_samples(Q) - np.log(abs(np.linalg.det(A)))
    assert_allclose(mapped.score_samples(Q @ A), expected, rtol=1e-8)


@pytest.mark.parametrize("bandwidth", ["cv", 0.3])
@pytest.mark.parametrize("kernel", KERNELS)
def test_mass_is_one(kernel, bandwidth):
    X = np.random.default_rng(0).standard_t(2, size=(50, 1))
    density = ParzenDensity(bandwidth, kernel=kernel).fit(X)
    grid = np.concatenate(
        [-np.geomspace(1e5, 20, 20_000), np.linspace(-20, 20, 200_001), np.geomspace(20, 1e5, 20_000)]
    )
    tol = 1e-3 if kernel == "tophat" else 1e-5  # jumps
    assert_allclose(trapezoid(np.exp(density.score_samples(grid[:, None])), grid), 1.0, atol=tol)


@pytest.mark.parametrize("bandwidth", ["cv", 0.3])
def test_distribution_function_and_quantiles(bandwidth):
    X = np.random.default_rng(0).standard_t(3, size=(50, 1))
    density = ParzenDensity(bandwidth).fit(X)
    grid = np.linspace(-300, 300, 600_001)
    f = np.exp(density.score_samples(grid[:, None]))
    steps = (f[1:] + f[:-1]) / 2 * np.diff(grid)
    assert_allclose(density.cdf(grid[1::20_000, None]), np.cumsum(steps)[::20_000], atol=1e-5)
    p = np.array([[0.001, 0.3], [0.5, 0.99]])
    assert_allclose(density.cdf(density.quantile(p).reshape(-1, 1)).reshape(2, 2), p, rtol=1e-9)
    assert density.quantile(0.0) == -np.inf and density.quantile([1.0])[0] == np.inf
    assert_array_equal(density.cdf([[-1e300], [1e300]]), [0.0, 1.0])


@pytest.mark.parametrize("kernel", KERNELS)
def test_samples_follow_the_density(kernel):
    """Their radius about a single point, and their mean and covariance."""
    from scipy.stats import kstest

    one = ParzenDensity(0.5, kernel=kernel).fit(np.zeros((1, 3)))
    radius = np.linalg.norm(one.sample(4000, random_state=0), axis=1)
    grid = np.linspace(1e-9, 25 if kernel == "exponential" else 5, 20_001)
    inside = PROFILES[OURS.get(kernel, kernel)](grid / 0.5) * grid**2
    cumulative = np.cumsum(inside) / inside.sum()
    assert kstest(radius, lambda r: np.interp(r, grid, cumulative)).pvalue > 1e-3
    X, _, w = points()
    density = ParzenDensity(1.0, covariance_type=[[0.5, 0.1], [0.1, 0.2]], kernel=kernel).fit(X, sample_weight=w)
    drawn = density.sample(40_000, random_state=1)
    assert_allclose(drawn.mean(axis=0), np.average(X, axis=0, weights=w), atol=0.05)


@pytest.mark.parametrize("covariance_type", ["spherical", "diag", "full", [1.0, 0.5, 2.0]])
@pytest.mark.parametrize("bandwidth", [0.6, "cv"])
def test_marginal_and_conditional_densities(covariance_type, bandwidth):
    X, _, w = points(d=3)
    joint = ParzenDensity(bandwidth, covariance_type=covariance_type).fit(X, sample_weight=w)
    rest = np.random.default_rng(1).normal(size=(5, 2))
    grid = np.linspace(-12, 12, 4001) * (1 if bandwidth == 0.6 else 5)
    full = np.array([np.column_stack([np.full(4001, a), grid, np.full(4001, b)]) for a, b in rest])
    integral = trapezoid(np.exp(joint.score_samples(full.reshape(-1, 3)).reshape(5, -1)), grid, axis=1)
    marginal = joint.marginal([2, 0])
    assert_allclose(np.exp(marginal.score_samples(rest[:, ::-1])), integral, rtol=1e-9)
    conditional = joint.conditional([2, 0], rest[0, ::-1])
    expected = joint.score_samples(full[0]) - marginal.score_samples(rest[:1, ::-1])
    assert_allclose(conditional.score_samples(grid[:, None])[1500:2500], expected[1500:2500], atol=1e-8)
    assert conditional.n_features_in_ == 1 and conditional.sample(3).shape == (3, 1)
    assert_allclose(conditional.cdf([[1e4]]), 1.0)


@pytest.mark.parametrize("shape", ["number", "features", "matrix"])
def test_a_marginal_density_has_the_parameters_of_its_features(shape):
    X, _, w = points(d=3)
    H = np.array([[0.5, 0.1, 0.0], [0.1, 0.3, 0.05], [0.0, 0.05, 0.9]])
    covariance = {"number": "spherical", "features": np.diag(H), "matrix": H}[shape]
    density = ParzenDensity(0.6, covariance_type=covariance).fit(X, sample_weight=w)
    features = [2, 0]
    marginal = density.marginal(features)
    again = clone(marginal).fit(X[:, features], sample_weight=w)
    assert_allclose(again.score_samples(X[:, features]), marginal.score_samples(X[:, features]), rtol=1e-12)
    assert_allclose(again.bandwidth_, marginal.bandwidth_, rtol=1e-12)
    conditional = density.conditional([1], [0.2])
    assert conditional.bandwidth_ == 0.6
    if shape != "number":
        expected = np.linalg.inv(np.linalg.inv(H)[np.ix_(features[::-1], features[::-1])])
        expected = expected if shape == "matrix" else np.diag(H)[[0, 2]]
        assert_allclose(conditional.covariance_type, expected, rtol=1e-12)


def test_a_bandwidth_is_chosen_for_kernels_of_a_given_shape():
    """For the covariance of the samples, in any unit, as for "full"; for the variances alone as for "diag"."""
    X, Q, w = points(200, d=3)
    for kind, covariance in (("full", np.cov(X.T, aweights=w, bias=True)), ("diag", X.var(axis=0))):
        weights = w if kind == "full" else None
        known = ParzenDensity(covariance_type=kind).fit(X, sample_weight=weights)
        for unit in (1.0, 1e-4, 1e4):
            given = ParzenDensity(covariance_type=unit**2 * covariance).fit(X, sample_weight=weights)
            assert_allclose(given.bandwidth_ * unit, known.bandwidth_, rtol=1e-9)
            assert_allclose(given.score_samples(Q), known.score_samples(Q), rtol=1e-8)


@pytest.mark.parametrize("n_samples, error", [(-1, ValueError), (2.5, TypeError), ("3", TypeError)])
def test_a_number_of_samples_that_is_none_is_refused(n_samples, error):
    with pytest.raises(error, match="n_samples"):
        ParzenDensity(1.0).fit(points()[0]).sample(n_samples)


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"covariance_type": "full"},
        {"covariance_type": "diag"},
        {"tolerance": 1e-3},
        {"bandwidth": "cv"},
    ],
    ids=str,
)
def test_what_a_query_lacks_is_integrated_out(parameters):
    X, _, w = points(d=3)
    Q = X[:6].copy()
    Q[0, 1] = Q[1, 0] = Q[1, 1] = Q[4, 1] = np.nan
    density = ParzenDensity(**{"bandwidth": 0.6} | parameters).fit(X, sample_weight=w)
    found = density.score_samples(Q)
    for rows, features in (([0, 4], [0, 2]), ([1], [2]), ([2, 3, 5], [0, 1, 2])):
        expected = density.marginal(features).score_samples(X[np.ix_(rows, features)])
        assert_allclose(found[rows], expected, rtol=1e-9 if "tolerance" not in parameters else 1e-3)


def test_other_kernels_say_why_they_do_not_integrate():
    X, _, _ = points(d=2)
    with pytest.raises(ValueError, match="missing values in row 1: fill them"):
        ParzenDensity(0.6, kernel="tophat").fit(X).score_samples([[0.0, 0.0], [0.0, np.nan]])
    assert_array_equal(ParzenDensity(1.0).fit(X[:, :1]).cdf([[np.nan], [99.0]]), [np.nan, 1.0])


def test_what_samples_lack_is_completed_in_any_units():
    X, Q, _ = points(d=3)
    X[3, 1] = X[7, 0] = np.nan
    units = np.array([1.0, 1000.0, 1e-4])
    plain, other = (ParzenDensity().fit(X * unit).score_samples(Q[:, [0, 1, 1]] * unit) for unit in (1, units))
    assert_allclose(other + np.log(units).sum(), plain, rtol=1e-9)


def test_tolerance_is_kept():
    rng = np.random.default_rng(0)
    X, Q = rng.normal(size=(5000, 2)), rng.normal(size=(3000, 2))
    exact, close = ParzenDensity(0.2).fit(X), ParzenDensity(0.2, tolerance=1e-3).fit(X)
    assert np.abs(np.expm1(close.score_samples(Q) - exact.score_samples(Q))).max() <= 1e-3


def test_what_is_refused():
    X, _, _ = points(d=3)
    refused = {
        "one for each feature": ParzenDensity(covariance_type=[1.0, 2.0]),
        "must be a symmetric matrix": ParzenDensity(covariance_type=np.eye(3) + np.eye(3, k=1)),
        "not positive definite": ParzenDensity(covariance_type=np.ones((3, 3))),
        "must be positive and finite": ParzenDensity(covariance_type=[1.0, 0.0, 1.0]),
        "For one bandwidth per feature, set": ParzenDensity([1.0, 1.0, 1.0]),
        "must be one number, got {0: 1.0}": ParzenDensity({0: 1.0}),
    }
    for message, density in refused.items():
        with pytest.raises(ValueError, match=message):
            density.fit(X)
    for message, call in {
        "distinct columns": lambda d: d.marginal([0, 0]),
        "at least one must be left": lambda d: d.conditional([0, 1, 2], [0, 0, 0]),
        "finite numbers": lambda d: d.conditional([0], [0, 1]),
        "too far from all samples": lambda d: d.conditional([0], [1e160]),
        "has 3 features": lambda d: d.quantile(0.5),
    }.items():
        with pytest.raises(ValueError, match=message):
            call(ParzenDensity(1.0).fit(X))
    with pytest.raises(ValueError, match="Marginal and conditional"):
        ParzenDensity(1.0, kernel="linear").fit(X).marginal([0])
    with pytest.raises(ValueError, match='need kernel="gaussian"'):
        ParzenDensity(1.0, kernel="linear").fit(X[:, :1]).cdf(X[:, :1])
    with pytest.raises(ValueError, match="between 0 and 1"):
        ParzenDensity(1.0).fit(X[:, :1]).quantile(1.5)
    with pytest.raises(ValueError, match="zero"):
        ParzenDensity(1.0).fit(X, sample_weight=np.zeros(len(X)))


# Outliers


def test_outliers_are_judged_by_the_others():
    X, _, w = points()
    detector = ParzenOutlierDetector(ParzenDensity(0.7), contamination=0.1)
    labels = detector.fit_predict(X)
    expected = [
        slow_log_density(X[[i]], np.delete(X, i, 0), np.ones(len(X) - 1), "gaussian", 0.7)[0] for i in range(len(X))
    ]
    assert_allclose(detector.leave_one_out_score_, expected, rtol=1e-11)
    assert_array_equal(np.flatnonzero(labels < 0), np.sort(np.argsort(expected)[:6]))
    weighted = ParzenOutlierDetector(ParzenDensity(0.7)).fit(X, sample_weight=w)
    i = 11
    expected = slow_log_density(X[[i]], np.delete(X, i, 0), np.delete(w, i), "gaussian", 0.7)[0]
    assert_allclose(weighted.leave_one_out_score_[i], expected, rtol=1e-11)


def test_novelties_are_judged_by_all():
    X, Q, _ = points()
    detector = ParzenOutlierDetector(ParzenDensity(0.7), novelty=True).fit(X)
    assert_array_equal(detector.score_samples(Q), ParzenDensity(0.7).fit(X).score_samples(Q))
    assert_array_equal(detector.predict([[0.0, 0.0], [99.0, 0.0]]), [1, -1])
    ordered = np.sort(detector.leave_one_out_score_)
    lower, upper = ordered[[14, 15]].mean(), ordered[[44, 45]].mean()  # between a quarter of 60 and the rest
    assert detector.offset_ == lower - 1.5 * (upper - lower)
    with pytest.raises(AttributeError, match="fit_predict"):
        detector.fit_predict(X)
    with pytest.raises(AttributeError, match="predict"):
        ParzenOutlierDetector().fit(X).predict(X)


def test_a_sample_of_no_weight_is_scored_but_counts_for_nothing():
    X, _, _ = points()
    w = np.ones(len(X))
    w[3] = 0
    with_it = ParzenOutlierDetector(ParzenDensity(0.7)).fit(X, sample_weight=w)
    without = ParzenOutlierDetector(ParzenDensity(0.7)).fit(np.delete(X, 3, 0))
    assert with_it.offset_ == without.offset_ and len(with_it.leave_one_out_score_) == len(X)
    expected = ParzenDensity(0.7).fit(np.delete(X, 3, 0)).score_samples(X[[3]])
    assert_allclose(with_it.leave_one_out_score_[3], expected[0])


@pytest.mark.parametrize("d", [1, 3])
@pytest.mark.parametrize("bandwidth", [0.7, "cv"])
def test_a_copy_is_a_sample_like_others(d, bandwidth):
    """One of the copies is left out, the others stay; so of weights that they have."""
    X, _, w = points(d=d)
    X[:3] = X[3]
    detector = ParzenOutlierDetector(ParzenDensity(bandwidth, scale=None)).fit(X, sample_weight=w)
    form, rows = detector.density_._form, np.delete(np.arange(len(X)), 2)
    place = np.array([np.flatnonzero((form.X == x).all(axis=1))[0] for x in X])
    shares = (form.weights / form.weights.sum(axis=1, keepdims=True))[place[rows]]
    parts = [
        slow_log_density(X[[2]], X[rows], w[rows], "gaussian", h, share)[0]
        for h, share in zip(form.widths, shares.T, strict=True)
    ]
    assert_allclose(detector.leave_one_out_score_[2], logsumexp(parts), rtol=1e-9)


def test_equal_samples_have_no_outliers_to_find():
    assert_array_equal(ParzenOutlierDetector().fit_predict(np.ones((5, 2))), 1)
    with pytest.raises(ValueError, match="needs at least two samples"):
        ParzenOutlierDetector().fit(np.ones((1, 2)))


def alarms(x, **parameters):
    """Values that are outliers."""
    x = np.asarray(x, dtype=float)
    return x[ParzenOutlierDetector(**parameters).fit_predict(x[:, None]) < 0]


def test_outliers_among_samples_in_few_places():
    rng = np.random.default_rng(0)
    normal = rng.normal(size=200)
    assert_array_equal(alarms(np.r_[np.ones(99), -1]), [-1])
    assert_array_equal(alarms(np.r_[np.ones(94), rng.normal(50, 9, size=6)]) > 1, np.ones(6))
    assert len(alarms(np.r_[np.ones(37), -np.ones(13)])) == 0
    assert_array_equal(alarms(np.r_[np.ones(37), -np.ones(13)], contamination=0.25), -np.ones(13))
    few = alarms(np.r_[np.zeros(800), normal])
    assert len(few) <= 10 and (np.abs(few) > 2).all()
    assert len(alarms(np.r_[np.full(100, 3.0), normal])) <= 20


def test_the_fence_of_normal_scores_does_not_depend_on_the_quantiles_that_are_equal():
    from scipy.stats import norm

    from spectralcls.density._outliers import FENCES

    found = [norm.ppf(share) - factor * (norm.ppf(0.75) - norm.ppf(share)) for share, factor in FENCES]
    assert_allclose(found, found[0], atol=1e-3)


@pytest.mark.parametrize("share, n_outliers", [(0.05, 3), (0.1, 6), (0.5, 30)])
def test_the_share_of_outliers_is_the_one_asked_for(share, n_outliers):
    X, _, _ = points()
    assert (ParzenOutlierDetector(contamination=share).fit_predict(X) < 0).sum() == n_outliers


@pytest.mark.parametrize("d, share", [(1, 0.083), (2, 0.048), (5, 0.039)])
def test_the_share_of_clean_samples_beyond_the_fence_is_what_the_documents_say(d, share):
    found = [
        (ParzenOutlierDetector().fit_predict(np.random.default_rng(seed).normal(size=(800, d))) < 0).mean()
        for seed in range(6)
    ]
    assert_allclose(np.mean(found), share, atol=0.012)


@pytest.mark.parametrize("covariance_type", ["spherical", [1.0, 1.0]])
def test_a_far_sample_leaves_the_others_as_precise(covariance_type):
    X = np.random.default_rng(0).normal(size=(200, 2)) * [1, 3]
    far = np.vstack([X, [[1e30, 0]]])
    alone, beside = (ParzenDensity(0.5, covariance_type=covariance_type).fit(A).score_samples(X) for A in (X, far))
    np.testing.assert_allclose(beside, alone + np.log(200 / 201), atol=0.02)  # a scale counts all samples


@pytest.mark.parametrize("kind", ["spherical", "diag", "full"])
@pytest.mark.parametrize("units", [(1e-300, 1e-300), (1e300, 1e300), (1e-300, 1e300)])
def test_any_scale_of_the_features(kind, units):
    """Densities, what is made of them and explanations, where squares of the values are zero or infinite."""
    X = np.random.default_rng(0).normal(size=(60, 2)) @ [[1.0, 0.4], [0.0, 1.0]]
    units = np.array(units)
    plain, scaled = (ParzenDensity(covariance_type=kind).fit(A) for A in (X, X * units))
    assert_allclose(scaled.score_samples(X * units) + np.log(units).sum(), plain.score_samples(X), atol=1e-8)
    one, other = plain.conditional([0], [0.7]), scaled.conditional([0], [0.7 * units[0]])
    assert_allclose(other.score_samples(X[:, 1:] * units[1]) + np.log(units[1]), one.score_samples(X[:, 1:]), atol=1e-8)
    one, other = plain.marginal([1]).quantile([0.1, 0.5]), scaled.marginal([1]).quantile([0.1, 0.5])
    assert_allclose(other / units[1], one, rtol=1e-8)
    one, other = (
        ParzenOutlierDetector(ParzenDensity(covariance_type=kind), novelty=True).fit(A) for A in (X, X * units)
    )
    assert_allclose(other.explain(X[:5] * units), one.explain(X[:5]), atol=1e-8)


@pytest.mark.parametrize("kind", ["spherical", "diag", "full"])
@pytest.mark.parametrize("far", [1e4, 1e150])
def test_one_far_value_decides_no_shape(kind, far):
    """It gets its share of the mass; the others keep their density and their quantiles."""
    X = np.random.default_rng(0).normal(size=(200, 2)) @ [[1.0, 0.4], [0.0, 1.0]]
    alone, beside = (ParzenDensity(covariance_type=kind).fit(A) for A in (X, np.vstack([X, [[far, 0.0]]])))
    assert_allclose(beside.score_samples(X), alone.score_samples(X), atol=0.2)
    alone, beside, p = alone.marginal([0]), beside.marginal([0]), np.array([0.01, 0.5, 0.9])
    assert_allclose(beside.quantile(p * 200 / 201), alone.quantile(p), atol=0.06)
    assert beside.quantile(0.999) > far / 2


@pytest.mark.parametrize("left, regular", [(1.4e-7, True), (0.7e-7, False)])
def test_a_feature_that_others_explain_to_seven_digits_is_a_linear_combination(left, regular):
    """`left` is the standard deviation of a feature given the other one, relative to its own."""
    correlation = np.sqrt((1 - left) * (1 + left))
    density = ParzenDensity(1.0, covariance_type=[[1.0, correlation], [correlation, 1.0]])
    X = np.random.default_rng(0).normal(size=(5, 2))
    if regular:
        density.fit(X)
    else:
        with pytest.raises(ValueError, match="depend linearly"):
            density.fit(X)


@pytest.mark.parametrize("kind", ["spherical", "diag", "full"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_query_of_the_largest_number_is_beyond_all_kernels(kind, dtype):
    """In units of the features it would be infinite."""
    X = np.random.default_rng(0).normal(size=(50, 2)).astype(dtype) * dtype(0.1)
    density = ParzenDensity(covariance_type=kind).fit(X)
    assert density.score_samples(np.array([[-np.finfo(dtype).max, 0]], dtype))[0] < -1e30
