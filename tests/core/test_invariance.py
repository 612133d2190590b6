"""What no sum depends on."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import reference
from fuzz.checks import check_sums
from fuzz.strategies import SEEDS, examples, layouts, sums
from hypothesis import given

import spectralcls
from spectralcls._core import available_variants, compiled


@given(sums(), layouts, layouts)
def test_sums_have_the_same_bits_for_any_threads_layout_and_slices_of_queries(arguments, of_queries, of_points):
    Q, X, options = arguments
    expected = spectralcls.kernel_sums(Q, X, **{**options, "n_jobs": 1})
    found = spectralcls.kernel_sums(of_queries(Q), of_points(X), **{**options, "n_jobs": 3})
    np.testing.assert_array_equal(found, expected)
    if len(Q) > 1:
        if options.get("exclude_self") is True:
            options["exclude_self"] = np.arange(len(Q))
        for some in (slice(0, len(Q) // 2), slice(len(Q) // 2, None)):
            part = dict(options)
            if isinstance(part.get("exclude_self"), np.ndarray):
                part["exclude_self"] = part["exclude_self"][some]
            if "exclude_groups" in part:
                part["exclude_groups"] = part["exclude_groups"][0][some], part["exclude_groups"][1]
            found = spectralcls.kernel_sums(Q[some], X, **part)
            np.testing.assert_allclose(found, expected[some], rtol=2e-5 if X.dtype == np.float32 else 1e-11, atol=1e-30)


@examples(0.3)  # the slow truth of repeated points
@given(sums(), SEEDS.map(np.random.default_rng))
def test_order_of_the_points_copies_and_weights(arguments, rng):
    Q, X, options = arguments
    options = {key: value for key, value in options.items() if not key.startswith("exclude") and key != "n_jobs"}
    counts = rng.integers(1, 4, len(X))
    rows = rng.permutation(np.repeat(np.arange(len(X)), counts))
    repeated = {key: value[rows] if key in ("labels", "weights") else value for key, value in options.items()}
    W = options.get("weights", np.ones(len(X), X.dtype))
    weights = (W.T * counts).T.astype(X.dtype)
    found = spectralcls.kernel_sums(Q, X[rows], **repeated)
    check_sums(found, Q, X, {**options, "weights": weights})


@pytest.mark.parametrize("exponent", [-900, -300, -20, 20, 300, 900])
@examples(0.2)
@given(arguments=sums())
def test_joint_unit_of_points_and_bandwidth(exponent, arguments):
    """A power of two changes no rounding at all."""
    Q, X, options = arguments
    Q, X = Q.astype(np.float64), (Q if X is Q else X).astype(np.float64)
    if "weights" in options:
        options["weights"] = options["weights"].astype(np.float64)
    if options.get("exclude_self") is True:
        options["exclude_self"] = np.arange(len(Q))
    unit = 2.0**exponent
    scaled = {**options, "bandwidth": np.asarray(options["bandwidth"]) * unit}
    expected = spectralcls.kernel_sums(Q, X, **options)
    np.testing.assert_allclose(spectralcls.kernel_sums(Q * unit, X * unit, **scaled), expected, rtol=1e-12, atol=1e-300)


@given(SEEDS.map(np.random.default_rng))
def test_place_and_rotation(rng):
    """Whole numbers far away are moved without rounding; a rotation of integer points by a quarter turn, too."""
    Q, X = (rng.integers(-20, 20, (rng.integers(1, 50), 4)).astype(np.float64) for _ in range(2))
    h = float(rng.uniform(1, 30))
    for kernel in sorted(reference.COMPACT) + ["gaussian", "laplace"]:
        expected = spectralcls.kernel_sums(Q, X, bandwidth=h, kernel=kernel)
        moved = spectralcls.kernel_sums(Q + 1e6, X + 1e6, bandwidth=h, kernel=kernel)
        turned = spectralcls.kernel_sums(
            Q[:, [1, 0, 3, 2]] * [1, -1, 1, -1], X[:, [1, 0, 3, 2]] * [1, -1, 1, -1], bandwidth=h, kernel=kernel
        )
        np.testing.assert_allclose(moved, expected, rtol=1e-12)
        np.testing.assert_allclose(turned, expected, rtol=1e-12)


@pytest.mark.any_variant
@pytest.mark.parametrize("variant", sorted(set(available_variants()) - {compiled.build_info()["variant"]}))
def test_every_other_instruction_set_agrees_with_the_truth(variant):
    tests = Path(__file__).parents[1] / "fuzz" / "test_primitives.py"
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "--hypothesis-profile=fewest",
        str(tests),
        "-k",
        "sums or matrix or knn",
    ]
    run = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "SPECTRALCLS_ISA": variant})
    assert run.returncode == 0, run.stdout


def test_the_truth_is_that_of_a_hundred_digits():
    import mpmath

    rng = np.random.default_rng(0)
    Q, X, w = rng.standard_normal((3, 2)), rng.standard_normal((7, 2)), rng.standard_normal(7)
    profiles = {
        "gaussian": lambda u: mpmath.exp(-(u**2) / 2),
        "laplace": lambda u: mpmath.exp(-u),
        "epanechnikov": lambda u: 1 - u**2 if u < 1 else mpmath.mpf(0),
        "uniform": lambda u: mpmath.mpf(u < 1),
        "quartic": lambda u: (1 - u**2) ** 2 if u < 1 else mpmath.mpf(0),
        "triweight": lambda u: (1 - u**2) ** 3 if u < 1 else mpmath.mpf(0),
        "cosine": lambda u: mpmath.cos(mpmath.pi * u / 2) if u < 1 else mpmath.mpf(0),
        "linear": lambda u: 1 - u if u < 1 else mpmath.mpf(0),
    }
    with mpmath.workdps(100):
        for kernel, profile in profiles.items():
            truth = [
                mpmath.fsum(
                    mpmath.mpf(w[j]) * profile(mpmath.hypot(mpmath.mpf(q[0]) - x[0], mpmath.mpf(q[1]) - x[1]) / 2)
                    for j, x in enumerate(X)
                )
                for q in Q
            ]
            found = reference.kernel_sums(Q, X, weights=w, bandwidth=2.0, kernel=kernel)
            np.testing.assert_allclose(found, np.array(truth, dtype=float), rtol=1e-13, atol=1e-15)
