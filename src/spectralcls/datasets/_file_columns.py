"""The columns of a file."""

import unicodedata

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types

from .._inputs.cells import EXACT, OTHER, Form
from .._inputs.frames import (
    BOOLEAN,
    CATEGORY,
    NUMBER,
    ORDERED,
    TEXT,
    TRUTH_VALUES,
    Columns,
    of_numbers,
    of_objects,
    of_positions,
    of_times,
)

_HEAD = 100  # cells that show first whether a column holds plain numbers; columns of fewer are read cell by cell
_PLAIN = {  # numbers without anything around them, by decimal sign
    sign: rf"^[+-]?(?:[1-9]\d{{0,2}}(?:{group}\d{{3}})+(?:{point}\d*)?|\d+(?:{point}\d*)?(?:[eE][+-]?\d+)?)$"
    for sign, point, group in ((".", r"\.", ","), (",", ",", r"\."))
}
# a number whose separators have one meaning, unlike those of 1.234
_CLEAR = r"[.,](?:\d{0,2}|\d{4,})$|^[-+]?(?:0|\d{4,}|)[.,]|[.,].*[.,]|[eE]"


def columns_of(source, names, words, plain):
    """The `Columns` of a source with the given names.

    Parameters
    ----------
    words : collection of str
        Words for a missing value, in lower case.
    plain : collection of str
        Columns that may be numbers; in others, texts stay as they are.
    """
    listed, plain = pa.array(sorted(words), pa.string()), set(plain)
    of = dict(zip(source.table.column_names, source.table.columns, strict=True)) | source.mixed
    columns = [_column(source, name, of[name], listed if name in plain else None) for name in names]
    return Columns(
        column.without(words)
        if column.values.dtype.kind == "M" or column.kind == NUMBER and column.name in plain
        else column
        for column in columns
    )


def holds(source, name, text):
    """Whether a cell of a column is this text."""
    column = source.table.column(source.table.column_names.index(name))
    return types.is_string(column.type) and bool(pc.any(pc.equal(column, text)).as_py())


def _column(source, name, column, words):
    if isinstance(column, np.ndarray):
        return of_objects(name, column)
    kind = column.type
    if types.is_floating(kind) or types.is_decimal(kind) or types.is_integer(kind) and _are_exact(column):
        return of_numbers(name, column.cast(kind if kind == pa.float32() else pa.float64()).to_numpy())
    if types.is_temporal(kind) and not types.is_interval(kind):
        if types.is_time(kind):
            column = column.cast("time64[us]").cast("int64").cast("duration[us]")
        zone = kind.tz if types.is_timestamp(kind) else None
        return of_times(name, (column.cast("timestamp[us]") if zone else column).to_numpy(), zone)
    if types.is_boolean(kind):
        return of_positions(name, BOOLEAN, _filled(column.cast("int8")), TRUTH_VALUES)
    if types.is_dictionary(kind):
        encoded = column.unify_dictionaries().combine_chunks()
        levels = encoded.dictionary.cast(pa.string()).to_pylist()
        return of_positions(name, ORDERED if kind.ordered else CATEGORY, _filled(encoded.indices), levels)
    if types.is_nested(kind) or types.is_binary(kind):
        raise ValueError(f"{source.path}: column {name!r} holds nested values or bytes: leave it out with --drop")
    if words is not None and types.is_string(kind) and len(column) >= _HEAD:
        found = _plain_numbers(name, column, words)
        if found is not None:
            return found
    encoded = column.cast(pa.string()).combine_chunks().dictionary_encode()
    place: dict = {}
    places = [place.setdefault(_trimmed(text), len(place)) for text in encoded.dictionary.to_pylist()]
    return of_positions(name, TEXT, np.array([*places, -1])[_filled(encoded.indices)], list(place))


def _filled(indices):
    return indices.fill_null(-1).to_numpy().astype(np.intp)


def _trimmed(text):
    text = text.strip()
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def _are_exact(integers):
    """Whether floating point represents all integers of an Arrow column exactly."""
    ends = pc.min_max(integers).as_py().values()
    return None in ends or max(map(abs, ends)) <= EXACT


def _plain_numbers(name, column, words):
    """A column of strings parsed at once if all are numbers or words for a missing value, nothing is around them, and
    the numbers show what their separators mean; otherwise None. `Cells` would find the same.
    """
    for sign in OTHER:
        if _parsed(column.slice(0, _HEAD), sign, words) is not None:
            values, texts = _parsed(column, sign, words) or (None, None)
            form = None if values is None else _form(texts, values, sign)
            if form is not None:
                return of_numbers(name, values.fill_null(np.nan).to_numpy())._replace(form=form)
    return None


def _parsed(texts, sign, words):
    """Numbers, and the texts without words for a missing value; None if other cells are no numbers."""
    values = _cast(texts) if sign == "." else None
    if values is None:
        texts = pc.if_else(pc.is_in(pc.utf8_lower(texts), value_set=words), pa.scalar(None, pa.string()), texts)
        values = _cast(texts) if sign == "." else None
    if values is None and pc.all(pc.match_substring_regex(texts, _PLAIN[sign]), min_count=0).as_py():
        values = _cast(pc.replace_substring(pc.replace_substring(texts, OTHER[sign], ""), ",", "."))
    return None if values is None else (values, texts)


def _cast(texts):
    try:
        values = pc.cast(texts, pa.float64())
    except pa.ArrowInvalid:
        return None
    return values if pc.all(pc.is_finite(values), min_count=0).as_py() else None


def _form(texts, values, sign):
    """The `Form` of plain numbers; None for codes with leading zeros, numbers beyond those of floating point, and
    separators that may mean thousands or fractions.
    """
    if pc.any(pc.and_(pc.starts_with(texts, "0"), pc.greater_equal(values, 1.0))).as_py():
        return None
    shown = {one: _some(pc.match_substring, texts, one) for one in OTHER}
    if not any(shown.values()):
        return Form(None, "") if (pc.max(pc.abs(values)).as_py() or 0) <= EXACT else None
    clear = _some(pc.match_substring_regex, texts, _CLEAR)
    three = pc.any(pc.match_substring_regex(texts.slice(0, _HEAD), rf"[{sign}]\d{{3}}$")).as_py()
    return Form(sign, "", shown[OTHER[sign]], three) if clear else None


def _some(matches, texts, pattern):
    """Whether a text matches a pattern; the first texts are tried first."""
    return any(pc.any(matches(part, pattern)).as_py() for part in (texts.slice(0, _HEAD), texts))
