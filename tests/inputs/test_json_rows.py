"""JSON objects that hold records, and JSON under other names."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mauve_metric.inputs.files import TextFile, read_texts
from mauve_metric.inputs.json_rows import json_rows
from mauve_metric.runtime.errors import DamagedFile

MADE = ["It is a thing that people use.", "There was once a king."]
GOLD = ["A thing is an object, they say.", "Long ago a king ruled."]
ASKED = ["What is a thing?", "Tell me a story."]


def rows() -> list[dict[str, str]]:
    return [{"question": q, "output": a} for q, a in zip(ASKED, MADE, strict=True)]


HELM = [
    {
        "instance": {"input": {"text": q}, "references": [{"output": {"text": h}}], "id": q},
        "result": {"completions": [{"text": a}]},
    }
    for q, a, h in zip(ASKED, MADE, GOLD, strict=True)
]


@pytest.mark.parametrize(
    ("value", "human"),
    [
        (
            {
                "args": {"shot": 2, "stop": ["\n"]},
                "data": [row | {"answer": h} for row, h in zip(rows(), GOLD, strict=True)],
            },
            GOLD,
        ),
        ({"adapter_spec": {"method": "generation"}, "request_states": HELM}, GOLD),
        (
            {
                "columns": ["id", "prompt", "output"],
                "data": [[0, ASKED[0], MADE[0]], [1, ASKED[1], MADE[1]]],
                "nrows": 2,
            },
            None,
        ),
        ({"original": GOLD, "sampled": MADE}, GOLD),
        ({"name": "x", "predictions": {"original": GOLD, "sampled": MADE}}, GOLD),
        ({"prompt": dict(enumerate(ASKED)), "output": dict(enumerate(MADE))}, None),
        ({str(number): row for number, row in enumerate(rows())}, None),
        ({"56be4db0": MADE[0], "56be4db1": MADE[1]}, None),
        (
            {
                "results": {
                    "version": 3,
                    "results": [{"prompt": {"raw": "Hm?"}, "response": {"output": a}} for a in MADE],
                }
            },
            None,
        ),
    ],
)
def test_an_object_that_holds_the_records(value: Any, human: list[str] | None, tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    for indent in (None, 2):
        path.write_text(json.dumps(value, indent=indent), encoding="utf-8")
        assert read_texts(path, side="prediction") == MADE
        assert TextFile(path).holds_both == (human is not None)
        assert human is None or read_texts(path, side="reference") == human


def test_several_lists_are_refused_and_one_can_be_named(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"train": [{"text": "a b"}], "test": [{"text": "c d"}]}), encoding="utf-8")
    with pytest.raises(
        ValueError, match=r"holds several lists: 'train' \(1 entries\), 'test' .*text_field='train.text'"
    ):
        read_texts(path)
    assert read_texts(path, "test.text") == read_texts(f"{path}:test.text") == ["c d"]


LINES = '{"text": "One."}\n{"text": "Two."}\n'
LIST = '[\n  {"text": "One."},\n  {"text": "Two."}\n]\n'


@pytest.mark.parametrize("name", ["a.txt", "a.json", "a.jsonl"])
@pytest.mark.parametrize("content", [LINES, LIST, LINES.replace('{"', '{\n"'), json.dumps(json.loads(LIST))])
def test_the_content_counts_not_the_name(name: str, content: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    assert read_texts(tmp_path / name) == ["One.", "Two."]


@pytest.mark.parametrize(
    "content", ["[Verse 1]\nla la\n", "[1]\nla la\n", "{smile} hi\nho\n", '"Hello," she said.\n"Bye."\n']
)
def test_lines_that_resemble_json_are_texts(content: str, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(content, encoding="utf-8")
    assert read_texts(tmp_path / "a.txt") == content.splitlines()


def test_damaged_json_lines_in_a_text_file_are_no_texts(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text('{"text": "One."}\n{"text": "Tw', encoding="utf-8")
    with pytest.raises(ValueError, match=r"a\.txt, line 2: not JSON"):
        read_texts(tmp_path / "a.txt")


@pytest.mark.parametrize("expected", ["text", "lines", "value"])
@pytest.mark.parametrize(
    ("content", "values", "unit"),
    [
        ('{"text":\n"One."}\n{"text":\n"Two."}', [{"text": "One."}, {"text": "Two."}], "entry"),
        ('{"text": "One."}\n\n{"text": "Two."}', [{"text": "One."}, {"text": "Two."}], "line"),
        ('[{"text": "One."}]', [{"text": "One."}], "entry"),
        ('{\n"text": "One."\n}', [{"text": "One."}], "line"),
    ],
)
def test_objects_may_be_written_over_several_lines(
    content: str, values: list[object], unit: str, expected: str
) -> None:
    rows = json_rows(content, "it", expected)
    assert rows is not None and (rows.values, rows.unit) == (values, unit)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ('{"text": "One."}\n{"text": "Two.", "text": "Three."}', "it, line 2: .* of 'text', got 'Two.' and 'Three.'"),
        ('[{"text": "One.", "by": {"id": 1, "id": 2}}]', "it.*: .* value of 'id', got 1 and 2"),
        ('{"text":\n"One."}\n{"text":\n"Two.", "text": "Three."}', "it: .* value of 'text'"),
        ('{"text": ["One."], "text": ["Two."]}', "it.*: .* value of 'text'"),
    ],
)
def test_an_object_with_two_values_of_a_key_is_refused(content: str, said: str) -> None:
    """One of them would be lost; a key may be there twice with one value."""
    for expected in ("text", "lines", "value") if content.count("\n") < 2 else ("text", "value"):
        with pytest.raises(DamagedFile, match=said):
            json_rows(content, "it", expected)
    once = json_rows('{"text": "One.", "text": "One."}', "it")
    assert once is not None and once.values == [{"text": "One."}]


@pytest.mark.parametrize(
    ("content", "place"),
    [
        ('{"text": One."}\n{"text": "Two."}', "line 1"),
        ('{"text": "One."}\n{"text": Two."}', "line 2"),
        ('[\n{"text": "One."},\n{"text": Two."}\n]', "line 3"),
    ],
)
def test_the_damaged_line_is_named(content: str, place: str) -> None:
    with pytest.raises(DamagedFile, match=f"it, {place}: not JSON"):
        json_rows(content, "it", "lines")
