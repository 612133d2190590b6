"""The results of the runs, number by number and figure by figure: `record.jsonl`, from which the pages are written."""

import json

from ..record import commit
from .tables import Ours


class Results:
    """The record of a folder: one line for each number or figure, with the commit that computed it.

    `found` is {(item, row, column): {"mean", "deviation", "trials"} or {"missing"}, with "commit"}; a figure has its
    "caption" instead, and empty row and column.
    """

    def __init__(self, folder):
        self.path, self.commit = folder / "record.jsonl", {"commit": commit()}
        lines = self.path.read_text(encoding="utf-8").splitlines() if self.path.exists() else []
        self.found = {tuple(row.pop("what")): row for row in map(json.loads, lines)}

    def note(self, table, store):
        """Enter the results of the cells of a table. Entries whose cells have not run remain unchanged."""
        listed = {(table.name, entry.row, entry.column): entry for entry in table.entries}
        self.found = {what: row for what, row in self.found.items() if what[0] != table.name or what in listed}
        for what, entry in listed.items():
            if (ours := entry.ours(store)) is not None:
                self.found[what] = ours._asdict() | self.commit
            elif failure := store.failures.get(entry.cell.key):
                self.found[what] = {"missing": failure} | self.commit

    def note_figure(self, figure, found):
        self.found[figure.name, "", ""] = found | self.commit

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

    def commits(self, items):
        """{commit: numbers of the tables and figures that it computed}, in the order of the items."""
        found = {}
        for item in items:
            for at in dict.fromkeys(row["commit"] for what, row in sorted(self.found.items()) if what[0] == item.name):
                found.setdefault(at, []).append(item.name.split(":")[1].replace("fig", "figure "))
        return found
