"""Evidence of a gap in words: notes on it, texts with the telling phrases marked, and a classifier's n-grams."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from mauve_metric.features.text_functions import NgramUse
from mauve_metric.options import HUMAN
from mauve_metric.runtime.plain_text import printable
from mauve_metric.scoring.phrases import phrase_spans

READ = 20_000  # characters of a text that are searched for phrases
BEFORE = 100  # characters shown before the first phrase if that is far from the beginning
LEGEND = (
    "Underlined: words that tell the human texts here from the model's, and dashed, those that tell the model's from "
    "the human ones or that it repeats."
)
STABILITY_NOTE = (
    "Under another seed: how much of a bucket's texts another clustering keeps together (Jaccard index), and the rank "
    "of that bucket there."
)
EXTREMES_NOTE = (
    "Texts at the two ends of the classifier behind the learned buckets, which was not fitted to them: the human texts "
    "that it finds most human, and the model's that it finds most like the model's."
)
NGRAMS_NOTE = (
    "What the two sets use differently (⏎ is a line break, ␣ a blank, [long word] any word of more than three letters):"
)


class Piece(NamedTuple):
    """A part of a text; marked: it is a telling phrase."""

    text: str
    marked: bool


def marked(text: str, phrases: Sequence[str], most: int) -> list[Piece]:
    """Divide a text into pieces, from its beginning or around the first phrase; most: characters shown.

    >>> [tuple(piece) for piece in marked("Not so: he said so.", ["he said"], 100)]
    [('Not so: ', False), ('he said', True), (' so.', False)]
    """
    spans = phrase_spans(text[:READ], phrases)
    start = 0
    if spans and spans[0][1] > most:
        start = text.rfind(" ", 0, max(spans[0][0] - BEFORE, 0)) + 1
    end = min(start + most, len(text))
    pieces, position = ([Piece("… ", False)] if start else []), start
    for first, last in spans:
        if last <= end:
            pieces += [Piece(text[position:first], False), Piece(text[first:last], True)]
            position = last
    pieces.append(Piece(text[position:end] + ("…" if end < len(text) else ""), False))
    return [piece for piece in pieces if piece.text]


def ngram_sentence(use: NgramUse, reference_name: str = HUMAN) -> str:
    """Sentence on the use of an n-gram by either side, with the part of the format that it is.

    >>> from mauve_metric.features.text_functions import NgramUse
    >>> ngram_sentence(NgramUse("⏎⏎", "letters", 0.5, 4.5, 30.0, "line breaks"))
    'the model writes “⏎⏎” 9.0 times as often (4.5 against 0.5 of 1,000 pairs of characters); format: line breaks'
    """
    more, less = max(use.p_per_1000, use.q_per_1000), min(use.p_per_1000, use.q_per_1000)
    people = ("people", "write") if reference_name == HUMAN else (printable(reference_name), "writes")
    who, writes = ("the model", "writes") if use.q_per_1000 >= use.p_per_1000 else people
    pairs = "characters" if use.kind == "letters" else "words and marks"
    if less == 0:
        said = f"only {who} {writes} “{use.ngram}” ({_rate(more)} of 1,000 pairs of {pairs})"
    else:
        times = f"{_rate(more / less)} times as often"
        rates = f"({_rate(more)} against {_rate(less)} of 1,000 pairs of {pairs})"
        said = f"{who} {writes} “{use.ngram}” {times} {rates}"
    return f"{said}; format: {use.format}" if use.format else said


def _rate(value: float) -> str:
    return f"{value:.0f}" if value >= 20 else f"{value:.1f}" if value >= 0.1 else f"{value:.2g}"
