"""Linear algebra of kernel matrices: leading eigenpairs, low-rank factors, Cholesky factors, operators.

The compiled eigensolver is thick-restart block Lanczos with full reorthogonalization. A product with a block of vectors
costs little more than one with a single vector, because reading the matrix or evaluating the kernel dominates.
"""

from ._cholesky import NotPositiveDefiniteError as NotPositiveDefiniteError
from ._cholesky import cholesky_in_place as cholesky_in_place
from ._cholesky import inverse_in_place as inverse_in_place
from ._cholesky import solve_by_factor as solve_by_factor
from ._eigenpairs import top_eigenpairs
from ._eigenproblem import EigenResult
from ._eigenproblem import fix_signs as fix_signs
from ._eigenproblem import sign_factors as sign_factors
from ._landmarks import Landmarks as Landmarks
from ._low_rank import LowRankFactor, rpcholesky
from ._operators import GramOperator, KernelOperator
from ._operators import ScaledKernel as ScaledKernel
from ._operators import label_matrix as label_matrix

__all__ = ["EigenResult", "GramOperator", "KernelOperator", "LowRankFactor", "rpcholesky", "top_eigenpairs"]
