"""Low-rank kernel factors against scikit-learn's Nystroem at equal rank

Both compute a feature map G with G G^T close to K; Nystroem draws its landmarks uniformly. The data are thirty groups
of unequal sizes.
"""

import numpy as np
import pytest
from sklearn.kernel_approximation import Nystroem

from bench.measure import QUICK, compare, gib_beyond
from spectralcls.linalg import rpcholesky
from spectralcls.spectral import SpectralLaplacianISEClassifier

CASES = [(2000, 50)] if QUICK else [(20_000, 200), (20_000, 500), (1_000_000, 500)]
BANDWIDTHS = {4: 3.0, 16: 8.0}


def unbalanced_blobs(n, d, dtype):
    rng = np.random.default_rng(0)
    sizes = rng.dirichlet(np.full(30, 0.3))
    label = rng.choice(30, size=n, p=sizes)
    X = (rng.normal(scale=3, size=(30, d))[label] + rng.normal(scale=0.7, size=(n, d))).astype(dtype)
    return X, label


def relative_trace_residual(G):
    return float(1 - np.einsum("ij,ij->", G, G, dtype=np.float64) / len(G))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("d", [4, 16])
@pytest.mark.parametrize("n, rank", CASES)
@pytest.mark.parametrize("threads", [1, 2])
def test_factor(record, threads, n, rank, d, dtype):
    """The table gives the seconds of `rpcholesky`, the time of `Nystroem` relative to that, and the relative trace
    residuals of both."""
    if n > 100_000 and (d, dtype) != (16, "float32"):
        pytest.skip("large in one case only")
    (X, _), bandwidth = unbalanced_blobs(n, d, dtype), BANDWIDTHS[d]
    peer = Nystroem(gamma=0.5 / bandwidth**2, n_components=rank, random_state=0)
    functions = {
        "ours": lambda: rpcholesky(X, rank, bandwidth=bandwidth, random_state=0),
        "Nystroem": lambda: peer.fit_transform(X),
    }
    row, results = compare(functions, threads=threads, budget=30)
    residuals = {name: relative_trace_residual(getattr(found, "factor", found)) for name, found in results.items()}
    assert residuals["ours"] == pytest.approx(results["ours"].relative_trace_residual, abs=1e-4)
    record(row | {f"residual of {name}": value for name, value in residuals.items()})


@pytest.mark.parametrize("n, rank", CASES)
def test_classifier(record, n, rank):
    """A spectral Laplacian ISE classifier with the factor is fitted to all points and predicts them. The data are
    float32 with 16 features."""
    (X, y), bandwidth = unbalanced_blobs(n, 16, np.float32), BANDWIDTHS[16]
    model = SpectralLaplacianISEClassifier(bandwidth=bandwidth, n_components=min(30, rank), scale=None, rank=rank)
    _, gib = gib_beyond(lambda: model.fit(X, y).score(X, y))
    row, results = compare({"fit and score": lambda: model.fit(X, y).score(X, y)}, threads=2, repeats=3)
    row |= {"accuracy, %": 100 * results["fit and score"], "trace residual": model.map_.trace_residual_}
    record(row | {"GiB beyond the data": gib})
