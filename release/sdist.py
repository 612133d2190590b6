"""The source distribution, made, checked and tried: ``python -m release.sdist`` leaves it in ``dist/``.

It holds what git tracks, but for the hosted CI, and says so of itself (PKG-INFO): enough to build, to test and to
document. Two builds have the same bits, and so have two wheels built from it in different places.
"""

import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from .wheels import DIST, ROOT, run

EPOCH = {"SOURCE_DATE_EPOCH": "1700000000"}
LEFT_OUT = (".ci/", ".github/")


def made(folder):
    """The archive, built into a folder."""
    run(sys.executable, "-m", "build", "--sdist", "-o", folder, ROOT, env=os.environ | EPOCH)
    (archive,) = folder.glob("*.tar.gz")
    return archive


def wheel(archive, folder):
    """The wheel that pip builds from the archive, unpacked in a folder of its own."""
    run(
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "-q",
        "--no-deps",
        "-w",
        folder / "dist",
        archive,
        env=os.environ | EPOCH | {"TMPDIR": str(folder)},
    )
    (built,) = (folder / "dist").glob("*.whl")
    return built


def check_same(one, other):
    if one.read_bytes() != other.read_bytes():
        raise SystemExit(f"Two builds of {one.name} differ: {one} and {other}.")


def check_contents(archive):
    """Refuses files that git does not know, and the lack of one that it does."""
    with tarfile.open(archive) as content:
        found = {member.name.split("/", 1)[1] for member in content.getmembers() if member.isfile()} - {"PKG-INFO"}
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    tracked = {name for name in listed.splitlines() if not name.startswith(LEFT_OUT)}
    if found != tracked:
        raise SystemExit(f"{archive.name} has {sorted(found - tracked)} too many and lacks {sorted(tracked - found)}.")


def main():
    with tempfile.TemporaryDirectory() as scratch:
        folders = [Path(scratch) / name for name in ("first", "second")]
        for folder in folders:
            folder.mkdir()
        archive, again = map(made, folders)
        check_same(archive, again)
        check_contents(archive)
        wheels = [wheel(archive, folder) for folder in folders]
        check_same(*wheels)
        fresh = folders[0] / "fresh"
        run(sys.executable, "-m", "virtualenv", "-q", fresh)
        run(fresh / "bin" / "pip", "install", "-q", wheels[0])
        run(fresh / "bin" / "spectralcls", "compare", "iris", "--repeats", "2", cwd=folders[0])
        DIST.mkdir(exist_ok=True)
        shutil.copy(archive, DIST)
        print(f"{archive.name}, {archive.stat().st_size} bytes: two builds, and two wheels of it, have the same bits.")


if __name__ == "__main__":
    main()
