"""The integrated-squared-error classifier: nearest class mean in feature space."""

from .._expansion import Rule
from ._base import KernelMeanClassifier


class ISEClassifier(KernelMeanClassifier):
    """Nearest class mean in the kernel's feature space: the integrated-squared-error classifier.

    A query goes to the class with the largest ``2 p_c(y) - V_c``, p_c the Parzen density estimate of the class and V_c
    its information potential, the integral of p_c^2, which is the squared norm of the kernel mean. That is the class
    whose mean in feature space is nearest. Far from all data the densities vanish and the squared norms decide: the
    most spread-out class wins.

    Parameters
    ----------
    %(bandwidth)s
    %(kernel)s
    %(potential)s
    %(metric)s
    %(categorical_features)s
    %(scale)s
    %(cv)s
    %(scoring)s
    %(bandwidth_grid)s
    %(max_tuning_samples)s
        Here the subsample is validated against all points of the other folds, so that nothing is scaled.
    %(tolerance)s
        The terms ``2 p_c(y)`` of a query are off by at most ``tolerance`` times their sum over the classes all
        together, and the squared norms by that share of each.
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
    %(n_features_in_)s

    See Also
    --------
    LaplacianISEClassifier : The same with training points weighted by 1/f.
    ParzenClassifier : The Bayes rule with the same density estimates.

    Notes
    -----
    Fitting with a given bandwidth takes one pass over the pairs within classes; tuning one pass over the pairs
    of at most `max_tuning_samples` points with all; predicting one over the m n pairs. Memory beyond the data is
    O(n + m).

    References
    ----------
    .. [1] O. K. Storås, "Information Theoretic Learning for Pattern Classification", Master's thesis, University of
       Tromsø, 2007, chapter 5.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from spectralcls import ISEClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> ISEClassifier(bandwidth=0.5).fit(X, y).predict(X[:2])
    array([0, 0])
    """

    def __init__(
        self,
        bandwidth="cv",
        *,
        kernel="gaussian",
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
        return Rule("distance", None, self.potential)
