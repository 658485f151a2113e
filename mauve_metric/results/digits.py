"""Numbers as text, with enough digits that a number near 0 or 1 is never shown as 0 or 1."""

from __future__ import annotations

import re

_FORM = re.compile(r"\+?\.(\d+)([fg])")
_MORE = 3  # digits that are added where a number would be shown as an end of its range
ENDS = (-1.0, 0.0, 1.0)  # of scores, p-values and differences


def digits(value: float, form: str = ".4f", ends: tuple[float, ...] = ENDS) -> str:
    """Format a number, with more digits where it would wrongly be shown as an end of its range.

    >>> digits(0.83312), digits(1.0), digits(0.9999954), digits(1 - 1e-12), digits(-1e-6, "+.4f")
    ('0.8331', '1.0000', '0.999995', '>0.9999', '-0.000001')
    >>> digits(0.9996, ".2g"), digits(1e-9, ".2g")
    ('0.9996', '<0.0001')
    """
    found = _FORM.fullmatch(form)
    value += 0.0  # no minus before a zero
    if found is None:
        return format(value, form)
    places, kind = int(found[1]), found[2]
    if kind == "g" and 0 < value < 1e-4:
        return "<0.0001"
    for more in range(_MORE + 1):
        text = format(value, form.replace(f".{places}", f".{places + more}"))
        if float(text) not in ends or float(text) == value:
            return text if float(text) else format(0.0, form)  # nor before a number that is rounded to zero
    return _format_bound(value, float(text), form if kind == "f" else ".4f")


def _format_bound(value: float, end: float, form: str) -> str:
    """Format a number too close to an end of the range as above or below it."""
    step = 10.0 ** -int(form.split(".")[1][:-1])
    return f">{end - step:{form}}" if value < end else f"<{end + step:{form}}"


def cell(value: str | float | None, form: str, ends: tuple[float, ...] = ENDS) -> str:
    """A value as text, a number by the rule of `digits`; a dash for None.

    >>> cell(0.12345, ".3f"), cell(None, ".3f"), cell("gpt2", "s"), cell(12, "d"), cell(-1e-15, "+.1f", ends=())
    ('0.123', '–', 'gpt2', '12', '+0.0')
    """
    if value is None:
        return "–"
    return digits(value, form, ends) if isinstance(value, float) else format(value, form)


def p_words(value: float) -> str:
    """A p-value in a sentence; no p-value is 0.

    >>> p_words(0.025), p_words(1e-9), p_words(5e-324), p_words(1.0)
    ('p = 0.025', 'p < 0.0001', 'p < 0.0001', 'p = 1')
    """
    return f"p = {digits(value, '.2g')}" if value >= 1e-4 else "p < 0.0001"


def percent(value: float, total: float) -> str:
    """Format a part of a total as a percentage.

    >>> percent(1, 8), percent(1, 10_000), percent(0, 0)
    ('12.5 %', '0.01 %', '0 %')
    """
    return f"{digits(100 * value / total, '.1f', (0.0, 100.0))} %" if total > 0 else "0 %"


def rounded_up(number: int) -> str:
    """A number with two leading digits, rounded up.

    >>> rounded_up(12345), rounded_up(87)
    ('13,000', '87')
    """
    unit = 10 ** max(len(str(number)) - 2, 0)
    return f"{-(-number // unit) * unit:,}"
