"""The Cauchy-Schwarz classifier: smallest angle to a class mean in feature space."""

from .._expansion import Rule
from .._utils.from_sklearn import StrOptions
from ._base import KernelMeanClassifier


class CauchySchwarzClassifier(KernelMeanClassifier):
    """Class mean at the smallest angle in the kernel's feature space: the Cauchy-Schwarz classifier.

    A query goes to the class with the largest ``<m_c, y>_f / |m_c|_f``, the cosine of the angle between query
    and class mean up to a factor common to the classes.

    Parameters
    ----------
    %(bandwidth)s
    %(kernel)s
    weighting : {"inverse", "symmetric"} or None, default="inverse"
        A training point enters the class means with 1/f, with ``f^-1/2``, or with 1, f the Parzen density of all
        training points.
    %(potential)s
    %(metric)s
    %(categorical_features)s
    %(scale)s
    %(cv)s
    %(scoring)s
    %(bandwidth_grid)s
    %(max_tuning_samples)s
    %(tolerance)s
    %(random_state)s
    %(n_jobs)s

    Attributes
    ----------
    %(classes_)s
    %(metric_)s
    %(bandwidth_)s
    %(cv_results_)s
    %(best_score_)s
    %(n_tuning_samples_)s
    inverse_density_ : ndarray of shape (n_samples,)
        The learned sample weights 1/f(x_i), f the Parzen density of all training points in units of the
        kernel's normalizing constant, for the training samples of positive weight.
    %(n_features_in_)s

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
    .. [1] R. Jenssen, D. Erdogmus, J. C. Principe and T. Eltoft, "The Laplacian Classifier", IEEE Transactions on
       Signal Processing 55 (7), 2007, pp. 3262-3271.
    .. [2] R. Jenssen, J. C. Principe, D. Erdogmus and T. Eltoft, "The Cauchy-Schwarz divergence and Parzen windowing:
       Connections to graph theory and Mercer kernels", Journal of the Franklin Institute 343 (6), 2006, pp. 614-629.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from spectralcls import CauchySchwarzClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> CauchySchwarzClassifier(bandwidth=0.5).fit(X, y).predict(X[:2])
    array([0, 0])
    """

    _parameter_constraints = {"weighting": [StrOptions({"inverse", "symmetric"}), None]}

    def __init__(
        self,
        bandwidth="cv",
        *,
        kernel="gaussian",
        weighting="inverse",
        potential="convolved",
        metric=None,
        categorical_features="from_dtype",
        scale="auto",
        cv=5,
        scoring="auto",
        bandwidth_grid=None,
        max_tuning_samples=20_000,
        tolerance=None,
        random_state=0,
        n_jobs=None,
    ):
        self.bandwidth = bandwidth
        self.kernel = kernel
        self.weighting = weighting
        self.potential = potential
        self.metric = metric
        self.categorical_features = categorical_features
        self.scale = scale
        self.cv = cv
        self.scoring = scoring
        self.bandwidth_grid = bandwidth_grid
        self.max_tuning_samples = max_tuning_samples
        self.tolerance = tolerance
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _rule(self):
        return Rule("angle", self.weighting, self.potential)
