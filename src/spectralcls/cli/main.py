"""Argument parsing and dispatch; each subcommand is a module with ``add_parser`` and ``run``."""

import argparse
import os
import sys
import warnings

from .. import __version__
from .errors import CommandError

_BAD_INPUT, _INTERRUPTED = 2, 130


class _Parser(argparse.ArgumentParser):
    def error(self, message):
        raise CommandError(message)


def build_parser():
    """The parser of ``spectralcls``; each subcommand leaves its function in ``run``."""
    from . import compare, completion, config, fit, listing, predict  # here: the core may refuse to be loaded

    parser = _Parser(prog="spectralcls", description="Information-theoretic and spectral classifiers.")
    parser.add_argument("--version", action="version", version=f"spectralcls {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command in (compare, fit, predict, listing, config, completion):
        command.add_parser(commands).set_defaults(run=command.run)
    return parser


def main(argv=None):
    """Run the command line; the exit code is 1 if a classifier failed, 2 for bad input, 130 for Ctrl-C."""
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _say
            arguments = build_parser().parse_args(argv)
            code = arguments.run(arguments)
            print(end="", flush=True)  # here a full disk can still be reported
            return code
    except (CommandError, ImportError) as error:
        return _refuse(error)
    except MemoryError as error:
        detail = f": {error}" if str(error) else ""
        print(f"spectralcls: error: not enough memory{detail}; use fewer samples", file=sys.stderr)
        return _BAD_INPUT
    except KeyboardInterrupt:
        print("spectralcls: interrupted", file=sys.stderr)
        return _INTERRUPTED
    except BrokenPipeError:  # the reader of our output has gone, as in `spectralcls ... | head`
        _drop_output()
        return 0
    except OSError as error:
        if error.filename is None:  # that of standard output
            _drop_output()
        return _refuse(f"{error.filename or 'standard output'}: {error.strerror or error}")


def _refuse(message):
    print(f"spectralcls: error: {' '.join(str(message).split())}", file=sys.stderr)
    return _BAD_INPUT


def _say(message, *where, **more):
    print(f"spectralcls: warning: {' '.join(str(message).split())}", file=sys.stderr)


def _drop_output():
    """Send what is still buffered nowhere: Python would try again at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
