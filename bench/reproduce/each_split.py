"""Rates of every split by the defaults of whichever checkout comes first on the path: a script, since an earlier commit
does not have it. ``python -P each_split.py DATA TRIALS FOLDER [METHOD ...]`` prints JSON.
"""

import json
import sys
import time
import warnings

from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bench.reproduce import today
from bench.reproduce.data import Source


def rates(source, data, trials, methods):
    """{"sizes": [n_train, n_test], method: {"rates": per cent of each split, "seconds": of the processor, a split}}."""
    X, y, splits = today.parts(source, data, trials)
    splits = list(splits)
    found = {"sizes": [len(part) for part in splits[0]]}
    for method in methods:
        scores, seconds = [], 0.0
        for train, test in splits:
            model = make_pipeline(StandardScaler(), today.make(method, X.shape[1]))
            start = time.process_time()
            model.fit(X[train], y[train])
            seconds += time.process_time() - start
            scores.append(100 * model.score(X[test], y[test]))
        found[method] = {"rates": scores, "seconds": seconds / len(splits)}
    return found


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    data, trials, folder, *methods = sys.argv[1:]
    known = [method for method in methods if method in today.DEFAULTS]
    print(json.dumps(rates(Source(folder or None), data, int(trials), known)))
