"""Spectral methods on Dask collections: the points stay on the workers, blocks of vectors travel."""

from dataclasses import dataclass, replace

import dask
import dask.array as da
import numpy as np
from scipy.sparse.linalg import LinearOperator
from sklearn.base import _fit_context
from sklearn.utils import check_random_state

from .. import spectral
from .._validation import unchanged_on_error
from ..kernel_mean.engine import Expansion, expansion_scores
from ..spectral.centers import class_centers
from ..spectral.spectrum import density_weights, leading_spectrum
from ._class_means import ClassMeans, TrainingPoints
from ._rows import as_column, as_points, blocks, check_training_data, from_blocks, sizes
from ._sums import kernel_sums
from ._tuning import gather, reference_bandwidth
from ._workers import check_workers, keep
from .kernel_mean import DaskKernelMean

TUNED = ("bandwidth_grid_", "n_components_grid_", "cv_scores_", "n_tuning_samples_")
OPTIONAL = (*TUNED, "inverse_density_")


class KernelOperator(LinearOperator):
    """The kernel matrix K, or ``D^-1/2 K D^-1/2``, of points on the workers; never formed.

    For :func:`spectralcls.top_eigenpairs`, which multiplies it by blocks of b vectors: X stays on the
    workers, and the client sends n b numbers for a block and receives as many.

    Parameters
    ----------
    X : Dask array of shape (n, d)
    kernel : str, default="gaussian"
    bandwidth : float
    normalization : {None, "mean", "sum"}, default=None
        As in :class:`spectralcls.eigen.KernelOperator`.
    sample_weight : ndarray of shape (n,), default=None
        Positive weights w: the operator becomes ``W^1/2 D^-1/2 K D^-1/2 W^1/2``.
    n_jobs : int, default=None
        Threads of a task; None: one.

    Attributes
    ----------
    degrees : ndarray of shape (n,) or None
    """

    def __init__(
        self, X, *, kernel="gaussian", bandwidth, normalization=None, sample_weight=None, n_jobs=None
    ):
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


@dataclass(frozen=True)
class DaskExpansion:
    """`Expansion` with its points, and the columns of A and of the density weights, on the workers."""

    expansion: Expansion  # without X, A and density weights
    X: da.Array
    columns: da.Array

    def scores(self, Q):
        """Scores as a Dask array (m, C), larger wins."""
        e = self.expansion
        log_scale, sums = kernel_sums(
            Q, self.X, weights=self.columns, kernel=e.kernel, bandwidth=e.bandwidth, log="pair",
            n_jobs=e.n_jobs,
        )
        task = dask.delayed(expansion_scores)
        done = [task(s, t, e.offsets) for s, t in zip(blocks(log_scale), blocks(sums), strict=True)]
        return from_blocks(done, sizes(Q), (len(e.offsets),), np.float64)

    def local(self):
        """The same with all training points in this process."""
        X, columns = dask.compute(self.X, self.columns)
        n_classes = len(self.expansion.offsets)
        density = columns[:, n_classes] if columns.shape[1] > n_classes else None
        return replace(self.expansion, X=X, A=columns[:, :n_classes], density_weights=density)


