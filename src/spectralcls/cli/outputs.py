"""Output files of commands: checked before the work starts, and written completely or not at all."""

import tempfile
from contextlib import contextmanager
from pathlib import Path

from .._utils.atomic_files import atomic
from .errors import CommandError


def check(path):
    """Raise if a file cannot be written there, or would replace a device, a pipe or a socket.

    Raises
    ------
    CommandError
    """
    target = path.resolve()
    if target.is_dir():
        raise CommandError(f"{path} is a folder")
    if not target.parent.is_dir():
        raise CommandError(f"the folder {target.parent} does not exist")
    if target.exists() and not target.is_file():
        raise CommandError(f"{path} is a device or a pipe, not a file")
    try:
        tempfile.TemporaryFile(dir=target.parent).close()
    except OSError as error:
        raise CommandError(f"{path} cannot be written: {error.strerror or error}") from None


def keep_apart(path, *inputs):
    """Raise if an output file is one of the input files, which it would replace.

    Raises
    ------
    CommandError
    """
    for other in map(Path, inputs):
        if path.exists() and other.exists() and path.samefile(other):
            raise CommandError(f"{path} is read here and would be replaced; write to another file")


@contextmanager
def written(path, what):
    """As `atomic`, with system errors reported in one line that contains `what`."""
    try:
        with atomic(path) as temporary:
            yield temporary
    except OSError as error:
        raise CommandError(f"{path}: {what} not written: {error.strerror or error}") from None
