"""Labels found without the exact sums of classes that cannot win."""

from typing import Any, NamedTuple

from .._core import compiled
from .._core.threads import effective_n_threads
from .._utils.typing import Array
from ._checks import check_queries, check_widths
from ._packed_points import PackedPoints


class LabelRule(NamedTuple):
    """How class sums s become scores: ``exp(factors) s - offsets``, and how far two computations of a sum may differ.

    If `log_share` is given, ``exp(factors) s`` is divided by the square root of the query's density, which is the sum
    over labels of ``exp(log_share)`` times the label's sum in the second column.
    """

    factors: Array  # (l,) logarithms
    offsets: Array | None  # (l,)
    log_share: Array | None  # (l,)
    rounding: float  # relative difference of two computations of a sum
    step: float  # additional relative difference per unit of the exponents


def certain_labels(
    Q: Array, points: PackedPoints, kernel: str, bandwidth: Any, rtol: float, rule: LabelRule, n_jobs: int | None
) -> Array | None:
    """The labels (m,) that certainly win by exact sums; -1 for queries that the computed bounds do not decide.

    Returns None if exact sums are predicted to be as fast. `rtol` is the error allowed in sums over pairs.
    """
    Q, points = check_queries(Q, points, Q is points.X)
    n_threads = effective_n_threads(n_jobs)
    return compiled.certain_labels(Q, points.core(), kernel, check_widths(bandwidth), rtol, *rule, n_threads)
