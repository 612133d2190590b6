"""PerTurbo grows: samples are appended to the factors of their classes."""

from typing import Any, Self

import numpy as np

from .._estimator import transactional
from .._inputs import Inputs
from .._inputs.missing import is_incomplete
from .._utils.training_data import TrainingData, stack
from .._utils.typing import ArrayLike
from ._class_model import together


class GrowingMixin:
    """`partial_fit` of a classifier whose `_models` grow by `extended`."""

    fit: Any
    _inputs: Inputs
    classes_: Any  # (C,)

    @transactional(keep=True)
    def partial_fit(
        self,
        X: Any,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Append labeled samples; to rounding it is `fit` on all samples with the same bandwidth and alpha.

        The first call is a `fit`, and chooses metric, bandwidth and alpha where they are to be chosen; later calls
        keep them.
        Exact Cholesky factors ("tikhonov" and None) grow by O(n_l^2) operations a sample; classes with a
        truncated spectrum or a partial factor are made anew, and all classes if values are missing, because new points
        complete old ones. A label not seen before is a new class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples; everything is computed in float64.
        y : array-like of shape (n_samples,)
            Their labels.
        classes : array-like, default=None
            Ignored, for the interface: classes may appear at any call.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights, as in `fit`.

        Returns
        -------
        self : object
            The fitted classifier.

        Raises
        ------
        ValueError
            As `fit`; with another number of features than before; for a new class where ``bandwidth`` is
            class-wise. The classifier is then as it was before.
        """
        if not hasattr(self, "_models"):
            return self.fit(X, y, sample_weight)
        more = self._inputs.more(X, y, self.classes_, sample_weight, new_classes=True)
        return self._append(more.X, more.classes[more.codes], more.weights)

    def _append(self, X, y, weights=None, whitened=None):
        """Append checked samples; ``whitened`` may hold U^-T k(points, X) of the single class concerned."""
        classes = np.union1d(self.classes_, y)
        if len(classes) > len(self.classes_) and np.ndim(self.bandwidth_):
            raise ValueError(
                "A new class cannot be added to class-wise bandwidths: "
                f"{sorted(set(classes.tolist()) - set(self.classes_.tolist()))} has none."
            )
        if self._given is not None or is_incomplete(X):
            self._fit_classes(self._with(X, y, weights))
            return self
        by_class = np.broadcast_to(self.bandwidth_, len(self.classes_))
        known = dict(zip(self.classes_, zip(self._models, by_class, strict=True), strict=True))
        models = []
        for label in classes:
            own = y == label
            new, new_weights = X[own], None if weights is None else weights[own]
            model, bandwidth = known.get(label, (None, self.bandwidth_))
            if model is None:
                model = self._fit_class(new, new_weights, bandwidth, label)
            elif len(new) and model.grows and (self.rank is None or len(model.samples) + len(new) <= self.rank):
                model = model.extended(new, new_weights, self.n_jobs, label, whitened)
            elif len(new):
                model = self._fit_class(*stack((model.samples, model.weights), (new, new_weights)), bandwidth, label)
            models.append(model)
        self._completion = None
        self._labels = np.concatenate([self._labels, y])
        self._set_models(classes, models)
        return self

    def _with(self, X, y, weights):
        """The training data with further samples, all of them as they were given."""
        before = self._given
        if before is None:
            rows, codes, old_weights = together(self._models)
            before = TrainingData(rows, codes, self.classes_, old_weights, features=self._features)
        labels = np.concatenate([before.classes[before.codes], y])
        joined = before.append(TrainingData(X, y, self.classes_, weights))
        classes, codes = np.unique(labels, return_inverse=True)
        return joined._replace(classes=classes, codes=codes)
