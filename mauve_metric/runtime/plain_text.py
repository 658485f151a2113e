"""Numbers and names as text: a number near 0 or 1 never looks like it, a name is safe wherever it is shown.

Every view shows names through this file; HTML, Markdown and LaTeX are escaped where they are written, on top of it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Container, Sequence

_FORM = re.compile(r"\+?\.(\d+)([fg])")
_MORE = 3  # digits that are added where a number would be shown as an end of its range
ENDS = (-1.0, 0.0, 1.0)  # of scores, p-values and differences
_WITHIN_WORDS = "\u200c\u200d"  # joiners of some scripts and of emoji, the only format characters that a name may keep
_FILLERS = frozenset("\u115f\u1160\u2800\u3164\uffa0")  # letters and a symbol without a shape
_CELL_WITH_FORMULA = re.compile(r"((?:^|;)[\s\"]*)(?=[=+\-@＝＋－＠])")
EXCERPT = 160  # characters shown of a text
# after which a page would find a user's name, an address, or the number of an issue
_LINKED = re.compile(r"@(?=\w)|:(?=//)|\bwww(?=\.)|\bmailto(?=:)|\bxmpp(?=:)|#(?=\d)|\bGH(?=-\d)", re.IGNORECASE)
_JOINER = "\u2060"  # a word joiner, which is invisible
_MARKUP = re.compile(r"<(?=[/!]|script)", re.IGNORECASE)  # text that ends or nests a script in a page
_OBJECT_KEYS = frozenset(  # attributes of every JavaScript object, which Vega would find under that name
    "constructor hasOwnProperty isPrototypeOf propertyIsEnumerable toLocaleString toString valueOf __proto__ "
    "__defineGetter__ __defineSetter__ __lookupGetter__ __lookupSetter__".split()
)


def digits(value: float, form: str = ".4f", ends: tuple[float, ...] = ENDS) -> str:
    """Format a number, with more digits where it would wrongly be shown as an end of its range.

    >>> digits(0.83312), digits(1.0), digits(0.9999954), digits(1 - 1e-12), digits(-1e-6, "+.4f")
    ('0.8331', '1.0000', '0.999995', '>0.9999', '-0.000001')
    >>> digits(0.9996, ".2g"), digits(1e-9, ".2g")
    ('0.9996', '<0.0001')
    """
    match = _FORM.fullmatch(form)
    value += 0.0  # no minus before a zero
    if match is None:
        return format(value, form)
    places, kind = int(match[1]), match[2]
    if kind == "g" and 0 < value < 1e-4:
        return "<0.0001"
    for more in range(_MORE + 1):
        text = format(value, form.replace(f".{places}", f".{places + more}"))
        if float(text) not in ends or float(text) == value:
            return text if float(text) else format(0.0, form)  # nor before a number that is rounded to zero
    form = form if kind == "f" else ".4f"  # too close to an end of the range: above or below it
    end, step = float(text), 10.0 ** -int(form.split(".")[1][:-1])
    return f">{end - step:{form}}" if value < end else f"<{end + step:{form}}"


def cell(value: str | float | None, form: str, ends: tuple[float, ...] = ENDS) -> str:
    """A value as text, a number by the rule of `digits`; a dash for None.

    >>> cell(0.12345, ".3f"), cell(None, ".3f"), cell("gpt2", "s"), cell(12, "d"), cell(-1e-15, "+.1f", ends=())
    ('0.123', '–', 'gpt2', '12', '+0.0')
    """
    if value is None:
        return "–"
    return digits(value, form, ends) if isinstance(value, float) else format(value, form)


def interval_words(ends: tuple[float, float], form: str = ".3f") -> str:
    """Both ends of an interval.

    >>> interval_words((0.85071, 0.9999954))
    '0.851 to 0.999995'
    """
    return f"{digits(ends[0], form)} to {digits(ends[1], form)}"


def in_brackets(ends: tuple[float, float] | None, form: str = ".3f") -> str:
    """An interval to follow its number, in brackets; empty without one."""
    return "" if ends is None else f" ({interval_words(ends, form)})"


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


def counted(number: int, singular: str, plural: str = "") -> str:
    """A number with its noun, singular for 1. plural: empty for the singular with an s.

    >>> counted(1, "text"), counted(0, "text"), counted(1200, "text"), counted(2, "entry", "entries")
    ('1 text', '0 texts', '1200 texts', '2 entries')
    """
    return f"{number} {singular if number == 1 else plural or singular + 's'}"


def duration(seconds: float) -> str:
    """Format a duration in readable units, as one second at least.

    >>> duration(0.2), duration(59.2), duration(100), duration(7200), duration(260_000)
    ('1 second', '59 seconds', '2 minutes', '2 hours', '3 days')
    """
    for limit, unit, name in ((90, 1, "second"), (5400, 60, "minute"), (130_000, 3600, "hour")):
        if seconds < limit:
            return counted(max(round(seconds / unit), 1), name)
    return counted(round(seconds / 86_400), "day")


def rounded_up(number: int) -> str:
    """A number with two leading digits, rounded up.

    >>> rounded_up(12345), rounded_up(87)
    ('13,000', '87')
    """
    unit = 10 ** max(len(str(number)) - 2, 0)
    return f"{-(-number // unit) * unit:,}"


def is_blank(text: str) -> bool:
    r"""Return whether a text shows nothing: it is empty, or white space and invisible characters alone.

    >>> [is_blank(text) for text in ("", " \n", "\u200b\ufeff", "\u00ad", ".", "\u200bA")]
    [True, True, True, True, False, False]
    """
    return all(mark.isspace() or unicodedata.category(mark) in ("Cc", "Cf") or mark in _FILLERS for mark in text)


def printable(text: str) -> str:
    r"""Text as one safe line for a terminal: white space as spaces, invisible characters as escapes.

    >>> print(printable("a\nb\x1b[31m\ufffe"))
    a b\x1b[31m\ufffe
    """
    return text if text.isprintable() else "".join(map(_show_mark, text))


def _show_mark(mark: str) -> str:
    if mark.isprintable() or mark in _WITHIN_WORDS:
        return mark
    return " " if mark.isspace() else mark.encode("unicode_escape").decode("ascii")


def one_line(text: str) -> str:
    r"""Text on one line for people: white space and invisible characters as single spaces.

    >>> one_line("  a\tb\u202e c\n")
    'a b c'
    """
    return " ".join("".join(mark if mark.isprintable() else " " for mark in text).split())


def excerpt(text: str, length: int = EXCERPT) -> str:
    """The beginning of a text on one line, without control characters.

    >>> excerpt("one two three", 10)
    'one two …'
    """
    line = one_line(text)
    return line if len(line) <= length else line[: length - 2].rsplit(" ", 1)[0] + " …"


def figure_text(text: str) -> str:
    """`printable` text that stays text in a figure, also in Vega's tables and in a page that holds the figure's data.

    An invisible word joiner is put into text that would end a script and after attributes of JavaScript objects.

    >>> figure_text("gpt2"), figure_text("</script>"), figure_text("toString")
    ('gpt2', '<\\u2060/script>', 'toString\\u2060')
    """
    safe = _MARKUP.sub(f"<{_JOINER}", printable(text))
    return safe + _JOINER if safe in _OBJECT_KEYS else safe


def spreadsheet_text(text: str) -> str:
    """`printable` text that a spreadsheet does not take for a formula: an apostrophe precedes its beginning.

    In many countries a semicolon ends a cell, whatever the quotation marks; what follows one is then a beginning too.

    >>> spreadsheet_text("gpt2"), spreadsheet_text("=1+1"), spreadsheet_text("x;=1+1")
    ('gpt2', "'=1+1", "x;'=1+1")
    """
    return _CELL_WITH_FORMULA.sub(r"\1'", printable(text))


def unlinked(text: str) -> str:
    """Text with nothing that a page of Markdown takes for an address, a user's name or the number of an issue.

    An invisible word joiner parts them: a backslash would not, since pages look for them once it is taken away.

    >>> unlinked("@me, a@b.org, https://c.org"), unlinked("5 % of gpt2.5-xl")
    ('@\u2060me, a@\u2060b.org, https:\u2060//c.org', '5 % of gpt2.5-xl')
    """
    return _LINKED.sub(rf"\g<0>{_JOINER}", text)


def free_name(name: str, taken: Container[str]) -> str:
    """The name, with a number appended if it is taken.

    >>> free_name("greedy", ["greedy"]), free_name("beam", ["greedy"])
    ('greedy-2', 'beam')
    """
    free, number = name, 2
    while free in taken:
        free, number = f"{name}-{number}", number + 1
    return free


def shown_names(names: Sequence[str], form: Callable[[str], str] = printable) -> dict[str, str]:
    r"""The displayed form of each name; names that would look alike are numbered.

    >>> shown_names(["a b", "a\nb"])
    {'a b': 'a b', 'a\nb': 'a b (2)'}
    """
    labels: dict[str, str] = {}
    taken = {name for name in names if form(name) == name}
    for name in names:
        label, number = form(name), 2
        while label != name and label in taken:
            label, number = f"{form(name)} ({number})", number + 1
        taken.add(label)
        labels[name] = label
    return labels
