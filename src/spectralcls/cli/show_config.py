"""``spectralcls show-config``: how this installation was built, and the hardware it uses."""

HELP = "print compiler, flags, instruction-set variant and threads"
DESCRIPTION = "Print compiler, flags, instruction-set variant and threads of this installation."


def add_options(parser):
    pass


def run(arguments):
    from .. import show_config

    show_config()
    return 0
