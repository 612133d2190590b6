"""Probabilities from scores, at a temperature that was learned on points held out in tuning."""

import numpy as np
from scipy.special import log_softmax
from sklearn.utils.metaestimators import available_if


def has_probabilities(estimator):
    """Whether a classifier learns the temperature of its scores, or else an AttributeError with the reason."""
    reason = estimator._without_probabilities
    if reason is not None:
        raise AttributeError(f"{type(estimator).__name__} has no probabilities: {reason}")
    return True


class Probabilities:
    """A classifier's probabilities: the softmax of ``_evidence(X)``, its scores, over `temperature_`, by default 1.

    `_searched` are the parameters whose search learns the temperature.
    """

    _searched: tuple[str, ...] = ("bandwidth",)

    @property
    def _without_probabilities(self):
        """None, or why there are none."""
        if any(map(self._is_tuned, self._searched)):
            return None
        return (
            "their temperature comes from held-out points, which are scored if the bandwidth is tuned. Take "
            'bandwidth="cv", for a known bandwidth h with bandwidth_grid=[h].'
        )

    @available_if(has_probabilities)
    def predict_log_proba(self, X):
        """Log probability of each class.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            Queries.

        Returns
        -------
        log_p : ndarray of shape (n_queries, n_classes)
            Finite, and accurate where the probability itself would underflow.

        Raises
        ------
        ValueError
            For queries with infinity, or of another number of features than in `fit`.
        sklearn.exceptions.NotFittedError
            Before `fit`.

        Notes
        -----
        The cost of `decision_function`.
        """
        return log_softmax(self._evidence(X) / vars(self).get("temperature_", 1.0), axis=1)

    @available_if(has_probabilities)
    def predict_proba(self, X):
        """Probability of each class.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            Queries.

        Returns
        -------
        p : ndarray of shape (n_queries, n_classes)
            Each row adds up to one: the softmax of the scores, over one temperature.

        Raises
        ------
        ValueError
            For queries with infinity, or of another number of features than in `fit`.
        sklearn.exceptions.NotFittedError
            Before `fit`.

        Notes
        -----
        The cost of `decision_function`.
        """
        return np.exp(self.predict_log_proba(X))
