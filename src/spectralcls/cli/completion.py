"""``spectralcls completion``: a script that lets the shell complete commands, options and file names."""

from .errors import CommandError

SHELLS = ("bash", "zsh", "tcsh")


def add_parser(commands, whole):
    """The command; `whole` is the parser that it completes."""
    parser = commands.add_parser(
        "completion",
        help="print a script for tab completion",
        description="Print a script that lets the shell complete commands, options and file names with the tab key.",
        epilog="For bash: spectralcls completion bash > ~/.local/share/bash-completion/completions/spectralcls",
    )
    parser.add_argument("shell", choices=SHELLS, help="the shell")
    parser.set_defaults(whole=whole)
    return parser


def run(arguments):
    try:
        import shtab
    except ImportError:
        raise CommandError('tab completion needs shtab: pip install "spectralcls[completion]"') from None
    print(shtab.complete(arguments.whole, shell=arguments.shell))
    return 0
