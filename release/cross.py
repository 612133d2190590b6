"""The other platforms, as far as a Linux machine gets: ``python -m release.cross [PLATFORM ...]``.

What is compiled once per instruction set is compiled and linked for each; a wheel needs Python's headers of the
platform, which ``release.emulated`` has for arm64.
"""

import os
import sys

from .platforms import PLATFORMS
from .wheels import HERE, ROOT, definitions, record, run, zig

MAGIC = {"linux": b"\x7fELF", "macosx": b"\xcf\xfa\xed\xfe", "win": b"MZ"}


def link(name):
    """The core's libraries for a platform, in a folder of build/."""
    platform = PLATFORMS[name]
    folder = ROOT / "build" / f"core-{platform.zig}"
    options = [f"-D{key}={value}" for key, value in definitions(platform).items()]
    run(
        "cmake",
        "-S",
        ROOT,
        "-B",
        folder,
        "-G",
        "Ninja",
        "-DCMAKE_BUILD_TYPE=Release",
        "-DSPECTRALCLS_BINDINGS=OFF",
        *options,
        env=os.environ | {"ZIG": zig()},
    )
    run("cmake", "--build", folder)
    libraries = sorted((folder / "cpp").glob("_*.so"))
    assert libraries, f"{name}: nothing was linked"
    for library in libraries:
        with library.open("rb") as content:
            assert content.read(4).startswith(MAGIC[platform.tag.split("-")[0]]), f"{library} is of another platform"
    return libraries


def main():
    for name in sys.argv[1:] or [name for name in PLATFORMS if name != HERE]:
        libraries = link(name)
        record(name, None, outcome="linked", bytes=sum(library.stat().st_size for library in libraries))


if __name__ == "__main__":
    main()
