"""Random calls of the public functions and estimators against slow truth, in child processes that may crash.

    python -m tests.fuzz --calls 20000 --seed 1           # all targets, the cheap ones more often
    python -m tests.fuzz --only knn --calls 500 --seed 7
    python -m tests.fuzz --only knn --call 123 --seed 7   # one call again, in this process
    python -m tests.fuzz --again FUZZ.json ...            # the findings of reports again: what was mended is left out

Each call is drawn from (seed, target, number), so a finding is repeated by its numbers alone. Right answers and errors
that are meant for the user, `ValueError` and `TypeError` of our own words, are fine. Everything else is a finding: a
wrong answer, another exception, a crash, or a call without an answer for a minute. The exit code is 1 if there is any.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import psutil

sys.path.insert(0, str(Path(__file__).parent))

import fuzz as cases  # noqa: E402

_BATCH = 10_000  # calls of a child process
_PATIENCE = 60.0  # seconds of a processor, or ten times as many of the clock, after which a call counts as hanging
_MEMORY = 8 << 30  # bytes of addresses: a call that asks for more is refused, and does not take the machine with it
_FOREIGN = (  # words of Python and of pybind11, which say nothing of the argument
    "incompatible function arguments",
    "Unable to cast",
    "to unpack",
    "cannot unpack",
    "unhashable",
    "has no attribute",
    "not supported between",
    "unsupported operand",
    "'NoneType' object",
    "cannot be interpreted",
    "ufunc",
    "expected str, bytes or os.PathLike",
)


def judge(target, seed, number):
    """What came of one call: "right", "refused", or a finding in words."""
    rng = np.random.default_rng([seed, sum(map(ord, target)), number])
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            cases.TARGETS[target](rng)
        except cases.Refused as error:
            message = str(error.__cause__)
            if not message or any(words in message for words in _FOREIGN):
                return f"refused in words that are not ours: {message[:200]!r}"
            return "refused"
        except Exception:
            return traceback.format_exc(limit=-3).strip()[-600:]
    return "right"


def turns(targets):
    """Targets in turn, each as often as its share says."""
    return [target for target in targets for _ in range(cases.SHARES[target])]


def child(targets, seed, first, last):
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    of_round = turns(targets)
    for number in range(first, last):
        target = of_round[number % len(of_round)]
        print(json.dumps([number, target, None]), flush=True)  # what to blame for a crash
        print(json.dumps([number, target, judge(target, seed, number)]), flush=True)


def _times(pid):
    """Seconds of the clock and of processors that a process has lived."""
    try:
        used = psutil.Process(pid).cpu_times()
    except psutil.Error:  # it has just ended
        return time.perf_counter(), 0.0
    return time.perf_counter(), used.user + used.system


def _exceeds(pid, since):
    clock, processor = np.subtract(_times(pid), since)
    return processor > _PATIENCE or clock > 10 * _PATIENCE


def batch(targets, seed, first, last):
    """Outcomes of calls, those of a child that died or was silent too long included: [(number, target, outcome)]."""
    outcomes = []
    while first < last:
        arguments = [*targets, "--seed", str(seed), "--range", str(first), str(last)]
        with tempfile.TemporaryFile("w+") as log:
            process = subprocess.Popen(
                [sys.executable, __file__, "--only", *arguments], stdout=log, stderr=subprocess.DEVNULL
            )
            hangs, answered, size = False, _times(process.pid), 0
            while process.poll() is None and not (hangs := _exceeds(process.pid, answered)):
                time.sleep(0.05)
                if log.seek(0, 2) != size:
                    answered, size = _times(process.pid), log.seek(0, 2)
            process.kill()
            process.wait()
            log.seek(0)
            lines = [json.loads(line) for line in log if line.endswith("\n")]
        outcomes += [line for line in lines if line[2] is not None]
        if lines and lines[-1][2] is None:
            number, target, _ = lines[-1]
            outcomes.append([number, target, "no answer" if hangs else f"crash, exit code {process.returncode}"])
            first = number + 1
        elif lines:
            first = lines[-1][0] + 1
        else:
            raise RuntimeError(f"the child process did not start: exit code {process.returncode}")
    return outcomes


def again(reports):
    """Judge the findings of reports once more; those that are right or refused by now are marked as mended there."""
    left = 0
    for file in reports:
        report = json.loads(file.read_text())
        for finding in report["findings"]:
            outcome = judge(finding["target"], finding["seed"], finding["call"])
            finding["mended"] = outcome in ("right", "refused")
            if not finding["mended"]:
                left += 1
                print(f"\n{finding['target']}, call {finding['call']}, seed {finding['seed']}: {outcome}", flush=True)
        file.write_text(json.dumps(report, indent=1) + "\n")
    return int(bool(left))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--calls", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=np.inf, help="begin no batch after so long")
    parser.add_argument("--only", nargs="+", choices=cases.TARGETS, default=list(cases.TARGETS), metavar="TARGET")
    parser.add_argument("--call", type=int, help="this one only, in this process")
    parser.add_argument("--json", type=Path, help="write the counts and the findings")
    parser.add_argument("--again", type=Path, nargs="+", metavar="FUZZ.json", help="findings of reports again")
    parser.add_argument("--range", type=int, nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.call is not None:
        of_round = turns(options.only)
        outcome = judge(of_round[options.call % len(of_round)], options.seed, options.call)
        print(outcome)
        return int(outcome not in ("right", "refused"))
    if options.again:
        return again(options.again)
    if options.range:
        child(options.only, options.seed, *options.range)
        return 0
    counts, findings, begun = Counter(), [], time.perf_counter()
    for first in range(0, options.calls, _BATCH):
        if time.perf_counter() - begun > options.seconds:
            break
        for number, target, outcome in batch(options.only, options.seed, first, min(first + _BATCH, options.calls)):
            counts[target, outcome if outcome in ("right", "refused") else "findings"] += 1
            if outcome not in ("right", "refused"):
                findings.append({"target": target, "call": number, "seed": options.seed, "what": outcome})
                print(f"\n{target}, call {number}: {outcome}", flush=True)
    report = {
        "calls": sum(counts.values()),
        "seed": options.seed,
        "seconds": round(time.perf_counter() - begun, 1),
        "targets": {t: {k: counts[t, k] for k in ("right", "refused", "findings")} for t in options.only},
        "findings": findings,
    }
    print(json.dumps({key: value for key, value in report.items() if key != "findings"}, indent=1))
    if options.json:
        options.json.write_text(json.dumps(report, indent=1) + "\n")
    return int(bool(findings))


if __name__ == "__main__":
    sys.exit(main())
