"""Random calls of every public function and estimator, each against slow truth: what `fuzz` draws from.

A target takes a random generator, makes one call and returns nothing: it raises `AssertionError` for a wrong answer,
`Refused` for an error that names what was wrong with the input, and lets every other exception through.
"""

from . import files, fits, hostile, primitives
from .data import Refused, laid_out
from .primitives import check_sums, sums_arguments

__all__ = ["SHARES", "TARGETS", "Refused", "check_sums", "laid_out", "sums_arguments"]

TARGETS = {
    "kernel_sums": primitives.kernel_sums,
    "distant_sums": primitives.distant_sums,
    "kernel_matrix": primitives.kernel_matrix,
    "knn": primitives.knn,
    "reverse_knn": primitives.reverse_neighbors,
    "knn_graph": primitives.knn_graph,
    "rpcholesky": primitives.rpcholesky,
    "top_eigenpairs": primitives.top_eigenpairs,
    "divergences": primitives.divergences,
    "bandwidth_rules": primitives.bandwidth_rules,
    "permutation_tests": fits.permutation_tests,
    "estimator": fits.estimator,
    "density": fits.density,
    "regression": fits.regression,
    "modes": fits.modes,
    "metric": fits.metric,
    "auto": fits.auto,
    "tables": fits.tables,
    "csv_file": files.csv_file,
    "parquet_file": files.parquet_file,
    "model_file": files.model_file,
    "hostile_parameters": hostile.hostile_parameters,
    **{f"hostile_{name}": hostile.hostile(name) for name in hostile.CALLS},
}

# How often each is drawn in a round: what costs milliseconds rarely.
_SHARES = {
    "kernel_sums": 40,
    "distant_sums": 40,
    "kernel_matrix": 40,
    "knn": 40,
    "reverse_knn": 40,
    "knn_graph": 40,
    "bandwidth_rules": 20,
    "csv_file": 20,
    "hostile_parameters": 20,
    "estimator": 10,
    "density": 10,
    "rpcholesky": 5,
    "top_eigenpairs": 5,
    "divergences": 5,
    "permutation_tests": 5,
    "regression": 5,
    "parquet_file": 5,
    "model_file": 3,
    "modes": 1,
    "metric": 1,
    "auto": 1,
    "tables": 1,
    "hostile_perturbo.simulate": 1,
    "hostile_dask.kernel_sums": 3,
    "hostile_dask.knn": 3,
    "hostile_dask.knn_graph": 3,
}
SHARES = {target: _SHARES.get(target, 20) for target in TARGETS}
