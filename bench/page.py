"""What the pages of measurements share: the machine's name, and tables of what a run printed."""

from spectralcls import show_config


def machine():
    config = show_config("dict")
    return f"{config['machine']}, {config['threads']} threads, variant {config['variant']}, {config['compiler']}"


def table(rows, digits=3):
    """Markdown of dictionaries, a row for each; what a row lacks stays empty."""
    keys = list(dict.fromkeys(key for row in rows for key in row))
    lines = ["| " + " | ".join(keys) + " |", "|" + "---|" * len(keys)]
    return "\n".join(lines + ["| " + " | ".join(cell(row.get(key, ""), digits) for key in keys) + " |" for row in rows])


def cell(value, digits=3):
    if not isinstance(value, float):
        return str(value)
    if value and not 1e-4 <= abs(value) < 1e6:
        return f"{value:.2e}"
    return f"{value:.{digits}g}" if abs(value) < 10 ** (digits - 1) else f"{value:.0f}"
