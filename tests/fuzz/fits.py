"""Estimators: fits on odd data, and the values of those that have a formula."""

import every_estimator as estimators
import numpy as np
import pandas as pd
import pyarrow as pa
import reference
from scipy.special import logsumexp
from sklearn.base import is_classifier

import spectralcls
from spectralcls import information

from .data import Refused, laid_out, points, spread


def estimator(rng):
    """Fit on odd data: the answers are finite, of the classes, sum to one, and a refused fit leaves what was."""
    name = str(rng.choice([name for name in estimators.names() if name != "AutoClassifier"]))
    n, d = int(rng.integers(12, 50)), int(rng.integers(1, 6))
    dtype = rng.choice([np.float32, np.float64])
    X = points(rng, n + 10, d, dtype)
    X, Q = X[:n], X[n:]
    if rng.random() < 0.3:
        Q = Q * dtype(10.0 ** rng.integers(0, 9))  # far away
    names = [[0, 1, 2], [True, False, True], ["b", "a", "ç"], [-5, 0, 2**40], [2.0, 1.0, 7.0]][rng.integers(5)]
    y = np.array(names)[rng.integers(0, 3, n)]
    model = estimators.make(name, fixed=bool(rng.random() < 0.7))
    if "bandwidth" in model.get_params() and rng.random() < 0.7:
        model.set_params(bandwidth=float(spread(X, X) * rng.uniform(0.3, 3)))
    try:
        model.fit(laid_out(rng, X), y)
    except (ValueError, TypeError) as error:
        raise Refused from error
    if is_classifier(model):
        predicted = model.predict(laid_out(rng, Q))
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


def _problem(rng, dtype):
    """(X, Q, weights or None): training points, queries, and odd weights."""
    n, d = int(rng.integers(2, 50)), int(rng.integers(1, 6))
    P = points(rng, n + 8, d, dtype)
    return P[:n], P[n:], rng.integers(1, 4, n).astype(float) if rng.random() < 0.5 else None


def density(rng):
    """Logarithms of Parzen's density, however far away."""
    dtype = np.dtype(rng.choice([np.float32, np.float64]))
    X, Q, w = _problem(rng, dtype)
    kernel = str(rng.choice(sorted(set(reference.PROFILES) - {"laplace_derivative"})))
    h = spread(X, X) * float(rng.uniform(0.3, 3))
    found = spectralcls.ParzenDensity(h, kernel=kernel).fit(laid_out(rng, X), sample_weight=w).score_samples(Q)
    u = reference.distances(Q, X) / h
    with np.errstate(divide="ignore"):
        known = reference.LOGARITHMS.get(kernel)
        logs = known(u) if known else np.log(reference.PROFILES[kernel](u))
    weights = np.ones(len(X)) if w is None else w
    truth = logsumexp(logs, b=weights / weights.sum(), axis=1) - reference.log_normalizer(kernel, X.shape[1], h)
    near = (np.abs(u - 1) > 1e-4).all(axis=1) if kernel in reference.COMPACT else np.ones(len(Q), dtype=bool)
    size = np.maximum(1, np.abs(np.where(np.isfinite(truth), truth, 0)))
    rtol = 1e-10 if dtype == np.float64 else 2e-4
    np.testing.assert_allclose((found / size)[near], (truth / size)[near], rtol=0, atol=rtol)


