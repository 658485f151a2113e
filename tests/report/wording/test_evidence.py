"""Telling phrases are found in texts as they were when phrases were counted."""

from __future__ import annotations

import pytest

from mauve_metric.report.wording.words import READ, marked
from mauve_metric.scoring.phrases import phrase_spans


def found(text: str, *phrases: str, most: int = 1000) -> list[str]:
    pieces = marked(text, phrases, most)
    if len(text) <= most:
        assert "".join(piece.text for piece in pieces) == text  # nothing is lost or doubled
    return [piece.text for piece in pieces if piece.marked]


@pytest.mark.parametrize(
    ("text", "phrase", "wanted"),
    [
        ("He SAID: no. He  said\nno, he said", "he said", ["He SAID", "He  said", "he said"]),
        ("Don't panic; don’t", "don't", ["Don't"]),
        ("cat concatenate cat-flap cat", "cat", ["cat", "cat"]),  # whole words only
        ("3.5 km, 3 5 km", "3.5 km", ["3.5 km"]),
        ("<b>he</b> said", "b", ["b", "b"]),
        ("İstanbul is İn İstanbul.", "i n", ["İn"]),  # two letters in lower case
        ("ΟΔΟΣ, ΟΔΟΣ", "οδος", ["ΟΔΟΣ", "ΟΔΟΣ"]),  # the last letter has a form of its own
        ("we like it so we like it", "so we like", ["so we like"]),
        ("nothing", "", []),
        ("", "he", []),
    ],
)
def test_phrases_are_marked_at_their_position(text: str, phrase: str, wanted: list[str]) -> None:
    assert found(text, phrase) == wanted


def test_letters_that_grow_in_lower_case_move_no_mark() -> None:
    assert found("İİİİ he said İ", "he said") == ["he said"]


def test_phrases_that_overlap_are_one_mark() -> None:
    assert found("a b c d e", "a b c", "c d", "e") == ["a b c d", "e"]


def test_long_texts_are_shown_around_the_first_phrase() -> None:
    text = "filler words " * 500 + "he said so " + "more words " * 500
    pieces = marked(text, ["he said"], 300)
    assert [piece.text for piece in pieces if piece.marked] == ["he said"]
    shown = "".join(piece.text for piece in pieces)
    assert shown.startswith("… ") and shown.endswith("…") and len(shown) <= 304 and "so more words" in shown
    assert "".join(piece.text for piece in marked(text, ["not there"], 300)) == text[:300] + "…"
    assert found("x " * READ + "he said", "he said", most=50) == []  # beyond the searched characters
    cut = marked("he said he said", ["he said"], 12)  # a phrase that does not fit is not marked in half
    assert [tuple(piece) for piece in cut] == [("he said", True), (" he s…", False)]


def test_spans_are_in_order_and_apart() -> None:
    spans = phrase_spans("a b a b a b", ["a b", "b a"])
    assert spans == [(0, 11)]
