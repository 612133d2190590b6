"""Model files: written at once or not at all, and read only as far as they can be trusted."""

import importlib
from dataclasses import dataclass

from sklearn.base import BaseEstimator

from .. import __version__
from .errors import CommandError
from .outputs import written

_KIND = "spectralcls model"
JOBLIB = ".joblib"


@dataclass(frozen=True)
class Model:
    """A fitted classifier, the names of the columns that it takes, None for unnamed ones, and which are categories."""

    estimator: BaseEstimator
    features: list | None
    categories: list | tuple = ()


def require_writer(path):
    """Fail before the work if models of that kind cannot be written."""
    if path.suffix != JOBLIB:
        _skops()


def save(model, path):
    """Write a model with skops, or with joblib where the path ends in ``.joblib``."""
    content = {
        "kind": _KIND,
        "version": __version__,
        "features": model.features,
        "categories": list(model.categories),
        "estimator": model.estimator,
    }
    with written(path, "the model was") as temporary:
        if path.suffix == JOBLIB:
            import joblib

            joblib.dump(content, temporary)
        else:
            _skops().dump(content, temporary)


def load(path, trust=False):
    """Read a model file.

    Raises
    ------
    CommandError
        For a file that is truncated or holds no classifier, one with types that are neither skops's, known
        to be safe, nor estimators of this package, and a joblib file; the last two unless `trust`.
    """
    if not path.is_file():
        raise CommandError(f"{path}: {'not a file' if path.exists() else 'no such file'}")
    try:
        content = _load_joblib(path, trust) if path.suffix == JOBLIB else _load_skops(path, trust)
        if isinstance(content, dict) and content.get("kind") == _KIND:
            return Model(content["estimator"], content["features"], content.get("categories", ()))
    except CommandError:
        raise
    except Exception as error:  # whatever a parser makes of bytes that are none of its own
        reason = f": {error}" if isinstance(error, (OSError, ValueError, ImportError)) else ""
        raise CommandError(f"{path}: not a readable model file, or a truncated one{reason}") from None
    if hasattr(content, "predict"):
        names = getattr(content, "feature_names_in_", None)
        return Model(content, None if names is None else list(names))
    raise CommandError(f"{path}: holds no classifier, but {type(content).__name__}")


def _load_joblib(path, trust):
    if not trust:
        raise CommandError(
            f"{path}: a joblib file can run any code when it is read; add --trust if you trust its author"
        )
    import joblib

    return joblib.load(path)


def _load_skops(path, trust):
    skops = _skops()
    unknown = skops.get_untrusted_types(file=path)
    strange = [name for name in unknown if not _is_inert(name)]
    if strange and not trust:
        raise CommandError(
            f"{path}: refused, because it holds types that are not known to be safe: {', '.join(strange)}; "
            "add --trust if you trust its author"
        )
    return skops.load(path, trusted=unknown)


def _is_inert(name):
    """A bare object, or of a class that this package defines: making one runs none of the file's code."""
    if name == "builtins.object":
        return True
    module, _, attribute = name.rpartition(".")
    if module.split(".")[0] != "spectralcls":
        return False
    try:
        found = getattr(importlib.import_module(module), attribute, None)
    except ImportError:
        return False
    return isinstance(found, type) and found.__module__ == module


def _skops():
    try:
        import skops.io
    except ImportError:
        raise CommandError('model files need skops: pip install "spectralcls[models]"') from None
    return skops.io
