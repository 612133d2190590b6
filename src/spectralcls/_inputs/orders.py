"""The order of day, month and year in the dates of a column, which all columns vote on."""

import re

from .dates import ORDERS, SHORT, UNCLEAR
from .identifiers import FEWEST
from .reading import Unclear, vote

_SPAN_OF_YEARS = 15  # in most columns, days of the month span at least this range; two-digit years seldom do
_HEAD = 1000  # number of texts examined, counted from the first
# A column with at least this many section numbers such as 3.4.2 holds no dates, whose years have more digits; fewer may
# be typing errors in dates.
_SECTION, _SECTIONS = re.compile(r"\d+\.\d+\.\d"), 3
_CALLED_SECTION = re.compile(
    r"section|chapter|version|release|revision|firmware|build|kapitel|abschnitt|paragraph", re.I
)


def vote_of_dates(columns):
    """Whether the day or the month comes first ("dmy" or "mdy") in most columns of texts; None if undecided."""
    choices = ("dmy", "mdy")
    return vote([{order: column.share_of_dates(order) for order in choices} for column in columns], choices)


def order_of_dates(column, order=None, told=None):
    """The order in which most texts of a column are dates; None if there is none.

    An order given by the user (`told`) is used if possible. An `order` inferred from other columns decides between
    orders that read equally many texts.

    Raises
    ------
    Unclear
        If several orders read equally many texts.
    """
    shares = {one: column.share_of_dates(one) for one in (*ORDERS, SHORT)}
    if max(shares.values()) < 0.5:
        return None
    if told:
        given = next((one for one in (told, SHORT) if one.endswith(told) and shares[one]), None)
        if given:
            return given
    short, best = shares.pop(SHORT), max(shares, key=shares.get)
    if shares[best] < 0.5:
        return None
    texts = list(map(str, column.levels))
    sections = sum(_SECTION.fullmatch(text) is not None for text in texts[:_HEAD])
    if sections >= _SECTIONS:
        return None
    alike = [one for one in ("dmy", "mdy") if shares[one] == shares[best]]
    alike += ["ymd"] if short == shares[best] and best == "dmy" and _may_begin_with_years(texts) else []
    may_be_sections = best in ("dmy", "mdy") and _CALLED_SECTION.search(str(column.name)) and "." in texts[0]
    if (order is None or "ymd" in alike) and len(alike) > 1 and ("ymd" in alike or any(map(UNCLEAR.search, texts))):
        raise _unclear_dates(column.levels[0], alike)
    if may_be_sections and not re.search(r"\d{4}", texts[0]):
        raise Unclear(
            "has cells such as {}, which may be dates or numbers of sections",
            column.levels[0],
            in_file="say --dates dmy, or list it in --categories",
            in_frame="convert it with pandas.to_datetime, or name it in categorical_features",
        )
    return order if order and shares[order] == shares[best] else best


def _unclear_dates(example, orders):
    year = ", year" * ("ymd" in orders)
    return Unclear(
        f"holds dates such as {{}}, in which day{year} and month cannot be told apart",
        example,
        in_file=f"say {' or '.join(f'--dates {one}' for one in orders)}",
        in_frame="convert them with pandas.to_datetime(..., dayfirst=True), or name the column in categorical_features",
    )


def _may_begin_with_years(texts):
    """Whether the first numbers of dates such as 14-02-01 are too close together to be days. In dates such as 14/02/01,
    the last numbers must also look like days.
    """
    found = [re.match(r"(\d\d)([-/.])\d\d\2(\d\d)(?!\d)", text, re.ASCII) for text in texts]
    found = [match.groups() for match in found if match]
    firsts, lasts = ({int(groups[k]) for groups in found} for k in (0, 2))
    if not found or max(firsts) - min(firsts) >= _SPAN_OF_YEARS:
        return False
    days = len(found) >= FEWEST and len(firsts) > 1 and max(lasts) - min(lasts) >= _SPAN_OF_YEARS
    return days or any(between == "-" for _, between, _ in found)
