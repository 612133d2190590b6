"""CCDR followed by any classifier."""

import warnings
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import KW_ONLY
from numbers import Integral, Real
from typing import Any, Literal, Self

import numpy as np
from sklearn.base import clone
from sklearn.neighbors import KNeighborsClassifier

from .._estimator import Estimator, transactional, with_parameters
from .._inputs.targets import require_answers
from .._inputs.training_data import TrainingData
from .._tuning import draw_sample, drawn_seed, largest_dimension, search
from .._utils.advice import quietly
from .._utils.available import available_if
from .._utils.bases import ClassifierMixin
from .._utils.conversion import as_array
from .._utils.from_sklearn import HasMethods, Interval, StrOptions
from .._utils.typing import Array, ArrayLike, CrossValidation, RandomState, Scale
from ._ccdr import CCDR
from ._fold_accuracies import VoteWeights, fold_accuracies
from ._partial_labels import encode_partial

BETAS = (0.05, 0.5, 5.0)
N_NEIGHBORS = (4, 8, 16)
VOTES = (1, 3, 5, 9, 15, 25)  # numbers of neighbors that vote in the embedding
N_COMPONENTS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16)


def _final_has(method):
    def check(self):
        given = KNeighborsClassifier() if self.estimator is None else self.estimator
        getattr(self.estimator_ if hasattr(self, "estimator_") else given, method)
        return True

    return available_if(check)


