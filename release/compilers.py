"""A wheel's speed and that of a build from source, case by case in turns: ``python -m release.compilers WHEEL``.

Two child processes, one with each core, time what ``bench/bench_quick.py`` times; ``docs/measured/compilers.json``
keeps the medians of the ratios.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

from .page import COMPILERS
from .wheels import ROOT

TURNS = 15


def serve():
    """Answers every line, the name of a case, by the seconds of processor time that it takes."""
    from bench.bench_quick import CASES
    from spectralcls import show_config
    from spectralcls._core import compiled

    functions = {case: make()[2] for case, make in CASES.items()}
    config = show_config("dict")
    print(
        json.dumps(
            {
                "cases": list(functions),
                "compiler": config["compiler"],
                "variant": config["variant"],
                "flags": compiled.build_info()["flags"],
            }
        ),
        flush=True,
    )
    for line in sys.stdin:
        function = functions[line.strip()]
        begin = time.thread_time()
        function()
        print(time.thread_time() - begin, flush=True)


class Child:
    def __init__(self, path):
        env = os.environ | {"PYTHONPATH": os.pathsep.join([str(path), str(ROOT)]), "OPENBLAS_NUM_THREADS": "1"}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "release.compilers", "--serve"],
            env=env,
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=path,
        )
        self.about = json.loads(self.process.stdout.readline())

    def seconds(self, case):
        self.process.stdin.write(case + "\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("wheel", nargs="?")
    parser.add_argument("--source", type=Path, default=ROOT / "src", help="a folder with the other build (src)")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        return serve()
    with tempfile.TemporaryDirectory() as folder:
        zipfile.ZipFile(options.wheel).extractall(folder)
        wheel, source = Child(folder), Child(options.source)
        ratios = {}
        for case in source.about["cases"]:
            wheel.seconds(case), source.seconds(case)
            found = [wheel.seconds(case) / source.seconds(case) for _ in range(TURNS)]
            ratios[case] = round(statistics.median(found), 3)
            print(f"{case}: {ratios[case]:.2f}", flush=True)
        (variant,) = {wheel.about["variant"], source.about["variant"]}
        about = {"wheel": wheel.about["compiler"], "source": source.about["compiler"], "variant": variant}
        COMPILERS.write_text(json.dumps(about | {"ratios": ratios}, indent=1) + "\n", encoding="utf-8")
        for child in (wheel, source):
            child.process.stdin.close()
            child.process.wait()


if __name__ == "__main__":
    main()
