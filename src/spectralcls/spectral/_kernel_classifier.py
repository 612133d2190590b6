"""Spectral embedding followed by one linear machine per class, with a number of components chosen per class."""

from collections.abc import Sequence
from dataclasses import KW_ONLY
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
import scipy.sparse as sp
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.preprocessing import normalize
from sklearn.utils import check_random_state, gen_batches

from .._estimator import Estimator, refuse_many_classes, transactional, with_parameters
from .._expansion.tree_cells import MANY
from .._inputs.targets import check_answers, with_groups
from .._inputs.training_data import TrainingData
from .._tuning import (
    Splits,
    best_candidate,
    check_folds,
    draw_sample,
    reference_bandwidth,
    search,
    shuffled_ranks,
)
from .._utils.bases import ClassifierMixin
from .._utils.from_sklearn import HasMethods, Interval, StrOptions
from .._utils.typing import Array, ArrayLike, ClassWeight, CrossValidation, RandomState, Scale
from .._utils.validation import positive_weight, relative_weights, with_class_weight
from . import _least_squares as least_squares
from ._linear_svm import binary_targets, decisions, fit_binary, fit_tight_tolerance, linear_svm, score_folds
from ._spectral_kernel import SpectralKernel, all_points, of_kernel

MOST_PROBLEMS = 1000  # limit on classes or labels; solving so many problems for every candidate takes minutes
TOLERANCE = 1e-4  # relative residual of the eigenpairs of dense X: more digits changed no label in trials
MOST_CANDIDATES = 500  # largest number of components that n_components="cv" tries by default
BLOCK = 8192  # samples whose coordinates are in memory at once if landmarks replace the samples
BANDWIDTH_FACTORS = 2.0 ** np.arange(-1.5, 1.5, 0.5)  # multiplied by the reference bandwidth
SCORES = {"r2": least_squares.explained, "f1": least_squares.f1, "accuracy": least_squares.accuracy}


