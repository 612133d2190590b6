"""What PyInstaller asks an installed package for: the folder of its hooks."""

from pathlib import Path


def get_hook_dirs():
    return [str(Path(__file__).parent)]
