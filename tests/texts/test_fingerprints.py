"""Hashes, wrappings, first words and the format of texts."""

from __future__ import annotations

import pytest

from mauve_metric.options import STRIP
from mauve_metric.texts.fingerprints import FORMATS, Marks, TextHashes, first_words, format_numbers


def _marks(texts: list[str]) -> Marks:
    seen = TextHashes()
    assert list(seen.watch(texts)) == texts
    return seen.marks()


def test_openings_are_counted_as_a_naive_loop_does() -> None:
    starts = ["Sure, here is a story about it", "Sure! Here is one", "Once upon a time", "sure", ""]
    texts = [f"{start} {number % 7}" for number, start in enumerate(starts * 40)]
    marks = _marks(texts)
    naive: dict[tuple[str, ...], int] = {}
    for text in texts:
        words = first_words(text)
        for length in range(2, len(words) + 1):
            naive[words[:length]] = naive.get(words[:length], 0) + 1
    assert marks.common_openings == {words: times for words, times in naive.items() if times >= 0.005 * len(texts)}
    assert marks.common_openings[("sure", "here", "is")] == 80


def test_the_marks_of_two_parts_add_up_to_those_of_the_whole() -> None:
    texts = ["<think>a</think>b", "# One", "Two </s>", " three", "Four words are here", "Four words are there"]
    whole, joined = _marks(texts), Marks.of_all([_marks(texts[:2]), _marks(texts[2:])])
    assert whole == joined and whole.common_openings == joined.common_openings
    wrapped = {"reasoning": 1, "special_tokens": 1, "markdown": 1, "whitespace": 1}
    assert whole.wrapped == dict.fromkeys(whole.wrapped, 0) | wrapped


def _numbers(text: str) -> dict[str, float]:
    return dict(zip(FORMATS, format_numbers(text), strict=True))


def test_each_number_sees_its_own_format() -> None:
    plain = _numbers("one two. Three four. ")
    changed = {
        "length": "one two. Three four. Five six. ",
        "line_breaks": "one two.\nThree four. ",
        "double_blanks": "one two.  Three four. ",
        "outer_blanks": "one two. Three four.",
        "first_character": "One two. Three four. ",
        "last_character": "one two. Three four ",
        "capitals": "one two. Three Four. ",
        "quotes": "one 'two'. Three four. ",
        "curly_quotes": "one “two”. Three four. ",
        "dashes": "one – two. Three four. ",
        "markdown": "one **two**. Three four. ",
        "word_length": "one twelve. Three four. ",
    }
    assert set(changed) == set(FORMATS)
    for name, text in changed.items():
        assert _numbers(text)[name] != plain[name], name


@pytest.mark.parametrize("text", ["", " ", "\n", "\ud800", "…"])
def test_any_text_has_numbers(text: str) -> None:
    assert len(format_numbers(text)) == len(FORMATS)


def test_cures_that_name_an_option_name_one_that_there_is() -> None:
    for item in FORMATS.values():
        if "strip='" in item.cure:
            assert item.cure.split("strip='")[1].split("'")[0] in STRIP
