"""The scores that tuning computes in one pass are those of refits without the held-out samples."""

import numpy as np
import pytest
from every_estimator import KINDS
from folds import stratified_folds
from numpy.testing import assert_allclose
from sklearn.datasets import load_wine
from sklearn.model_selection import PredefinedSplit
from sklearn.preprocessing import StandardScaler

from spectralcls._utils.copies import copies_of
from spectralcls.kernels import bandwidth_grid

MEANS = ["ParzenClassifier", "ISEClassifier", "LaplacianISEClassifier", "CauchySchwarzClassifier"]
EQUAL, SHARES = {"priors": "equal"}, {"priors": "shares"}
TIKHONOV, GIVEN_RIDGE = {"alpha_grid": [1e-3, 1e-1]}, {"alpha": 0.01}
PER_CLASS = {"bandwidth": "cv_per_class"}
CASES = [
    ("ParzenClassifier", {}),
    ("ParzenClassifier", {"priors": [0.2, 0.3, 0.5]}),
    ("ParzenClassifier", {"kernel": "epanechnikov"}),
    ("ISEClassifier", {}),
    ("ISEClassifier", {"potential": "same"}),
    ("ISEClassifier", {"kernel": "cosine"}),
    ("LaplacianISEClassifier", {}),
    ("LaplacianISEClassifier", {"weighting": "inverse", "potential": "same"}),
    ("LaplacianISEClassifier", {"kernel": "quartic"}),
    ("CauchySchwarzClassifier", EQUAL),
    ("CauchySchwarzClassifier", SHARES | {"weighting": "symmetric"}),
    ("CauchySchwarzClassifier", SHARES | {"weighting": None}),
    ("CauchySchwarzClassifier", EQUAL | {"weighting": None, "kernel": "triweight"}),
    *(
        (name, PER_CLASS | {"kernel": kernel} | (EQUAL if name.startswith("Cauchy") else {}))
        for name in MEANS
        for kernel in ("gaussian", "quartic")
    ),
    ("PerTurboClassifier", TIKHONOV),
    ("PerTurboClassifier", GIVEN_RIDGE | {"kernel": "laplace"}),
    ("PerTurboClassifier", {"regularization": "truncate"}),
    *(("PerTurboClassifier", PER_CLASS | GIVEN_RIDGE | {"kernel": kernel}) for kernel in ("gaussian", "laplace")),
]


def problem(vanishing):
    """Wines, two of which are given twice and some labeled at random, odd weights; perhaps a class of one sample."""
    X, y = load_wine(return_X_y=True)
    rng = np.random.default_rng(0)
    y, rows = np.where(rng.random(len(y)) < 0.2, rng.integers(0, 3, len(y)), y), rng.permutation(len(X))[:44]
    rows[-2:] = rows[:2]
    y = np.where(np.arange(44) == 5, 3, y[rows]) if vanishing else y[rows]
    return StandardScaler().fit_transform(X[rows]), y, np.random.default_rng(1).uniform(0.2, 3, 44)


@pytest.mark.parametrize(("way", "weighted"), [("drawn", False), ("drawn", True), ("given", True), ("loo", True)])
@pytest.mark.parametrize("vanishing", [False, True])
@pytest.mark.parametrize(("name", "options"), CASES, ids=lambda part: part if isinstance(part, str) else None)
def test_scores_of_tuning_are_those_of_refits(name, options, way, weighted, vanishing):
    if vanishing and ({"bandwidth"} & set(options) or options.get("priors") == [0.2, 0.3, 0.5] or way == "given"):
        pytest.skip("bandwidths and priors of classes are those of three")
    if way == "loo" and "regularization" in options:
        pytest.skip("it draws folds")
    X, y, w = problem(vanishing)
    w = w if weighted else np.ones(len(y))
    folds = {
        "drawn": stratified_folds(X, y, 4),
        "given": np.random.default_rng(5).integers(0, 3, len(y)),
        "loo": copies_of(X, y)[1],
    }[way]
    for f in np.unique(folds) if way != "loo" else ():
        w[folds == f] /= w[folds == f].mean()  # of mean one in all parts: PerTurbo's ridge is for that
    cv = {"drawn": 4, "given": list(PredefinedSplit(folds).split()), "loo": "loo"}[way]
    grid = 2 * bandwidth_grid(X, 7, kernel=options.get("kernel", "gaussian"))[::2]

    def make(**parameters):
        return KINDS[name](**{"scale": None} | options | parameters)

    def fitted(rows, params):
        h, alpha = params["bandwidth"], {key: params[key] for key in ("alpha",) if key in params}
        own = {label: h * ratio for label, ratio in zip(classes, ratios, strict=True)} if np.ndim(ratios) else h
        return make(bandwidth=own, **alpha).fit(X[rows], y[rows], sample_weight=w[rows])

    classes, ratios = np.unique(y), 1.0
    if "bandwidth" in options:
        rules = [make(bandwidth=rule).fit(X, y, sample_weight=w) for rule in ("silverman_per_class", "silverman")]
        ratios = rules[0].bandwidth_ / rules[1].bandwidth_
    given = options.get("priors")
    counts = w * (given / (np.bincount(y, w) / w.sum()))[y] if isinstance(given, list) else w
    model = make(bandwidth_grid=grid, cv=cv).fit(X, y, sample_weight=w)
    results = model.cv_results_
    expected = [
        sum(
            counts[folds == f] @ (fitted(folds != f, params).predict(X[folds == f]) == y[folds == f])
            for f in np.unique(folds)
        )
        / counts.sum()
        for params in results["params"]
    ]
    assert_allclose(results["mean_test_score"], expected, rtol=1e-9)
    assert len(set(np.round(expected, 12))) > 1
    assert_allclose(np.unique(results["param_bandwidth"].astype(float)), np.sort(grid))
    assert np.isclose(np.max(model.bandwidth_ / ratios), grid).any() and np.ptp(model.bandwidth_ / ratios) < 1e-12
