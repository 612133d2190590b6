"""The compiled core, in the best instruction-set variant that this machine can run.

The numerical C++ sources are built once per instruction set (``baseline``, ``avx2``, ``avx512``) into separate shared
libraries. Each passes one table of functions to the extension module ``_bindings``. This module chooses the variant at
import; tests force one with the environment variable ``SPECTRALCLS_ISA``. Fitted models hold only NumPy arrays and do
not depend on the variant.
"""

import os
from pathlib import Path

try:
    from . import _bindings as compiled
    from . import _lapack
except ModuleNotFoundError as error:
    raise ImportError(
        "spectralcls has no compiled core: run 'pip install .' in the source folder (a C++17 compiler is needed)."
    ) from error

ISA_VARIABLE = "SPECTRALCLS_ISA"


def _library(variant):
    return Path(compiled.__file__).with_name(f"_{variant}.so")


def available_variants():
    """Names of the variants in this installation that run on this machine, best first."""
    return [name for name in compiled.supported_variants() if _library(name).exists()]


def _select():
    available = available_variants()
    forced = os.environ.get(ISA_VARIABLE, "").strip().lower()
    if forced and forced not in available:
        raise ImportError(
            f"{ISA_VARIABLE}={forced!r} was requested, but this machine and installation offer {available}. "
            f"Unset {ISA_VARIABLE} or choose one of these."
        )
    if not available:
        raise ImportError(
            f"spectralcls has no compiled variant for this machine next to {compiled.__file__}: reinstall it."
        )
    return forced or available[0]


def _loaded():
    """Name of the variant already loaded, if a reloader imports this package again; otherwise None."""
    try:
        return compiled.build_info()["variant"]
    except RuntimeError:
        return None


if _loaded() != (variant := _select()):
    compiled.load(os.fsencode(_library(variant)))  # bytes, because not every path can be decoded
compiled.use_lapack(_lapack.routines)
