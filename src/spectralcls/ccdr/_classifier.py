"""CCDR followed by any classifier."""

from numbers import Integral, Real

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, _fit_context, clone
from sklearn.neighbors import KNeighborsClassifier
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from ..neighbors import ALGORITHMS
from ._ccdr import CCDR
from ._extension import EXTENSIONS
from ._labels import encode_partial
from ._tuning import tune

BETAS = (0.05, 0.5, 5.0)
N_NEIGHBORS = (3, 5, 8)
N_COMPONENTS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16)


def _final_has(method):
    def check(self):
        getattr(self.estimator_ if hasattr(self, "estimator_") else self._final(), method)
        return True

    return available_if(check)


class CCDRClassifier(ClassifierMixin, BaseEstimator):
    """Classify in the embedding of `CCDR`.

    Parameters
    ----------
    estimator : classifier or None, default=None
        Trained on the embedded labelled points; None: ``KNeighborsClassifier()``.
    n_components : int, sequence of int or "cv", default="cv"
        Dimension of the embedding; of several the best is chosen by cross-validation, all from one
        decomposition. "cv": ten values from 1 to 16.
    beta : float, sequence of float or "cv", default="cv"
        Weight of the geometry against the labels, see `CCDR`. "cv": 0.05, 0.5 and 5.
    n_neighbors : int, sequence of int or "cv", default=4
        Neighbours in the graph. "cv": 3, 5 and 8.
    cv : int, default=3
        Stratified folds. Held-out points are embedded out of sample; above 5 000 points the choice is made on
        a stratified subsample of that size.
    weights, epsilon, extension, max_samples, n_subsamples, algorithm, n_jobs
        As in `CCDR`.
    random_state : int, RandomState or None, default=None
        Deals out the folds and draws subsamples.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    ccdr_ : CCDR
        The fitted embedding.
    estimator_ : classifier
        Fitted on ``ccdr_.embedding_`` of the labelled points.
    beta_, n_neighbors_, n_components_ : float, int, int
        The values in use.
    cv_scores_ : ndarray of shape (n_beta, n_n_neighbors, n_n_components) or None
        Accuracy of every candidate; None where there was nothing to choose.

    References
    ----------
    R. Raich, J. A. Costa, S. B. Damelin, A. O. Hero III, "Classification constrained dimensionality
    reduction".
    """

    _parameter_constraints: dict = {
        "estimator": [None, HasMethods(["fit", "predict"])],
        "n_components": [Interval(Integral, 1, None, closed="left"), "array-like", StrOptions({"cv"})],
        "beta": [Interval(Real, 0, None, closed="left"), "array-like", StrOptions({"cv"})],
        "n_neighbors": [Interval(Integral, 1, None, closed="left"), "array-like", StrOptions({"cv"})],
        "cv": [Interval(Integral, 2, None, closed="left")],
        "weights": [StrOptions({"heat", "binary"})],
        "epsilon": [None, Interval(Real, 0, None, closed="neither")],
        "extension": [StrOptions(set(EXTENSIONS))],
        "max_samples": [None, Interval(Integral, 2, None, closed="left")],
        "n_subsamples": [Interval(Integral, 1, None, closed="left")],
        "algorithm": [StrOptions(set(ALGORITHMS))],
        "random_state": ["random_state"],
        "n_jobs": [None, Integral],
    }

    def __init__(
        self,
        estimator=None,
        *,
        n_components="cv",
        beta="cv",
        n_neighbors=4,
        cv=3,
        weights="heat",
        epsilon=None,
        extension="symmetric",
        max_samples=None,
        n_subsamples=5,
        algorithm="auto",
        random_state=None,
        n_jobs=None,
    ):
        self.estimator = estimator
        self.n_components = n_components
        self.beta = beta
        self.n_neighbors = n_neighbors
        self.cv = cv
        self.weights = weights
        self.epsilon = epsilon
        self.extension = extension
        self.max_samples = max_samples
        self.n_subsamples = n_subsamples
        self.algorithm = algorithm
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _final(self):
        return KNeighborsClassifier() if self.estimator is None else self.estimator

    def _candidates(self, largest):
        """Values to choose from, by name."""
        given = {
            "beta": BETAS if isinstance(self.beta, str) else np.atleast_1d(self.beta).tolist(),
            "n_neighbors": N_NEIGHBORS
            if isinstance(self.n_neighbors, str)
            else np.atleast_1d(self.n_neighbors).tolist(),
            "n_components": np.atleast_1d(self.n_components).tolist(),
        }
        if isinstance(self.n_components, str):
            given["n_components"] = [m for m in N_COMPONENTS if m <= max(largest, 1)]
        for name, values in given.items():
            if not values:
                raise ValueError(f"{name} is empty: give at least one value.")
        return given

    @_fit_context(prefer_skip_nested_validation=False)
    def fit(self, X, y):
        """Embed the points, labelled or not, and train the classifier on the labelled ones.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Labels; -1 marks unlabelled points, except where y holds exactly the labels -1 and 1.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If no point is labelled, or where `CCDR.fit` does.
        """
        X, y = validate_data(self, X, y, dtype=[np.float64, np.float32], order="C", ensure_min_samples=2)
        classes, codes = encode_partial(y)
        if not len(classes):
            raise ValueError("no point is labelled (every label is -1): a classifier needs labels.")
        random = check_random_state(self.random_state)
        candidates = self._candidates(len(X) + len(classes) - 2)
        best, scores = {name: values[0] for name, values in candidates.items()}, None
        ccdr = CCDR(
            weights=self.weights,
            epsilon=self.epsilon,
            extension=self.extension,
            max_samples=self.max_samples,
            n_subsamples=self.n_subsamples,
            algorithm=self.algorithm,
            random_state=random,
            n_jobs=self.n_jobs,
        )
        if any(len(values) > 1 for values in candidates.values()):
            best, scores = tune(ccdr, self._final(), X, codes, candidates, self.cv, random)
        ccdr.set_params(**best).fit(X, y)
        labelled = codes >= 0
        estimator = clone(self._final()).fit(ccdr.embedding_[labelled], y[labelled])
        self.classes_, self.ccdr_, self.estimator_, self.cv_scores_ = classes, ccdr, estimator, scores
        self.beta_, self.n_neighbors_, self.n_components_ = (
            best["beta"],
            best["n_neighbors"],
            ccdr.n_components_,
        )
        return self

    def _embedded(self, X):
        check_is_fitted(self)
        X = validate_data(self, X, dtype=[np.float64, np.float32], order="C", reset=False)
        return self.ccdr_.transform(X)

    def predict(self, X):
        """Labels of X.

        Parameters
        ----------
        X : array-like of shape (m, n_features)

        Returns
        -------
        ndarray of shape (m,)
        """
        embedded = self._embedded(X)
        return self.estimator_.predict(embedded)

    @_final_has("predict_proba")
    def predict_proba(self, X):
        """Class probabilities, where the classifier has them; columns in the order of `classes_`."""
        embedded = self._embedded(X)
        return self.estimator_.predict_proba(embedded)

    @_final_has("decision_function")
    def decision_function(self, X):
        """Decision values, where the classifier has them."""
        embedded = self._embedded(X)
        return self.estimator_.decision_function(embedded)
