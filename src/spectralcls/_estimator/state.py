"""The version in a pickled or stored estimator, and the versions that can be read."""

from .. import __version__

_WRITTEN_BY = "_spectralcls_version"
DERIVED = ("_points_left_out", "_kept_form", "_by_others", "_kept_smoother", "_usual")  # recomputed if needed
GIVEN = ("_samples",)  # not stored, because the user has them
_OLDEST_READ = (0, 1)  # older models are refused; see the policy in docs/about/versions.md


def _minor(version):
    major, minor = version.split(".")[:2]
    return int(major), int(minor)


def written(state):
    """The state of an estimator for a pickle, including the current version."""
    return {name: value for name, value in state.items() if name not in DERIVED + GIVEN} | {_WRITTEN_BY: __version__}


def readable(state, kind):
    """The state from the pickle of an estimator of class `kind`; raises ValueError if this version cannot read it."""
    state = dict(state)
    version = state.pop(_WRITTEN_BY, __version__)
    if not _OLDEST_READ <= _minor(version) <= _minor(__version__):
        raise ValueError(
            f"This {kind} was written by spectralcls {version}, but spectralcls {__version__} reads only "
            f"models of {'.'.join(map(str, _OLDEST_READ))} to {__version__}: install spectralcls=={version}, or "
            "fit it again."
        )
    return state
