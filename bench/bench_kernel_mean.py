"""Tuning and prediction of the kernel-mean classifiers, in units of one pass over all pairs and compared with refits

The data are 20 000 points of two classes with 16 features in float32. Everything runs on one thread.
"""

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV

from bench.data import folder
from bench.measure import QUICK, compare, gib_beyond
from bench.pages import view
from bench.reproduce.data import THESIS, MissingData, Source, thesis_data, thesis_splits
from spectralcls.kernel_mean import CauchySchwarzClassifier, ISEClassifier, LaplacianISEClassifier, ParzenClassifier
from spectralcls.kernels import bandwidth_grid, kernel_sums

N, D = 1000 if QUICK else 20_000, 16
GRID = [round(0.1 * step, 1) for step in range(1, 26)]  # of the thesis
each_classifier = pytest.mark.parametrize(
    "make", [ParzenClassifier, ISEClassifier, LaplacianISEClassifier, CauchySchwarzClassifier]
)


def problem():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, D)).astype(np.float32)
    return X, (X[:, 0] + X[:, 1] ** 2 + rng.normal(scale=0.5, size=N) > 1).astype(int)


@each_classifier
def test_passes(record, make):
    """The table gives the time of tuning over 16 and 50 bandwidths with five folds, and of predicting as many queries
    as points, both in units of one pass. It also gives the memory beyond the data, in bytes per point.
    """
    X, y = problem()
    model = make(bandwidth=0.7).fit(X, y)

    def tuned(count, ratio):
        grid = bandwidth_grid(X, n_bandwidths=count, ratio=ratio)
        return make(bandwidth_grid=grid, max_tuning_samples=None, random_state=0).fit(X, y)

    functions = {
        "one pass": lambda: kernel_sums(X, X, labels=y, bandwidth=0.7),
        "tuning, 16 bandwidths": lambda: tuned(16, 2.0),
        "tuning, 50 bandwidths": lambda: tuned(50, 2**0.25),
        "prediction": lambda: model.predict(X),
    }
    row, _ = compare(functions, repeats=3)
    record(row | {"bytes a point": gib_beyond(lambda: tuned(16, 2.0))[1] * 2**30 / len(X)})


@pytest.mark.parametrize("data", THESIS)
@each_classifier
def test_grid_search(record, make, data):
    """The protocol of the thesis, with 25 bandwidths and three folds: tuning, fit and prediction with the estimators'
    own search, and with scikit-learn's `GridSearchCV` and the same estimator.
    """
    try:
        X, y, splits = thesis_data(Source(folder()), data)
    except MissingData as missing:
        pytest.skip(str(missing))
    train, test = next(thesis_splits(data, y, splits, 1))
    train = train[:60] if QUICK else train

    def own():
        model = make(cv=3, bandwidth_grid=GRID, scale=None, n_jobs=1)
        return model.fit(X[train], y[train]).predict(X[test])

    def refits():
        search = GridSearchCV(make(bandwidth=1.0, scale=None, n_jobs=1), {"bandwidth": GRID}, cv=3)
        return search.fit(X[train], y[train]).predict(X[test])

    record(compare({"own search": own, "GridSearchCV": refits}, repeats=3)[0])


@view("grid_search")
def grid_search_in_short(rows):
    """The protocol is that of the thesis on its data sets, with 25 bandwidths and three folds. The table gives the
    seconds of the estimators' own search and of the refits by `GridSearchCV` with the same estimators, both summed over
    the sets, and their ratio.
    """
    found = {}
    for row in rows:
        own = row["own search, s"]["median"]
        total = found.setdefault(row["make"], {"sets": 0, "own search, s": 0.0, "refits, s": 0.0})
        total["sets"] += 1
        total["own search, s"] += own
        total["refits, s"] += own * row["x GridSearchCV"]["median"]
    return [[{"classifier": k, **v, "x GridSearchCV": v["refits, s"] / v["own search, s"]} for k, v in found.items()]]
