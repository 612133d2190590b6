"""The kernel matrix of points on the workers, to which only blocks of vectors are sent."""

import dask.array as da

from .. import linalg
from .._expansion.spectrum import kernel_operator
from .._utils.blocks import in_memory
from ._rows import as_points
from ._sums import kernel_sums
from ._workers import keep


class KernelOperator(linalg.ScaledKernel):
    """Operator of the kernel matrix K, or ``D^-1/2 K D^-1/2``, of points on the workers, without forming it.

    :func:`spectralcls.top_eigenpairs` multiplies the operator by blocks of b vectors. X stays on the workers; for each
    block, the client sends n b numbers and receives as many.

    Parameters
    ----------
    X : Dask array of shape (n, d)
        Points, chunked by rows.
    kernel : str, default="gaussian"
        One of ``spectralcls.kernels.KERNELS``.
    bandwidth : float
        Positive bandwidth.
    weighting : {None, "mean", "sum"}, default=None
        As in :class:`spectralcls.linalg.KernelOperator`.
    sample_weight : ndarray of shape (n,), default=None
        Positive weights w: the operator becomes ``W^1/2 D^-1/2 K D^-1/2 W^1/2``.
    n_jobs : int, default=None
        Threads per task; None means one.

    Attributes
    ----------
    degrees : ndarray of shape (n,) or None
        The diagonal of D.
    n_isolated : int
        As in :class:`spectralcls.linalg.KernelOperator`.

    Examples
    --------
    >>> import dask.array as da
    >>> import numpy as np
    >>> from spectralcls import top_eigenpairs
    >>> from spectralcls.dask import KernelOperator
    >>> X = da.random.default_rng(0).normal(size=(200, 2), chunks=(100, 2))
    >>> top_eigenpairs(KernelOperator(X, bandwidth=1.0), 2).values.shape
    (2,)
    """

    def __init__(self, X, *, kernel="gaussian", bandwidth, weighting=None, sample_weight=None, n_jobs=None):
        (self.X,) = keep(as_points(X))
        self.kernel, self.bandwidth, self.n_jobs = kernel, float(bandwidth), n_jobs
        super().__init__(self.X.dtype, (self.X.shape[0],) * 2)
        self._weigh(weighting, sample_weight)

    def _sums(self, weights):
        options = {"kernel": self.kernel, "bandwidth": self.bandwidth, "n_jobs": self.n_jobs}
        return kernel_sums(self.X, self.X, weights=weights, **options).compute().astype(self.dtype, copy=False)


@kernel_operator.register(da.Array)
def _(X, **options):
    return KernelOperator(X, **options)


@in_memory.register(KernelOperator)
def _(operator):
    names = "kernel", "bandwidth", "degrees", "sample_weight", "n_jobs"
    return linalg.KernelOperator(operator.X.compute(), **{name: getattr(operator, name) for name in names})
