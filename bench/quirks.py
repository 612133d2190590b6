"""Small files, each with one common quirk of exports, and the content that a reader should find."""

from datetime import date, datetime, timedelta
from functools import partial
from typing import NamedTuple

import numpy as np
import pandas as pd

N = 14  # rows, except in two files
LATE = 40_000


class Quirk(NamedTuple):
    """A file and its content; `columns` is None if the content is ambiguous, so that a reader should ask."""

    group: str
    name: str
    data: bytes
    columns: dict | None
    target: str | None = "class"
    named: bool = True  # whether the names of the columns are known


rng = np.random.default_rng(0)
SIZES = [1.5, 2.25, 0.75, 10.5, 3.5, 4.75, 6.25, 7.5, 8.25, 9.5, 11.25, 12.5, 13.75, 2.5]
COUNTS = [3, 14, 7, 0, 22, 5, 9, 31, 2, 18, 4, 6, 11, 8]
WORDS = ["oak", "ash", "elm"] * 4 + ["oak", "elm"]
CLASSES = ["ripe", "raw"] * 7
PLAIN = {"size": SIZES, "count": COUNTS, "tree": WORDS, "class": CLASSES}
DAYS = [date(2021, 3, 14) + timedelta(days=9 * k) for k in range(N)]
LARGE = [1234.5, 987.25, 45678.5, 12.75, 1000.5, 333.25, 2345678.5, 88.5, 9999.75, 5.5, 100000.25, 7070.5, 64.0, 3.25]
WHOLE = [1234, 45678, 2345678, 1000, 98765, 4321, 5000, 70707, 1111, 222222, 3333, 8080, 9999, 6400]


def text(columns, sep=",", header=True, end="\n", cell=str):
    """Columns as lines of cells."""
    rows = [list(columns)] * header + [list(row) for row in zip(*columns.values(), strict=True)]
    return "".join(sep.join(map(cell, row)) + end for row in rows)


def with_column(values, written, name="value", sep=","):
    """A file with one more column, given its values and their text."""
    columns = {name: values} | PLAIN
    return text(columns | {name: written}, sep), columns


def comma(value):
    return str(value).replace(".", ",")


GERMAN = text(PLAIN | {"size": map(comma, SIZES)}, ";")
UMLAUTS = PLAIN | {"tree": ["Bäume", "Öl", "Grün"] * 4 + ["Öl", "Bäume"]}
REVIEW = PLAIN | {"tree": ["tall, old", "short", "broad, young"] * 4 + ["short", "tall, old"]}


def quoted(value, mark='"'):
    return f"{mark}{value}{mark}" if isinstance(value, str) else str(value)


def escaped(value):
    return '"' + value.replace('"', '\\"') + '"' if isinstance(value, str) else str(value)


def grouped(value, group, decimal):
    return f"{value:,}".replace(".", "d").replace(",", group).replace("d", decimal)


