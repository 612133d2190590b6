"""The build and the running configuration, for bug reports and benchmarks."""

import platform
from typing import Any

import numpy
import scipy
import sklearn

from . import available_variants, compiled
from .threads import effective_n_threads


def show_config(mode: str = "print") -> dict[str, Any] | None:
    """Compiler, flags, instruction-set variant, threads and versions.

    Parameters
    ----------
    mode : {"print", "dict"}, default="print"
        Print the configuration, or return it.

    Returns
    -------
    config : dict or None
        None with ``mode="print"``.

    Examples
    --------
    >>> from spectralcls import show_config
    >>> show_config("dict")["spectralcls"]
    '0.1.0'
    """
    from .. import __version__

    config = {
        "spectralcls": __version__,
        **compiled.build_info(),
        "variants": available_variants(),
        "threads": effective_n_threads(),
        "python": platform.python_version(),
        "numpy": numpy.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
        "machine": platform.machine(),
    }
    if mode == "dict":
        return config
    if mode != "print":
        raise ValueError(f'mode must be "print" or "dict", got {mode!r}.')
    for key, value in config.items():
        print(f"{key:>14}: {', '.join(value) if isinstance(value, list) else value}")
    return None
