"""Parzen's density estimate, and outliers of low density."""

from ._density_form import density_form as density_form  # for storage
from ._outliers import ParzenOutlierDetector
from ._parzen_density import ParzenDensity

__all__ = ["ParzenDensity", "ParzenOutlierDetector"]
