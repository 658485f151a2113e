"""Facts recorded while texts are read: hashes, wrappings and first words, and their format in numbers."""

from __future__ import annotations

import functools
import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from mauve_metric.inputs.records import is_placeholder
from mauve_metric.inputs.stripping import SHOWN, WRAPPING

SHORTEST_OPENING, LONGEST_OPENING = 2, 6  # words
_INNER = ("undecoded", "reasoning", "special_tokens", "next_turn")
RARE_SHARE = 0.005  # of texts: openings that fewer have are ignored
_LOOKED_AT = 64  # characters of a text that contain its first words
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")


@dataclass(frozen=True)
class Marks:
    """Wrappings, defects, openings and languages of the texts of one set.

    wrapped: how many texts show each kind of `MARKS`. openings: how many texts begin with the same six words, or fewer
    where a text has no more; None if that is not known. texts: how many there are. languages: how many are clearly in
    each language.
    """

    wrapped: Mapping[str, int]
    openings: Mapping[tuple[str, ...], int] | None = field(repr=False)
    texts: int
    languages: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of_all(cls, sets: Sequence[Marks]) -> Marks:
        """Add up the marks of sets."""
        wrapped: Counter[str] = Counter()
        openings: Counter[tuple[str, ...]] = Counter()
        languages: Counter[str] = Counter()
        for part in sets:
            wrapped.update(part.wrapped)
            languages.update(part.languages)
            openings.update(part.openings or {})
        has_openings = all(part.openings is not None for part in sets)
        texts = sum(part.texts for part in sets)
        return cls(dict(wrapped), dict(openings) if has_openings else None, texts, dict(languages))

    @property
    def language(self) -> str | None:
        """The language of more than half of the texts; None if there is none."""
        language, count = next(iter(Counter(self.languages).most_common(1)), ("", 0))
        return language if count > 0.5 * self.texts else None

    def free_of(self, rules: Sequence[str]) -> bool:
        """Return whether rules would change none of the texts, as far as known: of those in `_INNER`."""
        return {*rules} <= {*_INNER} and not any(self.wrapped.get(name) for name in _INNER)

    @cached_property
    def common_openings(self) -> dict[tuple[str, ...], int]:
        """Number of texts with each opening of two to six words that at least `RARE_SHARE` of them have."""
        openings: dict[tuple[str, ...], int] = {}
        left = dict(self.openings or {})
        for length in range(SHORTEST_OPENING, LONGEST_OPENING + 1):
            counts: Counter[tuple[str, ...]] = Counter()
            for words, times in left.items():
                if len(words) >= length:
                    counts[words[:length]] += times
            common = {words: times for words, times in counts.items() if times >= RARE_SHARE * self.texts}
            left = {words: times for words, times in left.items() if words[:length] in common}
            openings |= common
        return openings


def first_words(text: str) -> tuple[str, ...]:
    """The words at the beginning of a text, at most six, after case folding, without punctuation.

    >>> first_words("**Sure!** Here's a story about an old king.")
    ('sure', "here's", 'a', 'story', 'about', 'an')
    """
    return tuple(_WORD.findall(text[:_LOOKED_AT].casefold())[:LONGEST_OPENING])


_QUOTES = re.compile("[\"'`“”‘’«»„]")
_CURLY_QUOTES = re.compile("[“”‘’]")
_CAPITALS = re.compile("[A-ZÀ-ÖØ-ÞΑ-ΩА-Я]")
_DASHES = re.compile("[–—]| - |--")
_MARKDOWN = re.compile(r"^\s*(?:[#>*+-]|\d+[.)])\s|\*\*|__|`|\]\(", re.MULTILINE)
_ODD_BLANKS = re.compile(r"  |[^\S \n]")
_FINAL = "\"'”’) \n\t"  # may follow the mark at the end of a sentence


class FormatTrait(NamedTuple):
    """The property of a text that one number of `format_numbers` measures.

    what: its name in a sentence. without: removes from a text what the number measures, which is layout; None where
    that would change what is said, which is style. strip: the rule of `strip` that does so, if any.
    """

    what: str
    without: Callable[[str], str] | None = None
    strip: str | None = None


