import shutil
import subprocess
import sys

import pytest

from spectralcls.cli import main

shtab = pytest.importorskip("shtab")


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash")
@pytest.mark.parametrize(
    "typed, offered",
    [("co", {"compare", "completion"}), ("fit --o", {"--out"}), ("compare --rep", {"--repeats"})],
)
def test_bash_completes_commands_and_options(typed, offered, capsys, tmp_path):
    assert main(["completion", "bash"]) == 0
    script = tmp_path / "completion.bash"
    script.write_text(capsys.readouterr().out)
    words = f"spectralcls {typed}"
    asked = f"source {script}; COMP_WORDS=({words}); COMP_CWORD={len(words.split()) - 1}; _shtab_spectralcls;"
    done = subprocess.run(["bash", "-c", asked + ' echo "${COMPREPLY[@]}"'], capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) == offered


def test_without_shtab_the_extra_is_named(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "shtab", None)
    assert main(["completion", "bash"]) == 2
    assert "spectralcls[completion]" in capsys.readouterr().err
