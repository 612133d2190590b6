"""The compiled core: the best instruction-set variant that this machine can run.

The same C++ sources are built once per instruction set (``baseline``, ``avx2``, ``avx512``) into separate
extension modules. The choice is made here, once, at import; the environment variable ``SPECTRALCLS_ISA``
forces one of them, which the tests use. Fitted models hold NumPy arrays only and never depend on it.
"""

import importlib
import importlib.util
import os

from ._cpu_probe import supported_variants

ISA_VARIABLE = "SPECTRALCLS_ISA"


def available_variants():
    """Names of the variants that are compiled into this installation and run here, best first."""
    return [name for name in supported_variants() if importlib.util.find_spec(f"{__name__}._{name}")]


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
            "spectralcls has no compiled core: run 'pip install .' in the source folder (a C++17 compiler is needed)."
        )
    return importlib.import_module(f"{__name__}._{forced or available[0]}")


compiled = _select()
