"""
===============================================
A grid search over the workers of a Dask cluster
===============================================

scikit-learn's meta-estimators run on a cluster through joblib's Dask backend. The classifiers of this package
need nothing special: inside a worker each of them uses one thread, because its siblings have the other cores.

This is the way for many *fits* of data that fit in a worker's memory. For one fit of data that do not, see
`spectralcls.dask`.
"""

import joblib
from distributed import Client, LocalCluster
from sklearn.datasets import load_wine
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from spectralcls import CauchySchwarzClassifier


def main():
    X, y = load_wine(return_X_y=True)
    pipeline = make_pipeline(StandardScaler(), CauchySchwarzClassifier(n_jobs=1))
    grid = {
        "cauchyschwarzclassifier__bandwidth": [0.5, 1.0, 2.0, 4.0],
        "cauchyschwarzclassifier__weighting": [None, "inverse", "symmetric"],
    }
    search = GridSearchCV(pipeline, grid, cv=5)
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster:
        with Client(cluster), joblib.parallel_backend("dask"):
            search.fit(X, y)
    print(f"{search.best_score_:.3f} with {search.best_params_}")
    return search


if __name__ == "__main__":  # the worker processes import this file
    main()