@with_parameters
class SpectralKernelClassifier(ClassifierMixin, Estimator):
    """Linear classifiers on spectral coordinates, with a number of coordinates for each class.

    The kernel is SK<Gamma, E, S_I> of [1]_. :class:`SpectralKernel` embeds the training samples once. One classifier
    per class (one against the rest, or one per label of a multilabel target) is trained on the leading components. The
    embeddings are nested, so one decomposition suffices for all numbers of components, and ``n_components="cv"``
    chooses a number for each class; [1]_ leaves this choice open. For dense X the classifiers are regularized least
    squares, which have leave-one-out decisions in closed form: the number of components, the ridge and the bandwidth
    are chosen without repeated training. For sparse X, such as term frequencies, they are linear SVMs, which are
    slightly more accurate there.

    Parameters
    ----------
    estimator : classifier, default=None
        Binary classifier with `decision_function` or `predict_proba`, which is cloned for each class; for the
        similarity S_E of [1]_, use ``SVC(kernel="rbf", gamma=1 / sigma)``. None means regularized least squares with a
        ridge chosen by leave-one-out for dense X, and the linear SVM of [1]_ for sparse X (hinge loss and ``C = 1 /
        mean(|y|^2)``, the default of SVM-light).
    n_components : "cv", int or array-like of int, default="cv"
        Number of components. "cv" chooses it for each class by cross-validation from a geometric grid of ratio 2 whose
        largest entry is 500, or the number of components if it is smaller. An array gives the candidates; an int is
        used for all classes.
    bandwidth : {"cv", "scale", "silverman"} or float, default="cv"
        As in :class:`SpectralKernel`. For the Gaussian kernel of dense X, "cv" tries six bandwidths around "scale" and
        chooses the one with the largest explained variance of held-out targets in least squares.
    scoring : {"auto", "r2", "f1", "accuracy"}, default="auto"
        Score to maximize for each class, over the held-out decisions of all samples together: the explained fraction of
        the target's variance (only least squares), F1, or accuracy. "auto" means "r2" for least squares, otherwise
        "f1". Of tied candidates, the middle one is chosen (the lower of two).
    cv : int, "loo", splitter or list of splits, default=5
        Folds of the cross-validation; an int means shuffled stratified folds, fewer if a class has fewer samples. Least
        squares always use leave-one-out.
    max_tuning_samples : int or None, default=500
        If there are more points, parameters are tuned on a random subsample of this size, stratified by class;
        `n_tuning_samples_` is the number used. A bandwidth tuned with m of n points is scaled to n points by the factor
        ``(m / n) ** (1 / (d + 4))``.
    weighting : {"symmetric"} or None, default="symmetric"
        Gamma, as in :class:`SpectralKernel`.
    embedding : {"a", "b"}, default="b"
        E, as in :class:`SpectralKernel`.
    normalize : bool, default=True
        Whether rows of the embedding are scaled to unit length.
    kernel : {"auto", "linear", "gaussian", "polynomial", "exponential", "precomputed"}, default="auto"
        Input kernel, as in :class:`SpectralKernel`.
    scale : "auto" or None, default="auto"
        As in :class:`SpectralKernel`.
    degree : int, default=2
        Degree of the polynomial kernel.
    rank : int or None, default=None
        Number of landmarks of the embedding, as in :class:`SpectralKernel`. `spectral_kernel_.trace_residual_` measures
        the part left out; 0 means that the embedding is exact.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, which multiply the sample weights: ``{label: weight}``, or ``"balanced"`` for weights
        inversely proportional to the class frequencies. None means that all are one.
    random_state : int, RandomState instance or None, default=0
        Seed of folds, subsamples, landmarks and starting vectors. With an int, a refit gives identical results.
    n_jobs : int or None, default=None
        Number of threads of the decomposition (None: all cores) and of processes of the cross-validation (None: one).

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels; 0 ... n_labels - 1 for a multilabel target.
    multilabel_ : bool
        Whether the target was an indicator matrix.
    n_components_ : ndarray of int of shape (n_problems,)
        Number of components of each binary problem; there is one problem per class or label, a single one for two
        classes.
    bandwidth_ : float
        Bandwidth in use. Only present with the Gaussian kernel.
    estimators_ : list of classifiers
        Fitted classifiers, one for each binary problem.
    spectral_kernel_ : SpectralKernel
        Fitted embedding, with as many components as the largest of ``n_components_`` and without normalized rows.
    cv_results_ : dict of str to ndarray
        Scores of all candidates, in the layout of :class:`sklearn.model_selection.GridSearchCV`.
        ``split<j>_test_score`` is the score of the j-th binary problem, and `mean_test_score` is their mean. Problems
        with fewer than two positive or two negative samples are left out, and get the largest number of components.
        With a tuned bandwidth, these are the candidates tried on the tuning samples. Only present if something was
        tuned.
    best_score_ : float
        Mean test score of the chosen candidate. Only present if something was tuned.
    n_tuning_samples_ : int
        Number of (distinct) validated points. Only present if something was tuned.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of features. Only present if X has string names.

    Raises
    ------
    ValueError
        As in :class:`SpectralKernel`; and if the target has only one class, or is not binary, multiclass or multilabel.

    Notes
    -----
    Cross-validation splits only the labels: the embedding uses no labels and all training samples. Least squares are
    validated on distinct samples, so copies of a sample are left out together. An int `cv` and "loo" may put copies of
    a sparse row into different folds; a splitter can keep them together.

    For dense X, the eigenpairs have a relative residual of 1e-4. From 5000 samples on, kernel values are computed in
    float32, which takes half the time, unless float32 is too coarse for the coordinates.

    Cost: one decomposition, as in :class:`SpectralKernel`; then O(n k^2) for every number of components k, or
    n_classes * (folds + 1) fits of an `estimator`. A tuned bandwidth takes six decompositions of the tuning samples.
    Least squares on more than 20 000 distinct samples choose the number of components and the ridge by 20 000 of them.
    If landmarks replace the samples, least squares never store the embedding.

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

    estimator: Any = None
    _: KW_ONLY
    n_components: Literal["cv"] | int | Sequence[int] | Array = "cv"
    bandwidth: Literal["cv", "scale", "silverman"] | float = "cv"
    scoring: Literal["auto", "accuracy", "f1", "r2"] = "auto"
    cv: CrossValidation = 5
    max_tuning_samples: int | None = 500
    weighting: Literal["symmetric"] | None = "symmetric"
    embedding: Literal["a", "b"] = "b"
    normalize: bool = True
    kernel: Literal["auto", "linear", "gaussian", "polynomial", "exponential", "precomputed"] = "auto"
    scale: Scale = "auto"
    degree: int = 2
    rank: int | None = None
    class_weight: ClassWeight = None
    random_state: RandomState = 0
    n_jobs: int | None = None

    _parameter_constraints: ClassVar[dict] = {
        **{
            name: SpectralKernel._parameter_constraints[name]
            for name in ("weighting", "embedding", "normalize", "kernel", "degree")
        },
        "estimator": [HasMethods(["fit", "decision_function"]), HasMethods(["fit", "predict_proba"]), None],
        "n_components": [StrOptions({"cv"}), Interval(Integral, 1, None, closed="left"), "array-like"],
        "bandwidth": [StrOptions({"cv", "scale", "silverman"}), Interval(Real, 0, None, closed="neither")],
        "scoring": [StrOptions({"auto", *SCORES})],
    }

    @transactional(nested_validation=True)
    def fit(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None, *, groups: ArrayLike | None = None
    ) -> Self:
        """Embed the training samples and train one classifier per class.

        Parameters
        ----------
        X : {array-like, sparse matrix, sparse array} of shape (n_samples, n_features)
            Training samples; similarities of shape (n_samples, n_samples) with the precomputed kernel.
        y : {array-like, sparse matrix} of shape (n_samples,) or (n_samples, n_labels)
            Class labels, or an indicator matrix of several labels for each sample.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights, used for the embedding and the classifiers. Weight k is equivalent to k copies of the
            sample, weight 0 to leaving it out. A given `estimator` must also support weights.
        groups : array-like of shape (n_samples,), default=None
            Group of each sample, such as a patient with several rows. Whatever leaves out samples, to choose
            parameters or to judge predictions, leaves out whole groups; what is promised then holds for new groups.

        Returns
        -------
        self : object
            Fitted classifier.
        """
        self._inputs = self._make_inputs(accept_sparse="csr", **of_kernel(self))
        y = check_answers(type(self).__name__, y, X, multi_output=True)
        labels = y.toarray() if sp.issparse(y) else y
        sample_weight, _ = relative_weights(sample_weight, len(labels))
        sample_weight = with_class_weight(labels, sample_weight, self.class_weight)
        X = all_points(self._inputs, X, sample_weight)
        rows, weights, kept = positive_weight(X, sample_weight, labels)
        multilabel, classes, targets = binary_targets(y if kept is None else y[kept])
        refuse_many_classes(self, targets.shape[1], MOST_PROBLEMS)
        candidates = self._candidates()
        seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        kernel = SpectralKernel(
            MOST_CANDIDATES if candidates is None else int(candidates[-1]),
            weighting=self.weighting,
            embedding=self.embedding,
            normalize=False,
            kernel=self.kernel,
            scale=None,
            degree=self.degree,
            rank=self.rank,
            random_state=seed,
            n_jobs=self.n_jobs,
        ).set_output(transform="default")
        patterns, codes = np.unique(targets, axis=0, return_inverse=True)
        codes = codes.ravel()
        data = TrainingData(rows, codes, patterns, weights, kept, y=np.zeros(X.shape[0]))
        data, row_of = with_groups(data, groups, X.shape[0]).with_units(self.class_weight is not None)
        unit = data.mean_copies
        if unit != 1.0:  # C is defined for distinct samples of mean weight one
            data = data._replace(weights=(np.ones(len(codes)) if weights is None else data.weights) / unit)
            sample_weight = (np.ones(X.shape[0]) if sample_weight is None else sample_weight) / unit
        kernel.set_params(bandwidth=self._chosen_bandwidth(kernel, data, candidates, seed))
        kernel.tol = None if sp.issparse(X) else TOLERANCE
        embedded, _ = kernel._fit_weighted(kernel._check(X, reset=True), sample_weight)
        embedding = embedded if row_of is None else lambda: embedded()[row_of]
        most = len(kernel.eigenvalues_)
        candidates = np.unique(np.minimum(_geometric_grid(most) if candidates is None else candidates, most))
        self.n_components_, self.estimators_ = (
            self._least_squares(kernel, self._coordinates(kernel, data.X, embedding), data, candidates)
            if self.estimator is None and not sp.issparse(X)
            else self._train(embedding(), data, candidates, seed)
        )
        self.classes_: Array = classes
        self.multilabel_: bool = multilabel
        if hasattr(kernel, "bandwidth_"):
            self.bandwidth_: float = kernel.bandwidth_
        self.spectral_kernel_ = kernel._truncate(int(self.n_components_.max()))
        return self

    def _chosen_bandwidth(self, kernel, data, candidates, seed):
        """The bandwidth for `SpectralKernel`; if tuned, by leave-one-out of least squares on the tuning samples."""
        if self.bandwidth != "cv":
            return self.bandwidth
        if sp.issparse(data.X) or self.kernel not in ("auto", "gaussian"):
            return "scale"
        sample = draw_sample(data, cv="loo", max_samples=self.max_tuning_samples, random_state=seed)
        weights = sample.weights / sample.weights.mean()
        own, scores = data.classes[sample.codes], []
        grid = reference_bandwidth("scale", data.X, None, 1, data.weights) * BANDWIDTH_FACTORS
        largest = min(len(sample.X), MOST_CANDIDATES)
        candidates = _geometric_grid(largest) if candidates is None else np.unique(np.minimum(candidates, largest))

        def score(problems, bandwidth, n_components, alpha):
            for h in bandwidth:
                trial = clone(kernel).set_params(n_components=int(n_components[-1]), bandwidth=h)
                Y = trial.fit_transform(sample.X, sample_weight=weights)
                scores.append(
                    least_squares.scores(Y, own, weights, n_components, self._features, SCORES["r2"], sample.folds)
                )
            return np.stack(scores, axis=1)

        known = _several_of_each_kind(own)
        if not known.any():
            return "scale"
        problems = Splits(known.astype(float), sample.bandwidth_ratio)
        found = search(problems, {"bandwidth": grid, "n_components": candidates, "alpha": least_squares.ALPHAS}, score)
        self._note(found, sample.n_samples)
        return float(found.params["bandwidth"])

    def _coordinates(self, kernel, X, embedding):
        """A function of row numbers that returns the rows' coordinates, which are kept in memory unless landmarks
        replace the samples.
        """
        if kernel.kernel_ == "gaussian" and len(kernel.X_fit_) < len(X):
            return lambda rows: kernel._embedded(X[rows], any_length=self.normalize)
        return embedding().__getitem__

    def _least_squares(self, kernel, coordinates, data, candidates):
        """For each problem, the number of components and the fitted classifier, with the candidate and ridge that are
        best by leave-one-out of at most `MANY` samples.
        """
        first, group = data.copies  # copies are left out together
        targets, weights = data.classes[data.codes[first]], np.bincount(group, data.weights)
        some = slice(MANY)  # the samples are in random order
        Y, score = coordinates(first[some]), SCORES["r2" if self.scoring == "auto" else self.scoring]
        groups = None if data.groups is None else data.groups[first[some]]
        scores = least_squares.scores(Y, targets[some], weights[some], candidates, self._features, score, groups)
        known = _several_of_each_kind(targets[some])
        if known.any() and not hasattr(self, "cv_results_"):
            grid = {"n_components": candidates, "alpha": least_squares.ALPHAS}
            found = search(Splits(known.astype(float)), grid, lambda problems, **grid: scores)
            self._note(found, len(Y))
        scores[~known] = np.where(candidates == candidates[-1], 0.0, np.nan)[:, None]
        best = [best_candidate(of_one) for of_one in scores]

        chosen = candidates[[i for i, _ in best]]
        kernel._truncate(int(chosen.max()))
        paths = {k: least_squares.RidgePath() for k in chosen}
        for rows in gen_batches(len(first), BLOCK):
            Y = coordinates(first[rows])
            for k, path in paths.items():
                path.add(self._features(Y, k), targets[rows], weights[rows])
        paths = {k: path.solved() for k, path in paths.items()}
        machines = [
            paths[k].machine(j, least_squares.ALPHAS[a]) for j, (k, (_, a)) in enumerate(zip(chosen, best, strict=True))
        ]
        return chosen, machines

    def _train(self, Y, data, candidates, seed):
        """For each problem, the number of components chosen by cross-validation, and the fitted estimator."""
        if self.scoring == "r2":
            raise ValueError("scoring='r2' needs least squares, estimator=None and dense X: use 'f1' or 'accuracy'.")
        targets = data.classes[data.codes]
        chosen = np.full(targets.shape[1], candidates[-1])
        if len(candidates) > 1:
            scores = self._cross_validate(Y, targets.T, data, candidates, seed)
            known = ~np.isnan(scores[:, 0])
            if known.any():
                problems = Splits(known.astype(float))
                found = search(problems, {"n_components": candidates}, lambda problems, n_components: scores)
                self._note(found, len(Y))
            chosen[known] = [candidates[best_candidate(row)[0]] for row in scores[known]]
        features = {k: self._features(Y, k) for k in np.unique(chosen)}
        fit = fit_tight_tolerance if self.estimator is None else fit_binary
        machines = Parallel(n_jobs=self.n_jobs)(
            delayed(fit)(self._binary_estimator(features[k], data.weights, seed), features[k], target, data.weights)
            for k, target in zip(chosen, targets.T, strict=True)
        )
        return chosen, machines

    def decision_function(self, X: Any) -> Array:
        """Score the classes; a score is positive if the classifier of the class accepts the query.

        Parameters
        ----------
        X : {array-like, sparse matrix, sparse array} of shape (n_queries, n_features)
            Queries; similarities to the training samples, (n_queries, n_samples), with the precomputed kernel.

        Returns
        -------
        scores : ndarray of shape (n_queries,) or (n_queries, n_classes)
            With two classes, one score for each query; otherwise, one for each query and class (or label).
        """
        X = self._queries(X)
        Y = self.spectral_kernel_._embed(X, any_length=self.normalize)
        features = {k: self._features(Y, k) for k in np.unique(self.n_components_)}
        scores = np.column_stack(
            [decisions(e, features[k]) for e, k in zip(self.estimators_, self.n_components_, strict=True)]
        )
        return scores[:, 0] if len(self.estimators_) == 1 and not self.multilabel_ else scores

    def predict(self, X: Any) -> Array:
        """Predict the best class of each query, or its set of labels.

        Parameters
        ----------
        X : {array-like, sparse matrix, sparse array} of shape (n_queries, n_features)
            Queries, as for `decision_function`.

        Returns
        -------
        y : ndarray of shape (n_queries,) or (n_queries, n_labels)
            Labels, in the dtype of `classes_`; for a multilabel target, indicators 0 or 1.
        """
        scores = self.decision_function(X)
        if self.multilabel_:
            return (scores > 0).astype(int)
        return self.classes_[(scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)]

    def _candidates(self):
        """The numbers of components given by the user, ascending; None for the default grid."""
        if isinstance(self.n_components, str):
            return None
        candidates = np.atleast_1d(self.n_components)
        valid = candidates.ndim == 1 and candidates.size and candidates.dtype.kind in "iu"
        if not valid or candidates.min() < 1:
            raise ValueError(f"n_components must be 'cv' or positive integers, got {self.n_components!r}.")
        return np.unique(candidates)

    def _features(self, Y, k):
        return normalize(Y[:, :k]) if self.normalize else Y[:, :k]

    def _binary_estimator(self, features, weights, seed):
        return linear_svm(features, seed, weights) if self.estimator is None else clone(self.estimator)

    def _cross_validate(self, Y, targets, data, candidates, seed):
        """Scores of the out-of-fold predictions, (n_problems, n_candidates)."""
        folds = [self._folds(target, data, seed) for target in targets]
        score = SCORES["f1" if self.scoring == "auto" else self.scoring]
        scores = []
        for k in candidates:
            features = self._features(Y, k)
            estimator = self._binary_estimator(features, data.weights, seed)
            scores.append(
                Parallel(n_jobs=self.n_jobs)(
                    delayed(score_folds)(estimator, features, target, data.weights, of_target, score)
                    for target, of_target in zip(targets, folds, strict=True)
                )
            )
        return np.transpose(scores)

    def _folds(self, target, data, seed):
        """Fold of each sample; None if either side of the binary target has fewer than two samples."""
        if data.groups is not None or not isinstance(self.cv, Integral | str):
            given = target
            if data.kept is not None:
                given = np.zeros(len(data.y), dtype=bool)
                given[data.kept] = target
            return check_folds(self.cv, data._replace(codes=target.astype(int), y=given), seed)
        fewest = min(target.sum(), (~target).sum())
        n_folds = len(target) if self.cv == "loo" else min(self.cv, fewest)
        return shuffled_ranks(target.astype(int), data.keys(seed)) % n_folds if fewest > 1 else None

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        kernel = SpectralKernel(weighting=self.weighting, kernel=self.kernel, bandwidth=self.bandwidth, rank=self.rank)
        tags.input_tags = kernel.__sklearn_tags__().input_tags
        tags.classifier_tags.multi_label = True
        # Rows of unit length retain only the angle, so with two features, as in scikit-learn's checks, the linear
        # kernel classifies poorly.
        tags.classifier_tags.poor_score = self.kernel == "linear"
        return tags


def _geometric_grid(largest):
    """Numbers of components from 2 to `largest`, each about twice the previous one."""
    halvings = np.arange(round(np.log2(max(largest / 2, 1))) + 1)
    return np.unique(np.maximum(np.round(largest / 2.0**halvings), 2).astype(int))


def _several_of_each_kind(targets):
    """Mask of the problems with at least two positive and two negative samples, which validation needs."""
    yes = targets.sum(axis=0)
    return (yes > 1) & (len(targets) - yes > 1)
