"""The folder of hooks, which PyInstaller finds by its entry point."""

from pathlib import Path


def get_hook_dirs():
    return [str(Path(__file__).parent)]
