"""Active learning near the class borders, as PerTurbo sees them (Courty, Burger and Laurent, ECML PKDD 2011)."""

from ._pool import ActivePool
from ._query import margin, query_boundary
from ._simulate import LearningCurves, simulate

__all__ = ["ActivePool", "LearningCurves", "margin", "query_boundary", "simulate"]
