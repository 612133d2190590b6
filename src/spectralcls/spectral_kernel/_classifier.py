"""Spectral embedding followed by one linear SVM per class, with a number of components chosen per class."""

from numbers import Integral
from typing import Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from joblib import Parallel, delayed
from sklearn.base import ClassifierMixin, clone
from sklearn.dummy import DummyClassifier
from sklearn.preprocessing import normalize
from sklearn.svm import LinearSVC
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from .._estimator import Estimator, transactional
from .._tuning import best_candidate, search, shuffled_ranks
from .._typing import Array, ArrayLike, RandomState
from ._spectral_kernel import SpectralKernel

MOST_CANDIDATES = 500  # largest number of components that n_components="cv" tries by default


class _Problems(NamedTuple):
    """What the tuner asks of a sample: the splits are the binary problems."""

    fold_weights: np.ndarray
    growth: float = 1.0


class SpectralKernelClassifier(ClassifierMixin, Estimator):
    """Spectral kernel classifier: SK<Gamma, E, S_I> with a linear support vector machine.

    The training samples are embedded once by :class:`SpectralKernel`; one classifier per class (one against
    the rest, or per label of a multilabel target) is trained on the leading components. The embeddings are
    nested, so that one decomposition serves every number of components, and ``n_components="cv"`` chooses one
    for each class, which [1]_ leaves as its open problem.

    Parameters
    ----------
    estimator : classifier, default=None
        Binary classifier with `decision_function` or `predict_proba`, cloned for each class. None: linear SVM
        (liblinear) with hinge loss and ``C = 1 / mean(|y|^2)``, the default of the paper's SVM-light. For the
        similarity S_E give ``SVC(kernel="rbf", gamma=1 / sigma)``.
    n_components : "cv", int or array-like of int, default="cv"
        "cv": chosen for each class by cross-validation, from a geometric grid of ratio 2 down from 500 (or as
        many as there are); an array: from these; one number: used for all classes.
    scoring : {"f1", "accuracy"}, default="f1"
        What cross-validation maximizes for each class, over the out-of-fold predictions of all folds
        together. Of tied candidates the lower middle one is taken.
    cv : int or splitter, default=5
        Folds; an int stands for shuffled stratified folds, fewer of them if a class has fewer samples.
    transformation, embedding, normalize, kernel, bandwidth, degree, coef0, rank
        Of :class:`SpectralKernel`.
    %(random_state)s
    n_jobs : int or None, default=None
        Threads of the decomposition (None: all cores) and processes of the cross-validation (None: one).

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels; 0 ... n_labels - 1 for a multilabel target.
    n_components_ : ndarray of int of shape (n_problems,)
        Components used by each binary problem: one per class or label, a single one for two classes.
    estimators_ : list of n_problems classifiers
    spectral_kernel_ : SpectralKernel
        Fitted, with as many components as the largest of ``n_components_``, rows not normalized.
    cv_results_ : dict of str to ndarray
        In the layout of :class:`sklearn.model_selection.GridSearchCV`, ``split<j>_test_score`` being the score of the
        j-th binary problem and `mean_test_score` their mean; problems with fewer than two samples of either kind are
        left out, and get the largest number. Only present if the number was cross-validated.
    %(n_features_in_)s

    Raises
    ------
    ValueError
        As :class:`SpectralKernel`; for a target of one class, or of another type than binary, multiclass and
        multilabel.

    Notes
    -----
    Cross-validation splits the labels: the embedding, which knows no labels, is that of all training samples.
    Cost beyond the decomposition: n_classes * (folds + 1) linear SVMs for every candidate.

    References
    ----------
    .. [1] W. Li, K.-L. Ong, W.-K. Ng, A. Sun, "Spectral kernels for classification", Data Warehousing and Knowledge
       Discovery (DaWaK) 2005, LNCS 3589, pp. 520-529.

    Examples
    --------
    >>> from sklearn.feature_extraction.text import TfidfVectorizer
    >>> from sklearn.pipeline import make_pipeline
    >>> from spectralcls import SpectralKernelClassifier
    >>> texts = ["wheat and corn", "corn harvest", "wheat harvest", "crude oil", "oil tanker", "oil and gas"]
    >>> topics = ["grain", "grain", "grain", "energy", "energy", "energy"]
    >>> model = make_pipeline(TfidfVectorizer(), SpectralKernelClassifier(n_components=3))
    >>> model.fit(texts, topics).predict(["a tanker of crude oil", "corn or wheat"])
    array(['energy', 'grain'], dtype='<U6')
    """

    _parameter_constraints: dict = {
        **{
            name: SpectralKernel._parameter_constraints[name]
            for name in (
                "transformation", "embedding", "normalize", "kernel", "bandwidth", "degree", "coef0",
            )
        },
        "estimator": [HasMethods(["fit", "decision_function"]), HasMethods(["fit", "predict_proba"]), None],
        "n_components": [StrOptions({"cv"}), Interval(Integral, 1, None, closed="left"), "array-like"],
        "scoring": [StrOptions({"f1", "accuracy"})],
        "cv": [Interval(Integral, 2, None, closed="left"), HasMethods(["split"])],
    }

    def __init__(
        self, estimator=None, *, n_components="cv", scoring="f1", cv=5, transformation="normalized",
        embedding="b", normalize=True, kernel="auto", bandwidth="scale", degree=2, coef0=1.0,
        rank=None, random_state=0, n_jobs=None,
    ):
        self.estimator = estimator
        self.n_components = n_components
        self.scoring = scoring
        self.cv = cv
        self.transformation = transformation
        self.embedding = embedding
        self.normalize = normalize
        self.kernel = kernel
        self.bandwidth = bandwidth
        self.degree = degree
        self.coef0 = coef0
        self.rank = rank
        self.random_state = random_state
        self.n_jobs = n_jobs

    @transactional(nested_validation=True)
    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Embed the training samples and train one classifier per class.

        Parameters
        ----------
        X : {array-like, sparse matrix, sparse array} of shape (n_samples, n_features)
            Similarities of shape (n_samples, n_samples) with the precomputed kernel.
        y : {array-like, sparse matrix} of shape (n_samples,) or (n_samples, n_labels)

        Returns
        -------
        self
        """
        X, y = validate_data(
            self, X, y, accept_sparse="csr", dtype=[np.float64, np.float32], order="C", multi_output=True
        )
        multilabel, classes, targets = _binary_targets(y)
        candidates = self._candidates()
        seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        kernel = SpectralKernel(
            MOST_CANDIDATES if candidates is None else int(candidates[-1]), transformation=self.transformation,
            embedding=self.embedding, normalize=False, kernel=self.kernel, bandwidth=self.bandwidth,
            degree=self.degree, coef0=self.coef0, rank=self.rank, random_state=seed, n_jobs=self.n_jobs,
        )
        Y = kernel.set_output(transform="default").fit_transform(X)
        if candidates is None:
            candidates = _geometric_grid(Y.shape[1])
        candidates = np.unique(np.minimum(candidates, Y.shape[1]))

        chosen = np.full(len(targets), candidates[-1])
        if len(candidates) > 1:
            scores = self._cross_validate(Y, targets, candidates, seed)
            known = ~np.isnan(scores[:, 0])
            if known.any():
                problems = _Problems(known.astype(float))
                found = search(problems, {"n_components": candidates}, lambda problems, n_components: scores)
                self.cv_results_ = found.cv_results
            chosen[known] = [candidates[best_candidate(row)[0]] for row in scores[known]]
        features = {k: self._features(Y, k) for k in np.unique(chosen)}
        self.estimators_ = Parallel(n_jobs=self.n_jobs)(
            delayed(_fit_binary)(self._binary_estimator(features[k], seed), features[k], target)
            for k, target in zip(chosen, targets, strict=True)
        )
        self.classes_, self.multilabel_, self.n_components_ = classes, multilabel, chosen
        self.spectral_kernel_ = kernel._truncate(int(chosen.max()))
        return self

    def decision_function(self, X: Any) -> Array:
        """Scores of the classes; positive where the class's own classifier says yes.

        Parameters
        ----------
        X : {array-like, sparse matrix, sparse array} of shape (n_queries, n_features)
            Similarities to the training samples, (n_queries, n_samples), with the precomputed kernel.

        Returns
        -------
        scores : ndarray of shape (n_queries,) for two classes, else (n_queries, n_classes)
        """
        check_is_fitted(self)
        X = validate_data(
            self, X, reset=False, accept_sparse="csr", dtype=[np.float64, np.float32], order="C"
        )
        Y = self.spectral_kernel_._embed(X, any_length=self.normalize)
        features = {k: self._features(Y, k) for k in np.unique(self.n_components_)}
        scores = np.column_stack(
            [_scores(e, features[k]) for e, k in zip(self.estimators_, self.n_components_, strict=True)]
        )
        return scores[:, 0] if len(self.estimators_) == 1 and not self.multilabel_ else scores

    def predict(self, X: Any) -> Array:
        """Labels (n_queries,), or an indicator array (n_queries, n_labels) of a multilabel target."""
        scores = self.decision_function(X)
        if self.multilabel_:
            return (scores > 0).astype(int)
        return self.classes_[(scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)]

    def _candidates(self):
        """The numbers of components that the user named, ascending; None for the default grid."""
        if isinstance(self.n_components, str):
            return None
        candidates = np.atleast_1d(self.n_components)
        valid = candidates.ndim == 1 and candidates.size and candidates.dtype.kind in "iu"
        if not valid or candidates.min() < 1:
            raise ValueError(f"n_components must be 'cv' or positive integers, got {self.n_components!r}.")
        return np.unique(candidates)

    def _features(self, Y, k):
        return normalize(Y[:, :k]) if self.normalize else Y[:, :k]

    def _binary_estimator(self, features, seed):
        return linear_svm(features, seed) if self.estimator is None else clone(self.estimator)

    def _cross_validate(self, Y, targets, candidates, seed):
        """Scores of the out-of-fold predictions, (n_problems, n_candidates)."""
        folds = [self._folds(Y, target, seed) for target in targets]
        score = _f1 if self.scoring == "f1" else _accuracy
        scores = []
        for k in candidates:
            features = self._features(Y, k)
            estimator = self._binary_estimator(features, seed)
            scores.append(
                Parallel(n_jobs=self.n_jobs)(
                    delayed(_score_folds)(estimator, features, target, splits, score)
                    for target, splits in zip(targets, folds, strict=True)
                )
            )
        return np.transpose(scores)

    def _folds(self, Y, target, seed):
        """Training and test rows of each fold; none if there are too few samples of a kind."""
        if not isinstance(self.cv, Integral):
            return list(self.cv.split(Y, target))
        n_folds = min(self.cv, target.sum(), (~target).sum())
        if n_folds < 2:
            return []
        fold = shuffled_ranks(target.astype(int), seed) % n_folds
        return [(np.flatnonzero(fold != f), np.flatnonzero(fold == f)) for f in range(n_folds)]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        kernel = SpectralKernel(transformation=self.transformation, kernel=self.kernel, rank=self.rank)
        tags.input_tags = kernel.__sklearn_tags__().input_tags
        tags.classifier_tags.multi_label = True
        # Rows of unit length keep the angles alone: of two features, as scikit-learn's checks have, one.
        tags.classifier_tags.poor_score = self.normalize and self.kernel == "linear"
        return tags


def linear_svm(features: ArrayLike, random_state: RandomState = None) -> LinearSVC:
    """Unfitted linear SVM with hinge loss and C = 1 / mean |x|^2, the default of SVM-light.

    It is the machine with C = 1 for samples scaled to a mean square of 1, with the bias on their scale.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> from spectralcls.spectral_kernel import linear_svm
    >>> linear_svm(X, random_state=0).fit(X, y == 0).score(X, y == 0)
    1.0
    """
    squares = features.multiply(features) if sp.issparse(features) else features**2
    mean_square = float(squares.sum(dtype=np.float64)) / features.shape[0] or 1.0
    return LinearSVC(
        C=1 / mean_square, intercept_scaling=np.sqrt(mean_square), loss="hinge", max_iter=100_000,
        random_state=random_state,
    )


def _binary_targets(y):
    """Whether y is multilabel, its labels, and one boolean target per binary problem."""
    if sp.issparse(y) or (y.ndim == 2 and y.shape[1] > 1):
        kind = type_of_target(y)
        if kind != "multilabel-indicator":
            raise ValueError(f"Unknown label type: {kind}. Use one column of labels, or an indicator matrix.")
        y = y.toarray() if sp.issparse(y) else y
        return True, np.arange(y.shape[1]), list(y.astype(bool).T)
    y = column_or_1d(y, warn=True)
    check_classification_targets(y)
    classes = np.unique(y)
    if len(classes) < 2:
        raise ValueError("The number of classes has to be greater than one; got 1 class")
    return False, classes, [y == label for label in (classes if len(classes) > 2 else classes[1:])]


def _geometric_grid(largest):
    """Numbers of components from `largest` down to 2, each about twice the next."""
    halvings = np.arange(round(np.log2(max(largest / 2, 1))) + 1)
    return np.unique(np.maximum(np.round(largest / 2.0**halvings), 2).astype(int))


def _fit_binary(estimator, features, target):
    """The estimator fitted; a label that all samples share is predicted for all."""
    if target.all() or not target.any():
        estimator = DummyClassifier(strategy="most_frequent")
    return estimator.fit(features, target)


def _scores(estimator, features):
    if len(estimator.classes_) == 1:
        return np.full(len(features), 1.0 if estimator.classes_[0] else -1.0)
    if hasattr(estimator, "decision_function"):
        return estimator.decision_function(features)
    return estimator.predict_proba(features)[:, 1] - 0.5


def _score_folds(estimator, features, target, splits, score):
    if not splits:
        return np.nan
    truth, predicted = [], []
    for train, test in splits:
        fitted = _fit_binary(clone(estimator), features[train], target[train])
        truth.append(target[test])
        predicted.append(_scores(fitted, features[test]) > 0)
    return score(np.concatenate(truth), np.concatenate(predicted))


def _accuracy(truth, predicted):
    return np.mean(truth == predicted)


def _f1(truth, predicted):
    """2 TP / (2 TP + FP + FN)."""
    return 2 * np.sum(truth & predicted) / max(truth.sum() + predicted.sum(), 1)
