"""``spectralcls completion``: a script that lets the shell complete commands, options and file names."""

from .errors import CommandError

SHELLS = ("bash", "zsh", "tcsh")


def add_parser(commands):
    parser = commands.add_parser(
        "completion",
        help="print a script for tab completion",
        description="Print a script that lets the shell complete commands, options and file names with the tab key.",
        epilog="For bash: spectralcls completion bash > ~/.local/share/bash-completion/completions/spectralcls",
    )
    parser.add_argument("shell", choices=SHELLS, help="the shell")
    return parser


def run(arguments):
    try:
        import shtab
    except ImportError:
        raise CommandError('tab completion needs shtab: pip install "spectralcls[completion]"') from None
    from .main import build_parser

    print(shtab.complete(build_parser(), shell=arguments.shell))
    return 0
