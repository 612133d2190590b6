"""``spectralcls show-config``: how this installation was built and what it runs on."""


def add_parser(commands):
    return commands.add_parser(
        "show-config",
        help="print compiler, flags, instruction-set variant and threads",
        description="Print compiler, flags, instruction-set variant and threads of this installation.",
    )


def run(arguments):
    from .. import show_config

    show_config()
    return 0
