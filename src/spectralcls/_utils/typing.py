"""Types of public signatures."""

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Annotated, Any, Literal, Protocol

import numpy as np

# Inputs that scikit-learn's checks accept: arrays, nested sequences, data frames, and sometimes sparse matrices.
# NumPy's ArrayLike includes neither frames nor sparse matrices, and a variable of that type could not be rebound to the
# checked array.
ArrayLike = Annotated[Any, "array-like"]
Array = np.ndarray[Any, np.dtype[Any]]
Bandwidth = float | Sequence[float] | Array
RandomState = int | np.random.RandomState | None
Sizes = int | tuple[int, ...]
FilePath = str | PathLike[str]


class Splitter(Protocol):
    """A cross-validation generator of scikit-learn."""

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Any: ...
    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int: ...


class Transformer(Protocol):
    """An object that maps points to points."""

    def transform(self, X: Any) -> Any: ...


class Model(Protocol):
    """A fitted estimator of a kind that is known at run time only. It has those of the methods that its kind has."""

    n_features_in_: int
    feature_names_in_: Array
    classes_: Array

    def get_params(self, deep: bool = True) -> dict[str, Any]: ...
    def set_params(self, **params: Any) -> Any: ...
    def fit(self, X: ArrayLike, y: ArrayLike | None = None, **more: Any) -> Any: ...
    def partial_fit(self, X: ArrayLike, y: ArrayLike | None = None, **more: Any) -> Any: ...
    def score(self, X: ArrayLike, y: ArrayLike | None = None, **more: Any) -> float: ...
    def decision_function(self, X: ArrayLike) -> Array: ...
    def predict(self, X: ArrayLike) -> Array: ...
    def predict_proba(self, X: ArrayLike) -> Array: ...
    def predict_set(self, X: ArrayLike, coverage: float = 0.9, **more: Any) -> Array: ...
    def conformal_p_values(self, X: ArrayLike, **more: Any) -> Array: ...
    def predict_interval(self, X: ArrayLike, coverage: float = 0.9, **more: Any) -> Array: ...
    def predict_quantile(self, X: ArrayLike, *options: Any, **more: Any) -> Array: ...
    def score_samples(self, X: ArrayLike) -> Array: ...
    def transform(self, X: ArrayLike) -> Array: ...


# Literal types of parameters shared by several estimators and functions; tests/meta/test_types.py checks that they
# match the constraints that are validated at run time.
Kernel = Literal["gaussian", "laplace", "epanechnikov", "uniform", "quartic", "triweight", "cosine", "linear"]
PositiveKernel = Literal["gaussian", "laplace"]
Metric = Literal["whiten", "diagonal", "full"] | Transformer | None
Scale = Literal["auto"] | None
CategoricalFeatures = Literal["from_dtype"] | list[Any] | tuple[Any, ...] | Array | None
ClassWeight = Literal["balanced"] | Mapping[Any, float] | None
CrossValidation = int | Literal["loo"] | Splitter | Sequence[tuple[Any, Any]] | None
Scoring = Literal["auto", "accuracy", "balanced_accuracy", "neg_log_loss"]
Solver = Literal["auto", "lanczos", "arpack", "dense"]
Potential = Literal["convolved", "same"]
ClassBandwidth = Literal["cv", "cv_per_class", "silverman", "silverman_per_class"] | float | Mapping[Any, float]
SampleBandwidth = Literal["cv", "silverman", "scott"] | float
PairBandwidth = SampleBandwidth | Sequence[float] | Array
