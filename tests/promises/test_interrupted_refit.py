"""A fit that is interrupted, early or at its last step, leaves a fitted estimator as it was."""

import inspect
import pickle
import sys

import numpy as np
import pytest
from every_estimator import make, names, problem, responses

X, y, Q = problem(d=2)
WIDER, _, _ = problem(d=3)


def calls(function, stop=None):
    """How many functions of the package are called; at number `stop` Ctrl-C is pressed.

    Generators do not count: Python ignores what is raised in one that nobody needs any more.
    """
    count = 0

    def watch(frame, event, argument):
        nonlocal count
        function = not frame.f_code.co_flags & inspect.CO_GENERATOR
        if event == "call" and function and "spectralcls" in frame.f_globals.get("__name__", ""):
            count += 1
            if count == stop:
                sys.setprofile(None)
                raise KeyboardInterrupt

    sys.setprofile(watch)
    try:
        function()
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", names())
def test_it_is_as_before(name):
    estimator = make(name, fixed=True).fit(X, y)
    before, state = responses(estimator, Q), pickle.dumps(vars(estimator))
    make(name, fixed=True).fit(WIDER, y)  # what is called once in a process is called here
    total = calls(lambda: make(name, fixed=True).fit(WIDER, y))
    first = calls(lambda: make(name, fixed=True))
    assert total > first
    for share in (0.1, 0.5, 0.9, 1.0):
        stop = max(1, int(share * (total - first)))
        with pytest.raises(KeyboardInterrupt):
            calls(lambda stop=stop: estimator.fit(WIDER, y), stop)
        assert pickle.dumps(vars(estimator)) == state, f"interrupted at call {stop} of {total}"
    after = responses(estimator, Q)
    for method, value in before.items():
        np.testing.assert_array_equal(after[method], value)
