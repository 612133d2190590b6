"""The PerTurbo classifier: the class whose kernel span a query perturbs least."""

from dataclasses import KW_ONLY
from functools import partial
from numbers import Real
from typing import Any, Literal, Self

import numpy as np
from sklearn.utils import check_random_state

from .._estimator import CONSTRAINTS, Classifier, fitted_in_memory, is_on_workers, transactional, with_parameters
from .._expansion.tree_cells import MANY
from .._inputs import refuse_collection
from .._inputs.inputs import n_rows
from .._inputs.missing import is_incomplete
from .._inputs.targets import check_more_labels, check_same_classes
from .._inputs.training_data import TrainingData, stack
from .._tuning import (
    candidate_bandwidths,
    check_grid,
    class_proportions,
    gathered,
    reference_of,
    ridge_grid,
    tuning_sample,
)
from .._utils.available import available_if
from .._utils.blocks import by_rows, in_memory
from .._utils.from_sklearn import Interval, StrOptions
from .._utils.typing import (
    Array,
    ArrayLike,
    CategoricalFeatures,
    ClassBandwidth,
    ClassWeight,
    CrossValidation,
    Metric,
    PositiveKernel,
    RandomState,
    Scale,
    Scoring,
)
from .._utils.validation import check_bandwidth
from ..metric import LearnedMap, fitted_map
from ._class_model import fit_class, together
from ._classes import asked, fit_classes
from ._explained import among_classes, deciding, log_explained, perturbation
from ._held_out_spans import judged
from ._kernel import KERNELS
from ._span import Regularization
from ._spans_left_out import SpansLeftOut, groups_left_out

# Samples of a class that explain a query if there are more than `MANY` samples. With 20 000 rows, parameters tuned for
# all samples, and 50, 100 and 200 nearest ones, the labels are those of all samples for 98.1, 98.3 and 98.4 % of the
# queries of a mixture, with accuracies of 90.7, 90.9 and 91.0 % (all samples: 91.1 %); and for 94.1, 96.2 and 97.2 % of
# those of covertype, with 82.5, 82.1 and 81.9 % (all: 80.8 %). 5000 queries of 5 classes take .8, 2.5 and 12 s. A
# low-rank factor with 2000 columns has 94.9 % of the labels and 79.8 % accuracy on covertype.
NEAREST = 100
MOST_CHOOSING = 20_000  # largest sample drawn from a collection to choose bandwidth and alpha


