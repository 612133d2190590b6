"""Calls with an argument of the wrong kind: refused by a sentence, or answered."""

import tempfile
from functools import cache
from operator import attrgetter

import dask.array as da
import every_estimator as estimators
import numpy as np
from sklearn.exceptions import NotFittedError

import spectralcls

from .data import Refused

ODD = [
    None,
    True,
    -1,
    0,
    1.5,
    2**31,
    2**40,
    2**62,
    -(2**63),
    np.nan,
    np.inf,
    -np.inf,
    1e308,
    1e-310,
    "a",
    "",
    b"x",
    [],
    [[]],
    (),
    {},
    object(),
    1j,
    [1, [2, 3]],
    [np.nan] * 4,
    np.float32(0.5),
    np.array(2.5),
    np.int8(3),
    np.zeros(0),
    np.zeros((0, 3)),
    np.zeros((3, 0)),
    np.zeros((5, 1, 0)),
    np.zeros((2, 2, 2)),
    np.full((4, 3), np.nan),
    np.full(4, 2**31 - 2),
    np.full(4, -7),
    np.ones(4, "u8"),
    np.ones(4, bool),
    np.ones((4, 3), "f2"),
    np.ones((4, 3), "O"),
    np.array(["a", 1, None, 2.0], dtype=object),
    np.ma.masked_all(4),
    np.array([1 + 2j] * 4),
    np.array(["2020-01-01"] * 4, "M8[D]"),
]
SMALL = np.arange(12.0).reshape(4, 3)
LABELS = np.array([0, 1, 0, 1])
MORE = np.vstack([SMALL + 7 * i**2 for i in range(5)])
AS_LONG_AS_ASKED = {"max_iter", "n_queries", "n_repeats", "n_resamples"}  # a huge number of these is meant

_KERNEL = dict(bandwidth=1.0, kernel="gaussian", n_jobs=None)
_POTENTIAL = _KERNEL | dict(potential="convolved")
_SAMPLES = dict(X=SMALL, Y=SMALL + 1, sample_weight_X=None, sample_weight_Y=None)
_SAMPLE = dict(X=SMALL, sample_weight=None)
_GRAPH = dict(X=SMALL, n_neighbors=2, mode="heat", symmetrize="or", epsilon=None, n_jobs=None)
_SUMS = dict(
    Q=SMALL,
    X=SMALL,
    weights=None,
    labels=None,
    n_labels=None,
    log=False,
    exclude_self=False,
    exclude_groups=None,
    normalize=False,
    rtol=0.0,
    **_KERNEL,
)


@cache
def _fitted():
    return spectralcls.PerTurboClassifier(1.0, alpha=0.1).fit(SMALL, LABELS)


@cache
def _chunked():
    return da.from_array(SMALL, chunks=(2, 3))


@cache
def _mapped():
    with tempfile.NamedTemporaryFile(delete=False) as file:
        pass
    return np.memmap(file.name, np.float64, "w+", shape=SMALL.shape)


