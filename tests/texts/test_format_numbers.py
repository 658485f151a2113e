"""Numbers that describe the format of texts."""

from __future__ import annotations

import pytest

from mauve_metric.options import STRIP
from mauve_metric.texts.format_numbers import FORMATS, format_numbers


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
