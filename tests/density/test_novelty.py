"""Novelties with a false-alarm rate, and the features that make them."""

import numpy as np
import pytest
from scipy.stats import norm

import spectralcls as sc
from spectralcls.density._marginals import marginal


def detector(**parameters):
    return sc.ParzenOutlierDetector(sc.ParzenDensity(**{"bandwidth": 0.5} | parameters), novelty=True)


@pytest.mark.parametrize(
    "parameters",
    [{}, {"bandwidth": "cv"}, {"covariance_type": "full"}, {"kernel": "laplace"}],
    ids=str,
)
def test_false_alarms_are_as_rare_as_asked_for(parameters):
    draws, level = 250, 0.1
    alarms = []
    for seed in range(draws):
        X = np.random.default_rng(seed).normal(size=(40, 2)) @ [[1.0, 0.5], [0.0, 1.0]]
        alarms.append(detector(**parameters).fit(X[:39]).p_values(X[39:])[0] <= level)
    error = np.sqrt(level * (1 - level) / draws)
    assert np.mean(alarms) < level + 3 * error
    assert np.mean(alarms) > level - 1 / 40 - 3.5 * error


def test_p_values_are_those_of_refits_with_the_query():
    rng = np.random.default_rng(0)
    X, Q = rng.normal(size=(25, 2)), 2 * rng.normal(size=(10, 2))
    found = detector().fit(X).p_values(Q)
    for q, p in zip(Q, found, strict=True):
        both = np.vstack([X, q])
        k = np.exp(-((both[:, None] - both) ** 2).sum(axis=2) / 0.5)
        density = k.sum(axis=1) - 1
        np.testing.assert_allclose(p, np.mean(density <= density[-1] * (1 + 1e-12)), rtol=1e-12)


def test_weights_are_copies():
    rng = np.random.default_rng(0)
    X, Q, weights = rng.normal(size=(25, 2)), rng.normal(size=(10, 2)), rng.integers(1, 4, 25)
    weighted = detector().fit(X, sample_weight=weights).p_values(Q)
    np.testing.assert_allclose(weighted, detector().fit(np.repeat(X, weights, axis=0)).p_values(Q), rtol=1e-9)


@pytest.mark.parametrize("kind", ["spherical", "diag", "full"])
@pytest.mark.parametrize("bandwidth", [0.5, "cv"])
def test_explain_is_the_conditional_density_of_each_feature(kind, bandwidth):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3)) @ rng.normal(size=(3, 3)) * [1.0, 10.0, 0.1]
    Q = X[:5] + 0.1
    model = detector(covariance_type=kind, bandwidth=bandwidth).fit(X)
    found = model.explain(Q)

    def surprise(density, Q, j):
        rest = np.delete(np.arange(3), j)
        return density.marginal(rest).score_samples(Q[:, rest]) - density.score_samples(Q)

    for j in range(3):
        if bandwidth != "cv":
            shape = model.density_._form.space.covariance * bandwidth**2
            others = [sc.ParzenDensity(1.0, covariance_type=shape).fit(np.delete(X, i, 0)) for i in range(60)]
            usual = np.median([surprise(other, X[[i]], j)[0] for i, other in enumerate(others)])
            np.testing.assert_allclose(found[:, j], surprise(model.density_, Q, j) - usual, rtol=1e-7, atol=1e-7)
        differences = np.diff(surprise(model.density_, Q, j))
        np.testing.assert_allclose(np.diff(found[:, j]), differences, rtol=1e-7, atol=1e-7)


def test_explain_finds_the_feature():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 1)) + 0.2 * rng.normal(size=(200, 4))  # four readings of one quantity
    query = X[:1].copy()
    query[0, 2] += 2.0
    assert detector(bandwidth="cv").fit(X[1:]).explain(query).argmax() == 2