def _plain_start(text: str) -> str:
    """A text that begins with a small letter or a digit, if there is one; of a quoted one the closing mark goes too."""
    text = WRAPPING["outer_quotes"](text)
    start = next((position for position, mark in enumerate(text) if mark.isalnum()), 0)
    return text[start : start + 1].lower() + text[start + 1 :]


_BY_CHANGE = {  # rules of `strip`: the number is the share of the text by which the rule changes its length
    "punctuation_blanks": "blanks before punctuation",
    "list_numbers": "numbers of a list before the texts",
    "outer_quotes": "quotation marks around the texts",
    "undecoded": "marks such as @@ and <newline>",
    "unicode": "Unicode forms or invisible characters",
}
TRAITS: dict[str, FormatTrait] = {
    "length": FormatTrait("length"),
    "line_breaks": FormatTrait("line breaks", WRAPPING["line_breaks"], "line_breaks"),
    "double_blanks": FormatTrait("double or unusual blanks", WRAPPING["line_breaks"], "line_breaks"),
    "outer_blanks": FormatTrait("blanks at the ends", WRAPPING["whitespace"], "whitespace"),
    "first_character": FormatTrait("first characters", _plain_start),
    "last_character": FormatTrait("last characters", lambda text: text.rstrip(f"{_FINAL}.!?…")),
    "capitals": FormatTrait("capital letters", str.lower, "capitals"),
    "quotes": FormatTrait("quotation marks"),
    "curly_quotes": FormatTrait("curly quotes", WRAPPING["quotes"], "quotes"),
    "dashes": FormatTrait("dashes"),
    "markdown": FormatTrait("Markdown", WRAPPING["markdown"], "markdown"),
    **{rule: FormatTrait(what, WRAPPING[rule], rule) for rule, what in _BY_CHANGE.items()},
    "word_length": FormatTrait("characters a word"),
}


def format_numbers(text: str) -> list[float]:
    """One number for each of `TRAITS`, in their order; numbers of marks are per character of the text.

    >>> dict(zip(TRAITS, format_numbers("One\\ntwo.")))["line_breaks"]
    0.125
    """
    size = max(len(text), 1)
    characters = len(text) - text.count(" ") - text.count("\n")
    first = text.lstrip()[:1]
    numbers = [
        float(characters),
        text.strip().count("\n") / size,
        len(_ODD_BLANKS.findall(text)) / size,
        float(text[:1].isspace()) + 2.0 * text[-1:].isspace(),
        1.0 if first.isupper() else 2.0 if first.isdigit() else 0.0 if first.isalpha() or not first else 3.0,
        float(text.rstrip(_FINAL)[-1:] in (".", "!", "?", "…")),
        *[len(marks.findall(text)) / size for marks in (_CAPITALS, _QUOTES, _CURLY_QUOTES, _DASHES, _MARKDOWN)],
    ]
    for rule in _BY_CHANGE:
        stripped = WRAPPING[rule](text)
        numbers.append(0.0 if stripped == text else max(abs(len(text) - len(stripped)) / size, 0.01))
    return [*numbers, characters / max(len(text.split()), 1)]


_GRAM, _CHARACTERS = 4, 10  # words of a sequence that a loop repeats; characters in scripts without blanks
_LONG_WORD = 15  # characters a word: more are a script without blanks between words
LOOPING = 0.2  # of the sequences of a text that occurred in it before: of news by people one text in 2000 has as many
_MISSING = frozenset(("nan", "none", "null", "<na>", "n/a", "nat", "undefined"))
_NUMBERS = re.compile(r"[\s\[(]*(?:-?\d+[\s,;]+){4,}-?\d+[\s,;\])]*")
_C1 = "\u0080-\u00bf€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ"  # what bytes 80 to bf of UTF-8 become in Windows-1252
_GARBLED = re.compile(
    rf"[ÂÃ][{_C1}]|[ÐÑÎÏØÙ][{_C1}][ÐÑÎÏØÙ][{_C1}]|[à-ï][{_C1}]{{2}}|ð[{_C1}]{{3}}|‚Ä[ôúùìîòö¶]|\ufffd(?=.)|\x00",
    re.DOTALL,
)


