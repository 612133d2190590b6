"""The fitted estimator within a pipeline, a search or another wrapper."""

from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted


def within(estimator):
    """The fitted estimator that predicts, and the fitted transformers before it.

    A search is replaced by its best estimator, a pipeline by its last step, and a frozen estimator by its content.

    Returns
    -------
    model : estimator
    steps : list of transformers
        The model takes ``mapped(steps, X)``.

    Raises
    ------
    AttributeError
        For a search with ``refit=False``.
    sklearn.exceptions.NotFittedError
        Before `fit`.
    """
    steps = []
    while True:
        if isinstance(estimator, Pipeline):
            check_is_fitted(estimator)
            steps += [step for _, step in estimator.steps[:-1] if step not in (None, "passthrough")]
            estimator = estimator.steps[-1][1]
        elif isinstance(estimator, FrozenEstimator):
            estimator = estimator.estimator
        elif hasattr(estimator, "best_estimator_"):
            estimator = estimator.best_estimator_
        elif hasattr(estimator, "best_params_"):
            kind = type(estimator).__name__
            raise AttributeError(f"This {kind} has no estimator fitted to all samples, because refit=False.")
        else:
            check_is_fitted(estimator)
            return estimator, steps


def mapped(steps, X):
    """The user's queries, transformed by the steps."""
    for step in steps:
        X = step.transform(X)
    return X


def names_after(steps, names):
    """List of the feature names after the steps; None if a step does not provide them."""
    for step in steps:
        try:
            names = list(step.get_feature_names_out(names))
        except (AttributeError, ValueError, NotImplementedError):
            names = None
    return names
