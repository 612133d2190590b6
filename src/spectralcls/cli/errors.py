"""Errors that users can correct."""


class CommandError(Exception):
    """Bad input: reported as one line on stderr, with exit code 2."""
