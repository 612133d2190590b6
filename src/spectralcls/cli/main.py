"""Argument parsing and dispatch. Each subcommand is a module with help texts, ``add_options`` and ``run``."""

import argparse
import difflib
import os
import signal
import sys
import threading
import warnings
from contextlib import contextmanager
from typing import Any

from . import compare, fit, predict
from .errors import CommandError

_COMMANDS = {"compare": compare, "fit": fit, "predict": predict}
_BAD_INPUT, _INTERRUPTED, _NO_READER, _TERMINATED = 2, 130, 141, 143


class _Parser(argparse.ArgumentParser):
    def error(self, message):
        raise CommandError(message)


class _Version(argparse.Action):
    """Print the version, the instruction set in use, compiler and threads."""

    def __call__(self, parser, *_):
        from .. import show_config

        show_config()
        parser.exit()


class _Terminate(KeyboardInterrupt):
    """SIGTERM, which stops the work and its child processes like Ctrl-C."""


def build_parser():
    """Build the parser of ``spectralcls``; each subcommand stores its function in ``run``."""
    parser = _Parser(prog="spectralcls", description="Information-theoretic and spectral classifiers.")
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version, compiler, processor, threads")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for name, command in _COMMANDS.items():
        texts = {"help": command.HELP, "description": command.DESCRIPTION, "epilog": command.EPILOG}
        own = commands.add_parser(name, **texts, formatter_class=argparse.RawDescriptionHelpFormatter)
        command.add_options(own)
        own.set_defaults(run=command.run)
    return parser


def main(argv: Any = None) -> int:
    """Run the command line and return the exit code: 1 if a classifier failed, 2 for bad input, 130 for Ctrl-C, 141 if
    the reader of a pipe ended before a file was written, 143 for SIGTERM.
    """
    argv, arguments = sys.argv[1:] if argv is None else argv, None
    try:
        with warnings.catch_warnings(), _terminable():
            warnings.showwarning = _say
            _check_command(argv)
            arguments = build_parser().parse_args(argv)
            try:
                code = arguments.run(arguments)
            except SystemExit as exit:  # only the parser may end the program
                raise CommandError(f"stopped before the end: exit status {exit.code}") from None
            print(end="", flush=True)  # flush while a full disk can still be reported
            return code
    except CommandError as error:
        print(f"spectralcls: error: {error}", file=sys.stderr)
        return _BAD_INPUT
    except ImportError as error:
        return _refuse(error)
    except MemoryError as error:
        detail = f": {error}" if str(error) else ""
        print(f"spectralcls: error: not enough memory{detail}; use fewer samples", file=sys.stderr)
        return _BAD_INPUT
    except _Terminate:
        print("spectralcls: terminated", file=sys.stderr)
        return _TERMINATED
    except KeyboardInterrupt:
        print("spectralcls: interrupted", file=sys.stderr)
        return _INTERRUPTED
    except BrokenPipeError:  # the reader of the output has exited, as in `spectralcls ... | head`
        _drop_output()
        return _NO_READER if _promises_a_file(arguments) else 0
    except OSError as error:
        if error.filename is None:  # the error concerns standard output
            _drop_output()
        return _refuse(f"{error.filename or 'standard output'}: {error.strerror or error}")


def _check_command(argv):
    """Suggest a command for an unknown first word."""
    if argv and not argv[0].startswith("-") and argv[0] not in _COMMANDS:
        close = difflib.get_close_matches(argv[0], _COMMANDS, n=1)
        hint = f" Did you mean {close[0]}?" if close else ""
        raise CommandError(f"unknown command {argv[0]!r}.{hint} There are: {', '.join(_COMMANDS)}.")


@contextmanager
def _terminable():
    """Make SIGTERM raise an exception, because a process killed at once would leave its child processes running."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def terminate(*_):
        raise _Terminate

    before = signal.signal(signal.SIGTERM, terminate)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _refuse(message):
    print(f"spectralcls: error: {' '.join(str(message).split())}", file=sys.stderr)
    return _BAD_INPUT


def _say(message, *where, **more):
    print(f"spectralcls: warning: {' '.join(str(message).split())}", file=sys.stderr)


def _promises_a_file(arguments):
    return any(str(getattr(arguments, name, None)) not in ("None", "-") for name in ("out", "json"))


def _drop_output():
    """Discard buffered output, which Python would otherwise write again at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
