"""The platforms that a release has wheels for, and how each is compiled on a Linux machine."""

from dataclasses import dataclass

PYTHONS = ["3.11", "3.12", "3.13", "3.14"]


@dataclass(frozen=True)
class Platform:
    """One row of the matrix of wheels.

    Attributes
    ----------
    zig : str
        The compiler's target.
    tag : str
        The wheel's platform, as sysconfig.get_platform() would say it there.
    repaired : str or None
        What auditwheel shall check the wheel for and name it by; None: no policy is known for it.
    """

    zig: str
    tag: str
    repaired: str | None = None


PLATFORMS = {
    "manylinux x86-64": Platform("x86_64-linux-gnu.2.28", "linux-x86_64", "manylinux_2_28_x86_64"),
    "manylinux arm64": Platform("aarch64-linux-gnu.2.28", "linux-aarch64", "manylinux_2_28_aarch64"),
    "musllinux x86-64": Platform("x86_64-linux-musl", "linux-x86_64", "musllinux_1_2_x86_64"),
    "macOS arm64": Platform("aarch64-macos.13.0", "macosx-13.0-arm64"),
    "macOS x86-64": Platform("x86_64-macos.13.0", "macosx-13.0-x86_64"),
    "Windows x86-64": Platform("x86_64-windows-gnu", "win-amd64"),
}
