"""AutoRegressor as a model of ScoringBench: 99 quantiles of each row, folds and metrics its own

One command in the folder of ScoringBench, with the options of its own script::

    PYTHONPATH=.:FOLDER_OF_THIS_REPOSITORY python -m bench.scoringbench_entry --lite
"""

import runpy

import numpy as np
from scoringbench.univariate.models import MODELS
from scoringbench.univariate.wrappers.base import DistributionPrediction, ProbabilisticWrapper

from spectralcls import AutoRegressor

LEVELS = np.arange(1, 100) / 100
HOUR = 3600


class SpectralQuantiles(ProbabilisticWrapper):
    def fit(self, X, y):
        self._set_train_range(y)
        self.model = AutoRegressor(n_jobs=1, time_budget=HOUR).fit(X, np.ravel(y).astype(np.float64))
        return self

    def predict(self, X):
        return self.model.predict(X)

    def predict_distribution(self, X):
        q = self.model.predict_quantile(X, LEVELS)
        return DistributionPrediction.from_multi_quantile(q, LEVELS, self.predict(X), train_range=self._y_train_range)


if __name__ == "__main__":
    MODELS.clear()  # of the competitors, which have their results
    MODELS["spectralcls"] = SpectralQuantiles
    runpy.run_path("run_bench_regression.py", run_name="__main__")
