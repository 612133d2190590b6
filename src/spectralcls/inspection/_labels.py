"""Doubtful labels."""

from typing import Any

import numpy as np
from scipy.special import logsumexp

from .._estimator import leave_one_out
from .._utils.typing import Array


def label_quality(estimator: Any) -> Array:
    """Probability of each training label by all other training points.

    A low value is a reason to look at the label again: the point lies among those of another class.

    Parameters
    ----------
    estimator : estimator
        A fitted classifier that has `predict_set`.

    Returns
    -------
    quality : ndarray of shape (n_samples,)
        Of the training samples of positive weight, in the order of `fit` and later `partial_fit`. NaN for a sample
        that no other one reaches (compact kernels), or that :class:`~spectralcls.AutoClassifier` never held out.

    Raises
    ------
    AttributeError
        If the classifier cannot leave out its training points in closed form.
    sklearn.exceptions.NotFittedError
        Before `fit`.

    Notes
    -----
    Kernel means give the share of a class in the class sums, kernel ridge regression its probability, PerTurbo the
    share of what the spans explain, `AutoClassifier` its vote for points that its members had not seen. Cost and
    memory are those of the first call of `predict_set`; both share the result.

    References
    ----------
    .. [1] C. Northcutt, L. Jiang, I. Chuang, "Confident Learning: Estimating Uncertainty in Dataset Labels", Journal of
       Artificial Intelligence Research 70, 2021, pp. 1373-1411.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from spectralcls import ParzenClassifier
    >>> from spectralcls.inspection import label_quality
    >>> X, y = load_iris(return_X_y=True)
    >>> y[7] = 2  # a setosa
    >>> int(label_quality(ParzenClassifier().fit(X, y)).argmin())
    7
    """
    points = leave_one_out(estimator)
    with np.errstate(invalid="ignore"):
        quality = np.exp(points.own - logsumexp(points.scores, axis=1))
    return quality if points.order is None else np.append(quality, np.nan)[points.order]
