"""What the classifiers share: bandwidth, fit and growth."""

from .._estimator import ScoreClassifier, transactional
from .._expansion import TrainingPoints, class_means
from .._expansion.held_out import Problem, held_out_accuracies
from .._tuning import candidate_bandwidths, check_folds, draw_sample, reference_bandwidth, search
from .._utils.validation import check_bandwidth, check_no_class_vanishes
from ..metric import MetricMixin


class KernelMeanClassifier(MetricMixin, ScoreClassifier):
    """A classifier that compares a query with the classes' means in the feature space of a kernel.

    Subclasses say which by `_rule`. All of them learn ``scores(y) = g(y) (k(y) A) - b``.
    """

    def _rule(self):
        raise NotImplementedError

    def _log_priors(self, n_classes):
        """Logarithms of given class priors; None if the classes' shares in the training data serve."""
        return None

    def _learn(self, data, y):
        rule, log_priors = self._rule(), self._log_priors(len(data.classes))
        if not isinstance(self.bandwidth, str):
            self.bandwidth_ = check_bandwidth(self.bandwidth, len(data.classes))
        elif self.bandwidth == "cv":
            self._tune(data, y, rule, log_priors)
        else:
            self.bandwidth_ = self._reference(self.bandwidth, data)
        self._learn_means(data, rule, log_priors)

    def _learn_means(self, data, rule, log_priors, before=None):
        self._model, inverse_density = class_means(
            rule, self._points(data), self.kernel, self.bandwidth_, log_priors, before=before
        )
        if inverse_density is not None:
            self.inverse_density_ = inverse_density

    def _points(self, data):
        return TrainingPoints.of(
            data.X, data.codes, len(data.classes), data.weights, self.tolerance, self.n_jobs, data.features
        )

    def _reference(self, rule, data):
        return reference_bandwidth(rule, data.X, data.codes, len(data.classes), data.weights, kernel=self.kernel)

    def _tune(self, data, y, rule, log_priors):
        sample = draw_sample(
            data,
            check_folds(self.cv, y, data.kept),
            cv=self.cv,
            max_samples=self.max_tuning_samples,
            random_state=self.random_state,
            against_all=rule.weighting is None,
        )

        def score(sample, bandwidth):
            return held_out_accuracies(Problem(rule, sample, self.kernel, bandwidth, log_priors, self.n_jobs))

        found = search(sample, {"bandwidth": candidate_bandwidths(self.bandwidth_grid, data, self.kernel)}, score)
        self.bandwidth_, self.cv_results_ = float(found.params["bandwidth"]), found.cv_results
        self.n_tuning_samples_ = sample.n_samples

    def _scores(self, X):
        return self._model.scores(X)

    def _winners(self, X):
        return self._model.labels(X)

    @transactional(keep=True)
    def partial_fit(self, X, y, classes=None, sample_weight=None, *, retune=False):
        """Add training points: a point is one more term of the sums.

        The classifier is then the one that `fit` with this bandwidth learns from all points seen. A metric is learned
        in the first call, and kept.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Points to add; float32 stays float32 if all points are.
        y : array-like of shape (n_samples,)
            Their labels.
        classes : array-like of shape (n_classes,), default=None
            All labels that will ever occur. Needed in the first call, unless that is `fit`.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights, as in `fit`.
        retune : bool, default=False
            Whether to choose the bandwidth anew, from all points seen, if it is not a number. It is chosen in the first
            call, and otherwise kept.

        Returns
        -------
        self : object
            The grown classifier.

        Raises
        ------
        ValueError
            For invalid data, and for labels that are not among the classes. The classifier stays as it was.

        Notes
        -----
        For m points more the Parzen rule takes O((n + m) d), rules by distance and angle also the m (n + m) pairs
        with the new points, and rules weighted by 1/f the passes of `fit` with a given bandwidth, since every weight
        changes.
        """
        first = not hasattr(self, "_model")
        before = None if first else self._model.points.data(self.classes_)
        more = self._check_more_data(X, y, classes, sample_weight, before)
        self.classes_ = more.classes
        if first:
            data = self._prepared(more, more.classes[more.codes])
        else:
            data = before.joined(more._replace(X=self._mapped(more.X)))
            if data.weights is not None:  # each part was checked by itself
                check_no_class_vanishes(data.weights, data.X.dtype, data.classes[data.codes])
        if first or retune:
            self._learn(data, data.classes[data.codes])
        else:
            self._learn_means(data, self._rule(), self._log_priors(len(data.classes)), self._model)
        return self
