"""Estimators: fits on odd data, and the values of those that have a formula."""

import every_estimator as estimators
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import reference
from fuzz.strategies import columns, examples, labeled, layouts, points, refused, widths
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import logsumexp
from sklearn.base import is_classifier

import spectralcls
from spectralcls import information

FLOAT64 = st.just(np.dtype(np.float64))


@pytest.mark.parametrize("name", sorted(set(estimators.names()) - {"AutoClassifier", "AutoRegressor"}))
@examples(0.3)
@given(st.data(), labeled(least=12), st.floats(0, 8), layouts)
def test_answers(name, data, problem, far, layout):
    """The answers are finite, of the classes, and sum to one; queries may be far away."""
    X, y, Q, _ = problem
    Q = Q * Q.dtype.type(10.0 ** int(far))
    model = estimators.make(name, fixed=data.draw(st.booleans()))
    if "bandwidth" in model.get_params() and data.draw(st.booleans()):
        model.set_params(bandwidth=data.draw(widths(X, X)))
    try:
        model.fit(layout(X), y)
    except (ValueError, TypeError) as error:
        return refused(error)
    if is_classifier(model):
        predicted = model.predict(layout(Q))
        assert np.isin(predicted, model.classes_).all() and len(predicted) == len(Q)
    if hasattr(model, "predict_proba"):
        probabilities = model.predict_proba(Q)
        assert np.all(probabilities >= 0) and np.all(np.isfinite(probabilities))
        np.testing.assert_allclose(probabilities.sum(axis=1), 1, atol=1e-5)
    if hasattr(model, "decision_function"):
        assert not np.isnan(model.decision_function(Q)).any()
    if hasattr(model, "transform"):
        embedded = model.transform(Q)
        assert np.all(np.isfinite(getattr(embedded, "data", embedded) if hasattr(embedded, "nnz") else embedded))


@given(st.data(), labeled(), layouts)
def test_density(data, problem, layout):
    """Logarithms of Parzen's density, however far away."""
    X, _, Q, w = problem
    kernel = data.draw(st.sampled_from(sorted(set(reference.PROFILES) - {"laplace_derivative"})))
    h = data.draw(widths(X, X))
    found = spectralcls.ParzenDensity(h, kernel=kernel).fit(layout(X), sample_weight=w).score_samples(Q)
    u = reference.distances(Q, X) / h
    with np.errstate(divide="ignore"):
        known = reference.LOGARITHMS.get(kernel)
        logs = known(u) if known else np.log(reference.PROFILES[kernel](u))
    weights = np.ones(len(X)) if w is None else w
    truth = logsumexp(logs, b=weights / weights.sum(), axis=1) - reference.log_normalizer(kernel, X.shape[1], h)
    near = (np.abs(u - 1) > 1e-4).all(axis=1) if kernel in reference.COMPACT else np.ones(len(Q), dtype=bool)
    size = np.maximum(1, np.abs(np.where(np.isfinite(truth), truth, 0)))
    rtol = 1e-10 if X.dtype == np.float64 else 2e-4
    np.testing.assert_allclose((found / size)[near], (truth / size)[near], rtol=0, atol=rtol)


@given(st.data(), labeled(dtype=FLOAT64), st.integers(0, 1), layouts)
def test_regression(data, problem, degree, layout):
    """Local means are those of the formula, lines follow a line, and intervals are in order."""
    X, _, Q, w = problem
    h, rng = data.draw(widths(X, X, 0.5)), np.random.default_rng(data.draw(st.integers(0, 999)))
    slopes = rng.standard_normal(X.shape[1])
    y = X @ slopes if degree else np.round(rng.standard_normal(len(X)), data.draw(st.integers(0, 3)))
    model = spectralcls.KernelRegressor(h, degree=degree, scale=None).fit(layout(X), y, w)
    found, size = model.predict(Q), max(np.abs(y).max(), 1e-300)
    u = reference.distances(Q, X) / h
    K = np.exp(-(u**2 - (u**2).min(axis=1, keepdims=True)) / 2) * (1 if w is None else w)
    assert np.all(np.isfinite(found)) and found.shape == (len(Q),)
    if degree == 0:
        np.testing.assert_allclose(found, K @ y / K.sum(axis=1), rtol=0, atol=1e-10 * size)
        low, high = model.predict_interval(Q, coverage=data.draw(st.floats(0.05, 0.95))).T
        assert np.all(low <= high)  # infinite if too few rows weigh
    else:  # if the points around a query span the space, the damping of slopes does not show
        centered = X - (K @ X / K.sum(axis=1, keepdims=True))[:, None]
        covariance = np.einsum("mn,mni,mnj->mij", K / K.sum(axis=1, keepdims=True), centered, centered)
        spanned = np.linalg.eigvalsh(covariance)[:, 0] > 1e-3 * max(h**2, np.ptp(X) ** 2)
        reach = np.abs(Q - X.mean(axis=0)).sum(axis=1) * np.abs(slopes).max() + size
        assert np.all(np.abs(found - Q @ slopes)[spanned] <= 1e-3 * reach[spanned])


