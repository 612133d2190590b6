"""Debian's packages, unpacked into a folder and not installed: interpreters, and what they need."""

import os
import shutil

from .wheels import run

APT = """\
Dir::State "{0}/state";
Dir::State::status "{0}/status";
Dir::Cache "{0}/cache";
Dir::Etc::sourcelist "{0}/sources.list";
Dir::Etc::sourceparts "/dev/null";
APT::Architectures {{"amd64"; "arm64";}};
APT::Sandbox::User "root";
"""
KEYS = "/usr/share/keyrings/debian-archive-keyring.gpg"


def unpack(folder, suite, packages):
    """Packages of a suite, each given as NAME:ARCHITECTURE, unpacked into a folder named after the architecture.

    What was unpacked before, all of it, is left as it is.
    """
    if (folder / "unpacked").exists():
        return
    for name in ("state/lists/partial", "cache/archives/partial", "downloads"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    (folder / "status").touch()
    (folder / "sources.list").write_text(f"deb [signed-by={KEYS}] http://deb.debian.org/debian {suite} main\n")
    (folder / "apt.conf").write_text(APT.format(folder))
    env = os.environ | {"APT_CONFIG": str(folder / "apt.conf")}
    run("apt-get", "-q", "update", env=env)
    run("apt-get", "-q", "download", *packages, cwd=folder / "downloads", env=env)
    for package in (folder / "downloads").glob("*.deb"):
        run("dpkg", "-x", package, folder / package.stem.rsplit("_", 1)[1])
    # Python.h looks for this header in the folder of the architecture, by a path from /usr/include.
    for header in folder.glob("*/usr/include/*-linux-gnu/python3.*/pyconfig.h"):
        shutil.copy(header, header.parents[2] / header.parent.name)
    (folder / "unpacked").touch()
