"""Section 4 of paper 002 (Spectral Kernels for Classification): figure 2, figure 3 and table 3.

Each function returns plain dicts. The paper does not specify everything. We use an SVM with hinge loss and C = 1 / mean
|x|^2 (the default of SVM-light), ten one-versus-rest problems on Reuters, and, on Medline, 24 of the 39 relevant
documents and 90 % of the others for training.
"""

from pathlib import Path
from time import process_time

import numpy as np
import scipy.sparse as sp
from sklearn import preprocessing
from sklearn.metrics import f1_score

from spectralcls.spectral import SpectralKernel, SpectralKernelClassifier, linear_svm

from ..data import path

FIGURE_3_COMPONENTS = (30, 60, 90, 120, 150, 180, 210, 240, 270, 300, 330, 360, 390, 420)
FIGURE_2_COMPONENTS = (10, 25, 50, 75, 100, 125, 150, 175, 200, 225, 250)
TABLE_3_COMPONENTS = (120, 270, 420)


def load_reuters(folder=None):
    """(X_train, Y_train, X_test, Y_test, categories): unit term frequencies, indicators of ten topics."""
    folder = path("") if folder is None else Path(folder)
    X = sp.csr_array(sp.load_npz(folder / "reuters21578_tf_unit.npz"))
    with np.load(folder / "reuters21578_meta.npz", allow_pickle=False) as meta:
        Y, train = meta["Y"].astype(int), meta["is_train"]
        categories = [str(name) for name in meta["categories"]]
    return X[train], Y[train], X[~train], Y[~train], categories


def load_medline(folder=None):
    """(X, relevance): unit term frequencies of 1033 documents, bool (30 queries, 1033)."""
    folder = path("") if folder is None else Path(folder)
    with np.load(folder / "medline1033_meta.npz", allow_pickle=False) as meta:
        relevance = meta["relevance"]
    return sp.csr_array(sp.load_npz(folder / "medline1033_doc_tf_unit.npz")), relevance


def reuters_scores(truth, predicted, categories):
    """F1 of each category, and their micro and macro averages."""
    return {
        **dict(zip(categories, (float(v) for v in f1_score(truth, predicted, average=None)), strict=True)),
        "micro": float(f1_score(truth, predicted, average="micro")),
        "macro": float(f1_score(truth, predicted, average="macro")),
    }


def reuters_linear(data=None, random_state=0):
    """The baseline of figure 3 and table 3: a linear SVM on all terms."""
    X, Y, X_test, Y_test, categories = load_reuters() if data is None else data
    predicted = [linear_svm(X, random_state).fit(X, target).predict(X_test) for target in Y.T]
    return reuters_scores(Y_test, np.transpose(predicted), categories)


def figure_3(n_components=FIGURE_3_COMPONENTS, data=None, random_state=0):
    """F1 of SK<Gamma_N, 1(b)2, S_I> for each k and of the linear kernel: {k: scores, ..., "linear": scores}."""
    data = load_reuters() if data is None else data
    results = embedded_scores(n_components, data, random_state)
    results["linear"] = reuters_linear(data, random_state)
    return results


def embedded_scores(n_components, data, random_state=0, *, weighting="symmetric", unit_rows=True):
    """F1 of SK<Gamma, 1(b), S_I> for each k, from one decomposition."""
    X, Y, X_test, Y_test, categories = data
    kernel = SpectralKernel(
        max(n_components), weighting=weighting, kernel="linear", normalize=False, random_state=random_state
    )
    embedded, results = [kernel.fit_transform(X), kernel.transform(X_test)], {}
    for k in n_components:
        train, test = (preprocessing.normalize(part[:, :k]) if unit_rows else part[:, :k] for part in embedded)
        predicted = [linear_svm(train, random_state).fit(train, target).predict(test) for target in Y.T]
        results[k] = reuters_scores(Y_test, np.transpose(predicted), categories)
    return results


