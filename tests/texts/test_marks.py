"""Marks recorded while texts are read."""

from __future__ import annotations

from mauve_metric.texts.marks import MarksSeen, first_words


def _seen(texts: list[str]) -> MarksSeen:
    seen = MarksSeen()
    for text in texts:
        seen.note(text)
    return seen


def test_openings_are_counted_as_a_naive_loop_does() -> None:
    starts = ["Sure, here is a story about it", "Sure! Here is one", "Once upon a time", "sure", ""]
    texts = [f"{start} {number % 7}" for number, start in enumerate(starts * 40)]
    marks = _seen(texts).marks()
    naive: dict[tuple[str, ...], int] = {}
    for text in texts:
        words = first_words(text)
        for length in range(2, len(words) + 1):
            naive[words[:length]] = naive.get(words[:length], 0) + 1
    assert marks.common_openings == {words: times for words, times in naive.items() if times >= 0.005 * len(texts)}
    assert marks.common_openings[("sure", "here", "is")] == 80


def test_the_marks_of_two_parts_add_up_to_those_of_the_whole() -> None:
    texts = ["<think>a</think>b", "# One", "Two </s>", " three", "Four words are here", "Four words are there"]
    whole, joined = _seen(texts).marks(), _seen(texts[:2]).marks() + _seen(texts[2:]).marks()
    assert whole == joined and whole.common_openings == joined.common_openings
    wrapped = {"reasoning": 1, "special_tokens": 1, "markdown": 1, "whitespace": 1}
    assert whole.wrapped == dict.fromkeys(whole.wrapped, 0) | wrapped
