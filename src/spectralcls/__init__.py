"""Information-theoretic and spectral classifiers built on four compiled primitives.

Kernel sums, kernel matrices, nearest neighbors and leading eigenpairs are computed by a C++ core; the estimators are
short Python classes on top of them. Public names and modules are imported on first use; ``__init__.pyi`` lists them for
type checkers.
"""

from importlib import import_module

__version__ = "0.1.0"

_MODULES = (
    "ccdr dask datasets density ensemble information inspection kernel_mean kernels linalg metric "
    "neighbors papers perturbo plotting regression spectral storage"
).split()
_NAMES = {  # the public names of each module
    "_core.config": "show_config",
    "ccdr": "CCDR CCDRClassifier",
    "density": "ParzenDensity ParzenOutlierDetector",
    "ensemble": "AutoClassifier AutoRegressor",
    "kernel_mean": "CauchySchwarzClassifier ISEClassifier LaplacianISEClassifier ParzenClassifier",
    "kernels": "kernel_matrix kernel_sums",
    "linalg": "top_eigenpairs",
    "neighbors": "knn",
    "perturbo": "PerTurboClassifier",
    "regression": "KernelRegressor KernelRidgeClassifier KernelRidgeRegressor",
    "spectral": "KernelMap SpectralKernel SpectralKernelClassifier",
    "storage": "load save to_onnx",
}
_HOME = dict.fromkeys(_MODULES) | {name: home for home, names in _NAMES.items() for name in names.split()}
__all__ = sorted(name for name, home in _HOME.items() if home is not None)


def __getattr__(name):
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = _HOME[name]
    value = import_module(f"{__name__}.{name}") if home is None else getattr(import_module(f".{home}", __name__), name)
    globals()[name] = value
    return value


def __dir__():
    return sorted({*globals(), *_HOME})
