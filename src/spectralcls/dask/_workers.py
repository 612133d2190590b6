"""Is the package on every worker, in one version?"""

from distributed import default_client


def check_workers():
    """Raise RuntimeError unless all workers of the active client can import this version of the package.

    Without a client, work runs in this process and there is nothing to check.
    """
    try:
        client = default_client()
    except ValueError:
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
