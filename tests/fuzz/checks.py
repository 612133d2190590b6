"""Comparison of sums with slow truth."""

import numpy as np
import reference

TOLERANCE = {np.dtype(np.float64): 1e-12, np.dtype(np.float32): 1e-5}  # of sums, relative to the sums of moduli


def check_sums(found, Q, X, options):
    """Sums to their tolerance, relative to the sums of the moduli: cancellation is the caller's."""
    options = {key: value for key, value in options.items() if key != "n_jobs"}
    truth = reference.kernel_sums(Q, X, **options)
    assert found.shape == truth.shape and found.dtype == X.dtype, (found.shape, truth.shape, found.dtype)
    moduli = dict(options)
    if "weights" in moduli:
        moduli["weights"] = np.abs(moduli["weights"])
    tolerance = TOLERANCE[X.dtype]
    W = np.abs(options.get("weights", np.ones(1))).max()
    # At the edge of a compact kernel a rounding of u is all that a small value is.
    edge = 8 * np.finfo(X.dtype).eps * W * len(X) if options.get("kernel") in reference.COMPACT else 0.0
    if options.get("log"):
        # Far terms: the exponent's own rounding, in units of its size; below the smallest numbers anything is right.
        assert np.array_equal(np.isneginf(found), np.isneginf(truth)) or "weights" in options
        finite = np.isfinite(found) & np.isfinite(truth)
        error = np.abs(found[finite].astype(np.float64) - truth[finite])
        bound = tolerance * (1 + np.abs(truth[finite]))
        if edge:
            bound += edge * np.exp(-truth[finite])
        assert np.all(error <= bound), f"log sums off by {np.max(error / bound):.3g} times the bound"
    else:
        scale = reference.kernel_sums(Q, X, **moduli)
        error = np.abs(found - truth)
        if not edge:
            tolerance = np.maximum(tolerance, reference.rounding_of_sums(scale, X.dtype))
        bound = tolerance * scale + np.finfo(X.dtype).tiny * len(X) + edge
        assert np.all(error <= bound), f"sums off by {np.max(error / bound):.3g} times the bound"
