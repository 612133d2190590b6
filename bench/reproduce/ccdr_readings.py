"""What else paper 004 could have measured: other classifiers under the same name, scaled features, other graphs."""

import numpy as np
from sklearn.decomposition import PCA
from sklearn.neighbors import NearestCentroid
from sklearn.neural_network import MLPClassifier
from sklearn.preprocessing import StandardScaler

from spectralcls.ccdr import CCDR
from spectralcls.information._dimension import entropic_dimension

from .ccdr import BETA, DIMENSION, KNN, NEIGHBOR, RESAMPLES, embed, knn_error, linear_error, net_error, satimage
from .summary import spread

SEEDS = 5
JOINT = "training and test points embedded together"


def explain(source, row, column):
    """Readings of one entry of table I, test errors in per cent."""
    X, y, Q, truth = satimage(source)
    joint = _joint(X, y, Q, truth) if row == "CCDR" else {}
    if row == "PCA":
        pca = PCA(DIMENSION).fit(X)
        X, Q = pca.transform(X), pca.transform(Q)
    elif row == "CCDR":
        X, Q = embed(X, y, Q, 0.05, NEIGHBOR, DIMENSION)
    scaler = StandardScaler().fit(X)
    A, B = scaler.transform(X), scaler.transform(Q)
    kinds = {"Neural net": _networks, "Linear": _linear, "k-NN": _neighbors}
    return {"readings": kinds[column](X, y, Q, truth, A, B) | joint.get(column, {})}


def _linear(X, y, Q, truth, A, B):
    return {
        "nearest class mean": _error(NearestCentroid().fit(X, y).predict(Q), truth),
        "least squares, scaled features": linear_error(A, y, B, truth),
        "least squares with squares of the features": linear_error(
            np.hstack([A, A**2]), y, np.hstack([B, B**2]), truth
        ),
    }


def _networks(X, y, Q, truth, A, B):
    """A saturated network answers one class for all: then the error is that of a constant."""
    saturated = [
        MLPClassifier(
            (2 * X.shape[1],),
            activation="logistic",
            solver="sgd",
            learning_rate_init=1.0,
            max_iter=20,
            random_state=seed,
        )
        .fit(X, y)
        .predict(Q)
        for seed in range(SEEDS)
    ]
    constants = [_error(np.full(len(truth), label), truth) for label in np.unique(y)]
    return {
        "scaled features": net_error(A, y, B, truth, A.shape[1]),
        f"logistic units, gradient steps of 1 (answers {max(len(np.unique(p)) for p in saturated)} of "
        f"{len(np.unique(y))} classes)": spread([_error(labels, truth) for labels in saturated]),
        "a constant answer, mean over the classes": spread(constants),
    }


def _neighbors(X, y, Q, truth, A, B):
    return {
        "least over k, scaled features": min(knn_error(A, y, B, truth, k) for k in KNN),
        "1-NN": knn_error(X, y, Q, truth, 1),
    }


def _error(labels, truth):
    return 100 * float(np.mean(labels != truth))


def _joint(X, y, Q, truth):
    """Training and unlabeled test points embedded together."""
    classes, codes = np.unique(y, return_inverse=True)
    model = CCDR(DIMENSION, beta=BETA, n_neighbors=NEIGHBOR, unlabeled=-1, n_jobs=1)
    Z = model.fit_transform(np.concatenate([X, Q]), np.concatenate([codes, np.full(len(Q), -1)]))
    Z, T, wanted = Z[: len(X)], Z[len(X) :], np.searchsorted(classes, truth)
    return {
        "k-NN": {JOINT: min(knn_error(Z, codes, T, wanted, k) for k in KNN)},
        "Linear": {JOINT: linear_error(Z, codes, T, wanted)},
    }


def dimension_readings(source, code):
    """The dimension of one class with other graphs and resamples."""
    X, y, Q, truth = satimage(source)
    label = np.unique(y)[code]
    own, more = X[y == label], np.concatenate([X[y == label], Q[truth == label]])
    large = np.linspace(0.8 * len(own), len(own) - 1, 8).astype(int)
    variants = {
        "resamples of 80 % of the points and more": (own, {"sizes": large}),
        "edge lengths to the power 1/2": (own, {"gamma": 0.5}),
        "features scaled": (own / own.std(axis=0), {}),
        "training and test points": (more, {}),
        "k-NN graph": (own, {"graph": "knn"}),
    }
    found = {}
    for name, (points, options) in variants.items():
        options = {"graph": "mst", "n_resamples": RESAMPLES, "random_state": 0, "n_jobs": 1} | options
        estimate = entropic_dimension(points, **options)
        found[name] = [estimate.dimension, estimate.spread]
    return {"readings": found}
