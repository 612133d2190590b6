"""Active learning: boundary queries against random labels, as in section 4.2 (figure 5) of the PerTurbo paper

Two thirds of a set form the pool, and one third forms the test set. Features are raw, and two samples of each class are
labeled at the start. PerTurbo is retuned after every 20 labels; k-NN has k = 3.
"""

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

from bench.data import folder
from bench.measure import QUICK
from bench.reproduce.data import Source
from bench.reproduce.learning_curves import gain, learning_curves
from bench.reproduce.tables import published
from spectralcls.perturbo import PerTurboClassifier

CLASSIFIERS = {"PerTurbo": PerTurboClassifier(scale=None), "k-NN": KNeighborsClassifier(3)}
EARLY, MOST, REPEATS = (5, 10, 2) if QUICK else (70, 300, 10)  # labels asked for, and random splits


@pytest.mark.parametrize("classifier", CLASSIFIERS)
@pytest.mark.parametrize("data", ["wine"] if QUICK else ["ecoli", "wine", "simdata_1"])
def test_gain(record, data, classifier):
    """The table gives the accuracy with boundary queries minus that with random labels, in points: mean ± standard
    error over ten random splits. The pool gets easier as difficult samples are labeled and leave it, so only the fixed
    test set shows how much the classifier improves.
    """
    loaded = Source(folder()).load(data)
    n_pool = len(loaded.data) - -(-len(loaded.data) // 3)
    n_queries = min(MOST, int(0.9 * n_pool) - 2 * len(np.unique(loaded.target)))
    options = dict(n_queries=n_queries, retune=20, n_repeats=REPEATS)
    scores = learning_curves(CLASSIFIERS[classifier], loaded.data, loaded.target, **options)[1]
    gains = {
        "pool, at the end": gain(scores, "pool"),
        f"test set, after {EARLY}": gain(scores, "test", min(EARLY, n_queries)),
        "test set, at the end": gain(scores, "test"),
    }
    printed = published("003")["tables"][1]["numbers"][data][classifier]
    row = {"queries": n_queries, "published (pool)": f"{printed:+.1f}"}
    record(row | {name: f"{100 * m:+.1f} ± {100 * s / np.sqrt(REPEATS):.1f}" for name, (m, s) in gains.items()})
