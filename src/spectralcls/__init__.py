"""Information-theoretic and spectral classifiers over four compiled primitives.

Kernel sums, kernel matrices, nearest neighbours and leading eigenpairs are computed by a C++ core; every
estimator is a page of Python over them.
"""

from ._config import show_config

__version__ = "0.1.0"

__all__ = ["show_config"]
