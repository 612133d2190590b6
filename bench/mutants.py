"""Mutants: small changes of formulas and constants, and the tests that should fail with each of them."""

import os
import shutil
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from .record import ROOT

SECONDS = 1200  # limit for the tests of one mutant


class Mutant(NamedTuple):
    """One replacement in a module of the package, and the tests to run, relative to ``tests``."""

    module: str
    old: str
    new: str
    tests: tuple[str, ...]


MUTANTS = {
    "bandwidth rule: exponent 1 / (d + 5)": Mutant(
        "kernels/_bandwidth.py",
        "d) * n)) ** (1 / (d + 4))",
        "d) * n)) ** (1 / (d + 5))",
        ("estimators/test_bandwidth.py",),
    ),
    "spread: reach / 1.35": Mutant("_tuning/spread.py", "REACH = 10.0", "REACH = 7.4", ("estimators/test_spread.py",)),
    "quantile at a weighted sum: no mean of two values": Mutant(
        "_utils/quantile.py",
        "(cumulated > wanted + near)",
        "(cumulated >= wanted - near)",
        ("estimators/test_quantile.py",),
    ),
    "shared scale: any gain is clear": Mutant(
        "_tuning/scales.py", "ERRORS = 2.0", "ERRORS = 0.0", ("estimators/test_shared_scale.py",)
    ),
    "rare values: 4 spreads away": Mutant(
        "_inputs/coordinates.py",
        "RARE = 3.0",
        "RARE = 4.0",
        ("estimators/test_gaps_that_say_something.py", "estimators/test_spread.py"),
    ),
    "completion: class mean weighs twice as much": Mutant(
        "_inputs/completion.py", "OF_MEAN = 1e-5", "OF_MEAN = 2e-5", ("estimators/test_constants_that_choose.py",)
    ),
    "factors of categories: no gain is required": Mutant(
        "_tuning/factors.py", "GAIN = 1e-3", "GAIN = 0.0", ("estimators/test_factors.py",)
    ),
    "near tie: one standard error": Mutant(
        "_tuning/search.py",
        "NEAR = 0.5",
        "NEAR = 1.0",
        ("estimators/test_search.py", "estimators/test_constants_that_choose.py"),
    ),
    "near tie: no least error": Mutant(
        "_tuning/search.py",
        "max(highest * (1 - highest), 1 / (4 * sample.n_effective))",
        "highest * (1 - highest)",
        ("estimators/test_judge.py", "estimators/test_search.py"),
    ),
    "temperature without weights": Mutant(
        "_tuning/judge.py",
        "best_temperature(scores, self.codes[self.kept], self.weights[self.kept])",
        "best_temperature(scores, self.codes[self.kept])",
        ("estimators/test_judge.py",),
    ),
    "sample weights: 2^120 is accepted": Mutant(
        "_utils/validation.py",
        "LARGEST_WEIGHT = 2.0**100",
        "LARGEST_WEIGHT = 2.0**120",
        ("docs/test_docs.py::test_the_limits_of_weights_are_those_of_the_package",),
    ),
    "certain labels: no slack for rounding": Mutant(
        "_expansion/certified_labels.py",
        "        2 * AGREEMENT[dtype],",
        "        0 * AGREEMENT[dtype],",
        ("estimators/test_labels.py",),
    ),
    "certain labels: no error of exponents": Mutant(
        "_expansion/certified_labels.py",
        "float(2 * ROUNDINGS * np.finfo(dtype).eps)",
        "0.0",
        ("estimators/test_labels.py",),
    ),
    "certain labels: nothing is missing": Mutant(
        "kernels/_bounds.py",
        "rtol * weights / weights.sum(axis=0)",
        "0 * weights",
        ("estimators/test_labels.py",),
    ),
    "spectrum: gaps of 1e-12 determine vectors": Mutant(
        "_expansion/spectrum.py", "_GAP = 1e-6", "_GAP = 1e-12", ("estimators/test_spectral.py",)
    ),
    "low rank: no floor for pivots": Mutant(
        "linalg/_low_rank.py",
        "floor = 1000 * np.finfo(X.dtype).eps * np.abs(diagonal)",
        "floor = 0 * np.abs(diagonal)",
        ("core/test_lowrank.py",),
    ),
    "PerTurbo far away: rho instead of rho^2": Mutant(
        "perturbo/_class_model.py",
        "rho**2 * self._mean_exponent",
        "rho * self._mean_exponent",
        ("estimators/test_perturbo.py",),
    ),
    "CCDR: eq. 20 without beta": Mutant(
        "ccdr/_extension.py", "np.where(labeled, beta, 1.0)", "np.ones(len(codes))", ("estimators/test_ccdr.py",)
    ),
    "outliers: one interquartile range": Mutant(
        "density/_outliers.py", "(0.25, 1.5)", "(0.25, 1.0)", ("estimators/test_density.py",)
    ),
    "shares of classes: no added query": Mutant(
        "inspection/_priors.py",
        "q = (n * q * gain + 1 / n_classes) / (n + 1)",
        "q = q * gain",
        ("estimators/test_inspection.py",),
    ),
    "comparison: training samples are not shared": Mutant(
        "cli/significance.py",
        "(1 / len(differences) + n_test / n_train)",
        "(1 / len(differences))",
        ("cli/test_report.py",),
    ),
}


@contextmanager
def applied(mutant):
    """A copy of the package with the mutant's change, in a temporary folder that is put on the path."""
    with TemporaryDirectory() as folder:
        source = Path(folder) / "src"
        shutil.copytree(ROOT / "src", source, ignore=shutil.ignore_patterns("__pycache__"))
        module = source / "spectralcls" / mutant.module
        text = module.read_text(encoding="utf-8")
        if text.count(mutant.old) != 1:
            raise ValueError(f"{mutant.module} has {mutant.old!r} {text.count(mutant.old)} times instead of once.")
        module.write_text(text.replace(mutant.old, mutant.new), encoding="utf-8")
        yield source


def first_failure(source, tests):
    """The first test that fails with the package in `source`; None if all pass."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "--tb=no", "-p", "no:cacheprovider", *tests]
    found = subprocess.run(
        command,
        cwd=ROOT / "tests",
        env=os.environ | {"PYTHONPATH": str(source)},
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    if found.returncode not in (0, 1):
        raise RuntimeError(found.stdout + found.stderr)
    failed = [line for line in found.stdout.splitlines() if line.startswith("FAILED ")]
    return failed[0].removeprefix("FAILED ").partition(" - ")[0] if failed else None


def killer(mutant):
    """The test that fails because of the mutant; None if the mutant survives."""
    with applied(mutant) as source:
        failed = first_failure(source, mutant.tests)
    if failed and first_failure(ROOT / "src", [failed.removeprefix("tests/")]):
        raise RuntimeError(f"{failed} fails without any change, too.")
    return failed
