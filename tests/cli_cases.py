"""What the tests of the command line share."""

from spectralcls.cli import main


def fails_with(capsys, *arguments, silent=True):
    """What a command that ends with exit code 2 says on stderr: one line and nothing else if `silent`."""
    capsys.readouterr()
    assert main([str(argument) for argument in arguments]) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith("spectralcls: error: ") and "Traceback" not in captured.err
    assert not silent or (captured.out == "" and captured.err.count("\n") == 1)
    return captured.err
