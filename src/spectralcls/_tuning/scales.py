"""The choice between a scale for each column and one scale for all, with which columns of larger spread count more."""

import numpy as np
from sklearn.utils import check_random_state

from .folds import thin
from .held_out_loss import HeldOutLoss
from .spread import root_mean_square

# On covertype with 10 000 rows, one scale for all columns increases the log loss by .8 standard errors. With 50 000 and
# 100 000 rows, it reduces the loss by 5.9 and 5.6 standard errors and increases the accuracy by four percentage points,
# because only near neighbors show the gain.
MOST_POINTS, MOST_VALIDATED = 100_000, 2000
FEW = 250  # samples validated to choose the bandwidth
ERRORS = 2.0  # required reduction of the loss by one shared scale, in standard errors
ALIKE = 1.05  # scales with a smaller ratio count as equal


def shared_scale(table, data, *, random_state=0, n_jobs=None):
    """The shared scale, if held-out labels are clearly more likely with it than with a scale for each column.

    Parameters
    ----------
    table : Table
    data : TrainingData
        Training data encoded by the table, with standard deviation one in each column.
    random_state, n_jobs : as in the estimator

    Returns
    -------
    float or None
        Root mean square of the columns' scales. None if each column keeps its own, as in a table with categories.

    Notes
    -----
    Each of the two ways to scale takes one pass over the pairs of 250 validated samples and at most 100 000 samples for
    all bandwidths, and one pass for 2000 validated samples at the best bandwidth.
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
