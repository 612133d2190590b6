"""Rates of every split; as a script, those of the defaults of whichever checkout comes first on the path, since an
earlier commit does not have it: ``python -P each_split.py DATA TRIALS FOLDER [METHOD ...]`` prints JSON.
"""

import json
import sys
import time
import warnings

from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler


def each_split(make, X, y, splits):
    """{"rates": per cent of each split, "seconds": of the processor for tuning and fitting, mean of the splits}."""
    rates, seconds = [], 0.0
    for train, test in splits:
        model = make_pipeline(StandardScaler(), make())
        start = time.process_time()
        model.fit(X[train], y[train])
        seconds += time.process_time() - start
        rates.append(100 * model.score(X[test], y[test]))
    return {"rates": rates, "seconds": seconds / len(rates)}


def main(data, trials, folder, *methods):
    """Print {"sizes": [n_train, n_test], method: what `each_split` finds} for the methods that there are."""
    from bench.reproduce import today
    from bench.reproduce.data import Source

    X, y, splits = today.parts(Source(folder or None), data, int(trials))
    splits = list(splits)
    found = {"sizes": [len(part) for part in splits[0]]}
    for method in methods:
        if method in today.DEFAULTS:
            found[method] = each_split(lambda method=method: today.make(method, X.shape[1]), X, y, splits)
    print(json.dumps(found))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(*sys.argv[1:])
