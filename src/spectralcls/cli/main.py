"""Argument parsing and dispatch; each subcommand is a module with ``add_parser`` and ``run``."""

import argparse
import os
import sys

from .. import __version__
from . import compare, completion, config, fit, listing, predict
from .errors import CommandError

_COMMANDS = (compare, fit, predict, listing, config, completion)
_BAD_INPUT, _INTERRUPTED = 2, 130


class _Parser(argparse.ArgumentParser):
    def error(self, message):
        raise CommandError(message)


def build_parser():
    """The parser of ``spectralcls``; each subcommand leaves its function in ``run``."""
    parser = _Parser(prog="spectralcls", description="Information-theoretic and spectral classifiers.")
    parser.add_argument("--version", action="version", version=f"spectralcls {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command in _COMMANDS:
        command.add_parser(commands).set_defaults(run=command.run)
    return parser


def main(argv=None):
    """Run the command line; the exit code is 1 if a classifier failed, 2 for bad input, 130 for Ctrl-C."""
    try:
        arguments = build_parser().parse_args(argv)
        return arguments.run(arguments)
    except CommandError as error:
        print(f"spectralcls: error: {' '.join(str(error).split())}", file=sys.stderr)
        return _BAD_INPUT
    except MemoryError as error:
        detail = f": {error}" if str(error) else ""
        print(f"spectralcls: error: not enough memory{detail}; use fewer samples", file=sys.stderr)
        return _BAD_INPUT
    except KeyboardInterrupt:
        print("spectralcls: interrupted", file=sys.stderr)
        return _INTERRUPTED
    except BrokenPipeError:  # the reader of our output has gone, as in `spectralcls ... | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
