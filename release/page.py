"""``python -m release.page`` writes ``docs/start/platforms.md`` from what the runs of ``nox -s wheels cross`` left."""

import json

from .platforms import PLATFORMS, PYTHONS
from .wheels import MEASURED, ROOT

PAGE = ROOT / "docs" / "start" / "platforms.md"
COMPILERS = ROOT / "docs" / "measured" / "compilers.json"
TEXT = """\
# Platforms

Wheels for CPython {first} to {last} are planned on each platform of the table. This page says how far each got on the
machine that wrote it, an x86-64 Linux; `nox -s wheels` makes all of it, `python -m release.page` writes the page.
The hosted run (`.github/workflows/wheels.yml`, by cibuildwheel) builds the whole matrix, the free-threaded 3.14
included, and tests each wheel on its own platform.

{table}

*Run*: installed where there is no compiler, and tested; the numbers say how many tests passed with each variant.
*Installed*: the same, but `spectralcls compare wine` is all that was run. *Run under qemu*: the core's tests, emulated.
*Linked*: what is compiled once per instruction set is compiled and linked for the platform; the Python modules need its
headers, which were not at hand. *Not tried*: neither.
{timing}
## Which compiler

{compilers}
"""


def tests(row):
    outcomes = row.get("tests", {})
    return ", ".join(
        f"{variant}: {count['passed']}" + (f", {count['failed']} failed" if count["failed"] else "")
        for variant, count in outcomes.items()
    )


def rows(measured):
    for name in PLATFORMS:
        found = [row for row in measured.values() if row["platform"] == name]
        for row in found:
            size = f"{row['bytes'] / 1e6:.1f} MB" if "bytes" in row else ""
            yield [name, row["python"] or "", row["outcome"], tests(row), size, row.get("file", "")]
        missing = [python for python in PYTHONS if python not in {row.get("python") for row in found}]
        if missing and not any(row["python"] is None for row in found):
            yield [name, ", ".join(missing), "not tried", "", "", ""]


def markdown(header, body):
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return "\n".join(lines + ["| " + " | ".join(map(str, row)) + " |" for row in body])


def timing(measured):
    timed = [row for row in measured.values() if "seconds_to_first_result" in row]
    if not timed:
        return ""
    lines = [
        f"Python {row['python']} {row['seconds_to_first_result']:.0f} s ({row['processor_seconds']:.0f} s of one "
        f"processor), of which {row['seconds_of_pip']:.0f} s are pip's"
        for row in timed
    ]
    return (
        "\nFrom `pip install` of the wheel, its dependencies downloaded, to the result of `spectralcls compare wine`: "
        + "; ".join(lines)
        + ". Most of pip's time goes into compiling the Python files of SciPy and scikit-learn.\n"
    )


def compilers():
    if not COMPILERS.exists():
        return "Not measured on this machine."
    found = json.loads(COMPILERS.read_text(encoding="utf-8"))
    header = ["on one thread", f"time with {found['wheel']}, in units of {found['source']}'s"]
    body = [[case, f"{ratio:.2f}"] for case, ratio in found["ratios"].items()]
    return (
        "The wheels of `nox -s wheels` are compiled by the Clang of the package `ziglang` for glibc 2.28. Each case"
        f" was timed in turns with a build from source, variant {found['variant']} (`python -m release.compilers`).\n\n"
        + markdown(header, body)
    )


def main():
    measured = json.loads(MEASURED.read_text(encoding="utf-8"))
    table = markdown(["platform", "Python", "outcome", "tests passed", "size", "file"], rows(measured))
    PAGE.write_text(
        TEXT.format(first=PYTHONS[0], last=PYTHONS[-1], table=table, timing=timing(measured), compilers=compilers()),
        encoding="utf-8",
    )


if __name__ == "__main__":
    main()
