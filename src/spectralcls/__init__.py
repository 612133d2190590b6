"""Information-theoretic and spectral classifiers over four compiled primitives.

Kernel sums, kernel matrices, nearest neighbors and leading eigenpairs are computed by a C++ core; every
estimator is a page of Python over them. Public names and modules are imported when they are first used;
``__init__.pyi`` lists them, for type checkers and for this file alike.
"""

import ast
from importlib import import_module
from pathlib import Path

__version__ = "0.1.0"


def _listed():
    """Each public name with the module that it comes from; None for the public modules themselves."""
    stub = ast.parse(Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
    imports = [node for node in stub.body if isinstance(node, ast.ImportFrom) and node.level]
    return {alias.name: node.module for node in imports for alias in node.names}


_HOME = _listed()
__all__ = sorted(name for name, home in _HOME.items() if home is not None)


def __getattr__(name):
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = _HOME[name]
    value = import_module(f"{__name__}.{name}") if home is None else getattr(import_module(f".{home}", __name__), name)
    globals()[name] = value
    return value


def __dir__():
    return sorted({*globals(), *_HOME})
