"""The base class of the kernel-mean classifiers: bandwidth, fit and `partial_fit`."""

from dataclasses import KW_ONLY
from typing import Any, Self

import numpy as np

from .._estimator import CONSTRAINTS, ExpansionClassifier, fitted_in_memory, transactional, with_parameters
from .._expansion import TrainingPoints, class_means
from .._expansion.held_out import Problem, sample_and_scores
from .._inputs.targets import check_same_classes
from .._tuning import candidate_grid, class_proportions, gathered_sample, reference_of
from .._utils.available import available_if
from .._utils.from_sklearn import StrOptions
from .._utils.typing import (
    Array,
    ArrayLike,
    CategoricalFeatures,
    ClassBandwidth,
    CrossValidation,
    Kernel,
    Metric,
    RandomState,
    Scale,
    Scoring,
)
from .._utils.validation import check_bandwidth, check_no_class_vanishes
from ..metric import LearnedMap, fitted_map


@with_parameters
class KernelMeanClassifier(ExpansionClassifier):
    """A classifier that compares a query with the class means in the feature space of a kernel.

    Subclasses define the comparison in `_rule`. All learn scores of the form ``g(y) (k(y) A) - b``.
    """

    bandwidth: ClassBandwidth = "cv"
    _: KW_ONLY
    kernel: Kernel = "gaussian"
    metric: Metric = None
    categorical_features: CategoricalFeatures = "from_dtype"
    scale: Scale = "auto"
    cv: CrossValidation = 5
    scoring: Scoring = "auto"
    bandwidth_grid: ArrayLike | None = None
    max_tuning_samples: int | None = 20_000
    tolerance: float | None = None
    random_state: RandomState = 0
    n_jobs: int | None = None

    _parameter_constraints = {"bandwidth": [*CONSTRAINTS["bandwidth"], StrOptions({"cv_per_class"})]}
    metric_ = fitted_map
    _learns_on_workers = True

    def _check_on_workers(self):
        super()._check_on_workers()
        if isinstance(self.bandwidth, str) and self.bandwidth == "cv_per_class":
            raise ValueError('bandwidth="cv_per_class" needs the points in memory: on Dask collections use "cv".')

    def _rule(self):
        raise NotImplementedError

    def _further_candidates(self):
        """Further candidates to tune with the bandwidth, by name: values for fields of the rule."""
        return {}

    def _log_priors(self, data):
        """Logarithms of the given class priors; None means the class proportions of the training data."""
        return None

    def _importance(self, data):
        """Weight of an error in each class in tuning, (C,); None for equal weights."""
        return None

    def _make_inputs(self):
        gaussian_alone = self.metric is None and self.kernel == "gaussian" and self.tolerance is None
        return super()._make_inputs(missing="integrate" if gaussian_alone else "complete", step=LearnedMap.of(self))

    def _learn(self, data):
        log_priors = self._log_priors(data)
        if not isinstance(self.bandwidth, str):
            self.bandwidth_: float | Array = check_bandwidth(self.bandwidth, data.classes)
        elif self._is_tuned("bandwidth"):
            self._tune(data, log_priors)
        else:
            self.bandwidth_ = reference_of(data, self.bandwidth, self.kernel, self.random_state)
        self._learn_means(data, self._rule(), log_priors)

    def _learn_means(self, data, rule, log_priors, before=None):
        points = TrainingPoints.of(data, self.tolerance, self.n_jobs)
        self._model, inverse_density = class_means(
            rule, points, self.kernel, self.bandwidth_, log_priors, before=before
        )
        if inverse_density is not None:
            self.inverse_density_ = inverse_density

    def _tune(self, data, log_priors):
        ratios = None  # bandwidths of the classes relative to the overall one
        if self.bandwidth == "cv_per_class":
            ratios = class_proportions(data, self.kernel, self.random_state)
        sample, grid, score = self._bandwidth_problem(data, self._rule(), log_priors, ratios)
        found = self._search(sample, {"bandwidth": grid} | self._further_candidates(), score).params
        bandwidth = float(found.pop("bandwidth"))
        self.bandwidth_ = bandwidth if ratios is None else bandwidth * ratios
        if "priors" in found:
            self.priors_ = found["priors"]

    def _bandwidth_problem(self, data, rule, log_priors, ratios=None):
        """The tuning sample, the candidates, and the function that scores them."""
        points, sample = gathered_sample(self, data, against_all=rule.weighting is None)
        grid = candidate_grid(self, data, points, self.kernel)
        sample, scores = sample_and_scores(data.X, data, points, sample, rule, self)
        importance = self._importance(data)

        def score(_, bandwidth, priors=()):
            bandwidth = bandwidth if ratios is None else np.multiply.outer(bandwidth, ratios)
            options = {"scoring": self.scoring, "importance": importance, "priors": priors}
            return scores(Problem(rule, sample, self.kernel, bandwidth, log_priors, self.n_jobs, **options))

        judged = sample if importance is None else sample._replace(weights=sample.weights * importance[sample.codes])
        return judged, grid, score

    @available_if(fitted_in_memory)
    @transactional(keep=True)
    def partial_fit(
        self,
        X: Any,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        retune: bool = False,
    ) -> Self:
        """Add training points, each of which adds one term to the kernel sums.

        The result equals that of `fit` with this bandwidth on all points seen. The first call learns the metric, which
        later calls keep.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Points to add; float32 stays float32 if all points are float32.
        y : array-like of shape (n_samples,)
            Labels of the points.
        classes : array-like of shape (n_classes,), default=None
            All labels that may ever occur. Required in the first call, unless `fit` was called before.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights, as in `fit`.
        retune : bool, default=False
            Whether to choose the bandwidth again from all points seen, unless it is given. Otherwise the bandwidth of
            the first call is kept.

        Returns
        -------
        self : object
            Classifier with the added points.

        Raises
        ------
        ValueError
            If the data are invalid, or a label is not among the classes. The classifier stays unchanged.

        Notes
        -----
        For m new points, the Parzen rule takes O((n + m) d) time. Rules by distance and angle also sum the m (n + m)
        pairs with new points. Rules weighted by 1/f take the passes of `fit` with a given bandwidth, because every
        weight changes.
        """
        if not hasattr(self, "_model"):
            self._inputs = self._make_inputs()
            data = self._inputs.fit(X, y, sample_weight, classes=_required(classes))
            self.classes_ = data.classes
            self._learn(data)
            return self
        if classes is not None:
            check_same_classes(classes, self.classes_)
        before = self._model.points.data(self.classes_)
        data = before.append(self._inputs.more(X, y, self.classes_, sample_weight))
        if data.weights is not None:  # each part was only checked separately
            check_no_class_vanishes(data.weights, data.classes[data.codes])
        if retune:
            self._learn(data)
        else:
            self._learn_means(data, self._rule(), self._log_priors(data), self._model)
        return self


def _required(classes):
    if classes is None:
        raise ValueError("classes must be passed on the first call to partial_fit.")
    return classes
