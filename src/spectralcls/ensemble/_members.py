"""The members of a vote: kernel methods and trees on views of the table, and the numbers of points to which they
scale.
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.utils import check_random_state

from .._expansion.tree_cells import MANY
from .._inputs.encoder import ColumnEncoder
from .._inputs.training_data import TrainingData
from .._tuning import HeldOutLoss, median_distance, ridge_grid, stratified_subsample
from ..kernel_mean import ParzenClassifier
from ..metric import GradientMetric, KernelMetric
from ..perturbo import PerTurboClassifier
from ..regression import KernelRegressor, KernelRidgeClassifier, KernelRidgeRegressor
from ._trees import GROWN_LEAVES, LEAVES, BoostedRegression, BoostedTrees, GrownTrees

# above this many points: one held-out part instead of folds, float32 instead of float64, looser tolerances
LARGE = 3000
_LARGE_TUNING = 2000  # points used for tuning above `LARGE`
# Points used for tuning in regression (always) and for its metrics: on 2000 rows of three tables, 1000 points changed
# the error by -.1 to +1 % and took 1.7 to 2.8 times as long.
_TUNING_OF_NUMBERS = 500
_ALPHAS = ridge_grid(-2, 0)  # ridge penalties of PerTurbo, and of ridge regression up to `LARGE` points
_PERTURBO_BANDWIDTHS = np.array([0.3, 0.6, 1.2, 2.4])  # in multiples of the median distance
_FEW = 250  # held-out points used to choose the bandwidth of an encoding
_NEAREST = 100  # samples of a class that explain a query of PerTurbo above `LARGE` points; 1000 take minutes
_LARGE_RESIDUAL = 1e-2  # tolerance of conjugate gradients; smaller ones do not change posteriors


# Views without a metric, and their encoding of numbers.
ENCODINGS = {"standardized": "standard", "one scale": "shared", "ranks": "rank"}
AS_GIVEN = "as given"  # numbers, missing ones included, and positions of levels


class Member(NamedTuple):
    """An estimator on a view; ``make(Z, large, options)`` returns it unfitted for points of that view."""

    name: str
    view: str
    make: Callable
    most: float = np.inf  # largest number of points it scales to
    grown: "Member | None" = None  # replaces the member if it contributes much to the vote and the loss decreases


def make_views(name, points, indicators, options):
    """Unfitted pipelines of an encoding and a metric learned on it. If there are several, the view is the one whose
    metric has the least loss.
    """
    large = len(points.X) > LARGE
    encoder = partial(ColumnEncoder, dtype=np.float32 if large else np.float64, categorical=points.categorical)
    if name == AS_GIVEN:
        return [Pipeline([])]
    if name in ENCODINGS:
        return [make_pipeline(encoder(ENCODINGS[name], indicators=False))]
    if name == "kernel metric":
        return [make_pipeline(encoder(indicators=indicators), KernelMetric(**options))]
    most = _TUNING_OF_NUMBERS if points.task == "regression" else _LARGE_TUNING if large else LARGE
    metric = GradientMetric(task=points.task, scale=None, max_samples=most, **options)
    numeric = ["rank"] if name == "gradient metric" else ["standard"]
    if points.task == "classification" and len(points.X) >= MANY:
        # The loss in cells chooses the encoding. On 100 000 rows of covertype, the accuracies of ridge regression after
        # the metric are 92.2 % with ranks, 93.4 % with standardized numbers, and 94.2 % in one scale.
        numeric = list(ENCODINGS.values())
    return [make_pipeline(encoder(each, indicators=indicators), clone(metric)) for each in numeric]


def indicators_help(points, options):
    """Whether indicators of columns with few values make held-out labels more likely than the values themselves.

    The Parzen posterior of at most 2000 points decides.
    """
    codes, classes = points.codes, np.arange(points.n_classes)
    data = TrainingData(points.X, codes, classes, points.weights, groups=points.groups)
    keys = data.keys(options["random_state"])
    rows = np.arange(len(keys))
    if len(rows) > _LARGE_TUNING:
        rows = stratified_subsample(points.codes, _LARGE_TUNING, keys)
    rows = rows[np.argsort(keys[rows], kind="stable")]  # independent of the order of the rows
    points, data = points.take(rows), data.take(rows)
    limits = {"most_points": len(rows), "most_validated": len(rows)}

    def encoded(indicators):
        encoder = ColumnEncoder(indicators=indicators, categorical=points.categorical)
        return encoder.fit(points.X, sample_weight=points.sample_weights).transform(points.X)

    def loss(Z):
        held_out = HeldOutLoss(data.moved(Z), None, **limits, **options)
        return held_out.mean(held_out(held_out.X, held_out.bandwidths(held_out.X), _FEW))

    ordered, indicated = encoded(False), encoded(True)
    return ordered.shape == indicated.shape or loss(indicated) < loss(ordered)


def _perturbo(Z, large, options):
    points = TrainingData.points(Z).distinct().X
    return PerTurboClassifier(
        scale=None,
        scoring="neg_log_loss",
        bandwidth_grid=median_distance(points, check_random_state(options["random_state"])) * _PERTURBO_BANDWIDTHS,
        alpha_grid=_ALPHAS,
        max_tuning_samples=_LARGE_TUNING if large else LARGE,
        rank=_NEAREST if large else None,
        **options,
    )


def _ridge(Z, large, options):
    less = {"max_tuning_samples": _LARGE_TUNING, "tol": _LARGE_RESIDUAL} if large else {"alpha_grid": _ALPHAS}
    return KernelRidgeClassifier(scale=None, **less, **options)


def _parzen(Z, large, options):
    return ParzenClassifier(scale=None, **options)


def _trees(Z, large, options):
    return BoostedTrees()


def _grown_trees(Z, large, options):
    return GrownTrees()


def _regression(Z, large, options):
    less = {"tol": _LARGE_RESIDUAL} if large else {}
    return KernelRidgeRegressor(scale=None, max_tuning_samples=_TUNING_OF_NUMBERS, **less, **options)


def _laplace(Z, large, options):
    return _regression(Z, large, options | {"kernel": "laplace"})


def _local_means(Z, large, options):
    return KernelRegressor(degree=0, scale=None, max_tuning_samples=_LARGE_TUNING, **options)


# The errors of trees with 31 and with 63 leaves, relative to trees with 8 leaves, are .66 and .60 on 17 000 rows of
# weather, .97 and .98 on 5000 of txhousing, and 1.00 and 1.00 on 30 000 of InstEval. With 31 leaves instead of 8, the
# error of the vote is .96 times as large on weather, and equal on txhousing.
def _boosted(Z, large, options):
    return BoostedRegression(leaves=GROWN_LEAVES if large else LEAVES)


# Limits on the number of points: conjugate gradients take n^2 operations per step, and low-rank factors of the classes
# take n times the rank squared.
MEMBERS = (
    Member("PerTurbo", "standardized", _perturbo, most=100_000),
    Member("gradient metric + ridge", "gradient metric", _ridge),
    Member("kernel metric + ridge", "kernel metric", _ridge, most=100_000),
    Member("kernel metric + Parzen", "kernel metric", _parzen, most=100_000),
    Member("one scale + Parzen", "one scale", _parzen),
    Member("boosted trees", "standardized", _trees, grown=Member("grown trees", AS_GIVEN, _grown_trees)),
)


OF_NUMBERS = (
    Member("ridge", "standardized", _regression),
    Member("ridge of ranks", "ranks", _regression),
    Member("gradient metric + ridge", "gradient metric of numbers", _laplace),
    Member("gradient metric of ranks + ridge", "gradient metric", _laplace),
    Member("gradient metric + local means", "gradient metric of numbers", _local_means, most=100_000),
    Member("boosted trees", "standardized", _boosted),
)


def members_for(n, members=MEMBERS):
    """The members for n points, and the names of those that do not scale to n."""
    chosen = [member for member in members if n <= member.most]
    return chosen, [member.name for member in members if n > member.most]
