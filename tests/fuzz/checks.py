"""Comparison of sums with slow truth: as exact as docs/guide/numerics.md says."""

import numpy as np
import reference


def allowed_error(kernel, dtype, grid=False):
    """The logarithm of the error that a kernel value may have, as a function of u; with bandwidths in a grid more."""
    edge = 72 * np.finfo(dtype).eps

    def logarithm(u):
        if kernel in reference.COMPACT:
            jumps = (kernel == "uniform") & (np.abs(u - 1) <= edge)
            return np.where(jumps, 0.0, np.where(u <= 1 + edge, np.log(edge), -np.inf))
        log_k = reference.LOGARITHMS[kernel](u)
        return log_k + np.log(reference.rounding(-log_k, dtype, kernel, grid))

    return logarithm


def check_sums(found, Q, X, options):
    """The error of a sum is at most that of its terms, that of a logarithm the relative one of its sum."""
    options = {key: value for key, value in options.items() if key != "n_jobs"} | {"dtype": np.longdouble}
    truth = reference.kernel_sums(Q, X, **options)
    assert found.shape == truth.shape and found.dtype == X.dtype, (found.shape, truth.shape, found.dtype)
    limits, W = np.finfo(X.dtype), np.abs(options.get("weights", np.ones(len(X))))
    name, grid = options.get("kernel", "gaussian"), np.size(options["bandwidth"]) > 1
    kernel = allowed_error(name, X.dtype, grid)
    log_bound = reference.kernel_sums(Q, X, **options | {"kernel": kernel, "weights": W, "log": True})
    if options.get("log"):
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            far = reference.rounding(np.abs(truth), X.dtype, name, grid)
            relative = np.exp(log_bound - truth)
            allowed = -np.log1p(-np.minimum(relative, 1))  # of the logarithm, if the sum is smaller by so much
            allowed = np.where(truth < -1e12, far, allowed)  # a difference that rounding may lose
            near = np.abs(found - truth) <= allowed + limits.eps * np.abs(truth)
        near = np.where(np.isneginf(found), np.where(truth < -1e12, far, relative) >= 1, near)
        near = np.where(np.isneginf(truth), found <= log_bound, near)
        assert np.all(near), f"off by {(found - truth)[~near]}, allowed {allowed[~near]}"
        return
    error, bound = np.abs(found - truth), np.exp(log_bound) + limits.tiny * (W.sum() + 1)  # smaller ones may be zero
    assert np.all(error <= bound), f"sums off by {np.max(error / bound):.3g} times the bound"