@pytest.mark.parametrize("name", ["KernelMetric", "GradientMetric"])
@examples(0.1)
@given(labeled(), st.sampled_from(["full", "diagonal"]), layouts)
def test_metric(name, problem, kind, layout):
    """A learned map is linear, and maps finitely."""
    X, y, Q, _ = problem
    try:
        unscaled = {"scale": None} if name == "GradientMetric" else {}
        model = getattr(spectralcls.metric, name)(kind=kind, random_state=0, **unscaled).fit(layout(X), y)
    except ValueError as error:
        return refused(error)
    L = model.components_
    assert np.all(np.isfinite(L)) and (kind == "full" or np.count_nonzero(L - np.diag(np.diag(L))) == 0)
    expected, found = (Q.astype(np.float64) - model.mean_) @ L.T, model.transform(layout(Q))
    assert found.dtype == Q.dtype
    size = np.abs(Q.astype(np.float64)).max() * np.abs(L).sum(axis=1).max() + np.abs(expected).max()
    rtol = 1e-10 if Q.dtype == np.float64 else 1e-3
    np.testing.assert_allclose(found, expected, rtol=0, atol=rtol * size)


@examples(0.05)
@given(labeled(), layouts)
def test_auto(problem, layout):
    """A vote is finite, of the classes, and sums to one."""
    X, y, Q, _ = problem
    try:
        model = spectralcls.AutoClassifier(time_budget=0.05).fit(layout(X), y)
    except ValueError as error:
        return refused(error)
    votes = model.predict_proba(Q)
    assert np.all(votes >= 0) and np.isin(model.predict(Q), model.classes_).all()
    np.testing.assert_allclose(votes.sum(axis=1), 1, atol=1e-6)
    np.testing.assert_allclose(model.weights_.sum() + model.prior_weight_, 1)


@pytest.mark.parametrize("name", ["Parzen", "ISE", "LaplacianSpectral", "CauchySchwarz"])
@examples(0.3)
@given(st.data(), st.integers(8, 50), st.integers(1, 4), st.floats(0.2, 3))
def test_tables(name, data, n, n_columns, h):
    """A raw table is learned or refused by the name of its column; posteriors are those of every other container."""
    frame = pd.DataFrame({f"c{i}": data.draw(columns(n + 8)) for i in range(n_columns)})
    y = np.where(np.random.default_rng(data.draw(st.integers(0, 999))).random(n) < 0.5, "x", "y")
    model, queries = estimators.KINDS[f"{name}Classifier"](h), frame[n:]
    try:
        found = model.fit(frame[:n], y).predict(queries)
    except ValueError as error:
        return refused(error)
    assert np.isin(found, model.classes_).all()
    if name == "Parzen":
        posteriors = model.predict_proba(queries)
        assert np.all(posteriors >= 0)
        np.testing.assert_allclose(posteriors.sum(axis=1), 1, atol=1e-6)
        arrow = pa.Table.from_pandas(queries, preserve_index=False)
        np.testing.assert_allclose(model.predict_proba(arrow), posteriors, atol=1e-9)
        order = data.draw(st.permutations(list(frame.columns)))
        again = spectralcls.ParzenClassifier(h).fit(frame[:n][order], y)
        np.testing.assert_allclose(again.predict_proba(queries[order]), posteriors, atol=1e-6)


@pytest.mark.filterwarnings("ignore:All permutations")
@examples(0.5)
@given(st.data(), labeled(dtype=FLOAT64), st.integers(1, 19), st.booleans())
def test_permutation_tests(data, problem, n_permutations, independence):
    """Statistics are those of the formulas, p-values ranks among the permutations."""
    X, _, Y, _ = problem
    h, options = data.draw(widths(X, Y)), {"n_permutations": n_permutations, "potential": "same"}
    if independence:
        Y = X[:, :1] ** 2 + data.draw(points(len(X), 1))
        test = information.independence_test(X, Y, bandwidth=(h, h), **options)
        K, L = (reference.kernel_matrix(A, A, bandwidth=h, normalize=True) for A in (X, Y))
        truth = np.mean(K * L) - 2 * np.mean(K.mean(axis=1) * L.mean(axis=1)) + K.mean() * L.mean()
        size = 200 * K.max() * L.max()  # both are factored to 1e-8 of their traces
    else:
        test = information.two_sample_test(X, Y, bandwidth=h, **options)
        pp, pq, qq = (reference.kernel_matrix(A, C, bandwidth=h).mean() for A, C in ((X, X), (X, Y), (Y, Y)))
        size = np.exp(-reference.log_normalizer("gaussian", X.shape[1], h))
        truth = (pp - 2 * pq + qq) * size
    np.testing.assert_allclose(test.statistic, max(truth, 0), rtol=1e-5, atol=1e-10 * size)
    as_large = [np.sum(test.null_distribution >= test.statistic * (1 - slack)) for slack in (0, 1e-6)]
    count = n_permutations + 1
    assert (1 + as_large[0]) / count <= test.p_value <= (1 + as_large[1]) / count
