"""Files that are written completely or not at all."""

import os
import tempfile
from contextlib import contextmanager
from pathlib import Path

from .typing import FilePath


def as_path(path: FilePath) -> Path:
    """`path` as a Path; raises TypeError if it is neither a string nor path-like."""
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"path must be the name of a file, got {type(path).__name__}: {path!r:.50}")
    return Path(path)


@contextmanager
def atomic(path):
    """A temporary path in the same folder. It replaces `path` if the block succeeds, and is deleted otherwise.

    The file gets the permissions of the file that it replaces, or those of a new file.
    """
    target = as_path(path).resolve()  # write to a link's target
    descriptor, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".tmp", dir=target.parent)
    os.close(descriptor)
    temporary = Path(name)
    try:
        yield temporary
        with open(temporary, "rb") as file:
            os.fsync(file.fileno())
        temporary.chmod(target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~_umask())
        os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _umask():
    mask = os.umask(0o077)  # the mask can only be read by setting it
    os.umask(mask)
    return mask
