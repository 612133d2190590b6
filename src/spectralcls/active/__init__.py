"""Active learning near the class borders, as PerTurbo sees them (paper 003, sections 3.3 and 4.2)."""

from ._pool import ActivePool
from ._query import margin, query_boundary
from ._simulate import LearningCurves, simulate

__all__ = ["ActivePool", "LearningCurves", "margin", "query_boundary", "simulate"]