def loops(text: str) -> bool:
    """Return whether a fifth of a text's sequences of four words, or of ten characters, are said again.

    >>> loops("it was cold and " * 5), loops("It was cold, and it was dark, and then the rain began at last.")
    (True, False)
    """
    units: Sequence[str] = text.split()
    size = _GRAM
    if len(text) > _LONG_WORD * len(units):
        units, size = text, _CHARACTERS
    grams = [*zip(*(units[start:] for start in range(size)), strict=False)]
    return len(grams) - len(set(grams)) > LOOPING * len(grams)


def is_missing(text: str) -> bool:
    """Return whether a text is but a word that programs write for a missing value.

    >>> is_missing("NaN"), is_missing("None of them came."), is_missing("[deleted]")
    (True, False, True)
    """
    return (len(text) < 20 and text.strip().lower() in _MISSING) or is_placeholder(text)


DEFECTS: Mapping[str, Callable[[str], object]] = {
    "loops": loops,
    "missing": is_missing,
    "garbled": _GARBLED.search,  # bytes of UTF-8 that were read in another encoding, or could not be read
    "numbers": _NUMBERS.fullmatch,  # nothing but a list of numbers, as token ids are
}
MARKS = (*WRAPPING, "prompts", *DEFECTS)  # what is counted in the texts of a set


# A language names a featurizer in a note and never changes a number: a library of hundreds of them would load a model
# for each score, which takes longer than many scores.
_MOST_READ = 300  # characters of a text by which its language is known
_FEWEST_LETTERS = 10
_MOST_OF_SCRIPT = 0.5  # of the letters that are of one script
_SMALL_WORDS = 0.12  # of the words that are small words of a language; prose has a quarter or more
_LETTERS = re.compile(r"[^\W\d_]+")
_BY_SCRIPT = {
    "arabic": "Arabic",
    "cyrillic": "Russian",
    "hangul": "Korean",
    "cjk": "Chinese",
    "hiragana": "Japanese",
    "katakana": "Japanese",
    "devanagari": "Hindi",
    "ethiopic": "Amharic",
    "myanmar": "Burmese",
}  # others are called as their script: Thai, Greek, Hebrew, Bengali, Georgian, …
_BY_LETTERS = {  # languages of a script that letters of their own tell apart
    "Persian or Urdu": "پچژگکی",
    "Ukrainian": "іїєґ",
    "Serbian": "јљњђћџ",
    "Bulgarian": "ъ",
    "Turkish": "ığ",
    "Polish": "łężś",
}
_OTHER_LETTERS = {"Bulgarian": "ыэ"}  # that rule a language out
_SMALL = {
    "English": "the of and to in a is that for it was on with as his he be by at from this have i you",
    "German": "der die das und ist in den zu von mit sich auf für nicht ein eine dem des im auch es an war",
    "French": "le la les de des et un une du est en que dans pour qui il elle au pas sur ne avec l d",
    "Spanish": "el la los las de y en que un una es por con para del se no al su lo como más",
    "Italian": "il la di che e un una è per in del della non con si le dei al nel sono da gli",
    "Portuguese": "o a os as de e que em um uma do da é para com não no na por se dos das ao",
    "Dutch": "de het een en van in is dat op te zijn met voor niet aan er om ook als bij maar",
    "Polish": "i w na z do nie się to że jest o jak po za od przez przy był dla co",
    "Turkish": "ve bir bu da de için ile çok ne ama gibi daha olarak sonra kadar o her en bana olan",
    "Swedish": "och i att det som en på är av för med den till inte om ett han de var jag",
    "Danish": "og i at det som en på er af for med den til ikke om et han de var jeg der",
    "Romanian": "și în de la a cu pe nu o să este un din care mai se ce pentru că au",
    "Indonesian": "yang dan di ke dari ini itu dengan untuk tidak pada adalah dalam akan saya juga ada oleh",
    "Vietnamese": "và của là có không một người các trong cho được với đã này những để khi ở",
    "Czech": "a se v na je že o s z do to jako by ve pro za ale jsem není byl",
    "Hungarian": "a az és hogy nem is egy ez de van meg volt csak már mint el még azt",
    "Finnish": "ja on ei se että oli hän en mutta kun niin joka ovat ole myös kuin sen",
}
_LANGUAGES_BY_WORD: dict[str, list[str]] = {}
for _language, _words in _SMALL.items():
    for _word in _words.split():
        _LANGUAGES_BY_WORD.setdefault(_word, []).append(_language)


