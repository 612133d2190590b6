"""The classifier that an inspection looks at, wherever the user has it."""

from .._estimator import within


def model_within(estimator):
    """The fitted estimator in a pipeline or search, and the steps before it; in memory, or a TypeError."""
    model, steps = within(estimator)
    if hasattr(model, "to_local"):
        raise TypeError("This takes an estimator and queries in memory: pass estimator.to_local().")
    return model, steps
