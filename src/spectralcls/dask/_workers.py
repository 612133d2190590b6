"""The workers: arrays kept in their memory, and a check of their package version."""

import dask
import psutil
from distributed import default_client
from distributed.system import MEMORY_LIMIT

# fraction of the free memory that one call may keep: a fit holds the given points, their coordinates, and a copy while
# mapping them
HELD = 1 / 8


def active_client():
    """The active client, or None if work runs on the threads of this process."""
    try:
        return default_client()
    except ValueError:
        return None


def keep(*collections):
    """Keep arrays in the memory of the workers, so that they are read once.

    Without a cluster, the arrays are kept in this process if together they fit well into its memory; otherwise they
    stay lazy and are recomputed at each use.
    """
    if active_client() is None and not sum(array.nbytes for array in collections) <= most_bytes_held():
        return collections
    return dask.persist(*collections)


def most_bytes_held():
    """Bytes that one call of `keep` may hold without a cluster, within the memory limit of a container."""
    return HELD * min(psutil.virtual_memory().available, MEMORY_LIMIT)


def check_workers():
    """Raise RuntimeError unless all workers of the active client can import this version of the package."""
    client = active_client()
    if client is None:
        return
    from .. import __version__

    def installed_version():  # sent by value: a worker without the package could not import it by name
        try:
            import spectralcls
        except ImportError as error:
            return None, str(error)
        return spectralcls.__version__, ""

    wrong = []
    for address, (version, error) in client.run(installed_version).items():
        if version is None:
            wrong.append(f"{address} cannot import spectralcls ({error})")
        elif version != __version__:
            wrong.append(f"{address} has spectralcls {version}")
    if wrong:
        shown = "; ".join(wrong[:5]) + (f"; and {len(wrong) - 5} more" if len(wrong) > 5 else "")
        raise RuntimeError(
            f"Every worker needs spectralcls {__version__}, the version of the client: {shown}. Install it "
            "there, for example with distributed's PipInstall plugin, and restart those workers."
        )
