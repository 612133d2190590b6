"""The Laplacian ISE classifier: nearest class mean under 1/f weighting."""

from .._expansion import Rule
from .._utils.from_sklearn import StrOptions
from ._base import KernelMeanClassifier


class LaplacianISEClassifier(KernelMeanClassifier):
    """Nearest class mean in feature space, training points weighted by their inverse density.

    A query goes to the class with the largest ``2 <m_c, y>_f - |m_c|_f^2``. Dividing by the Parzen density f
    of all training points gives sparse regions, where classes meet, the same say as dense ones.

    Parameters
    ----------
    %(bandwidth)s
    %(kernel)s
    weighting : {"symmetric", "inverse"}, default="symmetric"
        ``"symmetric"``: ``<m_c, y>_f`` is ``f(y)^-1/2`` times the mean of ``f(x_i)^-1/2 k(y, x_i)`` over the class,
        the inner product in which the squared norm is taken; ``"inverse"``: the mean of ``f(x_i)^-1 k(y, x_i)``.
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
    ISEClassifier : The same without weighting.
    CauchySchwarzClassifier : Compares angles instead of distances.

    Notes
    -----
    Fitting with a given bandwidth takes a pass over the n^2 pairs (for f) and one over the pairs within
    classes; tuning further passes, because f depends on the fold; predicting one over the m n pairs. Memory
    beyond the data is O(n + m).

    References
    ----------
    .. [1] O. K. Storås, "Information Theoretic Learning for Pattern Classification", Master's thesis, University of
       Tromsø, 2007, chapter 6.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from spectralcls import LaplacianISEClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> LaplacianISEClassifier(bandwidth=0.5).fit(X, y).predict(X[:2])
    array([0, 0])
    """

    _parameter_constraints = {"weighting": [StrOptions({"symmetric", "inverse"})]}

    def __init__(
        self,
        bandwidth="cv",
        *,
        kernel="gaussian",
        weighting="symmetric",
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
        return Rule("distance", self.weighting, self.potential)