@with_parameters
class CCDRClassifier(ClassifierMixin, Estimator):
    """Nearest neighbors, or another classifier, in the embedding of `CCDR`.

    Parameters
    ----------
    estimator : classifier or None, default=None
        Classifier trained on the embedded labeled points. None means ``KNeighborsClassifier`` with 1, 3, 5, 9, 15 or 25
        neighbors, chosen by cross-validation, in which ties go to the nearer class.
    n_components : int, sequence of int, "cv" or "intrinsic", default="cv"
        Dimension of the embedding. Cross-validation chooses among several values, from one decomposition. "cv" means
        ten values from 1 to 16. "intrinsic", the choice of [1]_, means one more than the largest rounded
        :func:`~spectralcls.information.entropic_dimension` of a class, which is at most the number of features.
    beta : float, sequence of float or "cv", default="cv"
        Weight of the geometry relative to the labels; see `CCDR`. "cv" tries 0.05, 0.5 and 5.
    n_neighbors : int, sequence of int, "auto" or "cv", default=4
        Neighbors in the graph, at most all other points. "auto" means about ``log2(n_samples) - 1``, because a graph of
        n points needs on the order of log n neighbors to be connected. "cv" tries 4, 8 and 16.
    unlabeled : label or None, default=None
        Label that marks an unlabeled point, in addition to missing labels; see `CCDR`.
    scale : "auto" or None, default="auto"
        ``"auto"`` scales each column of numbers to mean 0 and standard deviation 1, estimated robustly if there are
        outliers or rare values; columns of spread 1 stay unchanged. None uses the numbers unchanged.
    cv : int, "loo", splitter or list of splits, default=3
        Folds of the cross-validation. An int means random stratified folds, and ``"loo"`` means leave-one-out. Both
        keep equal rows of a class together, unless another class contains such a row too, so that no point is validated
        against its copy. The test sets of a splitter must partition the samples. Held-out points are embedded out of
        sample.
    max_tuning_samples : int or None, default=5000
        If there are more points, parameters are chosen on a stratified subsample of this size.
    weights : {"heat", "binary"}, default="heat"
        Weights of the edges, as in `CCDR`.
    epsilon : float or None, default=None
        Scale of the heat kernel, as in `CCDR`.
    extension : {"symmetric", "nearest", "full"}, default="symmetric"
        Training points that the out-of-sample formula uses, as in `CCDR`.
    max_samples : int or None, default=None
        Number of points above which embeddings of subsamples are averaged, as in `CCDR`.
    random_state : int, RandomState instance or None, default=0
        Seed of folds, subsamples, landmarks and starting vectors. With an int, a refit gives identical results.
    n_jobs : int or None, default=None
        Number of threads. None means all cores, unless joblib or threadpoolctl sets a lower limit.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    ccdr_ : CCDR
        Fitted embedding of the scaled points.
    estimator_ : classifier
        Classifier fitted to ``ccdr_.embedding_`` of the labeled points.
    beta_, n_neighbors_, n_components_ : float, int, int
        Values in use.
    cv_results_ : dict of str to ndarray
        Scores of all candidates, in the layout of :class:`sklearn.model_selection.GridSearchCV`: `params`, a column
        ``param_<name>`` for each parameter, `mean_test_score` (accuracy), `std_test_score`, `rank_test_score`, and
        ``split<k>_test_score`` for each fold. Only present if something was tuned. Of tied candidates, the middle one
        is chosen (the lower of two).
    best_score_ : float
        Mean test score of the chosen candidate. Only present if something was tuned.
    n_tuning_samples_ : int
        Number of (distinct) validated points. Only present if something was tuned.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of features. Only present if X has string names.

    See Also
    --------
    CCDR : The embedding alone.

    Notes
    -----
    Tuning computes one graph for each fold and value of `n_neighbors`, and one decomposition for each `beta`, with at
    most `max_tuning_samples` points. The final fit to all points costs as much as `CCDR`.

    References
    ----------
    .. [1] R. Raich, J. A. Costa, S. B. Damelin, A. O. Hero III, "Classification constrained dimensionality
       reduction", arXiv:0802.2906, 2008.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from spectralcls import CCDRClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> CCDRClassifier().fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.9
    True
    """

    estimator: Any = None
    _: KW_ONLY
    n_components: Literal["cv", "intrinsic"] | int | Sequence[int] | Array = "cv"
    beta: Literal["cv"] | float | Sequence[float] | Array = "cv"
    n_neighbors: Literal["auto", "cv"] | int | Sequence[int] | Array = 4
    unlabeled: Any = None
    scale: Scale = "auto"
    cv: CrossValidation = 3
    max_tuning_samples: int | None = 5000
    weights: Literal["heat", "binary"] = "heat"
    epsilon: float | None = None
    extension: Literal["symmetric", "full", "nearest"] = "symmetric"
    max_samples: int | None = None
    random_state: RandomState = 0
    n_jobs: int | None = None

    _parameter_constraints = CCDR._parameter_constraints | {
        "estimator": [None, HasMethods(["fit", "predict"])],
        "n_components": [Interval(Integral, 1, None, closed="left"), "array-like", StrOptions({"cv", "intrinsic"})],
        "beta": [Interval(Real, 0, None, closed="left"), "array-like", StrOptions({"cv"})],
        "n_neighbors": [Interval(Integral, 1, None, closed="left"), "array-like", StrOptions({"auto", "cv"})],
    }

    def _candidates(self, X, codes, seed):
        """Candidate values of each parameter."""
        n_samples, n_labeled, n_classes = len(X), np.count_nonzero(codes >= 0), codes.max() + 1
        largest = n_samples + n_classes - 2
        intrinsic = 0
        if isinstance(self.n_components, str) and self.n_components == "intrinsic":
            intrinsic = min(largest_dimension(X, codes, seed, self.n_jobs) + 1, largest)
        rules = {
            ("beta", "cv"): BETAS,
            ("n_neighbors", "cv"): N_NEIGHBORS,
            ("n_neighbors", "auto"): max(round(np.log2(n_samples)) - 1, 2),
            ("n_components", "cv"): [m for m in N_COMPONENTS if m <= max(largest, 1)],
            ("n_components", "intrinsic"): intrinsic,
        }
        found = {}
        for name in ("beta", "n_neighbors", "n_components"):
            value = getattr(self, name)
            values = np.atleast_1d(as_array(rules[name, value] if isinstance(value, str) else value, name))
            if values.ndim > 1 or not values.size or values.dtype.kind not in "iuf":
                raise ValueError(f"{name} must be a number or a list of numbers, got {value!r}.")
            found[name] = np.unique(values).tolist()
        votes = [k for k in VOTES if k <= max(n_labeled // 2, 1)]
        return found | {"estimator__n_neighbors": votes if self.estimator is None else [0]}

    @transactional(nested_validation=True)
    def fit(self, X: Any, y: ArrayLike, *, groups: ArrayLike | None = None) -> Self:
        """Embed all points, labeled or not, and train the classifier on the labeled points.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Points; float32 stays float32, everything else becomes float64.
        y : array-like of shape (n_samples,)
            Labels; missing labels (NaN, None) and `unlabeled` mark unlabeled points.
        groups : array-like of shape (n_samples,), default=None
            Group of each sample, such as a patient with several rows. Whatever leaves out samples, to choose
            parameters or to judge predictions, leaves out whole groups; what is promised then holds for new groups.

        Returns
        -------
        self : object
            Fitted classifier.

        Raises
        ------
        ValueError
            If no point is labeled, and as in `CCDR.fit`.
        """
        self._inputs = self._make_inputs()
        X, groups = (data := self._inputs.fit_points(X, None, groups, ensure_min_samples=2)).X, data.groups
        require_answers(type(self).__name__, y)
        with quietly():  # CCDR says of the same labels what there is to say
            classes, codes = encode_partial(y, X.shape[0], self.unlabeled)
        if not len(classes):
            raise ValueError(
                f"no point is labeled (every label is missing or {self.unlabeled!r}): a classifier needs labels."
            )
        seed = drawn_seed(self.random_state)
        labeled = codes >= 0
        candidates = self._candidates(X, codes, seed)
        best = {name: values[0] for name, values in candidates.items()}
        ccdr = CCDR(
            scale=None,
            unlabeled=self.unlabeled,
            weights=self.weights,
            epsilon=self.epsilon,
            extension=self.extension,
            max_samples=self.max_samples,
            random_state=seed,
            n_jobs=self.n_jobs,
        )
        ccdr._check_extension()
        several = {name: values for name, values in candidates.items() if len(values) > 1}
        if several:
            best |= self._tuned(ccdr, X, classes, codes, groups, several, best, seed)
        votes = best.pop("estimator__n_neighbors")
        best["n_neighbors"] = min(best["n_neighbors"], len(X) - 1)
        self.ccdr_ = ccdr.set_params(**best).fit(X, y)
        final = KNeighborsClassifier(votes, weights=VoteWeights()) if self.estimator is None else clone(self.estimator)
        with ExitStack() as stack:
            if 2 * len(classes) > np.count_nonzero(labeled):  # said above, where the call is that the user can change
                # Filters belong to all threads: they are set only here, where scikit-learn would repeat the warning.
                stack.enter_context(warnings.catch_warnings())
                warnings.filterwarnings("ignore", "The number of unique classes is greater")
            self.estimator_ = final.fit(ccdr.embedding_[labeled], classes[codes[labeled]])
        self.classes_: Array = classes
        self.n_components_: int = ccdr.n_components_
        self.beta_, self.n_neighbors_ = best["beta"], best["n_neighbors"]
        return self

    def _tuned(self, ccdr, X, classes, codes, groups, candidates, given, seed):
        """The best candidates; copies of a row, or the points of a group, are held out together."""
        data = TrainingData(X, codes, classes, y=codes, groups=groups)
        sample = draw_sample(data, cv=self.cv, max_samples=self.max_tuning_samples, random_state=seed)
        if sample.folds is None:
            sample = sample._replace(folds=np.arange(len(sample.X)))
        sample = sample._replace(weights=(sample.codes >= 0) * 1.0)

        def score(sample, **tried):
            values = {name: [value] for name, value in given.items()} | tried
            scores = fold_accuracies(ccdr, self.estimator, sample, values)
            return scores.reshape(len(scores), *(len(values) for values in tried.values()))

        # If the log loss broke ties, the accuracy would be .5 percentage points lower.
        found = search(sample, candidates, score)
        self._note(found, int(np.count_nonzero(sample.weights)))
        return {} if np.isnan(found.scores).all() else found.params  # without scores, keep the smallest values

    def _embedded(self, X):
        X = self._queries(X)
        return self.ccdr_._transform(X)

    def predict(self, X: Any) -> Array:
        """Predict the class of each query.

        Parameters
        ----------
        X : array-like of shape (m, n_features)
            Queries.

        Returns
        -------
        y : ndarray of shape (m,)
            Labels, in the dtype of `classes_`.

        Notes
        -----
        The queries are embedded out of sample: O(m n d) for their neighbors, plus the cost of `estimator_`.
        """
        embedded = self._embedded(X)
        return self.estimator_.predict(embedded)

    @_final_has("predict_proba")
    def predict_proba(self, X: Any) -> Array:
        """Class probabilities, if the classifier has them.

        Parameters
        ----------
        X : array-like of shape (m, n_features)
            Queries.

        Returns
        -------
        p : ndarray of shape (m, n_classes)
            Class probabilities, in the order of `classes_`.

        Notes
        -----
        The queries are embedded out of sample: O(m n d) for their neighbors, plus the cost of `estimator_`.
        """
        embedded = self._embedded(X)
        return self.estimator_.predict_proba(embedded)

    @_final_has("decision_function")
    def decision_function(self, X: Any) -> Array:
        """Decision values, if the classifier has them.

        Parameters
        ----------
        X : array-like of shape (m, n_features)
            Queries.

        Returns
        -------
        scores : ndarray of shape (m,) or (m, n_classes)
            Decision values of `estimator_`.

        Notes
        -----
        The queries are embedded out of sample: O(m n d) for their neighbors, plus the cost of `estimator_`.
        """
        embedded = self._embedded(X)
        return self.estimator_.decision_function(embedded)
