"""Hashes, wrappings, first words and the format of texts."""

from __future__ import annotations

import pytest

from mauve_metric.inputs.fingerprints import (
    TRAITS,
    Marks,
    TextHashes,
    first_words,
    format_numbers,
    loops,
)
from mauve_metric.options import STRIP


def _marks(texts: list[str]) -> Marks:
    seen = TextHashes()
    assert list(seen.watch(texts)) == texts
    marks: Marks = seen.fields()["marks"]
    return marks


def test_openings_are_counted_as_a_naive_loop_does() -> None:
    starts = ["Sure, here is a story about it", "Sure! Here is one", "Once upon a time", "sure", ""]
    texts = [f"{start} {number % 7}" for number, start in enumerate(starts * 40)][1:]
    texts.append("Rarely so")  # one of 200, which is enough
    marks = _marks(texts)
    naive: dict[tuple[str, ...], int] = {}
    for text in texts:
        words = first_words(text)
        for length in range(2, len(words) + 1):
            naive[words[:length]] = naive.get(words[:length], 0) + 1
    assert marks.common_openings == {words: times for words, times in naive.items() if times >= 0.005 * len(texts)}
    assert marks.common_openings[("sure", "here", "is")] == 79 and marks.common_openings[("rarely", "so")] == 1


def test_the_marks_of_two_parts_add_up_to_those_of_the_whole() -> None:
    texts = ["<think>a</think>b", "# One", "Two </s>", " three", "Four words are here", "Four words are there"]
    whole, joined = _marks(texts), Marks.of_all([_marks(texts[:2]), _marks(texts[2:])])
    assert whole == joined and whole.common_openings == joined.common_openings
    wrapped = {"reasoning": 1, "special_tokens": 1, "markdown": 1, "whitespace": 1}
    assert whole.wrapped == dict.fromkeys(whole.wrapped, 0) | wrapped


def _numbers(text: str) -> dict[str, float]:
    return dict(zip(TRAITS, format_numbers(text), strict=True))


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
        "punctuation_blanks": "one two . Three four. ",
        "list_numbers": "1. one two. Three four. ",
        "outer_quotes": "“one two. Three four.”",
        "undecoded": "one t@@ wo. Three four. ",
        "unicode": "one ｔwo. Three four. ",
        "word_length": "one twelve. Three four. ",
    }
    assert set(changed) == set(TRAITS)
    for name, text in changed.items():
        assert _numbers(text)[name] != plain[name], name
    for blank in "\t\r\u00a0\u3000":
        assert _numbers(f"one{blank}two. Three four. ")["double_blanks"] == 1 / 21, blank


@pytest.mark.parametrize("text", ["", " ", "\n", "\ud800", "…"])
def test_any_text_has_numbers(text: str) -> None:
    assert len(format_numbers(text)) == len(TRAITS)


def test_what_removes_a_format_removes_all_of_it_and_options_exist() -> None:
    written = "  “One” of  the **old** barns\n\nWas red – they said.  "
    for name, item in TRAITS.items():
        if item.without is not None:
            assert _numbers(item.without(written))[name] == _numbers(item.without("one of the old barns"))[name], name
        assert item.strip is None or (item.strip in STRIP and item.without is not None)
    style = {name for name, item in TRAITS.items() if item.without is None}
    assert style == {"length", "quotes", "dashes", "word_length"}


PROSE = "The old barn by the river was cold in the morning, and so we left before the others came back from the town."


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (PROSE, False),
        (PROSE + " it was cold and dark" * 5, True),
        ("very " * 30, True),
        (f"{PROSE} {PROSE}", True),
        ("yes", False),
        ("no no", False),
        ("", False),
        ("你好世界今天天气很好我们去公园" * 3, True),
        ("你好世界今天天气很好我们去公园散步看花然后回家吃饭睡觉明天再见", False),
    ],
)
def test_loops_are_seen_in_words_and_in_scripts_without_blanks(text: str, found: bool) -> None:
    assert loops(text) is found


@pytest.mark.parametrize(
    "text", ["Café, naïve – “yes”… it cost €5.", "ÂGE", "MENÜ “A”", "Привет, мир", "ελληνικά", "日本語"]
)
def test_texts_read_in_the_right_encoding_are_not_garbled(text: str) -> None:
    assert _marks([text]).wrapped["garbled"] == 0
    assert _marks([text.encode().decode("cp1252", "replace")]).wrapped["garbled"] == 1


def test_words_for_missing_values_are_counted() -> None:
    marks = _marks(["nan", "None", " null ", "None of them came.", "Nan was here."])
    assert marks.wrapped["missing"] == 3


def test_defects_and_marks_are_those_that_prose_does_not_have() -> None:
    assert _marks(["[464, 3290, 318, 257, 922]", "1914 to 1918", "07 11 1917"]).wrapped["numbers"] == 1
    assert _marks(["It cost â‚¬34.2bn.", "It cost €34.2bn at the café.", "donâ€™t"]).wrapped["garbled"] == 2
    assert _marks(["Fish &amp; chips", "<p>One", "a < b > c & d; <s> <think>"]).wrapped["html"] == 2
    assert _marks(["## A plan", "2 * 3 * 4 in snake_case_names #1"]).wrapped["markdown"] == 1