def latent_semantic(data, n_components=(*TABLE_3_COMPONENTS, 500, 1000)):
    """F1 of the latent semantic kernel, SK<Gamma_I, 1(b), S_I> by theorem 1, for each k."""
    return embedded_scores(n_components, data, weighting=None, unit_rows=False)


def seconds(data, n_components=TABLE_3_COMPONENTS[0]):
    """Processor seconds to train ten linear SVMs and predict with them, on the terms and on k coordinates, and to
    compute these coordinates.
    """
    X, Y, X_test, _, _ = data

    def machines(train, test):
        start = process_time()
        for target in Y.T:
            linear_svm(train, 0).fit(train, target).predict(test)
        return process_time() - start

    raw, start = machines(X, X_test), process_time()
    kernel = SpectralKernel(n_components, kernel="linear", random_state=0)
    parts = kernel.fit_transform(X), kernel.transform(X_test)
    return {"terms": raw, "embedding": process_time() - start, "coordinates": machines(*parts), "k": n_components}


def table_3(data=None, random_state=0):
    """F1 for k = 120, 270 and 420, and of the linear kernel: three points of figure 3."""
    return figure_3(TABLE_3_COMPONENTS, data, random_state)


def reuters_automatic(n_components="cv", cv=5, data=None, random_state=0):
    """F1 with a k for each category chosen by cross-validated F1 on the training documents, and these k."""
    X, Y, X_test, Y_test, categories = load_reuters() if data is None else data
    model = SpectralKernelClassifier(n_components=n_components, cv=cv, random_state=random_state).fit(X, Y)
    scores = reuters_scores(Y_test, model.predict(X_test), categories)
    return scores | {"n_components": dict(zip(categories, model.n_components_.tolist(), strict=True))}


def medline_split(relevant, n_training_positives, rng):
    """Random training mask with the given number of relevant documents and 90 % of the others."""
    positive, negative = rng.permutation(np.flatnonzero(relevant)), rng.permutation(np.flatnonzero(~relevant))
    train = np.zeros(len(relevant), dtype=bool)
    train[positive[:n_training_positives]] = True
    train[negative[: round(0.9 * len(negative))]] = True
    return train


def figure_2(
    query=23,
    n_components=FIGURE_2_COMPONENTS,
    n_splits=50,
    n_training_positives=24,
    normalize=True,
    random_state=0,
    data=None,
):
    """F1 on Medline of SK<Gamma_N, 1(a), S_I> for each k and of the linear kernel, over random splits.

    The text mentions no step 2, but the values require it (``normalize``). Returns the "mean", "std" and "best" over
    the splits for each k and for "linear". The best is included because the published 84.62 and 42.11 must be those of
    single splits (22/26 and 8/19).
    """
    X, relevance = load_medline() if data is None else data
    relevant = relevance[query - 1]
    rng = np.random.default_rng(random_state)
    scores = {key: [] for key in (*n_components, "linear")}
    for _ in range(n_splits):
        train = medline_split(relevant, n_training_positives, rng)
        kernel = SpectralKernel(max(n_components), embedding="a", normalize=False, random_state=random_state)
        embedded, embedded_test = kernel.fit_transform(X[train]), kernel.transform(X[~train])
        for k in n_components:
            pair = embedded[:, :k], embedded_test[:, :k]
            if normalize:
                pair = [preprocessing.normalize(part) for part in pair]
            scores[k].append(_f1(*pair, relevant[train], relevant[~train], random_state))
        scores["linear"].append(_f1(X[train], X[~train], relevant[train], relevant[~train], random_state))
    return {
        key: {"mean": float(np.mean(f1)), "std": float(np.std(f1)), "best": float(np.max(f1))}
        for key, f1 in scores.items()
    }


def _f1(train, test, y_train, y_test, random_state):
    svm = linear_svm(train, random_state).fit(train, y_train)
    return f1_score(y_test, svm.predict(test), zero_division=0)
