"""Whether all numbers share one scale, in which columns of larger spread count more, or each column has its own."""

import numpy as np
from sklearn.utils import check_random_state

from .folds import thin
from .held_out_loss import HeldOutLoss
from .spread import root_mean_square

# Of 100 000 rows of covertype 10 000 let each column have its scale (a gain of -.8 standard errors), 50 000 and 100 000
# let all share one (5.9, 5.6), which is worth four points of accuracy: near neighbors say it, and few points have none.
MOST_POINTS, MOST_VALIDATED = 100_000, 2000
FEW = 250  # validated samples that choose the bandwidth
ERRORS = 2.0  # standard errors by which the loss of one scale has to be less than that of several
ALIKE = 1.05  # scales of a smaller ratio are the same


def shared_scale(table, data, *, random_state=0, n_jobs=None):
    """The shared scale, if held-out labels are clearly more likely with it than with a scale for each column.

    Parameters
    ----------
    table : Table
    data : TrainingData
        Encoded by it, each column to standard deviation one.
    random_state, n_jobs : as of the estimator

    Returns
    -------
    float or None
        Root mean square of the columns' scales; None if each keeps its own, as in a table with categories.

    Notes
    -----
    Two passes over the pairs of 250 samples with at most 100 000, and two of 2000 with them for one bandwidth.
    """
    if table.has_categories:
        return None
    scales = np.array([number.scale for number in table.numbers])
    varies = np.nanmax(data.X, axis=0) > np.nanmin(data.X, axis=0)
    if np.count_nonzero(varies) < 2 or scales[varies].max() < ALIKE * scales[varies].min():
        return None
    shared = root_mean_square(scales[varies])
    sample = thin(data, MOST_POINTS, check_random_state(random_state))
    limits = {"most_points": MOST_POINTS, "most_validated": MOST_VALIDATED}
    losses = HeldOutLoss(sample, None, random_state=random_state, n_jobs=n_jobs, **limits)
    ratios = np.where(varies, scales / shared, 0.0).astype(losses.X.dtype)
    apart, together = (losses(X, losses.bandwidths(X), FEW) for X in (losses.X, losses.X * ratios))
    gain = losses.mean(apart - together)
    error = np.sqrt(losses.mean((apart - together - gain) ** 2) / len(apart))
    return shared if gain > ERRORS * error else None
