"""The spectral embedding of text and its classifier, against SciPy and scikit-learn

The data are Reuters-21578 with ten categories, and synthetic documents. Everything runs on one thread.
"""

import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import eigsh
from sklearn.base import clone
from sklearn.decomposition import TruncatedSVD
from sklearn.metrics import f1_score
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC, LinearSVC

from bench.data import folder, path
from bench.measure import QUICK, compare
from bench.reproduce.data import Source
from bench.reproduce.paper_002 import load_reuters
from spectralcls.spectral import SpectralKernel, SpectralKernelClassifier

K, N_DOCUMENTS, N_TERMS, ENTRIES = (20, 2000, 500, 20) if QUICK else (270, 200_000, 50_000, 80)


def reuters():
    if not path("reuters21578_tf_unit.npz").exists():
        pytest.skip("no Reuters-21578 in the data folder")
    X, Y, T, U, _ = load_reuters(Source(folder()))
    kept = slice(0, 600 if QUICK else None)
    return X[kept], Y[kept], T, U


def zipfian_documents(n, n_terms=N_TERMS, entries=ENTRIES, seed=0):
    """Sparse float32 counts: each row has `entries` draws of terms whose frequency falls as 1 / rank."""
    rng = np.random.default_rng(seed)
    cumulative = np.cumsum(1 / np.arange(1, n_terms + 1))
    terms = np.empty(n * entries, dtype=np.int32)
    for begin in range(0, n * entries, 2**20):
        part = terms[begin : begin + 2**20]
        part[:] = np.searchsorted(cumulative, rng.random(len(part)) * cumulative[-1])
    starts = np.arange(0, n * entries + 1, entries)
    X = sp.csr_array((np.ones(n * entries, dtype=np.float32), terms, starts), shape=(n, n_terms))
    X.sum_duplicates()
    return X


def off_by(ours, theirs):
    """1 minus the cosine of the largest angle between two column spaces."""
    return 1 - float(np.linalg.svd(np.linalg.qr(ours)[0].T @ np.linalg.qr(theirs)[0], compute_uv=False).min())


def test_embedding(record):
    """The table gives the seconds to embed the training documents with 270 components. `TruncatedSVD`, and ARPACK on
    the matrix of similarities, compute the same subspace; their times are relative to ours. *Off by* is 1 minus the
    cosine of the largest angle between their subspace and ours."""
    X = reuters()[0]
    degrees = X @ X.sum(axis=0)
    scaled = sp.csr_array(sp.diags_array(np.maximum(degrees, 1e-12) ** -0.5) @ X)

    def truncated_svd():
        svd = TruncatedSVD(K, algorithm="arpack", random_state=0)
        return svd.fit_transform(scaled) / svd.singular_values_

    def formed():
        S = (scaled @ scaled.T).toarray()
        return eigsh(S, K, which="LA", v0=np.ones(len(S)))[1]

    functions = {
        "ours": lambda: SpectralKernel(K, embedding="a", normalize=False).fit_transform(X),
        "TruncatedSVD": truncated_svd,
        "formed, eigsh": formed,
    }
    row, results = compare(functions, repeats=7, budget=90)
    record(row | {f"{name} off by": off_by(results["ours"], results[name]) for name in list(functions)[1:]})


def test_categories(record):
    """The table gives the seconds for tuning with three folds, training and predicting ten categories, the time of the
    peers relative to that, and F1 on the test documents in percent. The peers search C on the raw features: `LinearSVC`
    tries six values, `SVC` with a linear kernel two.
    """
    X, Y, T, U = reuters()
    one_of_all = lambda svm, values: GridSearchCV(  # noqa: E731
        OneVsRestClassifier(svm), {"estimator__C": values}, scoring="f1_macro", cv=3
    )
    models = {
        "ours": SpectralKernelClassifier(cv=3, random_state=0),
        "LinearSVC": one_of_all(LinearSVC(random_state=0), [0.25, 0.5, 1, 2, 4, 8]),
        "SVC": one_of_all(SVC(kernel="linear", cache_size=1000), [1, 4]),
    }
    functions = {name: lambda model=model: clone(model).fit(X, Y).predict(T) for name, model in models.items()}
    row, found = compare(functions, repeats=1)
    for average in ("micro", "macro"):
        scores = {name: 100 * f1_score(U, labels, average=average, zero_division=0) for name, labels in found.items()}
        row |= {f"{average} F1 of {name}": score for name, score in scores.items()}
    record(row)


MEMORY = """
import time
from bench.bench_text import zipfian_documents
from bench.measure import peak_gib
from spectralcls.spectral import SpectralKernel
X = zipfian_documents({n})
before, start = peak_gib(), time.process_time()
model = SpectralKernel({k}).fit(X)
fit = time.process_time() - start
assert abs((model.transform(X[:1000]) ** 2).sum(axis=1) - 1).max() < 1e-4
print(fit, before, peak_gib())
"""


def test_memory(record):
    """A separate process embeds 200 000 synthetic documents with 100 components; each document has 80 of 50 000 terms,
    drawn by Zipf's law. The table gives processor seconds, and the peak memory of the process before the fit and at the
    end."""
    script = MEMORY.format(n=N_DOCUMENTS, k=min(K, 100))
    printed = subprocess.run([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, check=True).stdout
    fit, before, peak = map(float, printed.split())
    assert peak < 2
    record({"documents": N_DOCUMENTS, "fit, s": fit, "GiB before": before, "GiB in all": peak})