def test_explain_has_one_named_value_for_each_column():
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    table = pandas.DataFrame(
        {
            "color": rng.choice(["red", "green", "blue"], 200),
            "length": rng.normal(0, 1e-3, 200),
            "name": [f"row {i}" for i in range(200)],
            "day": pandas.Timestamp("2025-03-01") + pandas.to_timedelta(rng.integers(0, 90, 200), unit="D"),
            "width": rng.normal(50, 10, 200),
        }
    )
    table.loc[150:, "color"] = "red"
    odd = table.iloc[[3, 7]].assign(width=[200.0, 50.0], color=["red", None])
    with pytest.warns(UserWarning, match="name.*all differ"):
        model = detector(bandwidth="cv").fit(table)
    found = model.explain(odd)
    assert list(found.columns) == list(table.columns) and list(found.index) == [3, 7]
    assert found.loc[3].idxmax() == "width" and (found["name"] == 0).all()
    # of a feature with several coordinates: all of them together, given the others
    encoded, rest = model._inputs(odd), np.flatnonzero(model._inputs.column_of != 0)
    expected = marginal(model._form, rest).log_density(np.ascontiguousarray(encoded[:, rest]))
    expected -= model._form.log_density(encoded)
    np.testing.assert_allclose(np.diff(found["color"]), np.diff(expected), rtol=1e-6)


def test_explain_does_not_depend_on_units():
    X = np.random.default_rng(0).normal(size=(60, 2))
    plain, other = (detector(bandwidth="cv").fit(X * unit) for unit in ([1, 1], [1000, 1e-3]))
    np.testing.assert_allclose(other.explain(X[:5] * [1000, 1e-3]), plain.explain(X[:5]), rtol=1e-7)


def test_a_far_point_has_finite_surprises():
    X = np.random.default_rng(0).normal(size=(50, 2))
    found = detector().fit(X).explain([[1e3, 0.0]])
    nearest = -norm.logpdf((1e3 - X[:, 0].max()) / 0.5)
    assert np.isfinite(found).all() and found[0, 0] > 0.5 * nearest


def test_methods_exist_where_they_mean_something():
    assert not hasattr(sc.ParzenOutlierDetector(), "p_values") and not hasattr(sc.ParzenOutlierDetector(), "explain")
    assert not hasattr(detector(kernel="laplace"), "explain")


@pytest.mark.parametrize("bandwidth", [0.5, "cv"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_fitted_density_is_used_as_it_is(bandwidth, dtype):
    rng = np.random.default_rng(0)
    X, others = (rng.standard_t(3, size=(n, 2)).astype(dtype) for n in (90, 40))
    X[:5] = X[5]
    density = sc.ParzenDensity(bandwidth).fit(X)
    own = sc.ParzenOutlierDetector(density, novelty=True).fit(X)
    made = sc.ParzenOutlierDetector(sc.ParzenDensity(bandwidth), novelty=True).fit(X)
    assert own.density_ is density and made.density_ is not density
    np.testing.assert_allclose(own.leave_one_out_score_, made.leave_one_out_score_, rtol=1e-6)
    np.testing.assert_allclose(own.offset_, made.offset_, rtol=1e-6)
    if bandwidth == "cv":
        np.testing.assert_allclose(own.p_values(others), made.p_values(others), atol=0.02)
    # other samples are scored by the density, and rank among each other
    some = sc.ParzenOutlierDetector(density, contamination=0.1, novelty=True).fit(others)
    scores = density.score_samples(others)
    np.testing.assert_array_equal(some.leave_one_out_score_, scores)
    assert np.mean(scores < some.offset_) == 0.1
    Q = rng.standard_t(3, size=(20, 2)).astype(dtype)
    expected = (1 + (scores <= density.score_samples(Q)[:, None]).sum(axis=1)) / 41
    np.testing.assert_allclose(some.p_values(Q), expected)
    np.testing.assert_array_equal(np.isfinite(some.explain(Q)), True)
