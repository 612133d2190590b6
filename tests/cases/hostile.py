"""Calls with an argument of the wrong kind: refused by a sentence, or answered."""

from operator import attrgetter

import estimators
import numpy as np
from sklearn.exceptions import NotFittedError

import spectralcls

from .data import Refused

ODD = [
    None, True, -1, 0, 1.5, 2**31, 2**40, 2**62, -(2**63), np.nan, np.inf, -np.inf, 1e308, 1e-310, "a", "", b"x", [],
    [[]], (), {}, object(), 1j, [1, [2, 3]], [np.nan] * 4, np.float32(0.5), np.array(2.5), np.int8(3),
    np.zeros(0), np.zeros((0, 3)), np.zeros((3, 0)), np.zeros((5, 1, 0)), np.zeros((2, 2, 2)), np.full((4, 3), np.nan),
    np.full(4, 2**31 - 2), np.full(4, -7), np.ones(4, "u8"), np.ones(4, bool), np.ones((4, 3), "f2"),
    np.ones((4, 3), "O"), np.array(["a", 1, None, 2.0], dtype=object), np.ma.masked_all(4), np.array([1 + 2j] * 4),
    np.array(["2020-01-01"] * 4, "M8[D]"),
]  # fmt: skip
SMALL = np.arange(12.0).reshape(4, 3)
CALLS = {
    "kernel_sums": dict(
        Q=SMALL, X=SMALL, weights=None, labels=None, n_labels=None, kernel="gaussian", bandwidth=1.0, log=False,
        exclude_self=False, exclude_groups=None, normalize=False, rtol=0.0, atol=0.0, n_jobs=None,
    ),
    "kernel_matrix": dict(Q=SMALL, X=None, kernel="gaussian", bandwidth=1.0, normalize=False, out=None, n_jobs=None),
    "knn": dict(Q=SMALL, X=SMALL, k=2, algorithm="auto", n_jobs=None),
    "knn_graph": dict(
        X=SMALL, n_neighbors=2, mode="heat", symmetrize="or", epsilon=None, algorithm="auto", n_jobs=None,
    ),
    "rpcholesky": dict(
        X=SMALL, rank=2, kernel="gaussian", bandwidth=1.0, method="random", tol=0.0, random_state=0, block_size=None,
        n_jobs=None,
    ),
    "top_eigenpairs": dict(
        A=SMALL @ SMALL.T, k=1, solver="auto", tol=None, max_applications=None, block_size=None, max_basis=None,
        start=None, deflate=None, random_state=None, n_jobs=None,
    ),
    "information.two_sample_test": dict(
        X=SMALL, Y=SMALL + 1, bandwidth=1.0, statistic="ise", n_permutations=3, kernel="gaussian",
        potential="convolved", random_state=0, n_jobs=None,
    ),
    "information.independence_test": dict(
        X=SMALL, Y=SMALL[:, :1], bandwidth=1.0, n_permutations=3, kernel="gaussian", potential="convolved",
        random_state=0, n_jobs=None,
    ),
    "information.renyi_entropy": dict(X=SMALL, bandwidth=1.0, kernel="gaussian", sample_weight=None, n_jobs=None),
    "reduce_training_set": dict(
        X=SMALL, y=np.array([0, 1, 0, 1]), size=2, method="representative", bandwidth=1.0, sample_weight=None,
        random_state=0, n_jobs=None,
    ),
}  # fmt: skip


def hostile(name):
    def call(rng):
        arguments = dict(CALLS[name])
        for _ in range(rng.integers(1, 3)):
            arguments[str(rng.choice(sorted(arguments)))] = ODD[rng.integers(len(ODD))]
        try:
            attrgetter(name)(spectralcls)(**arguments)
        except (ValueError, TypeError, MemoryError) as error:
            raise Refused from error

    return call


def hostile_parameters(rng):
    """An estimator with one parameter of another kind, or odd training data."""
    name = str(rng.choice([name for name in estimators.names() if name != "AutoClassifier"]))
    X, y, Q = estimators.problem(n=20, d=2)
    model = estimators.make(name, fixed=True)
    if rng.random() < 0.7:
        name, value = str(rng.choice(sorted(model.get_params(deep=False)))), ODD[rng.integers(len(ODD))]
        if name == "max_iter" and isinstance(value, int) and value > 1000:
            raise Refused("as many iterations are allowed, and take as long as they do")
        model.set_params(**{name: value})
    elif rng.random() < 0.5:
        X = ODD[rng.integers(len(ODD))]
    else:
        y = ODD[rng.integers(len(ODD))]
    try:
        model.fit(X, y)
        estimators.responses(model, Q)
    except (ValueError, TypeError, NotFittedError) as error:
        raise Refused from error
