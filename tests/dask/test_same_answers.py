"""What is fitted to a Dask collection answers as what is fitted to the same data in memory, whatever its settings."""

import numpy as np
import pytest

pytest.importorskip("dask.array")

import dask.array as da
from dask_cases import LEARN_ON_WORKERS, METHODS, rows
from every_estimator import make
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_blobs

OF_CLASSES = {"ash": 1.0, "beech": 2.0, "cedar": 1.5}
SETTINGS = {
    "CauchySchwarzClassifier": [{"weighting": None}],
    "KernelRegressor": [
        {"cv": 4},
        {"bandwidth": "silverman"},
        {"bandwidth": 0.7, "degree": 0},
        {"tolerance": 1e-3},
        {"metric": "diagonal"},
        {"metric": "whiten", "degree": 0},
    ],
    "LaplacianISEClassifier": [
        {"bandwidth": "silverman"},
        {"bandwidth": "silverman_per_class"},
        {"bandwidth": OF_CLASSES},
        {"bandwidth": 0.8, "kernel": "epanechnikov"},
    ],
    "LaplacianSpectralClassifier": [{"bandwidth": OF_CLASSES}, {"bandwidth": "silverman_per_class"}],
    "ParzenClassifier": [
        {"bandwidth": 1.5, "class_weight": "balanced"},
        {"bandwidth": 1.0, "priors": [0.2, 0.3, 0.5]},
        {"bandwidth": "silverman"},
        {"bandwidth": "silverman_per_class"},
        {"bandwidth": OF_CLASSES},
        {"bandwidth": 0.8, "kernel": "epanechnikov"},
    ],
    "PerTurboClassifier": [
        {"class_weight": "balanced"},
        {"bandwidth": OF_CLASSES, "alpha": 1e-3},
        {"bandwidth": OF_CLASSES, "alpha": 1e-3, "class_weight": "balanced"},
        {"rank": 20},
        {"rank": 20, "class_weight": "balanced"},
    ],
    "SpectralISEClassifier": [{"n_components": 4, "bandwidth": 4.0, "center": "median"}],
    "SpectralLaplacianISEClassifier": [{"n_components": 4, "bandwidth": "silverman"}],
}
CASES = [
    *((name, options) for name in LEARN_ON_WORKERS for options in ({}, {"bandwidth": 1.5, "scale": None})),
    *((name, options) for name in SETTINGS for options in SETTINGS[name]),
]
# Slopes far from the data divide by little: there sums in another order show; so do they in eigenvectors.
RTOL = {"KernelRegressor": 1e-4, "SpectralISEClassifier": 1e-7, "SpectralLaplacianISEClassifier": 1e-7}
ATTRIBUTES = ("bandwidth_", "overall_bandwidth_", "degree_", "class_prior_", "class_counts_", "inverse_density_")


@pytest.mark.filterwarnings("ignore:No round improved", "ignore:The metric was learned from the same samples")
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("name", "options"), CASES, ids=lambda part: part if isinstance(part, str) else None)
def test_answers_are_those_in_memory(name, options, weighted):
    X, y = make_blobs(300, centers=4, n_features=3, cluster_std=2.0, random_state=1)
    y = X[:, 0] if name == "KernelRegressor" else np.array(["ash", "beech", "cedar"])[y % 3]
    near = np.random.default_rng(3).normal(0, 8, size=(65, 3))
    if options.get("scale", "auto") is not None:
        X, near = X * [1.0, 1e3, 1e-3], near * [1.0, 1e3, 1e-3]
    Q = near if "n_components" in options or name == "KernelRegressor" else np.r_[near, 1e4 * near[:5]]
    weights = np.random.default_rng(2).integers(0, 4, len(y)).astype(float) if weighted else None
    local = make(name, **options).fit(X, y, sample_weight=weights)
    lazy_weights = None if weights is None else rows(weights)
    distributed = make(name, **options).fit(rows(X), rows(y), sample_weight=lazy_weights)
    assert type(distributed) is type(local)
    alone = distributed.to_local()
    assert type(alone) is type(local)
    rtol = RTOL.get(name, 1e-8)
    for attribute in ATTRIBUTES:
        assert hasattr(distributed, attribute) == hasattr(local, attribute)
        if hasattr(local, attribute):
            assert_allclose(np.asarray(getattr(distributed, attribute)), getattr(local, attribute), rtol=1e-9)
    for method in METHODS:
        assert hasattr(distributed, method) == hasattr(local, method)
        if not hasattr(local, method):
            continue
        expected = getattr(local, method)(Q)
        lazy, here, back = (
            getattr(model, method)(A) for model, A in zip([distributed] * 2 + [alone], [rows(Q, 30), Q, Q], strict=True)
        )
        assert isinstance(lazy, da.Array) and lazy.shape == expected.shape and lazy.dtype == expected.dtype
        assert type(here) is np.ndarray and here.dtype == expected.dtype
        for found in (lazy.compute(), here, back):
            if method == "predict" and expected.dtype.kind != "f":
                assert_array_equal(found, expected)
            else:
                assert_allclose(
                    found, expected, rtol=rtol, atol=0.01 * rtol * np.abs(expected[np.isfinite(expected)]).max()
                )
    score = distributed.score(rows(X), rows(y), sample_weight=lazy_weights)
    assert score == pytest.approx(local.score(X, y, sample_weight=weights), rel=1e-7)
