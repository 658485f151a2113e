"""Human texts with known errors in their words: missing, moved, repeated, wrong, misspelt."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from mauve_metric.perturbations.pieces import (
    MOST,
    Pieces,
    amount,
    change_each,
    change_words,
    check_strength,
    chosen,
    generator,
    shuffle,
    swap_neighbours,
    touched,
    words_in,
)

PHRASE_WORDS = 5  # of the phrase that a degenerate text repeats
FUNCTION_WORDS = frozenset(
    "a an the of in on at by for with to from as into onto over under about after before between through during "
    "against among within without upon off out up down and or but nor so than that".split()
)
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_CORE = re.compile(r"(\W*)(\w(?:.*\w)?)(\W*)", re.DOTALL)
_LONG_WORD = re.compile(r"(\W*)(\w.{2,}\w)(\W*)", re.DOTALL)  # has two inner letters to misspell
_ENDS = (".", "!", "?", ":", '."', ".”", '?"', "?”")


def truncated(texts: Sequence[str], strength: float, seed: int = 25) -> list[str]:
    """Texts without their end: of the words the last 0.9·strength are missing, and one is always left.

    >>> truncated(["one two three four five six seven eight nine ten"], 0.5)
    ['one two three four five']
    """

    def cut(words: Pieces, strength: float, rng: np.random.Generator) -> None:
        for place in range(_num_kept(words, strength), len(words)):
            words.pieces[place] = ""
        words.gaps[-1] = ""

    return change_words(texts, strength, seed, cut)


def _num_kept(words: Pieces, strength: float) -> int:
    return max(len(words) - amount(len(words), MOST * strength), min(len(words), 1))


def phrase_repeated(texts: Sequence[str], strength: float, seed: int = 25) -> list[str]:
    """Texts that get stuck: in the place of the last 0.9·strength of the words the five before them, again and again.

    >>> phrase_repeated(["one two three four five six seven eight nine ten"], 0.5)
    ['one two three four five one two three four five']
    """

    def stick(words: Pieces, strength: float, rng: np.random.Generator) -> None:
        kept = _num_kept(words, strength)
        phrase = words.pieces[max(kept - PHRASE_WORDS, 0) : kept]
        for place in range(kept, len(words)):
            words.pieces[place] = phrase[(place - kept) % len(phrase)]

    return change_words(texts, strength, seed, stick)


def words_swapped(texts: Sequence[str], strength: float, seed: int = 25) -> list[str]:
    """Word order wrong nearby: of the pairs of neighbours a share is swapped.

    >>> words_swapped(["one two three four"], 1)
    ['two one four three']
    """
    return change_words(texts, strength, seed, swap_neighbours)


def words_shuffled(texts: Sequence[str], strength: float, seed: int = 25) -> list[str]:
    """Word order wrong everywhere: a share of the words change places.

    >>> sorted(words_shuffled(["one two three"], 1)[0].split())
    ['one', 'three', 'two']
    """
    return change_words(texts, strength, seed, shuffle)


def noise(texts: Sequence[str], strength: float, seed: int = 25, *, third: int) -> list[str]:
    """Replace a share of the words in a third of each text (0, 1 or 2) by words of any of the texts."""
    every = [word for text in texts for word in words_in(text).pieces]

    def replace(words: Pieces, strength: float, rng: np.random.Generator) -> None:
        start, end = (part * len(words) // 3 for part in (third, third + 1))
        places, drawn = touched(end - start, strength, rng), rng.integers(len(every), size=end - start)
        for place in places.tolist():
            words.pieces[start + place] = _other(every, int(drawn[place]), words.pieces[start + place])

    return change_words(texts, strength, seed, replace)


def _other(pool: Sequence[str], drawn: int, own: str) -> str:
    """The drawn one of the pool, or the next that is another than `own`; `own` where there is none."""
    for step in range(min(len(pool), 50)):
        found = pool[(drawn + step) % len(pool)]
        if found != own:
            return found
    return own


def lower_case(texts: Sequence[str], strength: float, seed: int = 25) -> list[str]:
    """Of the words with capital letters a share is written without.

    >>> lower_case(["The BBC and Ann"], 1)
    ['the bbc and ann']
    """

    def lower(words: Pieces, strength: float, rng: np.random.Generator) -> None:
        capital = [place for place, word in enumerate(words.pieces) if word != word.lower()]
        for place in chosen(capital, strength, rng):
            words.pieces[place] = words.pieces[place].lower()

    return change_words(texts, strength, seed, lower)


def function_words_removed(texts: Sequence[str], strength: float, seed: int = 25) -> list[str]:
    """Of the English articles, prepositions and conjunctions a share is missing.

    >>> function_words_removed(["the cat sat on the mat"], 1)
    ['cat sat mat']
    """

    def remove(words: Pieces, strength: float, rng: np.random.Generator) -> None:
        small = [place for place, word in enumerate(words.pieces) if word.lower() in FUNCTION_WORDS]
        for place in chosen(small, strength, rng):
            words.pieces[place] = ""

    return change_words(texts, strength, seed, remove)


def typos(texts: Sequence[str], strength: float, seed: int = 25) -> list[str]:
    """Of the words of four letters and more a share has one typo: two letters swapped, one missing, one doubled.

    >>> typos(["a house"], 1) != ["a house"]
    True
    """

    def misspell(words: Pieces, strength: float, rng: np.random.Generator) -> None:
        split = [(place, found) for place, word in enumerate(words.pieces) if (found := _LONG_WORD.fullmatch(word))]
        long = [(place, found.groups()) for place, found in split if found[2].isalpha()]
        numbers, drawn = touched(len(long), strength, rng), rng.random((len(long), 2))
        for number in numbers.tolist():
            place, parts = long[number]
            words.pieces[place] = _misspelt(*parts, *drawn[number].tolist())

    return change_words(texts, strength, seed, misspell)


def _misspelt(before: str, core: str, after: str, kind: float, where: float) -> str:
    place = 1 + int(where * (len(core) - 2))  # an inner letter, and not the last
    pair = core[place : place + 2]
    if kind < 1 / 3 and pair[0] != pair[1]:
        new = pair[1] + pair[0]
    else:
        new = pair[1] if kind < 2 / 3 else pair[0] + pair
    return f"{before}{core[:place]}{new}{core[place + 2 :]}{after}"


def numbers_changed(texts: Sequence[str], strength: float, seed: int = 25) -> list[str]:
    """Of the numbers a share has other digits, as many as before.

    >>> new = numbers_changed(["in 1984"], 1)[0]
    >>> len(new), set("1984") & set(new[3:]) == set("1984")
    (7, False)
    """

    def change(text: str, strength: float, rng: np.random.Generator) -> str:
        numbers = list(_NUMBER.finditer(text))
        steps = rng.integers(8, size=(len(numbers), 32))
        for place in sorted(touched(len(numbers), strength, rng).tolist(), reverse=True):
            found = numbers[place]
            text = text[: found.start()] + _other_digits(found[0], steps[place].tolist()) + text[found.end() :]
        return text

    return change_each(texts, strength, seed, change)


def _other_digits(number: str, steps: Sequence[int]) -> str:
    """Every digit another one; none becomes a 0, so that the number keeps its length."""
    return "".join(
        str((int(mark) + steps[place % len(steps)]) % 9 + 1) if mark.isdigit() else mark
        for place, mark in enumerate(number)
    )


def names_changed(texts: Sequence[str], strength: float, seed: int = 25) -> list[str]:
    """Of the names in a text (words with a capital letter within a sentence) a share is that of another text.

    One name is always changed into the same other one.

    >>> names_changed(["we met Ann and Ann ran", "we met Bob"], 1)
    ['we met Bob and Bob ran', 'we met Ann']
    """
    pool = sorted({name for text in texts for name in _names(words_in(text)).values()})

    def change(words: Pieces, strength: float, rng: np.random.Generator) -> None:
        places = _names(words)
        names = sorted(set(places.values()))
        chosen, drawn = touched(len(names), strength, rng), rng.integers(max(len(pool), 1), size=len(names))
        other = {names[number]: _other(pool, int(drawn[number]), names[number]) for number in chosen.tolist()}
        for place, name in places.items():
            words.pieces[place] = words.pieces[place].replace(name, other.get(name, name), 1)

    return change_words(texts, strength, seed, change)


def _names(words: Pieces) -> dict[int, str]:
    """The names by their places."""
    found = {}
    for place, word in enumerate(words.pieces):
        core = _CORE.fullmatch(word)
        begins = place == 0 or words.pieces[place - 1].endswith(_ENDS) or "\n" in words.gaps[place]
        if core is not None and not begins and core[2][0].isupper() and len(core[2]) > 1:
            found[place] = core[2]
    return found


def boilerplate_opening(texts: Sequence[str], strength: float, seed: int = 25) -> list[str]:
    """Of the texts a share opens like an assistant's answer.

    >>> boilerplate_opening(["It rained."], 1)[0].endswith("It rained.")
    True
    """
    check_strength(strength)
    rng, found = generator(seed), list(texts)
    opened, drawn = touched(len(texts), strength, rng), rng.integers(len(OPENINGS), size=len(texts))
    for number in opened.tolist():
        found[number] = f"{OPENINGS[drawn[number]]} {texts[number]}"
    return found


OPENINGS = (
    "Sure! Here is the text you asked for:",
    "Certainly! Here is a possible continuation:",
    "As an AI language model, I can offer the following:",
    "Of course, I would be happy to help with that.",
    "Great question! Let us look at it step by step.",
)