def quirks():
    """All quirks, by group."""
    found = []

    def add(group, name, content, columns=PLAIN, encoding="utf-8", **more):
        data = content if isinstance(content, bytes) else content.encode(encoding)
        found.append(Quirk(group, name, data, columns, **more))

    def add_column(group, name, values, written, sep=","):
        add(group, name, *with_column(values, written, sep=sep))

    group = "plain"
    add(group, "plain", text(PLAIN))
    add(group, "byte order mark", text(PLAIN), encoding="utf-8-sig")
    lines = PLAIN | {"tree": ["two\nlines", "one", "three\nmore\nlines"] * 4 + ["one", "two\nlines"]}
    add(group, "line ends within quotes", text(lines, cell=quoted), lines)
    marks = PLAIN | {"tree": ['the "old" one', "new", '"'] * 4 + ["new", '"']}
    twice = {"tree": [word.replace('"', '""') for word in marks["tree"]]}
    add(group, "quotes written twice", text(marks | twice, cell=quoted), marks)
    add_column(group, "True and False", [k % 3 == 0 for k in range(N)], [str(k % 3 == 0) for k in range(N)])

    group = "encodings, known by their bytes"
    add(group, "semicolons, decimal commas", GERMAN)
    add(group, "cp1252", text(UMLAUTS | {"size": map(comma, SIZES)}, ";"), UMLAUTS, "cp1252")
    for name, encoding in {"UTF-16 with a mark": "utf-16", "UTF-16, little end": "utf-16-le"}.items():
        add(group, name, text(PLAIN, "\t"), encoding=encoding)
    add(group, "UTF-16, big end", text(PLAIN), encoding="utf-16-be")
    add(group, "a line sep=;", "sep=;\n" + GERMAN)

    group = "decimal commas"
    add(group, "commas in texts without quotes", text(REVIEW | {"size": map(comma, SIZES)}, ";"), REVIEW)
    exponents = [f"{m},{k % 9}E+0{k % 4}" for k, m in enumerate(range(1, N + 1))]
    values = [float(cell.replace(",", ".")) for cell in exponents]
    add_column(group, "exponents", values, exponents, ";")

    group = "thousands"
    add_column(group, "points", LARGE, [grouped(v, ".", ",") for v in LARGE], ";")
    add_column(group, "commas in quotes", LARGE, [f'"{v:,}"' for v in LARGE])
    add_column(group, "apostrophes", LARGE, [grouped(v, "'", ".") for v in LARGE])
    add_column(group, "no-break spaces", LARGE, [grouped(v, "\u00a0", ",") for v in LARGE], ";")
    add(group, "points in whole numbers", *german_with(WHOLE, [grouped(v, ".", ",") for v in WHOLE]))

    group = "dates"
    for name, form in {"31.12.2021": "%d.%m.%Y", "12/31/2021": "%m/%d/%Y", "31/12/2021": "%d/%m/%Y"}.items():
        add_column(group, name, DAYS, [day.strftime(form) for day in DAYS])
    add_column(group, "31.12.21", DAYS, [day.strftime("%d.%m.%y") for day in DAYS])
    add_column(group, "31-Dec-2021", DAYS, [day.strftime("%d-%b-%Y") for day in DAYS])
    months = ["März", "April", "Mai", "Juni", "Juli"]
    add_column(group, "31. Dezember 2021", DAYS, [f"{d.day}. {months[d.month - 3]} {d.year}" for d in DAYS])
    times = [datetime(2021, 3, 14, 7 + k, 5 * k % 60) + timedelta(days=k) for k in range(N)]
    add_column(group, "2021-12-31T23:59:00", times, [time.isoformat() for time in times])
    unknown = [f"{1 + k % 12:02d}/{1 + 5 * k % 12:02d}/2021" for k in range(N)]
    add(group, "day or month first, open", with_column(unknown, unknown)[0], None)

    group = "above and below the table"
    add(group, "a title and a blank line", "Harvest of 2021\n\n" + text(PLAIN))
    add(group, "a title", "Harvest of 2021\n" + text(PLAIN))
    add(group, "comments with #", "# from the balance, no. 3\n# checked, twice\n" + text(PLAIN))
    add(group, "keys and values", "Station;North\nOperator;A. B.\nUnit;cm\n\n" + GERMAN)
    add(group, "a remark below", text(PLAIN) + "Source: own harvest\n")
    add(group, "a sum below", text(PLAIN) + f"{sum(SIZES)},{sum(COUNTS)},Total,\n")

    group = "numbers with something around them"
    add_column(group, "12.5 %", [v / 100 for v in SIZES], [f"{v} %" for v in SIZES])
    add_column(group, "1.200,50 €", LARGE, [f"{grouped(v, '.', ',')} €" for v in LARGE], ";")
    add_column(group, "$1,200.50", LARGE, [f'"${v:,}"' for v in LARGE])
    signs = [v if k % 3 else -v for k, v in enumerate(LARGE)]
    around = [f'"({v:,})"' if k % 2 else f'"{v:,}-"' for k, v in enumerate(LARGE)]
    written = [f'"{v:,}"' if k % 3 else mark for k, (v, mark) in enumerate(zip(LARGE, around, strict=True))]
    add_column(group, "(1,200.50) and 1,200.50-", signs, written)
    gaps = [np.nan if k % 5 == 2 else v for k, v in enumerate(SIZES)]
    for word in ("k.A.", "#DIV/0!"):
        add_column(group, f"{word} for a missing value", gaps, [word if v != v else v for v in gaps])
    add_column(group, "ja and nein", [k % 3 == 0 for k in range(N)], ["ja" if k % 3 == 0 else "nein" for k in range(N)])
    add(group, "12,5 kg", *with_column(SIZES, [f"{comma(v)} kg" for v in SIZES], sep=";"))

    group = "signs, units and separators"
    add(group, "1.234 € and 980 €", *with_column(WHOLE, [f"{grouped(v, '.', ',')} €" for v in WHOLE], sep="\t"))
    few = [1234, 980, 1450, 760, 2310, 1105, 890, 3120, 640, 1999, 1275, 830, 2040, 715]
    add(group, "$1,234 and $980, semicolons", *with_column(few, [f"${v:,}" for v in few], sep=";"))
    below = [v if k % 3 else -v for k, v in enumerate(few)]
    for name, form in {"(1,234)": "({:,})", "1,234-": "{:,}-", "−1,234": "−{:,}"}.items():
        written = [f"{v:,}" if v > 0 else form.format(-v) for v in below]
        add_column(group, name, below, [f'"{cell}"' for cell in written])
    add_column(group, "thin spaces", LARGE, [grouped(v, "\u2009", ",") for v in LARGE], ";")
    add(group, "1.460 and 490, semicolons", *with_column(few, [grouped(v, ".", ",") for v in few], sep=";"))
    grams = [f"{v} kg" if k % 3 else f"{1000 * v:g} g" for k, v in enumerate(SIZES)]
    add_column(group, "1.5 kg and 900 g", SIZES, grams)
    money = [1.2e6, 565e3, 780e3, 3.4e6, 905e3, 2.1e6, 450e3, 1.75e6, 640e3, 5.5e6, 320e3, 1.1e6, 870e3, 2.6e6]
    add_column(group, "€1.2M and €565K", money, [f"€{v / 1e6:g}M" if v >= 1e6 else f"€{v / 1e3:g}K" for v in money])
    add(
        group,
        "a cell in € among $",
        with_column(SIZES, [f"{v} €" if k == 3 else f"{v} $" for k, v in enumerate(SIZES)])[0],
        None,
    )

    group = "dates and times of programs"
    stamps = {"2021-12-31 23:59:00+00": "%Y-%m-%d %H:%M:%S+00", "2021-12-31 23:59:00 UTC": "%Y-%m-%d %H:%M:%S UTC"}
    for name, form in stamps.items():
        add_column(group, name, times, [time.strftime(form) for time in times])
    add_column(group, "31DEC2021", DAYS, [day.strftime("%d%b%Y").upper() for day in DAYS])
    add_column(group, "2021年12月31日", DAYS, [f"{d.year}年{d.month}月{d.day}日" for d in DAYS])
    spelled = {"Spanish": "marzo abril mayo junio julio", "Italian": "marzo aprile maggio giugno luglio"}
    spelled |= {"French": "mars avril mai juin juillet", "Turkish": "Mart Nisan Mayıs Haziran Temmuz"}
    for language, months in spelled.items():
        add_column(group, f"{language} months", DAYS, [f"{d.day} {months.split()[d.month - 3]} {d.year}" for d in DAYS])
    zones = [f"{t + timedelta(hours=2)}+02:00" if k % 2 else f"{t}+00:00" for k, t in enumerate(times)]
    add_column(group, "two time zones", times, zones)
    naive = [f"{t}+02:00" if k % 2 else str(t) for k, t in enumerate(times)]
    add(group, "a time zone in some cells", with_column(naive, naive)[0], None)
    add_column(group, "1h 20m", [k / 24 for k in SIZES], [f"{int(v)}h {60 * (v % 1):.0f}m" for v in SIZES])
    versions = [f"3.{1 + k % 12}.{20 + k % 9}" for k in range(N)]
    add(group, "numbers of versions", text({"version": versions} | PLAIN), None)

    group = "blank rows"
    add(group, "between", text(PLAIN, end="\n\n"))
    add(group, "above and below", "\n\n" + text(PLAIN) + "\n\n")
    add(group, "of delimiters", text(PLAIN) + ",,,\n,,,\n")

    group = "header"
    add(group, "none, words and numbers", text(PLAIN, header=False), target="3", named=False)
    matrix = {str(k): np.round(rng.normal(size=N), 2).tolist() for k in range(4)}
    add(group, "none, numbers", text(matrix, header=False), matrix, target=None, named=False)
    years = {"site": WORDS, "2019": SIZES, "2020": LARGE, "class": CLASSES}
    add(group, "years", text(years), years)

    group = "delimiters"
    add(group, "tabs", text(PLAIN, "\t"))
    add(group, "bars", text(PLAIN, "|"))
    add(group, "a blank behind commas", text(PLAIN, ", ", cell=quoted))
    add(group, "one more at the end of all lines", text(PLAIN, end=",\n"))
    add(group, "none: one column", text({"size": SIZES}), {"size": SIZES}, target=None)
    add(group, "carriage returns", text(PLAIN, end="\r"))
    add(group, "several blanks", text(PLAIN, "   "))
    add(group, "one blank", text(PLAIN, " "))
    add(
        group, "one more at the end of rows", text(PLAIN, header=False, end=",\n").join(["size,count,tree,class\n", ""])
    )

    group = "quotes and names"
    add(group, "single quotes", text(REVIEW, cell=partial(quoted, mark="'")), REVIEW)
    said = PLAIN | {"tree": ['say "hi", once', "no", 'a "b"'] * 4 + ["no", 'a "b"']}
    add(group, "backslashes before quotes", text(said, cell=escaped), said)
    same = text(PLAIN).replace("count", "size", 1)
    add(group, "a name twice", same, named=False)

    group = "kinds"
    codes = [f"{code:05d}" for code in (1067, 80331, 10115, 4109, 20095, 1067, 50667)] * 2
    add(group, "zeros that lead postal codes", text({"PLZ": codes} | PLAIN), {"PLZ": codes} | PLAIN)
    lines = text(PLAIN).splitlines(keepends=True)
    add(group, "a short row", "".join([*lines[:5], "1.5,3\n", *lines[5:]]), None)
    add(group, "a long row", "".join([*lines[:5], "1.5,3,oak,raw,x\n", *lines[5:]]), None)
    add(group, "a word among numbers", text(PLAIN).replace("10.5,", "ten,"), None)

    group = "encodings that bytes do not tell"
    cities = {"cp1251": ["Казань", "Тверь"], "cp1250": ["Łódź", "Gdańsk"], "shift_jis": ["東京", "大阪"]}
    for encoding, (one, other) in cities.items():
        columns = PLAIN | {"tree": [one, other] * 7}
        add(group, encoding, text(columns), columns, encoding)
    add(group, "latin-1", text(UMLAUTS), UMLAUTS, "latin-1")

    group = "long files"
    ones = {"a": [1.0] * LATE + [1.5], "b": [float(k % 7) for k in range(LATE + 1)]}
    add(group, "a fraction in the last row", text(ones | {"a": [1] * LATE + [1.5]}), ones, target=None)
    late = {"a": [float(k % 9) for k in range(LATE)] + [np.nan], "b": ones["b"]}
    add(group, "n/a in the last row", text(late | {"a": [k % 9 for k in range(LATE)] + ["n/a"]}), late, target=None)
    return found


