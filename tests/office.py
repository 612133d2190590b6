"""A customer table as offices have it, and the files that their programs export."""

import csv
import io

import numpy as np

TARGET = "Kündigung"
LEFT_OUT = {"Kunden-Nr": "identifier", "Bemerkung": "free text"}
DIALECTS = {  # name: (delimiter, decimal, thousands, format of dates, missing, encoding, first line, words of truth)
    "german excel": (";", ",", ".", "%d.%m.%Y", ("-", "k.A."), "cp1252", "sep=;", ("nein", "ja")),
    "german utf-8": (";", ",", ".", "%d.%m.%Y", ("", "k.A."), "utf-8-sig", None, ("nein", "ja")),
    "english": (",", ".", "", "%Y-%m-%d", ("NA", "n/a"), "utf-8", None, ("False", "True")),
    "american": (",", ".", ",", "%m/%d/%Y", ("", "?"), "utf-16", None, ("No", "Yes")),
    "french": ("\t", ",", "\u202f", "%d/%m/%Y", ("null", ""), "utf-8", None, ("non", "oui")),
}
WORDS = "ruft wegen der Rechnung an; möchte anderen Tarif, hat gekündigt, fragt nach Rabatt; Umzug gemeldet".split()


def customers(n=1200, seed=0):
    """Columns of n customers, of whom 22 % cancel: {name: array}; 5 % of two columns are missing (NaN)."""
    rng = np.random.default_rng(seed)
    since = np.datetime64("2015-01-01") + rng.integers(0, 2900, n)
    income = rng.lognormal(10.3, 0.45, n).round(2)
    discount = rng.choice([0.0, 2.5, 5.0, 7.5, 10.0, 12.5], n)
    tariff = rng.choice(["Basis", "Komfort", "Premium"], n, p=[0.5, 0.3, 0.2])
    region = rng.choice(["Nord", "Süd", "Ost", "West"], n)
    calls, direct = rng.poisson(1.2, n), rng.random(n) < 0.6
    years = (np.datetime64("2023-01-01") - since).astype(int) / 365
    signal = 1.1 * (tariff == "Basis") - 0.9 * direct + 0.55 * calls - 0.35 * years - 0.6 * (income > 35_000)
    signal += 0.8 * (region == "Ost") * (discount < 5) + 0.4 * rng.normal(size=n)
    columns = {
        "Kunden-Nr": rng.permutation(np.arange(100_000, 100_000 + 9 * n, 7))[:n],
        "PLZ": np.array([f"{code:05d}" for code in rng.integers(1000, 99_999, n)]),
        "Vertragsbeginn": since,
        "Jahreseinkommen (€)": np.where(rng.random(n) < 0.05, np.nan, income),
        "Rabatt %": np.where(rng.random(n) < 0.05, np.nan, discount),
        "Tarif": tariff,
        "Region": region,
        "Anrufe": calls,
        "Lastschrift": direct,
        "Bemerkung": np.array([" ".join(rng.choice(WORDS, rng.integers(4, 9))) for _ in range(n)]),
        TARGET: np.where(signal > np.quantile(signal, 0.78), "ja", "nein"),
    }
    return columns


def export(path, columns, dialect="german excel"):
    """Write columns as one of the dialects."""
    delimiter, decimal, thousands, dates, missing, encoding, first, truth = DIALECTS[dialect]
    rng = np.random.default_rng(0)

    def cell(value):
        if isinstance(value, np.datetime64):
            return value.item().strftime(dates)
        if isinstance(value, np.bool_):
            return truth[int(value)]
        if isinstance(value, np.floating):
            if np.isnan(value):
                return str(rng.choice(missing))
            return f"{value:,.2f}".translate(str.maketrans({",": thousands, ".": decimal}))
        return str(value)

    file = io.StringIO(newline="")
    writer = csv.writer(file, delimiter=delimiter)
    writer.writerow(columns)
    writer.writerows(map(cell, row) for row in zip(*columns.values(), strict=True))
    text = file.getvalue() if first is None else f"{first}\r\n{file.getvalue()}"
    path.write_bytes(text.encode(encoding))
    return path
