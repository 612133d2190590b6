"""All estimators of the package, found by their public names: a new one takes part in every test that asks here."""

import inspect
import warnings
from functools import cache

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, is_classifier
from sklearn.datasets import make_blobs
from sklearn.neighbors import KNeighborsClassifier

import spectralcls

# Values of parameters that fix what is otherwise tuned on random folds; of those that an estimator has.
FIXED = {"bandwidth": 1.0, "alpha": 0.1, "beta": 0.5, "n_components": 2, "scale": None, "random_state": 0, "cv": 2}
FIXED_OF = {
    "CCDRClassifier": {"estimator": KNeighborsClassifier()},
    "ParzenOutlierDetector": {"density": spectralcls.ParzenDensity(1.0, scale=None)},
}
QUERIED = {"novelty": True}  # of those that otherwise answer for their training points only

# Settings that take other ways than the defaults; what `variants()` promise they promise, too.
SETTINGS = {
    "CCDR": [{"extension": "nearest", "weights": "binary"}],
    "CauchySchwarzClassifier": [
        {"bandwidth": 0.7, "kernel": "triweight", "weighting": None},
        {"weighting": "symmetric", "potential": "same", "priors": "shares"},
    ],
    "GradientMetric": [{"kind": "full"}],
    "ISEClassifier": [{"bandwidth": 0.7, "kernel": "cosine"}, {"cv": "loo", "potential": "same"}],
    "KernelMap": [{"weighting": "symmetric"}, {"order": "entropy", "kernel": "laplace"}],
    "KernelMetric": [{"kind": "whiten"}, {"kind": "diagonal", "max_iter": 4}],
    "KernelRegressor": [{"bandwidth": 1.0, "degree": 1}, {"kernel": "laplace", "cv": 3}],
    "KernelRidgeRegressor": [{"max_exact_samples": 0, "kernel": "gaussian"}],
    "KernelRidgeClassifier": [{"max_exact_samples": 0, "kernel": "gaussian"}],
    "LaplacianISEClassifier": [
        {"bandwidth": 0.7, "kernel": "quartic", "weighting": "inverse"},
        {"bandwidth": "silverman_per_class"},
    ],
    "ParzenClassifier": [
        {"bandwidth": 0.7, "kernel": "uniform"},
        {"bandwidth": "silverman_per_class", "kernel": "epanechnikov"},
        {"metric": "diagonal"},
    ],
    "ParzenDensity": [{"kernel": "epanechnikov", "covariance_type": "diag"}],
    "ParzenOutlierDetector": [{"novelty": True}],
    "PerTurboClassifier": [
        *({"regularization": kind, "bandwidth": 1.0} for kind in ("truncate", None)),
        {"kernel": "laplace", "bandwidth": 1.0, "alpha": 0.1},
    ],
    "SpectralKernel": [
        {"kernel": "linear"},
        {"rank": 20},
        {"kernel": "polynomial", "embedding": "a", "normalize": False},
        {"kernel": "linear", "weighting": None, "normalize": False},
        {"kernel": "precomputed"},
    ],
    "SpectralKernelClassifier": [{"kernel": "linear"}],
    "SpectralLaplacianISEClassifier": [{"metric": "whiten"}],
}

KINDS = {
    name: thing
    for module in (spectralcls, spectralcls.spectral, spectralcls.metric)
    for name, thing in ((name, getattr(module, name)) for name in module.__all__)
    if inspect.isclass(thing) and issubclass(thing, BaseEstimator)
}


VARIANTS = {
    f"{name}({', '.join(f'{key}={value!r}' for key, value in options.items())})": (name, options)
    for name, settings in SETTINGS.items()
    for options in settings
    if not {"linear", "polynomial", "precomputed", "whiten"}
    & set(map(str, options.values()))  # for other data and units
}


def variants():
    """Names of all estimators, and of their other settings."""
    return [*names(), *VARIANTS]


def names():
    """Public names of all estimators."""
    return sorted(KINDS)


def classifiers(some=None):
    """Those of the names, or of some, that are classifiers."""
    return [name for name in some or names() if is_classifier(make(name))]


def make(name, fixed=False, **parameters):
    """A new estimator of that name or variant, quick to fit; if `fixed` without anything tuned."""
    name, options = VARIANTS.get(name, (name, {}))
    kind = KINDS[name]
    known = inspect.signature(kind).parameters
    fixed_values = QUERIED | (FIXED | FIXED_OF.get(name, {}) if fixed else {})
    chosen = {key: value for key, value in fixed_values.items() if key in known}
    return kind(**{**chosen, **options, **parameters})


def problem(n=45, d=3, seed=0, dtype=np.float64):
    """Overlapping classes 0, 1, 2 of nearly equal size, and queries."""
    X, y = make_blobs(n + 15, d, centers=3, cluster_std=1.5, center_box=(-2.5, 2.5), random_state=seed)
    return X[:n].astype(dtype), y[:n], X[n:].astype(dtype)


def responses(estimator, Q):
    """Everything that a fitted estimator answers to queries, dense; embeddings as their inner products, which do not
    depend on signs of eigenvectors nor on the order of training points."""
    answers = {}
    for method in ("predict_proba", "decision_function", "score_samples", "predict"):
        if hasattr(estimator, method):
            answers[method] = getattr(estimator, method)(Q)
    if hasattr(estimator, "transform"):
        embedded = estimator.transform(Q)
        embedded = embedded.toarray() if issparse(embedded) else np.asarray(embedded)
        answers["transform"] = embedded @ embedded.T
    assert answers, f"{type(estimator).__name__} has none of the methods that are compared"
    return answers


@cache
def answered(name, fixed=True):
    """Responses of a new estimator fitted to `problem()`, once for all tests that compare with them."""
    X, y, Q = problem()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return responses(make(name, fixed).fit(X, y), Q)


def assert_same(found, expected, rtol=None):
    """Equal answers: to the bit without `rtol`, otherwise to that share of the largest finite value of each array.

    Labels may differ where two of them are equally good to that tolerance, which the other answers show.
    """
    assert found.keys() == expected.keys()
    for method, value in expected.items():
        if rtol is None:
            np.testing.assert_array_equal(found[method], value, err_msg=method)
        elif method == "predict" and value.dtype.kind != "f":
            assert np.mean(found[method] == value) > 0.9, method
        else:
            finite = np.abs(value[np.isfinite(value)])
            np.testing.assert_allclose(
                found[method], value, rtol=rtol, atol=rtol * finite.max(initial=0), err_msg=method
            )
