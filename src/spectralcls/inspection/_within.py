"""Find the classifier to inspect, including inside pipelines and searches."""

from .._estimator import within


def model_within(estimator):
    """The fitted estimator in a pipeline or search, and the steps before it; raises TypeError unless it is in
    memory."""
    model, steps = within(estimator)
    if hasattr(model, "to_local"):
        raise TypeError("This takes an estimator and queries in memory: pass estimator.to_local().")
    return model, steps
