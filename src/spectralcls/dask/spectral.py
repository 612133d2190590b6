"""Spectral methods on Dask collections: the points stay on the workers, blocks of vectors travel."""

import dask
import numpy as np
from scipy.sparse.linalg import LinearOperator
from sklearn.utils import check_random_state

from .. import spectral
from .._expansion import Expansion
from .._expansion.centers import class_centers
from .._expansion.spectrum import leading_spectrum
from ._rows import as_column, as_points
from ._sums import kernel_sums
from ._tuning import candidate_grid, draw_gathered
from ._workers import keep
from .kernel_mean import DaskScoreClassifier


class KernelOperator(LinearOperator):
    """The kernel matrix K, or ``D^-1/2 K D^-1/2``, of points on the workers; never formed.

    For :func:`spectralcls.top_eigenpairs`, which multiplies it by blocks of b vectors: X stays on the
    workers, and the client sends n b numbers for a block and receives as many.

    Parameters
    ----------
    X : Dask array of shape (n, d)
        Points, chunked by rows.
    kernel : str, default="gaussian"
        One of ``spectralcls.kernels.KERNELS``.
    bandwidth : float
        Bandwidth, positive.
    normalization : {None, "mean", "sum"}, default=None
        As in :class:`spectralcls.linalg.KernelOperator`.
    sample_weight : ndarray of shape (n,), default=None
        Positive weights w: the operator becomes ``W^1/2 D^-1/2 K D^-1/2 W^1/2``.
    n_jobs : int, default=None
        Threads of a task; None: one.

    Attributes
    ----------
    degrees : ndarray of shape (n,) or None
        The diagonal of D.

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

    def __init__(self, X, *, kernel="gaussian", bandwidth, normalization=None, sample_weight=None, n_jobs=None):
        if normalization not in (None, "mean", "sum"):
            raise ValueError(f'normalization must be None, "mean" or "sum", got {normalization!r}.')
        (self.X,) = keep(as_points(X))
        self.kernel, self.bandwidth, self.n_jobs = kernel, float(bandwidth), n_jobs
        self.sample_weight, self.degrees = sample_weight, None
        n = self.X.shape[0]
        super().__init__(self.X.dtype, (n, n))
        if normalization is not None:
            weights = np.ones(n) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
            sums = self._sums(weights[:, None])[:, 0]
            self.degrees = sums / weights.sum() if normalization == "mean" else sums
        squared = 1.0 if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        squared = squared if self.degrees is None else squared / self.degrees
        self._scale = np.broadcast_to(np.sqrt(squared), n)[:, None]

    def _sums(self, weights):
        return kernel_sums(
            self.X, self.X, weights=weights, kernel=self.kernel, bandwidth=self.bandwidth, n_jobs=self.n_jobs
        ).compute()

    def _matmat(self, V):
        columns = (self._scale * np.asarray(V)).astype(self.dtype)
        return (self._scale * self._sums(columns)).astype(self.dtype)

    def _matvec(self, v):
        return self._matmat(np.reshape(v, (-1, 1)))[:, 0]

    def _adjoint(self):
        return self


class DaskSpectral(DaskScoreClassifier):
    """What the spectral classifiers share.

    The eigenvectors, (n, n_components), come to this process, and so do the codes of the classes. With all components
    there are none, and the class means are kernel sums on the workers. Bandwidth and number of components are tuned on
    a stratified sample of `max_tuning_samples` points.
    """

    def _make_inputs(self, **options):
        if self.rank is not None:
            raise ValueError("On Dask collections rank is None: landmarks are drawn one block after another.")
        return super()._make_inputs(**options)

    def _tune(self, data, bandwidth):
        """The tuning of the estimator in memory, on the sample."""
        points, sample = draw_gathered(self, data, check_random_state(self.random_state))
        grid = [bandwidth] if bandwidth is not None else candidate_grid(self, data, points, self.kernel)
        return self._choose_components(sample, grid)


class _DaskSpectralISE(DaskSpectral):
    def _given_bandwidth(self, data):
        if self.bandwidth == "silverman":
            return self._reference("silverman", data)
        return None if self.bandwidth == "cv" else float(self.bandwidth)

    def _learn_vectors(self, data, n_components):
        if n_components == "all" or n_components >= data.X.shape[0]:
            raise ValueError(
                'On Dask collections n_components="all" needs kernel sums alone: center="mean", kernel="gaussian" and '
                'solver="auto". Otherwise n_components must be a number below n_samples.'
            )
        codes, weights = dask.compute(data.codes, data.weights)
        if weights is not None:
            weights = weights * (data.class_weight.sum() / weights.sum())
        operator = KernelOperator(
            data.X,
            kernel=self.kernel,
            bandwidth=self.bandwidth_,
            sample_weight=weights,
            n_jobs=self.n_jobs,
            normalization=None if self._weighting is None else "mean",
        )
        spectrum = leading_spectrum(
            operator, n_components, solver=self.solver, tol=self.tol, random_state=self.random_state
        )
        self.centers_ = class_centers(spectrum.training_map, codes, len(data.classes), weights, self.center)
        self.n_components_ = len(spectrum.values)
        columns = 2 * spectrum.coefficients(self.centers_.T)
        if operator.degrees is not None:
            self.inverse_density_ = 1 / operator.degrees
            columns = np.column_stack([columns, spectrum.density_weights])
        (columns,) = keep(as_column(columns, data.X, "A"))
        offsets = np.einsum("cr,cr->c", self.centers_, self.centers_)
        self._model = Expansion(self._rule(), self._points(data), self.kernel, self.bandwidth_, columns, offsets)


class LaplacianSpectralClassifier(DaskSpectral, spectral.LaplacianSpectralClassifier):
    """:class:`spectralcls.LaplacianSpectralClassifier` on Dask collections, with all components: kernel sums.

    Bandwidths are tuned within a stratified sample of `max_tuning_samples` points, which is gathered in this process.
    `n_components` has to be "all", `solver` "auto" and `rank` None. Scales and
    levels of columns are learned from all rows; distances of levels from 5000 rows, and what fills gaps from 1000.

    %(inherited)s

    Examples
    --------
    >>> import dask.array as da
    >>> from sklearn.datasets import load_iris
    >>> from spectralcls.dask import LaplacianSpectralClassifier
    >>> X, y = (da.from_array(array, chunks=50) for array in load_iris(return_X_y=True))
    >>> X = X.rechunk((50, -1))
    >>> LaplacianSpectralClassifier(bandwidth="silverman_per_class").fit(X, y).predict(X).compute().shape
    (150,)
    """

    _local_class = spectral.LaplacianSpectralClassifier

    def _make_inputs(self, **options):
        if self.n_components != "all" or self.solver != "auto":
            raise ValueError(
                'On Dask collections LaplacianSpectralClassifier takes n_components="all" and solver="auto": its '
                "class-wise kernel has no operator on the workers."
            )
        return super()._make_inputs(**options)


class SpectralISEClassifier(_DaskSpectralISE, spectral.SpectralISEClassifier):
    """:class:`spectralcls.SpectralISEClassifier` on Dask collections.

    Bandwidth and number of components are tuned within a stratified sample of `max_tuning_samples` points, which is
    gathered in this process. `rank` has to be None. Scales and
    levels of columns are learned from all rows; distances of levels from 5000 rows, and what fills gaps from 1000.

    %(inherited)s

    Examples
    --------
    >>> import dask.array as da
    >>> from sklearn.datasets import load_iris
    >>> from spectralcls.dask import SpectralISEClassifier
    >>> X, y = (da.from_array(array, chunks=50) for array in load_iris(return_X_y=True))
    >>> X = X.rechunk((50, -1))
    >>> SpectralISEClassifier(bandwidth=1.0).fit(X, y).predict(X).compute().shape
    (150,)
    """

    _local_class = spectral.SpectralISEClassifier


class SpectralLaplacianISEClassifier(_DaskSpectralISE, spectral.SpectralLaplacianISEClassifier):
    """:class:`spectralcls.SpectralLaplacianISEClassifier` on Dask collections.

    Bandwidth and number of components are tuned within a stratified sample of `max_tuning_samples` points, which is
    gathered in this process. `rank` has to be None. Scales and
    levels of columns are learned from all rows; distances of levels from 5000 rows, and what fills gaps from 1000.

    %(inherited)s

    Examples
    --------
    >>> import dask.array as da
    >>> from sklearn.datasets import load_iris
    >>> from spectralcls.dask import SpectralLaplacianISEClassifier
    >>> X, y = (da.from_array(array, chunks=50) for array in load_iris(return_X_y=True))
    >>> X = X.rechunk((50, -1))
    >>> SpectralLaplacianISEClassifier(bandwidth=1.0).fit(X, y).predict(X).compute().shape
    (150,)
    """

    _local_class = spectral.SpectralLaplacianISEClassifier
