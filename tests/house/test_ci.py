"""The frame of .ci/run: its exit status is 0 if everything passed, and only then."""

import shutil
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / ".ci" / "run"
BODIES = {
    "everything passes": ("true", 0),
    "nothing ran beside": ("good() { true; }; join", 0),
    "what ran beside passes": ("good() { true; }; beside good; join; true", 0),
    "what ran beside fails": ("bad() { return 3; }; beside bad; join; true", 1),
    "one of two fails": ("good() { true; }; bad() { return 3; }; beside bad; beside good; join; true", 1),
    "a command fails": ("(exit 4); true", 4),
    "a command fails while another runs": ("slow() { sleep 5; }; beside slow; (exit 4); true", 4),
}


@pytest.mark.skipif(not SCRIPT.exists(), reason="the tests run without the source folder")
@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
@pytest.mark.parametrize("case", BODIES)
def test_the_exit_status(case):
    body, status = BODIES[case]
    frame, _ = SCRIPT.read_text(encoding="utf-8").split('\nstage "', maxsplit=1)
    done = subprocess.run(["bash", "-c", f"{frame}\n{body}", str(SCRIPT)], capture_output=True, text=True, timeout=60)
    assert done.returncode == status, done.stdout + done.stderr