def language_of(text: str) -> str | None:
    """The language in which most of the beginning of a text is written; None where that is not clear.

    >>> language_of("The cat sat on the mat, and it was warm."), language_of("Кот сидел на ковре.")
    ('English', 'Russian')
    """
    part = text[:_MOST_READ].lower()
    letters = Counter(filter(str.isalpha, part))
    scripts: Counter[str] = Counter()
    for letter, count in letters.items():
        scripts[_script(letter)] += count
    if letters.total() < _FEWEST_LETTERS:
        return None
    script, count = scripts.most_common(1)[0]
    language = _BY_SCRIPT.get(script, script.title())
    asian = scripts["cjk"] + scripts["hiragana"] + scripts["katakana"]
    if max(count, asian) <= _MOST_OF_SCRIPT * letters.total():
        return None
    if language == "Chinese" and scripts["hiragana"] + scripts["katakana"] > 0.1 * asian:
        return "Japanese"
    for other, letters_of in _BY_LETTERS.items():
        if _script(letters_of[0]) != script or not letters.keys().isdisjoint(_OTHER_LETTERS.get(other, "")):
            continue
        if sum(map(letters.__getitem__, letters_of)) > 0.01 * letters.total():
            return other
    return _latin_language(part) if script == "latin" else language


def _latin_language(text: str) -> str | None:
    """The language whose small words are most frequent, if they are frequent."""
    words = _LETTERS.findall(text)
    counts = Counter(chain.from_iterable(filter(None, map(_LANGUAGES_BY_WORD.get, words))))
    (language, count), *others = [*counts.most_common(2), ("", 0)]
    is_clear = count > _SMALL_WORDS * len(words) and count > others[0][1]
    return language if is_clear else None


@functools.cache
def _script(letter: str) -> str:
    """The script of a letter: the first word of its name."""
    return unicodedata.name(letter, "unknown").split("-")[0].split()[0].lower()


OPENING_WORDS = 8  # texts with so many first words in common were written from one prompt


class TextHashes:
    """Collect hashes of texts and of their first words, their wrappings and format, while they are read."""

    def __init__(self) -> None:
        self.texts: list[int] = []
        self.openings: list[int] = []
        self.formats: list[list[float]] = []
        self._wrapped = dict.fromkeys((*WRAPPING, *DEFECTS), 0)
        self._first_words: Counter[tuple[str, ...]] = Counter()
        self._languages: Counter[str] = Counter()

    def watch(self, texts: Iterable[str]) -> Iterator[str]:
        """Yield the same texts, and record each."""
        for text in texts:
            self.texts.append(_hash(text))
            self.formats.append(format_numbers(text))
            self.openings.append(opening_hash(text))
            inner = text  # without what is around the answer
            for name in _INNER:
                outer, inner = inner, WRAPPING[name](inner)
                self._wrapped[name] += inner != outer
            for name, shows in {**SHOWN, **DEFECTS}.items():
                self._wrapped[name] += bool(shows(inner))
            self._first_words[first_words(inner)] += 1
            if (language := language_of(inner)) is not None:
                self._languages[language] += 1
            yield text

    def fields(self) -> dict[str, Any]:
        """The fields of `FeatureSet`: hashes, (n,) each, marks, and numbers of the format, (n, f)."""
        return {
            "text_hashes": np.array(self.texts, dtype=np.uint64),
            "opening_hashes": np.array(self.openings, dtype=np.uint64),
            "marks": Marks(dict(self._wrapped), dict(self._first_words), len(self.texts), dict(self._languages)),
            "format_numbers": np.array(self.formats, dtype=np.float64).reshape(len(self.formats), len(TRAITS)),
        }


def opening_hash(text: str) -> int:
    """The hash of a text's first words."""
    return _hash(" ".join(text.split(maxsplit=OPENING_WORDS)[:OPENING_WORDS]))


def _hash(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")
