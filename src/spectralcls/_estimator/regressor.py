"""The base class of the regressors: fit, predictions, intervals, and the coefficient of determination."""

from numbers import Real
from typing import Any, Self

import numpy as np
from sklearn.metrics import r2_score

from .._utils.advice import advise, tell
from .._utils.available import available_if
from .._utils.bases import MultiOutputMixin, RegressorMixin
from .._utils.blocks import computed
from .._utils.typing import Array, ArrayLike
from .base import Estimator, transactional
from .prediction_sets import has_leave_one_out, leave_one_out

FEW = 30  # with at most this many samples, a target may take only two values by chance


class Regressor(MultiOutputMixin, RegressorMixin, Estimator):
    """A regressor that learns from checked data in ``_learn(data)``.

    ``_scaled(X)`` returns predictions (m, k) on a scale, which `_units` maps `back` to targets. ``_leave_one_out()``
    returns the `Residuals` of the samples on this scale, or `_without_leave_one_out` is the reason why there are none.
    """

    _one_output: bool
    _without_leave_one_out: str | None = None

    @transactional
    def fit(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None, *, groups: ArrayLike | None = None
    ) -> Self:
        """Fit the regression.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples, as an array or data frame; float32 stays float32, all other numbers become float64.
            `KernelRegressor` also takes a Dask array or data frame and leaves it in place: predictions of Dask queries
            are then lazy, each task uses one thread unless `n_jobs` is larger, and `to_local` loads everything into
            memory.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Targets.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights. Weight k is equivalent to k copies of the sample, weight 0 to leaving it out.
        groups : array-like of shape (n_samples,), default=None
            Group of each sample, such as a patient with several rows. Whatever leaves out samples, to choose
            parameters or to judge predictions, leaves out whole groups; what is promised then holds for new groups.

        Returns
        -------
        self : object
            Fitted regressor.

        Raises
        ------
        ValueError
            If the data are invalid or parameters do not suit them. A fitted regressor stays unchanged.
        TypeError
            For a Dask collection, if the regressor learns only in memory.

        Warns
        -----
        UserWarning
            If y looks like classes, if a number is far from all others in y or in its column, or if the best candidate
            is the smallest or the largest one tried.
        """
        self._inputs = self._inputs_for(X)
        data = self._inputs.fit_targets(X, y, sample_weight, groups)
        self._one_output = data.y.ndim == 1
        _advise_of(type(self).__name__, data)
        self._learn(data)
        return self

    def _learn(self, data):
        raise NotImplementedError

    def _scaled(self, X):
        raise NotImplementedError

    def _leave_one_out(self):
        raise NotImplementedError

    def _back(self, scaled):
        """Predictions as targets."""
        return self._units.back(scaled)

    def _coordinates_of(self, X):
        """Queries in the coordinates of the `Residuals`."""
        return X

    def predict(self, X: Any) -> Array:
        """Predict the targets.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            Queries.

        Returns
        -------
        y : ndarray of shape (n_queries,) or (n_queries, n_outputs), float64
            Predictions.

        Raises
        ------
        ValueError
            If queries contain infinity or differ from `fit` in the number of features.
        sklearn.exceptions.NotFittedError
            Before `fit`.

        Notes
        -----
        One pass over the n_queries x n_samples pairs.
        """
        return self._shaped(self._back(self._scaled(self._queries(X))))

    def _shaped(self, values):
        """Values (m, k, ...) for each output; (m, ...) if y was a vector."""
        return values[:, 0] if self._one_output else values

    @available_if(has_leave_one_out)
    def predict_interval(self, X: Any, coverage: float = 0.9) -> Array:
        """Predict intervals that contain the target of a new sample with the given probability.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            Queries.
        coverage : float, default=0.9
            Probability with which the interval contains the target, between 0 and 1.

        Returns
        -------
        interval : ndarray of shape (n_queries, 2) or (n_queries, n_outputs, 2), float64
            Lower and upper ends, with the prediction between them. They are infinite if there were fewer than
            ``coverage / (1 - coverage)`` samples.

        Raises
        ------
        ValueError
            If the queries or the coverage are invalid.

        Warns
        -----
        UserWarning
            If a metric was learned from the same samples, which lowers the coverage.

        Notes
        -----
        Each training sample is predicted by a model that has not seen it, and its residual is divided by the usual size
        of residuals at its place. A kernel regression of the left-out residuals on all columns gives the sizes, each
        without the sample itself, so that intervals are wide where targets scatter, and no sample is held out. With
        fewer than 40 samples, or if all residuals are alike, sizes are constant. The interval is the prediction minus
        and plus the size at the query times a quantile of the relative residuals. With up to 300 samples, parameters
        are chosen again without each sample.

        `KernelRidgeRegressor` with up to `max_exact_samples` samples predicts the query, too, without each sample (the
        jackknife+ [4]_), whose coverage is at least ``2 coverage - 1`` for exchangeable samples if nothing is tuned.
        `KernelRegressor` leaves samples out in closed form. In `AutoRegressor`, members that can do so leave out each
        sample, and the other members, or all with more than 3000 samples, leave out folds; if the members learn
        logarithms of the targets, the ends are symmetric in the logarithm. On average over tables of 30 to 5000
        samples, the measured coverage is within 1.5 percentage points of the requested one.

        Cost of the first call: two passes over the pairs for `KernelRegressor`, and a Cholesky factor of n points for
        each ridge regression; then three factors of up to 2000 points. Later calls take as long as `predict` plus 2000
        kernel values for each query, but 2 n^2 multiply-adds for `KernelRidgeRegressor`.

        References
        ----------
        .. [4] R. F. Barber, E. J. Candes, A. Ramdas, R. J. Tibshirani, "Predictive inference with the jackknife+",
           Annals of Statistics 49 (1), 2021, pp. 486-507.
        """
        Q = self._queries(X)
        if not isinstance(coverage, Real) or not 0 < coverage < 1:
            raise ValueError(f"coverage must be a number between 0 and 1, got {coverage!r}.")
        scaled = self._scaled(Q)
        ends, predicted = self._by_residuals("ends", Q, scaled, float(coverage)), self._back(scaled)[..., None]
        ends = np.concatenate([np.minimum(ends[..., :1], predicted), np.maximum(ends[..., 1:], predicted)], axis=-1)
        return self._shaped(ends)

    @available_if(has_leave_one_out)
    def predict_quantile(self, X: Any, p: ArrayLike) -> Array:
        """Predict quantiles of the targets of new samples: values not exceeded with the given probabilities.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            Queries.
        p : float or array-like of shape (n_shares,)
            Probabilities, 0 to 1.

        Returns
        -------
        y : ndarray of shape (n_queries,) or (n_queries, n_outputs), float64
            Quantiles, which increase with p; an array p adds a last axis. With n samples, they are infinite unless
            ``1 <= p (n + 1) <= n``.

        Raises
        ------
        ValueError
            If the queries or probabilities are invalid.

        Warns
        -----
        UserWarning
            If a metric was learned from the same samples, which brings the quantiles too close together.

        Notes
        -----
        The left-out residuals of `predict_interval`, with their signs and at the size of the query, are added to the
        prediction; the result consists of quantiles of these sums. For a coverage c, the ends of the interval are the
        quantiles for (1 - c) / 2 and (1 + c) / 2 if targets scatter symmetrically. If they do not, as with prices, the
        quantiles exclude equal fractions on both sides, while the interval is centered on the prediction. The quantile
        for 0.5 is a median; `predict` returns a mean. Costs as much as `predict_interval`.

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn.datasets import load_diabetes
        >>> from spectralcls.regression import KernelRidgeRegressor
        >>> X, y = load_diabetes(return_X_y=True)
        >>> model = KernelRidgeRegressor().fit(X[::2], y[::2])
        >>> low, median, high = model.predict_quantile(X[1::2], [0.05, 0.5, 0.95]).T
        >>> bool(np.mean(y[1::2] <= high) > 0.9)
        True
        """
        Q, shares = self._queries(X), np.asarray(p)
        if shares.dtype.kind not in "fiu" or shares.ndim > 1 or not ((shares >= 0) & (shares <= 1)).all():
            raise ValueError(f"p must be a number from 0 to 1, or a list of such numbers, got {p!r}.")
        found = self._by_residuals("quantiles", Q, self._scaled(Q), np.atleast_1d(shares).astype(np.float64))
        return self._shaped(found if shares.ndim else found[..., 0])

    def _by_residuals(self, ask, Q, scaled, wanted):
        """Result (m, k, r) of the method `ask` of the `Residuals` for queries, in the units of the targets."""
        if self._inputs.step is not None and self._inputs.step.learned:
            tell(
                "The metric was learned from the same samples, which it suits better than queries: intervals may "
                "contain fewer targets than they should. Learn it from other samples, and pass the fitted transformer."
            )
        found = getattr(leave_one_out(self), ask)(self._coordinates_of(Q), scaled, wanted)
        return self._units.back(found.swapaxes(1, 2)).swapaxes(1, 2)

    def score(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return R^2, averaged over the outputs; it is computed immediately, even for Dask queries.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            Queries.
        y : array-like of shape (n_queries,) or (n_queries, n_outputs)
            Targets of the queries.
        sample_weight : array-like of shape (n_queries,), default=None
            Weights of the queries.

        Returns
        -------
        score : float
            1 for exact predictions, 0 for the mean of the targets.

        Notes
        -----
        Costs as much as `predict`.
        """
        y, predicted, sample_weight = computed(y, self.predict(X), sample_weight)
        y = np.asarray(y)
        if y.dtype.kind in "iuf" and y.size:  # divided by a power of two, so that squares do not overflow
            y = y.astype(np.float64)
            exponent = -int(np.frexp(np.abs(y).max())[1])
            y, predicted = np.ldexp(y, exponent), np.ldexp(predicted, exponent)
        return r2_score(y, predicted, sample_weight=sample_weight)


def _advise_of(name, data):
    """Warn about targets in memory that look like classes."""
    if not isinstance(data.targets, np.ndarray):
        return
    for column in data.targets.T:
        values = np.unique(column)
        if len(values) == 1 and len(column) > 1:
            advise(f"y is {values[0]:g} for all samples, and so is every prediction.")
        elif len(values) == 2 and len(column) > FEW:
            advise(
                f"y has two values, {values[0]:g} and {values[1]:g}. If these are classes, AutoClassifier and "
                f"KernelRidgeClassifier predict their probabilities; {name} predicts numbers between and beyond them."
            )
