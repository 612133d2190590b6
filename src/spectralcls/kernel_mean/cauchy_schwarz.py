"""The Cauchy-Schwarz classifier: smallest angle to a class mean in feature space."""

from sklearn.utils._param_validation import StrOptions

from .base import KernelMeanClassifier
from .rule import Rule


class CauchySchwarzClassifier(KernelMeanClassifier):
    """Class mean at the smallest angle in the kernel's feature space: the Cauchy-Schwarz classifier.

    A query goes to the class with the largest ``<m_c, y>_f / |m_c|_f``, the cosine of the angle between query
    and class mean up to a factor common to the classes. The thesis's tables call it "CS".

    Parameters
    ----------
    bandwidth : {"cv", "silverman", "silverman_per_class"}, float or array-like, default="cv"
        Radius h of the kernel. ``"cv"`` takes the bandwidth of the best cross-validated accuracy, at the cost
        of one pass over all pairs for the whole grid; ``"silverman"`` is the normal-reference rule for all
        samples, ``"silverman_per_class"`` for each class; an array has one value per class.
    kernel : {"gaussian", "epanechnikov", "uniform", "quartic", "triweight", "cosine"}, default="gaussian"
        All but the Gaussian vanish beyond the bandwidth.
    weighting : {"inverse", "symmetric"} or None, default="inverse"
        ``"inverse"``: a training point enters ``<m_c, y>_f`` with ``1/f(x_i)``, f the Parzen density of all
        training points; ``"symmetric"``: with ``f(x_i)^-1/2``; None: unweighted. (``f(y)`` is common to the
        classes.)
    potential : {"convolved", "same"}, default="convolved"
        Kernel of the pairs in the potential. ``"convolved"`` is the Gaussian of variance 2 h^2, with which
        the potential is the exact integral of the squared density estimate; ``"same"`` is the kernel of the
        class means, as always for the other kernels.
    cv : int, "loo", splitter or iterable of splits, default=5
        Folds of the cross-validation. An int makes random stratified folds, ``"loo"`` leaves out one point at
        a time; both treat copies of a row (of one class) as one point of greater weight, which is never
        validated against itself. The test sets of a splitter have to partition the samples.
    bandwidth_grid : array-like, default=None
        Bandwidths to try; by default :func:`~spectralcls.bandwidth.bandwidth_grid` of the training data.
    tie_break : {"middle", "smallest"}, default="middle"
        Which of several bandwidths with the best accuracy wins. Where classes are well separated a whole
        range ties; its middle is the safest choice. ``"smallest"`` is the usual reading of the thesis.
    max_tuning_samples : int or None, default=20000
        With more points than this, the bandwidth is tuned on a stratified random subsample of this size and
        then scaled by ``(m / n) ** (1 / (d + 4))``; without weighting the points of the subsample are
        validated against all others instead. `n_tuning_samples_` says how many points were validated.
    tolerance : float or None, default=None
        Allowed error of the kernel sums, in (0, 1); None: exact to rounding. With it the scores ``<m_c, y> /
        |m_c|`` of a query are off by at most ``((1 + t) / (1 - t))^1.5 - 1``, about 3 t, t the tolerance,
        times their sum over the classes all together (the sums, the densities f in them, and the norms). This
        holds for any data. Sub-quadratic sums are used where they are predicted to be faster, in low
        dimension and with compact kernels; tuning the bandwidth stays exact.
    random_state : int, RandomState instance or None, default=0
        Draws the folds and the subsample.
    n_jobs : int, default=None
        Threads; None means all cores unless joblib or threadpoolctl says otherwise.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    bandwidth_ : float or ndarray of shape (n_classes,)
        Bandwidth in use.
    bandwidth_grid_ : ndarray of shape (n_bandwidths,)
        Bandwidths tried, ascending. Only with ``bandwidth="cv"``, as the next two.
    cv_scores_ : ndarray of shape (n_bandwidths,)
        Cross-validated accuracy (weighted by `sample_weight`) of each.
    n_tuning_samples_ : int
        Number of (distinct) points validated.
    inverse_density_ : ndarray of shape (n_samples,)
        The learned sample weights 1/f(x_i), f the Parzen density of all training points in units of the
        kernel's normalising constant, for the training samples of positive weight.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features, where X has string names.

    See Also
    --------
    LaplacianISEClassifier : Compares distances instead of angles.

    Notes
    -----
    Fitting with a given bandwidth takes a pass over the n^2 pairs (for f) and one over the pairs within
    classes; tuning further passes, because f depends on the fold (one pass without weighting); predicting one
    over the m n pairs. Memory beyond the data is O(n + m).

    References
    ----------
    Thesis, the column "CS" of chapter 9 and its reference [12].

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from spectralcls.kernel_mean import CauchySchwarzClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> CauchySchwarzClassifier(bandwidth=0.5).fit(X, y).predict(X[:2])
    array([0, 0])
    """

    _parameter_constraints = KernelMeanClassifier._parameter_constraints | {
        "weighting": [StrOptions({"inverse", "symmetric"}), None],
        "potential": [StrOptions({"convolved", "same"})],
    }

    def __init__(
        self,
        bandwidth="cv",
        *,
        kernel="gaussian",
        weighting="inverse",
        potential="convolved",
        cv=5,
        bandwidth_grid=None,
        tie_break="middle",
        max_tuning_samples=20_000,
        tolerance=None,
        random_state=0,
        n_jobs=None,
    ):
        self.bandwidth = bandwidth
        self.kernel = kernel
        self.weighting = weighting
        self.potential = potential
        self.cv = cv
        self.bandwidth_grid = bandwidth_grid
        self.tie_break = tie_break
        self.max_tuning_samples = max_tuning_samples
        self.tolerance = tolerance
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _rule(self):
        return Rule("angle", self.weighting, self.potential)
