"""Names of models and files made safe for a terminal, a figure and a spreadsheet.

Every view shows names through this file; HTML, Markdown and LaTeX are escaped where they are written, on top of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

_WITHIN_WORDS = "\u200c\u200d"  # joiners of some scripts and of emoji, the only format characters that a name may keep
_FORMULA = tuple("=+-@＝＋－＠")  # beginnings of a formula in a spreadsheet
_JOINER = "\u2060"  # a word joiner, which is invisible
_MARKUP = re.compile(r"<(?=[/!]|script)", re.IGNORECASE)  # text that ends or nests a script in a page
_OBJECT_KEYS = frozenset(  # attributes of every JavaScript object, which Vega would find under that name
    "constructor hasOwnProperty isPrototypeOf propertyIsEnumerable toLocaleString toString valueOf __proto__ "
    "__defineGetter__ __defineSetter__ __lookupGetter__ __lookupSetter__".split()
)


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

    >>> spreadsheet_text("gpt2"), spreadsheet_text("=1+1")
    ('gpt2', "'=1+1")
    """
    line = printable(text)
    return f"'{line}" if line.lstrip().startswith(_FORMULA) else line


def shown_names(names: Sequence[str], form: Callable[[str], str] = printable) -> dict[str, str]:
    r"""The displayed form of each name; names that would look alike are numbered.

    >>> shown_names(["a b", "a\nb"])
    {'a b': 'a b', 'a\nb': 'a b (2)'}
    """
    found: dict[str, str] = {}
    taken = {name for name in names if form(name) == name}
    for name in names:
        label, number = form(name), 2
        while label != name and label in taken:
            label, number = f"{form(name)} ({number})", number + 1
        taken.add(label)
        found[name] = label
    return found
