"""Reports of the steps of a long fit, on stderr and to callbacks."""

from contextlib import contextmanager

from .._utils.from_sklearn import callback_management_context, fit_root
from .._utils.progress import progress


@contextmanager
def fit_steps(estimator, title, total):
    """Report the steps of a fit by :func:`progress`, if the estimator is verbose, and to scikit-learn's callbacks.

    Each step is a task of the fit. Callbacks get at most `total` tasks, which this context begins and ends.

    Parameters
    ----------
    estimator : estimator
        An estimator with `verbose` and the base class `CallbackSupport`.
    title : str
        Name of the fit.
    total : int
        Largest number of steps.

    Yields
    ------
    step : callable
        As in :func:`progress`.
    """
    with callback_management_context(estimator), progress(title, total, silent=not estimator.verbose) as step_done:
        root = fit_root(estimator, total)
        if root is None:
            yield step_done
            return
        root.call_on_fit_task_begin(estimator=estimator)
        running, begun = None, 0

        def step(what):
            nonlocal running, begun
            step_done(what)
            end()
            if begun < total:
                begun += 1
                running = root.subcontext(task_name=what or title).call_on_fit_task_begin(estimator=estimator)

        def end():
            nonlocal running
            if running is not None:
                running.call_on_fit_task_end(estimator=estimator)
                running = None

        yield step
        end()
        root.call_on_fit_task_end(estimator=estimator)