def regression(rng):
    """Local means are those of the formula, lines follow a line, and intervals lie within the targets."""
    X, Q, w = _problem(rng, np.float64)
    h, degree = spread(X, X) * float(rng.uniform(0.5, 3)), int(rng.integers(2))
    slopes = rng.standard_normal(X.shape[1])
    y = X @ slopes if degree else np.round(rng.standard_normal(len(X)), int(rng.integers(4)))
    model = spectralcls.KernelRegressor(h, degree=degree).fit(laid_out(rng, X), y, w)
    found, size = model.predict(Q), max(np.abs(y).max(), 1e-300)
    u = reference.distances(Q, X) / h
    K = np.exp(-(u**2 - (u**2).min(axis=1, keepdims=True)) / 2) * (1 if w is None else w)
    means = K @ y / K.sum(axis=1)
    assert np.all(np.isfinite(found)) and found.shape == (len(Q),)
    if degree == 0:
        np.testing.assert_allclose(found, means, rtol=0, atol=1e-10 * size)
        low, high = model.predict_interval(Q, coverage=float(rng.uniform(0.05, 0.95))).T
        assert np.all(low <= high) and np.all(np.isfinite(low)) and np.all(np.isfinite(high))
    else:  # where the points around a query span the space, the damping of slopes is not to be seen
        centered = X - (K @ X / K.sum(axis=1, keepdims=True))[:, None]
        covariance = np.einsum("mn,mni,mnj->mij", K / K.sum(axis=1, keepdims=True), centered, centered)
        spanned = np.linalg.eigvalsh(covariance)[:, 0] > 1e-3 * max(h**2, np.ptp(X) ** 2)
        reach = np.abs(Q - X.mean(axis=0)).sum(axis=1) * np.abs(slopes).max() + size
        assert np.all(np.abs(found - Q @ slopes)[spanned] <= 1e-3 * reach[spanned])


def modes(rng):
    """A center is where a step of mean shift ends, one is as dense as the densest sample, and each is a label."""
    X, Q, w = _problem(rng, np.float64)
    h = spread(X, X) * float(rng.uniform(0.3, 2))
    kernel = str(rng.choice(["gaussian", "epanechnikov", "quartic", "triweight"]))
    model = spectralcls.KernelMeanShift(h, kernel=kernel).fit(laid_out(rng, X), sample_weight=w)
    log_density = spectralcls.ParzenDensity(h, kernel=kernel).fit(X, sample_weight=w).score_samples
    labels, centers = model.labels_, model.cluster_centers_
    assert labels.shape == (len(X),) and 0 <= labels.min() and labels.max() < len(centers)
    assert set(labels) == set(range(len(centers))) and np.all(np.isfinite(centers))
    assert log_density(X).max() <= log_density(centers).max() + 1e-3
    shadow = {"gaussian": "gaussian", "epanechnikov": "uniform", "quartic": "epanechnikov", "triweight": "quartic"}
    K = reference.PROFILES[shadow[kernel]](reference.distances(centers, X) / h) * (1 if w is None else w)
    steps = K @ X / K.sum(axis=1, keepdims=True) - centers
    assert np.linalg.norm(steps, axis=1).max() <= 0.01 * h or kernel == "epanechnikov"  # whose steps are not continuous
    np.testing.assert_array_equal(model.predict(X), labels)
    assert np.isin(model.predict(Q), np.arange(len(centers))).all()


def metric(rng):
    """A learned map is linear, and maps finitely."""
    name = str(rng.choice(["KernelMetric", "GradientMetric"]))
    X, Q, _ = _problem(rng, np.dtype(rng.choice([np.float32, np.float64])))
    y, kind = rng.integers(0, 3, len(X)), str(rng.choice(["full", "diagonal"]))
    try:
        model = getattr(spectralcls, name)(kind=kind, random_state=0).fit(laid_out(rng, X), y)
    except ValueError as error:
        raise Refused from error
    L = model.components_
    assert np.all(np.isfinite(L)) and (kind == "full" or np.count_nonzero(L - np.diag(np.diag(L))) == 0)
    expected = (Q.astype(np.float64) - model.mean_) @ L.T
    found = model.transform(laid_out(rng, Q))
    assert found.dtype == Q.dtype
    rtol = 1e-10 if Q.dtype == np.float64 else 1e-3
    size = np.abs(Q.astype(np.float64)).max() * np.abs(L).sum(axis=1).max() + np.abs(expected).max()
    np.testing.assert_allclose(found, expected, rtol=0, atol=rtol * size)


def auto(rng):
    """A vote is finite, of the classes, and sums to one."""
    X, Q, _ = _problem(rng, np.dtype(rng.choice([np.float32, np.float64])))
    names = np.array([["b", "a", "ç"], [-5, 0, 2**40], [2.0, 1.0, 7.0]][rng.integers(3)])
    y = names[rng.integers(0, 3, len(X))]
    try:
        model = spectralcls.AutoClassifier(time_budget=0.05).fit(laid_out(rng, X), y)
    except ValueError as error:
        raise Refused from error
    votes = model.predict_proba(Q)
    assert np.all(votes >= 0) and np.isin(model.predict(Q), model.classes_).all()
    np.testing.assert_allclose(votes.sum(axis=1), 1, atol=1e-6)
    np.testing.assert_allclose(model.weights_.sum(), 1)


