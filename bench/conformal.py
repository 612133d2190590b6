"""Prediction intervals of other methods, around a model of any kind: each returns an array (m, 2) for each coverage."""

import numpy as np
import pytest


def quantile(scores, coverage):
    """The quantile that a further score does not exceed with the requested probability."""
    place = int(np.ceil(coverage * (len(scores) + 1) * (1 - 1e-12)))
    return np.sort(scores)[place - 1] if place <= len(scores) else np.inf


def halves(X, y, seed):
    fitting, judging = np.array_split(np.random.default_rng(seed).permutation(len(y)), 2)
    return X.iloc[fitting], y[fitting], X.iloc[judging], y[judging]


def split(make, X, y, Q, coverages, seed):
    """Split conformal prediction: the residuals of half of the rows."""
    fitted, targets, judged, truth = halves(X, y, seed)
    model = make().fit(fitted, targets)
    scores, center = np.abs(truth - model.predict(judged)), model.predict(Q)
    reaches = [quantile(scores, coverage) for coverage in coverages]
    return [np.column_stack([center - reach, center + reach]) for reach in reaches]


def cqr(make, X, y, Q, coverages, seed):
    """Conformalized quantile regression, of a model with the options of HistGradientBoosting."""
    fitted, targets, judged, truth = halves(X, y, seed)
    found = []
    for coverage in coverages:
        shares = (1 - coverage) / 2, (1 + coverage) / 2
        models = [make(loss="quantile", quantile=share).fit(fitted, targets) for share in shares]
        low, high = (model.predict(judged) for model in models)
        reach = quantile(np.maximum(low - truth, truth - high), coverage)
        found.append(np.column_stack([models[0].predict(Q) - reach, models[1].predict(Q) + reach]))
    return found


def cross(make, X, y, Q, coverages, seed):
    """CV+ of MAPIE: the jackknife+ with five folds."""
    mapie = pytest.importorskip("mapie.regression", exc_type=ImportError)
    options = {"confidence_level": list(coverages), "cv": 5, "method": "plus", "random_state": seed}
    model = mapie.CrossConformalRegressor(make(), **options).fit_conformalize(X, y)
    return list(np.moveaxis(model.predict_interval(Q)[1], 2, 0))


def own(make, X, y, Q, coverages, seed):
    """The intervals of the model itself."""
    model = make().fit(X, y)
    return [model.predict_interval(Q, coverage=coverage) for coverage in coverages]


def covered(ends, truth):
    """Share of the targets within their intervals, and the mean width over the deviation of the targets."""
    inside = np.mean((ends[:, 0] <= truth) & (truth <= ends[:, 1]))
    return float(inside), float(np.mean(ends[:, 1] - ends[:, 0]) / (np.std(truth) or 1.0))
