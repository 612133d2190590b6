"""What votes: pipelines of an encoding, a metric and a kernel method, by the number of points they scale to."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from sklearn.pipeline import make_pipeline

from .._encoding import ColumnEncoder
from ..kernel_mean import ParzenClassifier
from ..kernel_ridge import KernelRidgeClassifier
from ..metric import GradientMetric, KernelMetric
from ._perturbo import PerTurboPosterior

LARGE = 3000  # points from which one part held out replaces the folds, and float32 float64


class Member(NamedTuple):
    """``make(dtype, options)`` gives an unfitted classifier with `predict_proba`."""

    name: str
    make: Callable
    fewest: int = 0
    most: float = np.inf  # points it scales to


def _perturbo(dtype, options):
    return make_pipeline(ColumnEncoder(indicators=False, dtype=dtype), PerTurboPosterior(**options))


def _gradient_ridge(dtype, options):
    return make_pipeline(
        ColumnEncoder("rank", dtype=dtype), GradientMetric(**options), KernelRidgeClassifier(**options)
    )


def _metric_ridge(dtype, options):
    return make_pipeline(ColumnEncoder(dtype=dtype), KernelMetric(**options), KernelRidgeClassifier(**options))


def _metric_parzen(dtype, options):
    return make_pipeline(ColumnEncoder(dtype=dtype), KernelMetric(**options), ParzenClassifier(**options))


# Conjugate gradients take n^2 operations a step, low-rank factors of the classes n times the rank squared.
MEMBERS = (
    Member("PerTurbo", _perturbo, most=100_000),
    Member("gradient metric + ridge", _gradient_ridge, most=30_000),
    Member("kernel metric + ridge", _metric_ridge, most=30_000),
    Member("kernel metric + Parzen", _metric_parzen, fewest=LARGE),
)


def members_for(n):
    """The members for n points, and the names of those that do not scale to as many."""
    chosen = [member for member in MEMBERS if member.fewest <= n <= member.most]
    return chosen, [member.name for member in MEMBERS if n > member.most]