@with_parameters
class PerTurboClassifier(Classifier):
    """Classify by the least perturbation of a class's kernel span.

    Every class l is the span of its samples in the feature space of a kernel, by default the Gaussian
    ``k(x, y) = exp(-|x - y|^2 / (2 h^2))``. A query y perturbs it by the part of its image outside that span,

    ``tau_l(y) = 1 - k_l(y)^T K_l^-1 k_l(y)``, between 0 and 1,

    and is assigned to the class with the smallest tau (equations 8 to 10 of [1]_; h is their sigma). tau_l is also the
    posterior variance of a Gaussian process conditioned on the samples of the class.

    Parameters
    ----------
    bandwidth : {"cv", "cv_per_class", "silverman", "silverman_per_class"}, float or dict, default="cv"
        Radius h of the kernel. ``"cv"`` chooses the bandwidth by cross-validation, ``"silverman"`` uses the
        normal-reference rule for all samples, and ``"silverman_per_class"`` uses it for each class. ``"cv_per_class"``
        multiplies these class bandwidths by the best common factor; `cv_results_` then contains the corresponding
        bandwidths for all samples. A dict ``{label: h}`` gives one bandwidth for each class. The bandwidth is 1 if the
        data have no spread. Class-wise values need no normalization, since k(x, x) = 1 at every bandwidth.
    regularization : {"tikhonov", "truncate", None}, default="tikhonov"
        Treatment of K_l^-1, which may not exist.

        - "tikhonov" ("reg" in [1]_): (K_l + alpha I)^-1, equation 11.
        - "truncate" ("gle"): only the largest eigenvalues of K_l, see ``retained``.
        - None ("full"): K_l^-1 itself. If K_l is numerically singular, a pivoted factorization omits samples in the
          span of the others, which is equivalent to the pseudo-inverse, and a `LinAlgWarning` is issued.
    kernel : {"gaussian", "laplace"}, default="gaussian"
        "laplace" is ``exp(-|x - y| / h)``, which depends less on its bandwidth.
    alpha : float or "cv", default="cv"
        Tikhonov constant. "cv" chooses the value of ``alpha_grid`` with the best score.
    retained : float in (0, 1], default=0.95
        Share of the trace of K_l that a truncated spectrum keeps. Used only with ``regularization="truncate"``: 0.95 is
        the value of [1]_, and 1 keeps the whole spectrum, as ``regularization=None`` does. Change it to reproduce other
        truncations, such as those of `pRegul` in the authors' program.
    metric : {"whiten", "diagonal", "full"}, transformer or None, default=None
        Map of the coordinates, learned in `fit`: a :class:`~spectralcls.metric.KernelMetric` of this kind, or any
        transformer. A fitted transformer is used unchanged, but cloning undoes its fit unless it is in a
        :class:`sklearn.frozen.FrozenEstimator`. Bandwidths are in the units of the mapped points. None: no map.
    categorical_features : "from_dtype", array-like of bool, int or str, or None, default="from_dtype"
        Categorical columns, as a mask, positions or names. ``"from_dtype"`` means the columns of a data frame that do
        not hold numbers. All levels of a category have the same distance from each other; the levels of an ordered
        category are represented by their ranks. The distance is tuned for each column together with the bandwidth; it
        is 0 for an uninformative category.
    scale : "auto" or None, default="auto"
        ``"auto"`` scales each column of numbers to mean 0 and standard deviation 1, estimated robustly if there are
        outliers or rare values; columns of spread 1 stay unchanged. With labels and a bandwidth to tune, all columns
        are divided by one number instead if this makes held-out labels clearly more likely; `scale_` is then "shared"
        instead of "each". Scales are learned once, in `fit` or the first `partial_fit`, and bandwidths are in these
        units. None uses the numbers unchanged.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, which multiply the sample weights: ``{label: weight}``, or ``"balanced"`` for weights
        inversely proportional to the class frequencies. None means that all are one.
    cv : None, int, "loo", splitter or list of splits, default=None
        Folds that score "cv" values. None: leave-one-out, exact and in closed form, if `regularization` is "tikhonov"
        or None; 5 folds for "truncate", which has no closed form, and for incomplete points, whose missing values are
        filled in from the other folds. An int makes random stratified folds; copies of a row (of one class) are one
        point of greater weight.
    scoring : {"auto", "accuracy", "balanced_accuracy", "neg_log_loss"}, default="auto"
        Score to maximize on held-out points. ``"auto"`` chooses the least log loss among the candidates within half a
        standard error of the best accuracy.
    bandwidth_grid : array-like, default=None
        Bandwidths to try; by default :func:`~spectralcls.kernels.bandwidth_grid` of the training data.
    alpha_grid : array-like of positive numbers, default=None
        Candidates. None: 1e-6, 1e-5, ..., 1.
    max_tuning_samples : int or None, default=2000
        If there are more points, parameters are tuned on a random subsample of this size, stratified by class;
        `n_tuning_samples_` is the number used. A bandwidth tuned with m of n points is scaled to n points by the factor
        ``(m / n) ** (1 / (d + 4))``.
    rank : int or None, default=None
        Largest dimension of the span that represents a class: for each query, a class with more distinct samples than
        this is represented by the `rank` samples nearest to the query. None: all samples if all classes together have
        at most 20 000, otherwise 100. To use all samples anyway, give at least the number of samples.
    random_state : int, RandomState instance or None, default=0
        Seed of folds, subsamples, landmarks and starting vectors. With an int, a refit gives identical results.
    n_jobs : int or None, default=None
        Number of threads. None means all cores, unless joblib or threadpoolctl sets a lower limit. Factors of the
        classes use the threads of BLAS; tuning uses up to one thread per class.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    class_counts_ : ndarray of shape (n_classes,)
        Number of samples in each class.
    metric_ : transformer or None
        Fitted map in use.
    bandwidth_ : float or ndarray of shape (n_classes,)
        Bandwidth in use.
    alpha_ : float
        Tikhonov constant in use; 0 with another regularization.
    ranks_ : ndarray of shape (n_classes,)
        Dimensions of the spans that represent the classes.
    trace_residuals_ : ndarray of shape (n_classes,)
        How much of a sample the nearest samples leave unexplained: the mean, over samples of the class, of the tau of
        the sample by the `rank` nearest others, minus its tau by four times as many; 0 if all samples represent the
        class.
    cv_results_ : dict of str to ndarray
        Scores of all candidates, in the layout of :class:`sklearn.model_selection.GridSearchCV`: `params`, a column
        ``param_<name>`` for each parameter, `mean_test_score` (accuracy weighted by `sample_weight`, or the score that
        `scoring` names), `std_test_score`, `rank_test_score`, and ``split<k>_test_score`` for each fold. Only present
        if something was tuned. Of tied candidates, the middle one is chosen (the lower of two).
    best_score_ : float
        Mean test score of the chosen candidate. Only present if something was tuned.
    temperature_ : float
        `predict_proba` is the softmax of ``(1 - tau) / temperature_``. The temperature minimizes the log loss of the
        points held out in tuning. Only present if something was tuned.
    n_tuning_samples_ : int
        Number of (distinct) validated points. Only present if something was tuned.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of features. Only present if X has string names.

    Notes
    -----
    Everything is computed in float64, even for float32 input: a float32 Cholesky factorization may fail once the
    condition number exceeds about 1e8, and the condition number amplifies rounding errors. Labels of 2048 queries or
    more are the exception: float32 decides those whose margin exceeds a bound on its error, in half the time.

    A sample of weight w counts as w copies: its image is scaled by sqrt(w), which is equivalent to alpha / w at its
    diagonal entry.

    Cost: a fit takes n_l^2 d / 2 + n_l^3 / 6 multiply-adds for each class (truncated: 9 n_l^3), and a query takes n_l
    (d + n_l). No matrix is inverted: the Cholesky factor of a class replaces K_l in memory, and a block of queries
    takes one triangular solve. With the r nearest samples, a fit takes O(n_l d) memory and hardly any time, and a query
    takes a search for its neighbors and r^3 / 3 multiply-adds for each class. This span is smaller than that of all
    samples, so tau is larger, by about `trace_residuals_`.

    Each class completes a query as it completes its own samples, and scores the completed point. This approximation
    replaces a distribution by its expectation. The density-based classifiers integrate over all completions exactly.
    Here that is impossible: the integral of the completions' images has infinite norm, and its projection onto a span
    grows with the span.

    tau is not a density. Probabilities are the softmax of 1 - tau divided by a temperature, which minimizes the log
    loss of the points held out in tuning. Far from all samples they are equal, while `predict` still finds the nearest
    class.

    References
    ----------
    .. [1] N. Courty, T. Burger, J. Laurent, "PerTurbo: a new classification algorithm based on the spectrum
       perturbations of the Laplace-Beltrami operator", ECML PKDD 2011, LNCS 6911, pp. 359-374.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from spectralcls import PerTurboClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> PerTurboClassifier().fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.9
    True
    """

    bandwidth: ClassBandwidth = "cv"
    _: KW_ONLY
    regularization: Literal["tikhonov", "truncate"] | None = "tikhonov"
    kernel: PositiveKernel = "gaussian"
    alpha: Literal["cv"] | float = "cv"
    retained: float = 0.95
    metric: Metric = None
    categorical_features: CategoricalFeatures = "from_dtype"
    scale: Scale = "auto"
    class_weight: ClassWeight = None
    cv: CrossValidation = None
    scoring: Scoring = "auto"
    bandwidth_grid: ArrayLike | None = None
    alpha_grid: ArrayLike | None = None
    max_tuning_samples: int | None = 2000
    rank: int | None = None
    random_state: RandomState = 0
    n_jobs: int | None = None

    _parameter_constraints = {
        "bandwidth": [*CONSTRAINTS["bandwidth"], StrOptions({"cv_per_class"})],
        "regularization": [StrOptions({"tikhonov", "truncate"}), None],
        "kernel": [StrOptions(set(KERNELS))],
        "alpha": [Interval(Real, 0, None, closed="neither"), StrOptions({"cv"})],
        "retained": [Interval(Real, 0, 1, closed="right")],
        "cv": [*CONSTRAINTS["cv"], None],
        "alpha_grid": ["array-like", None],
    }
    _regularization_type = Regularization
    _searched = "bandwidth", "alpha"
    _features = _given = _completion = _groups = None
    _learns_on_workers = True
    metric_ = fitted_map

    @transactional
    def fit(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None, *, groups: ArrayLike | None = None
    ) -> Self:
        """Tune bandwidth and alpha if they are "cv", and factor every class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples; everything is computed in float64. A Dask array or data frame stays on the workers, each class on
            one of them. Predictions of Dask queries are then lazy, a task uses one thread unless `n_jobs` is greater,
            and `to_local` brings everything into memory.
        y : array-like of shape (n_samples,)
            Their labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights. Weight k is equivalent to k copies of the sample, weight 0 to leaving it out.
        groups : array-like of shape (n_samples,), default=None
            Group of each sample, such as a patient with several rows. Whatever leaves out samples, to choose
            parameters or to judge predictions, leaves out whole groups; what is promised then holds for new groups.

        Returns
        -------
        self : object
            The fitted classifier.

        Raises
        ------
        ValueError
            For invalid data, for a single class if something must be tuned, and (as `LinAlgError`) if alpha is too
            small for the factorization; the message names the class and the pivot.
        """
        self._samples = [(X, y, sample_weight)]
        if groups is not None:
            self._given_groups = groups
        self._learn_samples()
        if self._inputs.on_workers:
            del self._samples
        return self

    def _learn_samples(self, unlabeled=()):
        """Learn from the given samples; scales and levels also from `unlabeled` ones."""
        (X, *further), answers, weights = zip(*self._samples, strict=True)
        y, sample_weight, groups = answers[0], weights[0], vars(self).get("_given_groups")
        if further:
            if groups is not None:  # each further sample is left out alone
                codes = np.unique(groups, return_inverse=True)[1]
                groups = np.append(codes, len(codes) + np.arange(sum(map(len, answers[1:]))))
            y = np.concatenate([np.asarray(labels) for labels in answers])
            if any(some is not None for some in weights):
                pairs = zip(answers, weights, strict=True)
                sample_weight = np.concatenate([np.ones(len(of)) if some is None else some for of, some in pairs])
        self._inputs = self._inputs_for(X)
        options = {"at_least": 1, "further": further, "unlabeled": unlabeled}
        self._learn(self._inputs.fit(X, y, sample_weight, groups, **options))
        return self

    @transactional(keep=True)
    def _see(self, unlabeled):
        """Learn again, with scales and levels from the unlabeled samples too."""
        return self._learn_samples([unlabeled] if n_rows(unlabeled) else [])

    def _make_inputs(self):
        missing = "integrate" if self.metric is None else "complete"
        step = LearnedMap.of(self)
        options = {"copies_are_weights": True, "counts": self.regularization is not None}  # copies would be singular
        return super()._make_inputs(missing=missing, step=step, dtype=np.float64, **options)

    def _learn(self, data):
        self._choose(gathered(data, MOST_CHOOSING, check_random_state(self.random_state)))
        self._regularization = self._regularize(self.alpha_)
        self._features = data.features
        if data.groups is not None:
            self._groups = data.groups
        self._fit_classes(data)

    def _fit_classes(self, data):
        """Factor every class; points with missing values are completed, and kept in raw form for `partial_fit`."""
        fitted = fit_classes(
            data, self._bandwidths_of(data.classes), self._regularization, **self._options(data.X.shape[0])
        )
        self._given, self._completion = fitted.given, fitted.completion
        self._labels = data.classes[fitted.codes]
        self._set_models(data.classes, fitted.models)

    @available_if(fitted_in_memory)
    @transactional(keep=True)
    def partial_fit(
        self,
        X: Any,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Append labeled samples.

        Up to rounding, the result equals `fit` on all samples with the same bandwidth and alpha, if every part has the
        same number of copies for each distinct sample, because alpha refers to their mean weight. The first call is a
        `fit` and tunes metric, bandwidth and alpha as requested; later calls keep them. With a single class nothing can
        be tuned: Silverman's bandwidth and the middle alpha are used until a second class appears. Exact Cholesky
        factors ("tikhonov" and None) grow by O(n_l^2) operations per sample. Classes with a truncated spectrum are
        fitted again, and so are all classes if values are missing, because new points complete old ones. Classes
        represented by nearest samples only store the new ones. A new label adds a class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples; everything is computed in float64.
        y : array-like of shape (n_samples,)
            Their labels.
        classes : array-like of shape (n_classes,), default=None
            All labels that will ever occur, to be given in the first call: they are the `classes_` from then on, and
            those without a sample have probability 0. None means that any label may appear in any call, and `classes_`
            are those seen so far.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights, as in `fit`.

        Returns
        -------
        self : object
            The fitted classifier.

        Raises
        ------
        ValueError
            As in `fit`; if the number of features has changed; for a label that is not among the classes; for a new
            class if ``bandwidth`` is class-wise. The classifier then stays unchanged.
        """
        refuse_collection(X, f"{type(self).__name__}.partial_fit")
        if not hasattr(self, "_models"):
            self._samples, self._waits = [], True
        if classes is not None:
            check_same_classes(classes, vars(self).get("_named", classes))
            self._named = np.unique(classes)
        return self._grow(X, y, sample_weight)

    def _grow(self, X, y, sample_weight=None, whitened=None):
        if "_named" in vars(self):
            check_more_labels(y, len(y), self._named)
        if "_samples" in vars(self):
            self._samples = [*self._samples, (X, y, sample_weight)]
        if vars(self).get("_waits"):
            return self._learn_samples()
        more = self._inputs.more(X, y, self.classes_, sample_weight, new_classes=True)
        if len(more.X) < len(y):  # samples of weight zero were dropped
            whitened = None
        return self._append(more.X, more.classes[more.codes], more.weights, whitened)

    @transactional(keep=True)
    def _label(self, X, y, whitened=None):
        """`partial_fit` for samples whose kernel values are known."""
        return self._grow(X, y, None, whitened)

    def _append(self, X, y, weights=None, whitened=None):
        """Append checked samples; ``whitened`` may hold U^-T k(points, X) of the single class concerned."""
        seen = self._seen
        classes = np.union1d(seen, y)
        of_class = self._bandwidths_of(classes)
        if self._groups is not None:
            self._groups = np.append(self._groups, self._groups.max() + 1 + np.arange(len(X)))
        if self._given is not None or is_incomplete(X):
            self._fit_classes(self._with(X, y, weights))
            return self
        known = dict(zip(seen, self._models, strict=True))
        self._labels = np.concatenate([self._labels, y])
        options, models = self._options(len(self._labels)), []
        for label, bandwidth in zip(classes, of_class, strict=True):
            own = y == label
            new, new_weights = X[own], None if weights is None else weights[own]
            model = known.get(label)
            samples = (new, new_weights) if model is None else stack((model.samples, model.weights), (new, new_weights))
            exact = options["rank"] is None or len(samples[0]) <= options["rank"]
            if model is not None and model.grows and exact:
                model = model.extended(new, new_weights, self.n_jobs, label, whitened) if len(new) else model
            elif model is None or len(new) or model.grows:
                X_own, own_weights = samples
                model = fit_class(X_own, float(bandwidth), self._regularization, own_weights, name=label, **options)
            models.append(model)
        self._completion = None
        self._set_models(classes, models)
        return self

    def _bandwidths_of(self, classes):
        """The bandwidths of classes (C,); those of a class-wise bandwidth are of all named classes, or of those seen
        when it was chosen.
        """
        if np.ndim(self.bandwidth_) == 0:
            return np.full(len(classes), self.bandwidth_)
        known = vars(self).get("_named", classes)
        if len(known) != len(self.bandwidth_):
            known = self._seen if hasattr(self, "_models") else classes
        lacking = np.setdiff1d(classes, known)
        if len(lacking):
            raise ValueError(f"A new class cannot be added to class-wise bandwidths: {lacking.tolist()} has none.")
        return self.bandwidth_[np.searchsorted(known, classes)]

    def _with(self, X, y, weights):
        """The training data with further samples, all in their original form."""
        before = self._given
        if before is None:
            rows, codes, old_weights = together(self._models)
            before = TrainingData(rows, codes, self._seen, old_weights, features=self._features)
        labels = np.concatenate([before.classes[before.codes], y])
        joined = before.append(TrainingData(X, y, before.classes, weights))
        classes, codes = np.unique(labels, return_inverse=True)
        return joined._replace(classes=classes, codes=codes)

    def _regularize(self, alpha):
        return self._regularization_type(self.regularization, alpha, self.retained)

    def _options(self, n):
        """Options of `fit_class` for n samples of all classes."""
        rank = NEAREST if self.rank is None and n > MANY else self.rank
        return {"rank": rank} | {name: getattr(self, name) for name in ("kernel", "random_state", "n_jobs")}

    def _set_models(self, classes, models):
        """Adopt the models of `classes`; classes named in `partial_fit` that have no samples get none."""
        self.classes_, self._models = np.union1d(classes, vars(self).get("_named", classes)), models
        counts, ranks, residuals = np.zeros((3, len(self.classes_)))
        summaries = [(model.samples.shape[0], model.rank, model.trace_residual) for model in models]
        own = np.searchsorted(self.classes_, classes)
        counts[own], ranks[own], residuals[own] = zip(*in_memory(summaries), strict=True)
        self.class_counts_, self.ranks_ = counts.astype(int), ranks.astype(int)
        self.trace_residuals_ = residuals

    @property
    def _seen(self):
        """The classes that have samples, in the order of `_models`."""
        return self.classes_[self.class_counts_ > 0]

    def _choose(self, data):
        """Set `bandwidth_` and `alpha_`, and the results of tuning if there were several candidates."""
        given, candidates = {}, {}
        for name, values in (("bandwidth", self._bandwidths(data)), ("alpha", self._alphas())):
            (candidates if self._is_tuned(name) else given)[name] = values
        chosen = {name: values[0] for name, values in given.items()}
        waits = bool(vars(self).pop("_waits", False) and candidates and len(data.classes) < 2)
        if waits:  # if there is no second class yet
            alphas = candidates.get("alpha", given.get("alpha"))
            chosen = {"bandwidth": reference_of(data, "silverman", self.kernel), "alpha": alphas[len(alphas) // 2]}
            self._waits = True
        elif candidates:
            if len(data.classes) < 2:
                raise ValueError(
                    "The data have a single class, and tuning needs more than one class: give numbers (or "
                    "'silverman') for bandwidth and alpha."
                )
            found = self._found(data, candidates, given)
            chosen |= found.params
            if self.bandwidth == "cv_per_class":
                chosen["bandwidth"] = chosen["bandwidth"] * self._proportions(data)
        self.bandwidth_: float | Array = (
            chosen["bandwidth"] if np.ndim(chosen["bandwidth"]) else float(chosen["bandwidth"])
        )
        self.alpha_ = float(chosen["alpha"])

    def _is_tuned(self, name):
        return super()._is_tuned(name) and (name == "bandwidth" or self.regularization == "tikhonov")

    def _found(self, data, candidates, given):
        exact = self.regularization != "truncate"
        if self.cv == "loo" and not exact:
            raise ValueError("cv='loo' has no closed form with regularization='truncate': use a number of folds.")
        cv = self.cv if self.cv is not None else "loo" if exact and not is_incomplete(data.X) else 5
        sample = tuning_sample(self, data, cv=cv)
        sample = sample._replace(weights=sample.weights * sample.weight_scale)  # alpha refers to a sample of weight one
        regularization = self._regularize(0.0)
        if self.regularization is None:  # the smallest regularization that double precision distinguishes from none
            regularization = self._regularization_type("tikhonov")
            given = given | {"alpha": [regularization.singular(len(sample.X))]}

        proportions = self._proportions(data) if self.bandwidth == "cv_per_class" else None

        def score(sample, **tried):
            values = given | tried
            bandwidths, options = values["bandwidth"], {"kernel": self.kernel}
            if proportions is not None:
                bandwidths = np.multiply.outer(bandwidths, proportions)
            judge = judged(sample, bandwidths, values["alpha"], regularization, self.scoring, self.n_jobs, **options)
            return judge.only(tuple(name in tried for name in ("bandwidth", "alpha"))).scored()

        return self._search(sample, candidates, score)

    def _bandwidths(self, data):
        """Candidate bandwidths. If the bandwidth is not tuned, there is one: a number, or a value for each class."""
        if not isinstance(self.bandwidth, str):
            return [check_bandwidth(self.bandwidth, vars(self).get("_named", data.classes))]
        if not self._is_tuned("bandwidth"):
            return [reference_of(data, self.bandwidth, self.kernel)]
        return candidate_bandwidths(self.bandwidth_grid, data, self.kernel)

    def _proportions(self, data):
        return class_proportions(data, self.kernel)

    def _alphas(self):
        if self.regularization != "tikhonov":
            return [0.0]
        if not isinstance(self.alpha, str):
            return [float(self.alpha)]
        return check_grid(ridge_grid(-6, 0) if self.alpha_grid is None else self.alpha_grid, "alpha_grid")

    def _asked(self, function, X, *options):
        queries = self._queries(X)  # first: raises NotFittedError before fit
        if not self.class_counts_.all():
            function = partial(among_classes, function, self.class_counts_ > 0)
        return asked(self._models, function, queries, self._completion, self._features, self.n_jobs, *options)

    def _log_explained(self, X, relative=True):
        return self._asked(log_explained, X, relative)

    @property
    def _without_leave_one_out(self):
        if self.regularization != "tikhonov":
            return "they need regularization='tikhonov', whose factor can leave out single samples."
        if not np.all(vars(self).get("class_counts_", 1)):
            return "a class that partial_fit named has no sample yet."
        models = () if is_on_workers(self) else vars(self).get("_models", ())
        if any(not model.grows for model in models):
            return "a class of which only the nearest samples explain a query cannot leave out one of all samples."
        if vars(self).get("_given") is not None:
            return "training points that lack values are completed by their own class; complete them before fit."
        return None

    def _leave_one_out(self):
        sample_of = np.argsort(np.searchsorted(self.classes_, self._labels), kind="stable")
        order, options = np.argsort(sample_of), (self._models, self.class_weight is not None)
        if self._groups is None:
            return SpansLeftOut(*options, order)
        return groups_left_out(*options, order, self._groups[sample_of], self.n_jobs)

    def _evidence(self, X):
        """Scores for probabilities: the shares, since their logarithms are too confident far from all samples."""
        scores = -self.perturbation(X)
        return scores if self.class_counts_.all() else np.where(self.class_counts_ > 0, scores, -np.inf)

    def perturbation(self, X: Any) -> Array:
        """Perturbation tau_l(x) of every class by every query: equation 9 of the paper.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            Queries.

        Returns
        -------
        tau : ndarray of shape (n_queries, n_classes), float64
            In [0, 1]: up to the regularization, 0 for a sample of the class; 1 far from all of its samples.

        Notes
        -----
        A query costs O(n_l d + n_l^2) operations for each class of n_l samples, and O(r^3) with the r nearest samples;
        the other methods for queries cost the same.
        """
        return self._asked(perturbation, X)

    def decision_function(self, X: Any) -> Array:
        """Logarithm of 1 - tau_l(x), which is large if x perturbs the class little.

        1 - tau is the share of x's image that lies in the span of the class. Its logarithm distinguishes the classes
        even if every tau rounds to one: far from all samples the class of the nearest sample wins, even if shares are
        1e-1000 or below. If the bandwidth is so large that tau rounds to its limit alpha / (n_l + alpha), the remaining
        differences decide (the larger class, or for equal sizes the nearest mean). For such queries, the result is
        correct only up to a constant common to all classes.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            Queries.

        Returns
        -------
        scores : ndarray of shape (n_queries,) or (n_queries, n_classes), float64
            For two classes, the second score minus the first; for one class, its scores (n_queries,).
        """
        scores = self._log_explained(X)
        if len(self.classes_) > 2:
            return scores
        return scores[:, 0] if len(self.classes_) == 1 else scores[:, 1] - scores[:, 0]

    def predict(self, X: Any) -> Array:
        """Predict the class that each query perturbs least.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            Queries.

        Returns
        -------
        y : ndarray of shape (n_queries,)
            Labels, in the dtype of `classes_`.
        """
        scores = self._asked(deciding, X)
        return by_rows(scores.argmax(axis=1), self.classes_.take, dtype=self.classes_.dtype)

    def score_samples(self, X: Any) -> Array:
        """Score queries by how well the nearest class explains them: log(1 - min_l tau_l(x)).

        A novelty score, comparable between queries: it is low if x perturbs every class. Reject queries below a
        quantile of this score on samples that were not used in `fit` (training samples explain themselves).

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            Queries.

        Returns
        -------
        scores : ndarray of shape (n_queries,), float64
            At most 0.
        """
        return np.minimum(self._log_explained(X, relative=False).max(axis=1), 0.0)
