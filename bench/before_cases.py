"""Runs in a process of either checkout: accuracies of the defaults, and predictions for given points.

As a script it reads a data set and a number of splits, or the path of points, and prints JSON. It runs with whichever
spectralcls is on the path, so it uses only names that both versions have.
"""

import importlib
import json
import sys
import warnings

import numpy as np


def accuracies(data, splits):
    """{"sizes": sizes of a split, classifier: accuracies in percent} for all classifiers with their defaults."""
    from sklearn.preprocessing import StandardScaler

    from bench.classifiers import OURS
    from bench.data import folder
    from bench.reproduce.data import MissingData, Source, parts

    try:
        X, y, rows = parts(Source(folder()), data, splits)
    except MissingData:
        return {}
    found = {}
    for train, test in rows:
        found["sizes"] = [len(train), len(test)]
        scaler = StandardScaler().fit(X[train])
        for name, kind in OURS.items():
            model = kind(n_jobs=1).fit(scaler.transform(X[train]), y[train])
            found.setdefault(name, []).append(100 * model.score(scaler.transform(X[test]), y[test]))
    return found


KINDS = (
    "ISE CauchySchwarz LaplacianISE Parzen SpectralISE SpectralLaplacianISE LaplacianSpectral SpectralKernel PerTurbo "
    "KernelRidge Auto"
).split()


def answers(place):
    """{classifier: [labels of Q, probabilities of its classes or None, whether all of X get one class]}."""
    import spectralcls
    from spectralcls import spectral

    with np.load(place) as file:
        X, y, Q = (file[key] for key in "XyQ")
    found = {}
    for kind in KINDS:
        name = f"{kind}Classifier"
        model = (getattr(spectralcls, name, None) or getattr(spectral, name))(n_jobs=1).fit(X, y)
        shares = model.predict_proba(Q).tolist() if hasattr(model, "predict_proba") else None
        found[kind] = model.predict(Q).tolist(), shares, len(np.unique(model.predict(X))) == 1
    return found


def main():
    warnings.simplefilter("ignore")
    for line in sys.stdin:
        name, _, argument = line.rstrip("\n").partition("|")
        if name.startswith("bench."):
            module, function = name.rsplit(".", 1)
            try:
                found = getattr(importlib.import_module(module), function)(*json.loads(argument))
            except Exception as error:  # the process continues
                found = {"error": repr(error)}
        else:
            found = answers(argument) if name == "answers" else accuracies(name, int(argument))
        print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
