"""Measure, and write the pages: ``python -m bench run TOPIC ...``, ``python -m bench all``, ``python -m bench report``.

Each topic is a file ``bench_TOPIC.py``. ``--quick`` runs it on small data to check that it works, with its figures in
build/quick. Further options go to pytest: ``-k NAME``, ``--again``, ``--fresh``."""

import argparse
import os
import subprocess
import sys
import time

from spectralcls._core import ISA_VARIABLE, available_variants

from . import pages

LIMITS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")  # benches set the number of threads themselves
CORE = "OPENBLAS_CORETYPE"  # instruction set of NumPy's BLAS: by default, the best of the processor


def run(topic, quick, options):
    """Exit codes of pytest, one for each instruction set, which BLAS uses too."""
    environment = {key: value for key, value in os.environ.items() if key not in (*LIMITS, CORE)}
    environment |= {"SPECTRALCLS_BENCH_QUICK": "1"} if quick else {}
    several = "every_isa" in (pages.BENCH / f"bench_{topic}.py").read_text(encoding="utf-8")
    variants = [name for name in available_variants() if name != "baseline"][: None if several else 1]
    command = [sys.executable, "-m", "pytest", "-q", "-W", "ignore", "-p", "no:cacheprovider", *options]
    command.append(f"bench/bench_{topic}.py")
    for variant in variants or available_variants()[:1]:
        begin = time.perf_counter()
        own = {ISA_VARIABLE: variant} | ({CORE: "Haswell"} if variant == "avx2" else {})
        code = subprocess.run(command, env=environment | own, cwd=pages.ROOT).returncode
        print(f"== {topic}, {variant}: {time.perf_counter() - begin:.0f} s, exit code {code}", flush=True)
        yield code


def main():
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__.splitlines()[0])
    parser.add_argument("command", choices=["run", "all", "report"])
    parser.add_argument("topics", nargs="*", metavar="TOPIC", help=", ".join(pages.topics()))
    parser.add_argument("--quick", action="store_true", help="small data; figures go to build/quick")
    arguments, options = parser.parse_known_args()
    if unknown := set(arguments.topics) - set(pages.topics()):
        parser.error(f"there is no topic {', '.join(sorted(unknown))}, but {', '.join(pages.topics())}")
    if arguments.command == "report":
        return pages.write()
    topics = pages.topics() if arguments.command == "all" else arguments.topics
    options += ["--fresh"] * (arguments.command == "all" or arguments.quick) + ["--again"] * arguments.quick
    codes = [code for topic in topics for code in run(topic, arguments.quick, options)]
    return int(any(code not in (0, 5) for code in codes))


if __name__ == "__main__":
    sys.exit(main())
