"""The leading eigenpairs of a symmetric operator.

The compiled solver is thick-restart block Lanczos with full reorthogonalization. Multiplying a block of vectors costs
little more than multiplying one where reading the operator (a matrix) or evaluating it (a kernel) takes the time.
"""

from .._operators import GramOperator, KernelOperator
from ._pairs import top_eigenpairs
from ._problem import EigenResult
from ._problem import fix_signs as fix_signs
from ._problem import sign_factors as sign_factors

__all__ = ["EigenResult", "GramOperator", "KernelOperator", "top_eigenpairs"]