CALLS = {  # public function: arguments that it takes, or what makes them
    "kernel_sums": _SUMS | dict(atol=0.0, confidence=1.0),
    "kernel_matrix": dict(Q=SMALL, X=None, normalize=False, out=None, **_KERNEL),
    "kernels.log_normalizer": dict(kernel="laplace", d=3, bandwidth=1.0),
    "knn": dict(Q=SMALL, X=SMALL, k=2, algorithm="auto", n_jobs=None),
    "neighbors.knn_graph": _GRAPH | dict(algorithm="auto"),
    "neighbors.reverse_knn": dict(Q=SMALL, X=SMALL, radii=np.ones(4), n_jobs=None),
    "linalg.rpcholesky": dict(
        X=SMALL,
        rank=2,
        method="random",
        tol=0.0,
        random_state=0,
        block_size=None,
        **_KERNEL,
    ),
    "top_eigenpairs": dict(
        A=SMALL @ SMALL.T,
        k=1,
        solver="auto",
        tol=None,
        max_block_products=None,
        block_size=None,
        max_basis=None,
        start=None,
        deflate=None,
        random_state=None,
        n_jobs=None,
    ),
    "kernels.amise_bandwidth": dict(x=np.arange(4.0), sample_weight=None, kernel="gaussian"),
    "kernels.bandwidth_grid": _SAMPLE | dict(n_bandwidths=4, ratio=2.0, kernel="gaussian"),
    "kernels.kernel_variance": dict(kernel="gaussian", n_features=2),
    "kernels.scale_bandwidth": _SAMPLE | dict(kernel="gaussian"),
    "kernels.silverman_bandwidth": _SAMPLE | dict(rule="silverman", kernel="gaussian"),
    "information.cauchy_schwarz_divergence": _SAMPLES | _POTENTIAL,
    "information.cross_information_potential": _SAMPLES | _POTENTIAL | dict(log=False),
    "information.graph_cut": _SAMPLES | _POTENTIAL | dict(log=False),
    "information.graph_volume": _SAMPLE | _POTENTIAL | dict(log=False),
    "information.independence_test": dict(
        X=SMALL,
        Y=SMALL[:, :1],
        n_permutations=3,
        random_state=0,
        **_POTENTIAL,
    ),
    "information.information_potential": _SAMPLE | _POTENTIAL | dict(log=False),
    "information.integrated_squared_error": _SAMPLES | _POTENTIAL | dict(log=False),
    "information.kullback_leibler_divergence": _SAMPLES | _KERNEL | dict(leave_one_out=False),
    "information.laplacian_pdf_divergence": _SAMPLES | _POTENTIAL | dict(overall_bandwidth=None),
    "information.renyi_entropy": _SAMPLE | _POTENTIAL | dict(alpha=2, leave_one_out=False),
    "information.shannon_entropy": _SAMPLE | _KERNEL | dict(leave_one_out=False),
    "information.two_sample_test": dict(
        X=SMALL,
        Y=SMALL + 1,
        statistic="ise",
        n_permutations=3,
        random_state=0,
        **_POTENTIAL,
    ),
    "kernel_mean.reduce_training_set": _SAMPLE
    | dict(
        y=LABELS,
        size=2,
        method="representative",
        bandwidth=1.0,
        random_state=0,
        n_jobs=None,
    ),
    "information.class_dimensions": dict(X=MORE, y=np.repeat([0, 1], 10), n_resamples=2),
    "information.entropic_dimension": dict(
        X=MORE,
        graph="knn",
        n_neighbors=2,
        gamma=1.0,
        sizes=None,
        n_resamples=2,
        random_state=0,
        n_jobs=None,
    ),
    "perturbo.margin": dict(estimator=_fitted, X=SMALL),
    "perturbo.query_boundary": dict(estimator=_fitted, X_pool=SMALL, n=1, fraction=0.5, random_state=0),
    "perturbo.simulate": dict(
        estimator=_fitted,
        X=MORE,
        y=np.repeat([0, 1], 10),
        query=None,
        n_initial=None,
        n_queries=1,
        test_size=0.3,
        fraction=0.5,
        retune=None,
        n_repeats=1,
        strategies=("boundary",),
        random_state=0,
        n_jobs=None,
        progress=False,
    ),
    "spectral.linear_svm": dict(features=SMALL, random_state=0, sample_weight=None),
    "datasets.gaussian_mixture": dict(
        n_classes=2,
        n_features=3,
        n_components=2,
        intrinsic_dim=1,
        separation=1.0,
        noise=0.1,
        random_state=0,
    ),
    "datasets.make_gaussian_in_ring": dict(n_samples=9, scale=0.5, radius=3.0, width=1.0, random_state=0),
    "datasets.make_gaussian_mixture": dict(
        n_samples=9,
        n_classes=2,
        n_features=3,
        n_components=2,
        intrinsic_dim=1,
        separation=1.0,
        noise=0.1,
        mixture_state=0,
        random_state=0,
    ),
    "datasets.make_ringnorm": dict(n_samples=9, n_features=2, shift=None, random_state=0),
    "datasets.make_simdata": dict(version=1, n_samples=9, random_state=0),
    "datasets.make_two_gaussians": dict(n_samples=9, means=((2.0, 2.0), (0.6, 0.6)), random_state=0),
    "datasets.make_two_rings": dict(
        n_samples=9,
        radii=(1.0, 2.0),
        width=0.4,
        centers=((0.0, 0.0), (0.0, 0.0)),
        random_state=0,
    ),
    "datasets.make_two_spirals": dict(n_samples=9, turns=1.75, radius=3.0, noise=0.1, random_state=0),
    "datasets.make_twonorm": dict(n_samples=9, n_features=2, random_state=0),
    "datasets.make_waveform": dict(n_samples=9, n_noise_features=0, random_state=0),
    "datasets.read_npz": dict(path="nowhere.npz", target="y"),
    "datasets.available": dict(data_home=None),
    "dask.from_memmap": dict(array=_mapped, rows=2),
    "dask.kernel_sums": _SUMS | dict(Q=_chunked, X=_chunked),
    "dask.knn": dict(Q=_chunked, X=_chunked, k=2, n_jobs=None),
    "dask.knn_graph": _GRAPH | dict(X=_chunked),
    "show_config": dict(mode="dict"),
}


def hostile(name):
    def call(rng):
        arguments = {key: value() if callable(value) else value for key, value in CALLS[name].items()}
        for _ in range(rng.integers(1, 3)):
            key, value = str(rng.choice(sorted(arguments))), ODD[rng.integers(len(ODD))]
            arguments[key] = 3 if key in AS_LONG_AS_ASKED and isinstance(value, int) and value > 1000 else value
        try:
            answer = attrgetter(name)(spectralcls)(**arguments)
            if hasattr(answer, "compute"):
                answer.compute(scheduler="synchronous")
        except (ValueError, TypeError, OSError, MemoryError) as error:
            raise Refused from error

    return call


def hostile_parameters(rng):
    """An estimator with one parameter of another kind, or odd training data."""
    name = str(rng.choice([name for name in estimators.names() if name != "AutoClassifier"]))
    X, y, Q = estimators.problem(n=20, d=2)
    model = estimators.make(name, fixed=True)
    if rng.random() < 0.7:
        name, value = str(rng.choice(sorted(model.get_params(deep=False)))), ODD[rng.integers(len(ODD))]
        long = name in AS_LONG_AS_ASKED and isinstance(value, int) and value > 1000
        model.set_params(**{name: 3 if long else value})
    elif rng.random() < 0.5:
        X = ODD[rng.integers(len(ODD))]
    else:
        y = ODD[rng.integers(len(ODD))]
    try:
        model.fit(X, y)
        estimators.responses(model, Q)
    except (ValueError, TypeError, NotFittedError) as error:
        raise Refused from error
