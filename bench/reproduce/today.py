"""What changes today: the papers' data with this package's defaults, its further options, and scikit-learn's
classifiers, tuned.
"""

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

from spectralcls.ccdr import CCDRClassifier
from spectralcls.kernel_mean import (
    CauchySchwarzClassifier,
    ISEClassifier,
    LaplacianISEClassifier,
    ParzenClassifier,
)
from spectralcls.perturbo import PerTurboClassifier
from spectralcls.spectral import (
    LaplacianSpectralClassifier,
    SpectralISEClassifier,
    SpectralKernelClassifier,
    SpectralLaplacianISEClassifier,
)

from .data import THESIS, Source, stratum_splits, thesis_data, thesis_splits
from .each_split import each_split
from .summary import spread

TRIALS = 5
DEFAULTS = {
    "Parzen": ParzenClassifier,
    "ISE": ISEClassifier,
    "Laplacian ISE": LaplacianISEClassifier,
    "Cauchy-Schwarz": CauchySchwarzClassifier,
    "spectral ISE": SpectralISEClassifier,
    "spectral Laplacian ISE": SpectralLaplacianISEClassifier,
    "Laplacian spectral": LaplacianSpectralClassifier,
    "PerTurbo": PerTurboClassifier,
    "CCDR": CCDRClassifier,
    "spectral kernel": SpectralKernelClassifier,
}
_BY_SUMS = ("Parzen", "ISE", "Laplacian ISE", "Cauchy-Schwarz")
_BY_VECTORS = ("spectral ISE", "spectral Laplacian ISE")
FURTHER = {  # {name of the change: {method: parameters}}
    "bandwidths by class": {method: {"bandwidth": "silverman_per_class"} for method in _BY_SUMS},
    "number of eigenvectors by cv": {method: {"n_components": "cv"} for method in _BY_VECTORS},
    "medians of all eigenvectors": {method: {"center": "median"} for method in _BY_VECTORS},
    "Silverman": {method: {"bandwidth": "silverman"} for method in (*_BY_SUMS, *_BY_VECTORS)}
    | {"Laplacian spectral": {"bandwidth": "silverman_per_class"}},
}
PEERS = {
    "SVC": (SVC, {"C": [0.1, 1.0, 10.0, 100.0, 1000.0], "gamma": [0.001, 0.004, 0.016, 0.064, 0.25, 1.0]}),
    "KNeighbors": (KNeighborsClassifier, {"n_neighbors": [1, 3, 5, 9, 15, 25]}),
    "RandomForest": (RandomForestClassifier, {"max_features": ["sqrt", 0.5]}),
    "HistGradientBoosting": (
        HistGradientBoostingClassifier,
        {"learning_rate": [0.03, 0.1], "max_leaf_nodes": [7, 31]},
    ),
    "GaussianProcess": (GaussianProcessClassifier, None),  # tuned by its marginal likelihood
}
VARIANTS = {
    f"{method}, {change}": (DEFAULTS[method], parameters)
    for change, by_method in FURTHER.items()
    for method, parameters in by_method.items()
}
METHODS = (*DEFAULTS, *VARIANTS, *PEERS)
OTHERS = {  # beside the thesis's: title, number of training points (papers 000, 003 and 004)
    "wbc_683": ("WBC (683 x 9)", "wbc", 100),
    "ecoli": ("Ecoli", "ecoli", 67),
    "glass": ("Glass", "glass", 43),
    "blood_transfusion": ("Blood transfusion", "blood_transfusion", 150),
    "parkinsons": ("Parkinsons", "parkinsons", 39),
    "simdata_1": ("SimData-1", "simdata_1", 200),
    "simdata_2": ("SimData-2", "simdata_2", 200),
    "simdata_3": ("SimData-3", "simdata_3", 200),
    "satimage": ("Satimage, 500 for training", "satimage", 500),
}
SIMULATED = ("simdata_1", "simdata_2", "simdata_3")  # by `spectralcls.datasets`, after sizes in paper 003
TITLES = {name: spec.title for name, spec in THESIS.items()} | {name: spec[0] for name, spec in OTHERS.items()}


def parts(source: Source, name, trials):
    """(X, y, splits) with the sizes of the paper that the set is from."""
    if name in THESIS:
        X, y, splits = thesis_data(source, name)
        return X, y, thesis_splits(name, y, splits, trials)
    _, file, n_train = OTHERS[name]
    loaded = source.load(file)
    return np.asarray(loaded.data, dtype=np.float64), loaded.target, stratum_splits(len(loaded.target), n_train, trials)


def make(method, n_features):
    """The unfitted classifier."""
    if method in DEFAULTS:
        return DEFAULTS[method](n_jobs=1)
    if method in VARIANTS:
        kind, parameters = VARIANTS[method]
        return kind(n_jobs=1, **parameters)
    kind, grid = PEERS[method]
    if grid is None:
        return kind(1.0 * RBF(np.sqrt(n_features)), random_state=0)
    seed = {"random_state": 0} if kind in (RandomForestClassifier, HistGradientBoostingClassifier) else {}
    return GridSearchCV(kind(**seed), grid, cv=5)


def measure(source, data, method, trials):
    """Rate, and processor seconds of tuning and fitting."""
    X, y, splits = parts(source, data, trials)
    found = each_split(lambda: make(method, X.shape[1]), X, y, splits)
    return {"rate": spread(found["rates"]), "seconds": found["seconds"]}