def _column(rng, n):
    """A column of a table: numbers, words, truth values, categories or dates, some missing."""
    kind = rng.integers(5)
    if kind == 0:
        values = pd.Series(np.round(rng.standard_normal(n), 2))
    elif kind == 1:
        values = pd.Series(rng.choice(["red", "green", "", "ü"], n))
    elif kind == 2:
        values = pd.Series(rng.random(n) < 0.5)
    elif kind == 3:
        values = pd.Series(pd.Categorical(rng.choice(["low", "mid", "high"], n), ["low", "mid", "high"], ordered=True))
    else:
        values = pd.Series(rng.integers(-3, 3, n))
    if rng.random() < 0.4:
        values = values.convert_dtypes() if kind in (2, 4) else values
        values = values.mask(rng.random(n) < rng.uniform(0, 0.7))
    return values


def tables(rng):
    """A raw table is learned or refused by the name of its column; posteriors are those of every other container."""
    n = int(rng.integers(8, 50))
    frame = pd.DataFrame({f"c{i}": _column(rng, n + 8) for i in range(rng.integers(1, 5))})
    y = rng.choice(["x", "y"], n)
    name = str(rng.choice(["Parzen", "ISE", "LaplacianSpectral", "CauchySchwarz"])) + "Classifier"
    model = getattr(spectralcls, name)(float(rng.uniform(0.2, 3)))
    try:
        model.fit(frame[:n], y)
        queries = frame[n:]
        found = model.predict(queries)
    except ValueError as error:
        raise Refused from error
    assert np.isin(found, model.classes_).all()
    if name == "ParzenClassifier":
        posteriors = model.predict_proba(queries)
        assert np.all(posteriors >= 0)
        np.testing.assert_allclose(posteriors.sum(axis=1), 1, atol=1e-6)
        arrow = pa.Table.from_pandas(queries, preserve_index=False)
        np.testing.assert_allclose(model.predict_proba(arrow), posteriors, atol=1e-9)
        order = rng.permutation(frame.columns)
        again = getattr(spectralcls, name)(model.bandwidth).fit(frame[:n][order], y)
        np.testing.assert_allclose(again.predict_proba(queries[order]), posteriors, atol=1e-6)


def permutation_tests(rng):
    """Statistics are those of the formulas, p-values ranks among the permutations."""
    X, Y, _ = _problem(rng, np.float64)
    h, B = spread(X, Y) * float(rng.uniform(0.3, 3)), int(rng.integers(1, 20))
    if rng.random() < 0.5:
        test = information.two_sample_test(X, Y, bandwidth=h, n_permutations=B, potential="same")
        pp, pq, qq = (reference.kernel_matrix(A, C, bandwidth=h).mean() for A, C in ((X, X), (X, Y), (Y, Y)))
        truth, scale = pp - 2 * pq + qq, np.exp(-reference.log_normalizer("gaussian", X.shape[1], h))
        size = scale
        truth = truth * scale
    else:
        Y = X[:, :1] ** 2 + points(rng, len(X), 1, np.float64)
        test = information.independence_test(X, Y, bandwidth=(h, h), n_permutations=B, potential="same")
        K, L = (reference.kernel_matrix(A, A, bandwidth=h, normalize=True) for A in (X, Y))
        truth = np.mean(K * L) - 2 * np.mean(K.mean(axis=1) * L.mean(axis=1)) + K.mean() * L.mean()
        size = 200 * K.max() * L.max()  # both are factored to 1e-8 of their traces
    np.testing.assert_allclose(test.statistic, max(truth, 0), rtol=1e-5, atol=1e-10 * size)
    as_large = [np.sum(test.null_distribution >= test.statistic * (1 - slack)) for slack in (0, 1e-6)]
    assert (1 + as_large[0]) / (B + 1) <= test.p_value <= (1 + as_large[1]) / (B + 1)
