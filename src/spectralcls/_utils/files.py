"""Files that are written at once or not at all."""

import os
import tempfile
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def atomic(path):
    """A temporary path in the same folder that replaces `path` if the block ends well, and vanishes if not.

    The file has the permissions of the one that it replaces, or those of any new file.
    """
    target = Path(path).resolve()  # a link stays a link
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
    mask = os.umask(0o077)  # there is no way but to set it
    os.umask(mask)
    return mask
