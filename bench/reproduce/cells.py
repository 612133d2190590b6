"""Cells: named computations that run in parallel. Their results are kept in a JSON file, so that a rerun continues."""

import hashlib
import importlib
import json
import os
import re
import time
import warnings
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from joblib import Parallel, delayed, parallel_config
from sklearn.exceptions import ConvergenceWarning

from spectralcls._utils.progress import progress

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
        arguments = dict(self.arguments)
        return next((arguments[name] for name in ("trials", "draws", "splits") if name in arguments), 1)

    def compute(self, source):
        module, name = self.function.rsplit(".", 1)
        function = getattr(importlib.import_module(f"{__package__}.{module}"), name)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            warnings.simplefilter("ignore", UserWarning)
            return function(source, **dict(self.arguments))


def cell(function, weight=1.0, **arguments):
    return Cell(function, tuple(sorted(arguments.items())), weight)


class Store:
    """Finished cells in a JSON file: {key: {"value": ..., "seconds": ..., "code": ...}}.

    A cell is finished only for the code that computed it: `code` is a digest of its module and of the modules of this
    package that it imports.
    """

    def __init__(self, path):
        self.path = Path(path)
        self.cells = {}
        if self.path.exists():
            found = json.loads(self.path.read_text(encoding="utf-8"))
            self.cells = {key: kept for key, kept in found.items() if kept.get("code") == code_digest(key)}
        self.failures = {}

    def __contains__(self, wanted):
        return wanted.key in self.cells

    def value(self, wanted):
        """The result of a cell, or None."""
        return self.cells[wanted.key]["value"] if wanted in self else None

    def seconds(self, wanted):
        return self.cells[wanted.key]["seconds"] if wanted in self else 0.0

    def failure(self, wanted):
        """The reason why there is no result, or None."""
        return self.failures.get(wanted.key)

    def keep(self, key, value, seconds):
        self.cells[key] = {"value": value, "seconds": seconds, "code": code_digest(key)}
        temporary = self.path.with_suffix(".tmp")
        temporary.write_text(json.dumps(self.cells, indent=0), encoding="utf-8")
        os.replace(temporary, self.path)


@cache
def _siblings(module):
    """The modules of this package that a module imports directly or indirectly, including itself and `data`."""
    found, todo = set(), {module, "data"}
    while todo:
        name = todo.pop()
        path = Path(__file__).parent / f"{name}.py"
        if name not in found and path.exists():
            found.add(name)
            todo |= set(re.findall(r"^from \.(\w+) import", path.read_text(encoding="utf-8"), re.MULTILINE))
            todo |= set(re.findall(r"^from \. import (\w+)", path.read_text(encoding="utf-8"), re.MULTILINE))
    return sorted(found)


@cache
def code_digest(key):
    """Digest of the modules that compute a cell. Changes to tables and pages do not affect it."""
    files = [Path(__file__).parent / f"{name}.py" for name in _siblings(key.split(".", 1)[0])]
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()[:12]


def run(cells, store, source, *, jobs, silent=False):
    """Compute the cells that are not in the store, longest first. Failures are recorded, and the others continue."""
    todo = sorted({c.key: c for c in cells if c not in store}.values(), key=lambda c: -c.weight)
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
                store.keep(key, value, seconds)
            else:
                store.failures[key] = failure
            step(f"{key}: {f'{seconds:.0f} s' if failure is None else failure}")


def _attempt(wanted, source):
    start = time.perf_counter()
    try:
        value, failure = wanted.compute(source), None
    except MissingData as missing:
        value, failure = None, str(missing)
    except Exception as error:  # one failure must not stop the other cells; the page names it
        value, failure = None, f"failed: {type(error).__name__}: {error}"
    return wanted.key, value, time.perf_counter() - start, failure
