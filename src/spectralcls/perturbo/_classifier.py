"""The PerTurbo classifier (Courty, Burger, Laurent: ECML PKDD 2011)."""

from numbers import Integral, Real

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from .._validation import check_bandwidth, check_positive
from ..bandwidth import bandwidth_grid, silverman_bandwidth
from ._class_model import Regularization, fit_class, log_explained
from ._tuning import choose

_ALPHAS = np.logspace(-6, 0, 7)


class PerTurboClassifier(ClassifierMixin, BaseEstimator):
    """Classify by the least perturbation of a class's kernel span.

    Every class l is the span of its samples in the feature space of the Gaussian kernel
    ``k(x, y) = exp(-|x - y|^2 / (2 h^2))``. A query y perturbs it by the part of its image outside that span,

    ``tau_l(y) = 1 - k_l(y)^T K_l^-1 k_l(y)``, between 0 and 1,

    and goes to the class of least tau (paper 003, equations 8 to 10; h is the paper's sigma). It is also the
    posterior variance of a Gaussian process that has seen the samples of the class.

    Parameters
    ----------
    bandwidth : "cv", "silverman", float or array-like of shape (n_classes,), default="cv"
        h, one for all classes or one for each in the order of ``classes_``; class-wise values need no
        normalisation, since k(x, x) = 1 at every bandwidth. "cv": the most accurate of ``bandwidth_grid``.
    regularization : {"tikhonov", "truncate", None}, default="tikhonov"
        What is done for K_l^-1, which may not exist.

        - "tikhonov" ("reg" in the paper): (K_l + alpha I)^-1, equation 11.
        - "truncate" ("gle"): only a part of the spectrum of K_l, see ``truncation``.
        - None ("full"): K_l^-1 itself. Where K_l is numerically singular a pivoted factorisation leaves out
          samples in the span of the others, which equals the pseudo-inverse, with a `LinAlgWarning`.
    alpha : float or "cv", default="cv"
        Tikhonov's constant. "cv": the most accurate of ``alpha_grid``.
    truncation : {"trace", "trace_inverse", "count"}, default="trace"
        Which eigenvalues are kept: the largest of K_l up to the share ``retained`` of its trace; the largest
        of K_l^-1 up to that share of *its* trace (the paper's words, worse than chance: they keep the noise);
        or the share ``retained`` of their number, largest first (the caption of the paper's figure 3).
    retained : float in (0, 1], default=0.95
    cv : None, "loo", int or splitter, default=None
        How "cv" values are scored. None: leave-one-out, exact and in closed form, for "tikhonov" and None, on
        2000 random samples if there are more; 5 stratified folds for "truncate", which has no closed form.
    bandwidth_grid, alpha_grid : array-like of positive numbers, default=None
        Candidates. None: 16 bandwidths around Silverman's rule, ratio 2 in h^2; 1e-6, 1e-5, ..., 1.
    max_tuning_samples : int or None, default=500
        Samples of one class that tuning uses at most. Above, it works on a stratified subsample of n' samples
        and multiplies the bandwidth that it chose by (n / n')^(-1 / (d + 4)); alpha is taken as it is.
    max_rank : int, default=None
        A class of more samples than this is represented by a partial Cholesky factor of this rank: O(n r)
        memory, O(n r^2) time. ``trace_residuals_`` says what is left out.
    tol : float in [0, 1), default=0.0
        If positive, every class is, up to this share of the trace of K_l left out.
    pivoting : {"random", "greedy"}, default="random"
        Pivots of the partial factor, see `spectralcls.lowrank.rpcholesky`.
    random_state : int, RandomState instance or None, default=0
        Folds, subsamples and random pivots.
    n_jobs : int, default=None
        Threads of the kernel evaluations; the linear algebra uses those of BLAS.

    Attributes
    ----------
    classes_ : (C,) labels, sorted
    class_counts_ : (C,) numbers of samples
    bandwidth_ : float, or (C,) array if class-wise
    alpha_ : float, 0 without Tikhonov
    ranks_ : (C,) dimensions of the spans that represent the classes
    trace_residuals_ : (C,) trace of K_l minus that of its partial factor; 0 for exact classes. It bounds the
        error of K_l in every norm.
    tuning_ : the accuracies over the grid (`bandwidths`, `alphas`, `scores`, `n_samples`), None where nothing
    was tuned
    n_features_in_, feature_names_in_ : as everywhere in scikit-learn

    Notes
    -----
    Everything is computed in float64, also for float32 input: a float32 Cholesky factor fails where the
    condition number exceeds 5e10, and small bandwidth errors are amplified by it.

    Fit costs n_l^2 d / 2 + n_l^3 / 3 per class (truncated: 9 n_l^3), a query n_l (d + n_l). Nothing is ever
    inverted: a class is a Cholesky factor made in the memory of K_l, a block of queries one triangular solve.

    There is no `predict_proba`: tau is not a density, and 1 - tau over the classes does not estimate
    frequencies. `CalibratedClassifierCV` makes probabilities from `decision_function`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from spectralcls.perturbo import PerTurboClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> PerTurboClassifier().fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.9
    True
    """

    _parameter_constraints = {
        "bandwidth": [
            Interval(Real, 0, None, closed="neither"),
            StrOptions({"cv", "silverman"}),
            "array-like",
        ],
        "regularization": [StrOptions({"tikhonov", "truncate"}), None],
        "alpha": [Interval(Real, 0, None, closed="neither"), StrOptions({"cv"})],
        "truncation": [StrOptions({"trace", "trace_inverse", "count"})],
        "retained": [Interval(Real, 0, 1, closed="right")],
        "cv": [Interval(Integral, 2, None, closed="left"), StrOptions({"loo"}), HasMethods(["split"]), None],
        "bandwidth_grid": ["array-like", None],
        "alpha_grid": ["array-like", None],
        "max_tuning_samples": [Interval(Integral, 2, None, closed="left"), None],
        "max_rank": [Interval(Integral, 1, None, closed="left"), None],
        "tol": [Interval(Real, 0, 1, closed="left")],
        "pivoting": [StrOptions({"random", "greedy"})],
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
    }

    def __init__(
        self,
        bandwidth="cv",
        *,
        regularization="tikhonov",
        alpha="cv",
        truncation="trace",
        retained=0.95,
        cv=None,
        bandwidth_grid=None,
        alpha_grid=None,
        max_tuning_samples=500,
        max_rank=None,
        tol=0.0,
        pivoting="random",
        random_state=0,
        n_jobs=None,
    ):
        self.bandwidth = bandwidth
        self.regularization = regularization
        self.alpha = alpha
        self.truncation = truncation
        self.retained = retained
        self.cv = cv
        self.bandwidth_grid = bandwidth_grid
        self.alpha_grid = alpha_grid
        self.max_tuning_samples = max_tuning_samples
        self.max_rank = max_rank
        self.tol = tol
        self.pivoting = pivoting
        self.random_state = random_state
        self.n_jobs = n_jobs

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y):
        """Choose bandwidth and alpha where they are "cv", and factor every class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)

        Returns
        -------
        self

        Raises
        ------
        ValueError
            For missing values, a single class where something has to be tuned, and (as `LinAlgError`) where
            alpha is too small for the factorisation; the message names the class and the pivot.
        """
        X, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        return self._fit(X, y)

    def _fit(self, X, y):
        classes, codes = np.unique(y, return_inverse=True)
        bandwidth, alpha, tuning = self._parameters(X, codes, len(classes))
        regularization = Regularization(self.regularization, alpha, self.truncation, self.retained)
        models = [
            self._fit_class(X[codes == c], h, regularization, classes[c])
            for c, h in enumerate(np.broadcast_to(bandwidth, len(classes)))
        ]
        self.bandwidth_, self.alpha_, self._regularization = bandwidth, alpha, regularization
        self._set_models(classes, models)
        self.tuning_ = tuning
        return self

    def _fit_class(self, X, bandwidth, regularization, label):
        return fit_class(
            X,
            float(bandwidth),
            regularization,
            max_rank=self.max_rank,
            tol=self.tol,
            pivoting=self.pivoting,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
            name=label,
        )

    def _set_models(self, classes, models):
        self.classes_, self._models = classes, models
        self.class_counts_ = np.array([len(model.samples) for model in models])
        self.ranks_ = np.array([model.rank for model in models])
        self.trace_residuals_ = np.array([model.trace_residual for model in models])

    def _parameters(self, X, codes, n_classes):
        """Bandwidth, alpha and the `Tuning` that chose them, or None where nothing was to be chosen."""
        bandwidths, alphas = self._candidates(X, n_classes)
        if len(bandwidths) == 1 and len(alphas) == 1:
            return bandwidths[0], alphas[0], None
        if n_classes < 2:
            raise ValueError(
                "The data have a single class, and tuning needs more than one class: give numbers (or "
                "'silverman') for bandwidth and alpha."
            )
        return choose(
            X,
            codes,
            bandwidths,
            alphas,
            Regularization(self.regularization, 0.0, self.truncation, self.retained),
            self.cv,
            self.max_tuning_samples,
            check_random_state(self.random_state),
            self.n_jobs,
        )

    def _candidates(self, X, n_classes):
        """Bandwidths and alphas to choose from; one where it is given."""
        if not isinstance(self.bandwidth, str):
            bandwidths = [check_bandwidth(self.bandwidth, n_classes)]
        elif self.bandwidth == "silverman":
            bandwidths = [silverman_bandwidth(X)]
        elif self.bandwidth_grid is None:
            bandwidths = bandwidth_grid(X)
        else:
            bandwidths = _checked_grid(self.bandwidth_grid, "bandwidth_grid")
        if self.regularization != "tikhonov":
            alphas = [0.0]
        elif not isinstance(self.alpha, str):
            alphas = [float(self.alpha)]
        else:
            alphas = _ALPHAS if self.alpha_grid is None else _checked_grid(self.alpha_grid, "alpha_grid")
        return bandwidths, alphas

    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X, y, classes=None):
        """Append labelled samples; to rounding it is `fit` on all samples with the same bandwidth and alpha.

        The first call is a `fit`, and chooses bandwidth and alpha where they are "cv"; later calls keep them.
        Exact Cholesky factors ("tikhonov" and None) grow by O(n_l^2) operations a sample; classes with a
        truncated spectrum or a partial factor are made anew. A label not seen before is a new class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        classes : ignored
            For the interface: classes may appear at any call.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            As `fit`; with another number of features than before; for a new class where ``bandwidth`` is
            class-wise. The classifier is then as it was before.
        """
        if not hasattr(self, "_models"):
            return self.fit(X, y)
        X, y = validate_data(self, X, y, dtype=np.float64, reset=False)
        check_classification_targets(y)
        return self._append(X, y)

    def _append(self, X, y, whitened=None):
        """Append checked samples; ``whitened`` may hold U^-T k(points, X) of the single class concerned."""
        if (y.dtype.kind in "OUS") != (self.classes_.dtype.kind in "OUS"):
            raise ValueError(f"y has labels of type {y.dtype}, the known classes of {self.classes_.dtype}.")
        classes = np.union1d(self.classes_, y)
        if len(classes) > len(self.classes_) and np.ndim(self.bandwidth_):
            raise ValueError(
                "A new class cannot be added to class-wise bandwidths: "
                f"{sorted(set(classes.tolist()) - set(self.classes_.tolist()))} has none."
            )
        known = dict(zip(self.classes_, zip(self._models, self._bandwidths(), strict=True), strict=True))
        models = []
        for label in classes:
            new = X[y == label]
            model, bandwidth = known.get(label, (None, self.bandwidth_))
            if model is None:
                model = self._fit_class(new, bandwidth, self._regularization, label)
            elif len(new) and model.grows and not self._is_large(len(model.samples) + len(new)):
                model = model.extended(new, self.n_jobs, label, whitened)
            elif len(new):
                both = np.concatenate([model.samples, new])
                model = self._fit_class(both, bandwidth, self._regularization, label)
            models.append(model)
        self._set_models(classes, models)
        return self

    def _bandwidths(self):
        return np.broadcast_to(self.bandwidth_, len(self.classes_))

    def _is_large(self, n):
        return self.tol > 0 or (self.max_rank is not None and n > self.max_rank)

    def _queries(self, X):
        check_is_fitted(self)
        return validate_data(self, X, dtype=np.float64, reset=False)

    def _log_explained(self, X, relative=True):
        X = self._queries(X)
        return log_explained(self._models, X, self.n_jobs, relative)

    def perturbation(self, X):
        """tau_l(x) for every query and class, (n_queries, n_classes), in [0, 1]: equation 9 of the paper."""
        X = self._queries(X)
        tau = np.stack([1 - model.explained(X, self.n_jobs) for model in self._models], axis=1)
        return np.clip(tau, 0.0, 1.0, out=tau)

    def decision_function(self, X):
        """log(1 - tau_l(x)): the larger, the less x perturbs the class.

        1 - tau is the share of x's image that lies in the span of the class. Its logarithm has the order of
        -tau, and keeps it where tau itself is all ones: far from every sample the class of the nearest sample
        wins, down to distances where the share is 1e-1000 and below. Where the bandwidth is so large that tau
        is its limit alpha / (n_l + alpha) to rounding, the differences that remain decide (the larger class,
        among equal ones the nearest mean); these rows are up to a constant that all classes share.

        Returns
        -------
        scores : (n_queries, n_classes); with two classes (n_queries,), the difference second minus first
        """
        scores = self._log_explained(X)
        if len(self.classes_) > 2:
            return scores
        return scores[:, 0] if len(self.classes_) == 1 else scores[:, 1] - scores[:, 0]

    def predict(self, X):
        """The class that each query perturbs least, (n_queries,)."""
        scores = self._log_explained(X)
        return self.classes_[scores.argmax(axis=1)]

    def score_samples(self, X):
        """How well the nearest class explains a query, (n_queries,): log(1 - min_l tau_l(x)), at most 0.

        Low where x perturbs every class: a novelty score, comparable between queries. A query is rejected
        below a quantile of this score on samples that were not used in `fit` (training samples explain
        themselves).
        """
        return np.minimum(self._log_explained(X, relative=False).max(axis=1), 0.0)


def _checked_grid(values, name):
    values = np.unique(np.asarray(values, dtype=np.float64))
    if not len(values):
        raise ValueError(f"{name} is empty.")
    check_positive(values, name)
    return values
