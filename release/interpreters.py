"""CPython 3.14 from Debian's next release, for a machine that lacks it: ``python -m release.interpreters``.

It goes to ``build/pythons``, where ``noxfile.py`` looks, and runs on the C library of its own release: `patchelf` tells
it where that is. Debian has no free-threaded interpreter.
"""

from .debian import unpack
from .wheels import ROOT, run

FOLDER = ROOT / "build" / "pythons"
BIN = FOLDER / "amd64" / "usr" / "bin"
SUITE = "sid"
PACKAGES = [
    "python3.14",
    "python3.14-minimal",
    "libpython3.14-stdlib",
    "libpython3.14-minimal",
    "libpython3.14-dev",
    "libc6",
    "libexpat1",
    "zlib1g",
    "libssl3t64",
    "libffi8",
    "libbz2-1.0",
    "liblzma5",
    "libzstd1",
    "libsqlite3-0",
    "libuuid1",
    "libstdc++6",
    "libgcc-s1",
    "libreadline8t64",
    "libtinfo6",
]


def main():
    unpack(FOLDER, SUITE, [f"{name}:amd64" for name in PACKAGES])
    libraries = BIN.parent / "lib" / "x86_64-linux-gnu"
    # As DT_RPATH, which holds for the libraries of extension modules too.
    run(
        "patchelf",
        "--set-interpreter",
        libraries / "ld-linux-x86-64.so.2",
        "--force-rpath",
        "--set-rpath",
        libraries,
        BIN / "python3.14",
    )
    run(BIN / "python3.14", "--version")


if __name__ == "__main__":
    main()
