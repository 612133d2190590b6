"""Cells: named computations that run in parallel. Results are kept, so that a rerun at the same commit continues."""

import importlib
import time
import warnings
from dataclasses import dataclass, field

from joblib import Parallel, delayed, parallel_config
from sklearn.exceptions import ConvergenceWarning

from spectralcls._utils.progress import progress

from ..record import Record, commit
from .data import MissingData


@dataclass(frozen=True)
class Cell:
    """``function(source, **arguments)`` of a module of this package; equal cells are computed once.

    `function` is ``"module.name"``, and `arguments` is a tuple of (name, value) pairs, all of them JSON. `weight` is
    the approximate number of seconds, which determines only the order of work.
    """

    function: str
    arguments: tuple = ()
    weight: float = field(default=1.0, compare=False)

    @property
    def key(self):
        return f"{self.function}({', '.join(f'{name}={value!r}' for name, value in self.arguments)})"

    @property
    def trials(self):
        """Number of trials over which the results are averaged."""
        return dict(self.arguments).get("trials", 1)

    def compute(self, source):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            warnings.simplefilter("ignore", UserWarning)
            return function_of(self.function)(source, **dict(self.arguments))


def function_of(name):
    """The function ``"module.name"`` of this package."""
    module, name = name.rsplit(".", 1)
    return getattr(importlib.import_module(f"{__package__}.{module}"), name)


def cell(function, weight=1.0, **arguments):
    return Cell(function, tuple(sorted(arguments.items())), weight)


class Store:
    """The finished cells of this commit, in ``cells.json`` of a folder, and the reasons for those that failed."""

    def __init__(self, folder):
        self.record, self.failures = Record("cells", folder), {}
        self.record.begin("cells", {"commit": commit()}, fresh=True)

    def value(self, wanted):
        """The result of a cell, or None."""
        row = self.record.row("cells", wanted.key)
        return row and row["values"]

    def run(self, cells, source, jobs, silent=False):
        """Compute the cells that are not finished, longest first. Failures are noted, and the others continue."""
        todo = sorted({c.key: c for c in cells if self.value(c) is None}.values(), key=lambda c: -c.weight)
        if not todo:
            return
        with (
            progress("reproduce", len(todo), silent=silent) as step,
            parallel_config(backend="loky", inner_max_num_threads=1),
        ):
            step(todo[0].key)
            results = Parallel(n_jobs=jobs, return_as="generator_unordered")(delayed(_attempt)(c, source) for c in todo)
            for key, value, seconds, failure in results:
                if failure is None:
                    self.record.keep("cells", key, value, seconds)
                else:
                    self.failures[key] = failure
                step(f"{key}: {failure or f'{seconds:.0f} s'}")


def _attempt(wanted, source):
    start, value, failure = time.perf_counter(), None, None
    try:
        value = wanted.compute(source)
    except MissingData as missing:
        failure = str(missing)
    except Exception as error:  # one failure must not stop the other cells; the page names it
        failure = f"failed: {type(error).__name__}: {error}"
    return wanted.key, value, time.perf_counter() - start, failure
