"""``spectralcls completion``: a script that lets the shell complete commands, options and file names."""

from .errors import CommandError

HELP = "print a script for tab completion"
DESCRIPTION = "Print a script that lets the shell complete commands, options and file names."
EPILOG = "For bash: spectralcls completion bash > ~/.local/share/bash-completion/completions/spectralcls"
SHELLS = ("bash", "zsh", "tcsh")


def add_options(parser):
    parser.add_argument("shell", choices=SHELLS, help="the shell")


def run(arguments):
    try:
        import shtab
    except ImportError:
        raise CommandError('tab completion needs shtab: pip install "spectralcls[completion]"') from None
    print(shtab.complete(arguments.whole, shell=arguments.shell))
    return 0