class DaskSpectral(DaskKernelMean):
    """What the spectral classifiers share.

    The eigenvectors, (n, n_components), come to this process, and so do the codes of the classes. Bandwidth
    and number of components are tuned on a stratified sample of `max_tuning_samples` points.
    """

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, sample_weight=None):
        """Fit on Dask collections; the parameters are those of the estimator in memory."""
        if self.method != "exact":
            raise ValueError('On Dask collections method is "exact": pivots are drawn one block after another.')
        check_workers()
        with unchanged_on_error(self):
            return self._fit_collections(check_training_data(self, X, y, sample_weight))

    def _fit_collections(self, data):
        n, n_classes = data.X.shape[0], len(data.classes)
        bandwidth, n_components, learned = self._choose(data)
        if n_components == "all" or n_components >= n:
            raise ValueError(
                "On Dask collections n_components must be a number below n_samples; with all components "
                "these are ISEClassifier and LaplacianISEClassifier."
            )
        codes, weights = dask.compute(data.codes, data.weights)
        if weights is not None:
            weights = weights * (data.class_weight.sum() / weights.sum())
        operator = KernelOperator(
            data.X, kernel=self.kernel, bandwidth=bandwidth, sample_weight=weights, n_jobs=self.n_jobs,
            normalization=None if self._weighting is None else "mean",
        )
        embedding = leading_spectrum(
            operator, n_components, solver=self.solver, tol=self.tol, random_state=self.random_state
        )
        centers = class_centers(embedding.training_map, codes, n_classes, weights, self.center)
        columns = 2 * embedding.coefficients(centers.T, self.projection)
        if operator.degrees is not None:
            learned["inverse_density_"] = 1 / operator.degrees
            if self.projection == "consistent":
                columns = np.column_stack([columns, density_weights(operator)])
        (columns,) = keep(as_column(columns, data.X, "A"))
        offsets = np.einsum("cr,cr->c", centers, centers)
        expansion = Expansion(None, None, offsets, self.kernel, float(bandwidth), None, self.n_jobs)
        for name in OPTIONAL:
            self.__dict__.pop(name, None)
        learned |= {
            "classes_": data.classes, "bandwidth_": float(bandwidth), "centers_": centers,
            "n_components_": len(embedding.values), "_model": DaskExpansion(expansion, data.X, columns),
        }
        vars(self).update(learned)
        return self

    def _choose(self, data):
        """Bandwidth, number of components, and what was learned about them on a sample."""
        n_components = len(data.classes) if self.n_components is None else self.n_components
        bandwidth = self.bandwidth
        if bandwidth == "silverman":
            bandwidth = reference_bandwidth(bandwidth, data, self.kernel)
        if bandwidth != "cv" and n_components != "cv":
            return bandwidth, n_components, {}
        sample = gather(data, self.max_tuning_samples, check_random_state(self.random_state))
        n, d = data.X.shape
        ratio = (len(sample.X) / n) ** (1 / (d + 4))
        local = self._local_class(**self.get_params())
        if bandwidth != "cv":
            local.set_params(bandwidth=bandwidth / ratio)
        elif self.bandwidth_grid is not None:
            local.set_params(bandwidth_grid=np.asarray(self.bandwidth_grid, dtype=np.float64) / ratio)
        local.fit(sample.X, data.classes[sample.codes], sample.weights)
        learned = {name: getattr(local, name) for name in TUNED if hasattr(local, name)}
        learned["bandwidth_grid_"] = local.bandwidth_grid_ * ratio
        return local.bandwidth_ * ratio, local.n_components_, learned


class LaplacianSpectralClassifier(DaskKernelMean, spectral.LaplacianSpectralClassifier):
    """:class:`spectralcls.LaplacianSpectralClassifier` on Dask collections, with all components: kernel sums.

    With ``bandwidth="cv"`` the common factor is tuned on a stratified sample of `max_tuning_samples` points.
    """

    _local_class = spectral.LaplacianSpectralClassifier

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, sample_weight=None):
        """Fit on Dask collections; the parameters are those of the estimator in memory."""
        if self.n_components != "all" or self.solver != "auto":
            raise ValueError(
                'On Dask collections LaplacianSpectralClassifier takes n_components="all" and solver="auto": its '
                "class-wise kernel has no operator on the workers."
            )
        check_workers()
        with unchanged_on_error(self):
            return self._fit_collections(check_training_data(self, X, y, sample_weight))

    def _fit_collections(self, data):
        widths, tuned = self._widths(data), {}
        if isinstance(self.bandwidth, str) and self.bandwidth == "cv":
            widths, tuned = self._tune_on_sample(data, widths)
        model = self._means(TrainingPoints.of(data, self.tolerance, self.n_jobs), widths, ClassMeans)
        for name in TUNED:
            self.__dict__.pop(name, None)
        vars(self).update(tuned | {
            "classes_": data.classes, "bandwidth_": widths.by_class, "overall_bandwidth_": widths.overall,
            "n_components_": data.X.shape[0], "inverse_density_": model.inverse_density, "_model": model,
        })
        return self

    def _reference(self, rule, data):
        return reference_bandwidth(rule, data, "gaussian")

    def _tune_on_sample(self, data, widths):
        sample = gather(data, self.max_tuning_samples, check_random_state(self.random_state))
        n, d = data.X.shape
        ratio = (len(sample.X) / n) ** (1 / (d + 4))
        local = self._local_class(**self.get_params())
        if self.bandwidth_grid is not None:
            local.set_params(bandwidth_grid=np.asarray(self.bandwidth_grid, dtype=np.float64) / ratio)
        found, _, tuned = local._tune(sample, None, widths)
        tuned["bandwidth_grid_"] = tuned["bandwidth_grid_"] * ratio
        return widths.scaled(found.overall * ratio), tuned


class SpectralISEClassifier(DaskSpectral, spectral.SpectralISEClassifier):
    """:class:`spectralcls.SpectralISEClassifier` on Dask collections."""

    _local_class = spectral.SpectralISEClassifier


class SpectralLaplacianISEClassifier(DaskSpectral, spectral.SpectralLaplacianISEClassifier):
    """:class:`spectralcls.SpectralLaplacianISEClassifier` on Dask collections."""

    _local_class = spectral.SpectralLaplacianISEClassifier