def german_with(values, written):
    """A file with decimal commas and one more column."""
    columns = {"value": values} | PLAIN
    return text(columns | {"value": written, "size": map(comma, SIZES)}, ";"), columns


def verdict(quirk, read):
    """The result of a reader for a file: *right*; *text*, left as it is; *told*, an error or a warning; *wrong*.

    Parameters
    ----------
    read : callable
        Returns the names, the columns as arrays or series, and whether the reader has warned.
    """
    try:
        names, columns, warned = read()
    except ImportError:
        raise
    except Exception:  # any exception of a reader is a refusal
        return "right" if quirk.columns is None else "told"
    if quirk.columns is None:
        texts = any(pd.Series(column).dtype.kind in "OT" and len(set(column)) > 5 for column in columns)
        return "text" if texts and len(columns) in (4, 5) else "told" if warned else "wrong"
    expected = list(quirk.columns.values())
    good = len(columns) == len(expected) and all(len(c) == len(e) for c, e in zip(columns, expected, strict=True))
    good = good and (not quirk.named or [str(name).strip() for name in names] == list(quirk.columns))
    found = [_of_column(pd.Series(c), e) for c, e in zip(columns, expected, strict=True)] if good else ["wrong"]
    if "wrong" in found:
        return "told" if warned else "wrong"
    return "text" if "text" in found else "right"


def _of_column(found, expected):
    """Verdict on a column, given the expected values."""
    known = next(value for value in expected if value == value)
    texts = [value.strip() for value in found.astype(object) if isinstance(value, str)]
    if isinstance(known, str):
        return "right" if texts == list(expected) else "wrong"
    if texts:
        return "text"
    if isinstance(known, date):  # or its days
        days = pd.to_datetime(pd.Series(expected))
        if found.dtype.kind == "f":
            return _same(found, (days - pd.Timestamp("1970-01-01")) / pd.Timedelta(days=1))
        found = pd.to_datetime(found)
        found = found if found.dt.tz is None else found.dt.tz_convert(None)
        return "right" if (found == days).all() else "wrong"
    values = pd.to_numeric(found, errors="coerce").astype("float64")
    wanted = pd.Series(expected).astype("float64")
    return "right" if "right" in (_same(values, wanted), _same(values, 100 * wanted)) else "wrong"


def _same(found, expected):
    return "right" if np.allclose(found, expected, rtol=1e-9, atol=0, equal_nan=True) else "wrong"
