"""What is kept of the trials of an experiment."""

import numpy as np


def spread(values):
    """[mean, standard deviation]."""
    return [float(np.mean(values)), float(np.std(values, ddof=1)) if len(values) > 1 else 0.0]
