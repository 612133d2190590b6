"""The results of the runs, number by number and figure by figure: `record.jsonl`, from which the pages are written."""

import json

from ..record import commit
from .registry import Ours, Table


class Results:
    """The record of a folder: one line for each number or figure, with the commit that computed it.

    `found` is {(item, row, column): {"mean", "deviation", "trials"} or {"missing"}, with "commit"}; a figure has its
    "caption" instead, and empty row and column.
    """

    def __init__(self, folder):
        self.path = folder / "record.jsonl"
        lines = self.path.read_text(encoding="utf-8").splitlines() if self.path.exists() else []
        self.found = {tuple(row.pop("what")): row for row in map(json.loads, lines)}

    def note(self, items, store, captions):
        """Enter the results of the cells for tables and figures. Entries whose cells have not run remain unchanged."""
        at = {"commit": commit()}
        for item in items:
            if not isinstance(item, Table):
                self.found[item.name, "", ""] = captions[item.name] | at
                continue
            listed = {(item.name, entry.row, entry.column) for entry in item.entries}
            for what in [what for what in self.found if what[0] == item.name and what not in listed]:
                del self.found[what]
            for entry in item.entries:
                ours, failure = entry.ours(store), store.failure(entry.cell)
                if ours is not None:
                    self.found[item.name, entry.row, entry.column] = ours._asdict() | at
                elif failure is not None:
                    self.found[item.name, entry.row, entry.column] = {"missing": failure} | at

    def save(self):
        lines = [json.dumps({"what": what} | row, ensure_ascii=False) for what, row in sorted(self.found.items())]
        self.path.write_text("\n".join(lines) + "\n", encoding="utf-8")

    def ours(self, table, entry):
        """Our number, or None."""
        row = self.found.get((table.name, entry.row, entry.column), {})
        return Ours(row["mean"], row["deviation"], row["trials"]) if "mean" in row else None

    def verdict(self, table, entry):
        """A verdict of `Entry`, "no data" or "not computed"."""
        ours = self.ours(table, entry)
        if ours is not None:
            return entry.verdict(ours)
        return "no data" if (table.name, entry.row, entry.column) in self.found else "not computed"

    def missing(self, tables):
        """The reasons why numbers of the tables are missing, without repetitions."""
        names = {table.name for table in tables}
        return sorted({row["missing"] for what, row in self.found.items() if what[0] in names and "missing" in row})

    def known(self, item):
        """Whether anything of a table or a figure is in the record."""
        return any(what[0] == item.name for what in self.found)

    def commits(self, items):
        """{commit: numbers of the tables and figures that it computed}, in the order of the items."""
        names = [item.name for item in items]
        found = {}
        for (name, _, _), row in sorted(self.found.items(), key=lambda pair: _place(names, pair[0][0])):
            if name in names:
                number = name.split(":")[1].replace("fig", "figure ")
                found.setdefault(row["commit"], {})[number] = None
        return {at: list(numbers) for at, numbers in found.items()}


def _place(names, name):
    return names.index(name) if name in names else len(names)
