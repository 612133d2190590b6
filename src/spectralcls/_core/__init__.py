"""The compiled core: the best instruction-set variant that this machine can run.

The numerical C++ sources are built once per instruction set (``baseline``, ``avx2``, ``avx512``) into separate shared
libraries, each of which gives the extension module ``_bindings`` one table of functions. One variant is chosen here, at
import; the tests force one by the environment variable ``SPECTRALCLS_ISA``. Fitted models hold NumPy arrays only and
never depend on it.
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
            f"{ISA_VARIABLE}={forced!r} was asked for, but this machine and installation offer {available}. "
            f"Unset {ISA_VARIABLE} or choose one of these."
        )
    if not available:
        raise ImportError(
            f"spectralcls has no compiled variant for this machine beside {compiled.__file__}: install it again."
        )
    return forced or available[0]


def _loaded():
    """Name of the variant in use if this package was imported before and then unloaded, as reloaders do."""
    try:
        return compiled.build_info()["variant"]
    except RuntimeError:
        return None


if _loaded() != (variant := _select()):
    compiled.load(os.fsencode(_library(variant)))  # bytes, because not every path can be decoded
compiled.use_lapack(_lapack.routines)
