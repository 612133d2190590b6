"""Is the package on every worker, in one version?"""

import dask
from distributed import default_client


def active_client():
    """The active client, or None: work then runs on the threads of this process."""
    try:
        return default_client()
    except ValueError:
        return None


def keep(*collections):
    """Hold collections in the memory of the workers; without a cluster leave them where they are, on disk."""
    return collections if active_client() is None else dask.persist(*collections)


def check_workers():
    """Raise RuntimeError unless all workers of the active client can import this version of the package."""
    client = active_client()
    if client is None:
        return
    from .. import __version__

    def installed_version():  # travels by value: a worker without the package could not import it by name
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
