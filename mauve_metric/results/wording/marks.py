"""Texts with the phrases marked that tell a bucket's human and model texts apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from mauve_metric.lexical.phrases import phrase_spans

if TYPE_CHECKING:
    from mauve_metric.results.numbers import GapBucket

READ = 20_000  # characters of a text that are searched for phrases
BEFORE = 100  # characters shown before the first phrase if that is far from the beginning
LEGEND = (
    "Underlined: words that tell the human texts here from the model's, and dashed, those that tell the model's from "
    "the human ones or that it repeats."
)


class Piece(NamedTuple):
    """A part of a text; marked: it is a telling phrase."""

    text: str
    marked: bool


def telling(bucket: GapBucket) -> dict[str, tuple[str, ...]]:
    """The phrases to mark in the "human" and in the "model" texts of a bucket."""
    return {"human": bucket.p_words, "model": (*bucket.q_words, *bucket.repeated)}


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
    pieces, place = ([Piece("… ", False)] if start else []), start
    for first, last in spans:
        if last <= end:
            pieces += [Piece(text[place:first], False), Piece(text[first:last], True)]
            place = last
    pieces.append(Piece(text[place:end] + ("…" if end < len(text) else ""), False))
    return [piece for piece in pieces if piece.text]
