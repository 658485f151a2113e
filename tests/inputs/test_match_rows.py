"""Several models' files of the same documents."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tools import harness_file, harness_row, harness_rows, jsonl

from mauve_metric.inputs.files import TextFile
from mauve_metric.inputs.match_rows import join

GOLD = [f"Gold {number}." for number in range(5)]


def rows_of(model: str) -> list[dict[str, Any]]:
    return harness_rows(GOLD, [f"{model} {number}." for number in range(5)])


def joined(tmp_path: Path, a: list[Any], b: list[Any], **options: Any) -> Any:
    files = {
        name: TextFile(harness_file(tmp_path, name, rows, day=day))
        for day, (name, rows) in enumerate({"a": a, "b": b}.items(), 1)
    }
    return join(files, **{"human": True, **options})


def test_rows_are_matched_by_their_document(tmp_path: Path) -> None:
    human, models, groups, _ = joined(tmp_path, rows_of("A"), rows_of("B")[::-1], by="doc.story")
    assert groups == [0, 1, 2, 3, 4] and human.texts == GOLD
    assert models["a"].texts == [f"A {number}." for number in range(5)]
    assert models["b"].texts == [f"B {number}." for number in range(5)]
    assert human.labels == models["a"].labels == models["b"].labels == GOLD
    assert models["b"].origin == "lm_eval/filtered_resps/none"


def test_rows_that_only_some_have(tmp_path: Path) -> None:
    a, b = rows_of("A")[1:], rows_of("B")[:3]
    with pytest.raises(
        ValueError, match=r"same 5 rows: a lacks 1 \(0\); b lacks 2 \(3, 4\); .*--common-rows\) to compare the 2 that"
    ):
        joined(tmp_path, a, b)
    human, models, groups, left_out = joined(tmp_path, a, b, common_rows=True)
    assert groups == [1, 2] and human.texts == GOLD[1:3]
    assert [side.texts for side in models.values()] == [["A 1.", "A 2."], ["B 1.", "B 2."]]
    assert left_out == {"a": 2, "b": 1}
    assert human.origin == "lm_eval/target/common_rows"
    assert models["a"].origin == "lm_eval/filtered_resps/none/common_rows"
    with pytest.raises(ValueError, match="none is in all"):
        joined(tmp_path, rows_of("A")[:2], rows_of("B")[2:], common_rows=True)


def test_rows_that_disagree(tmp_path: Path) -> None:
    other = [*rows_of("B")[:4], harness_row(4, "Another.", "B 4.")]
    with pytest.raises(
        ValueError, match=r"row 4 is another document for a \(.*jsonl, line 5\) than for b \(.*, line 5\)"
    ):
        joined(tmp_path, rows_of("A"), other)
    gold = [row | {"target": "Another." if row["doc_id"] == 2 else row["target"]} for row in rows_of("B")]
    with pytest.raises(ValueError, match=r"human texts of a and b differ, first at .*line 3 and .*line 3: give"):
        joined(tmp_path, rows_of("A"), gold)
    assert joined(tmp_path, rows_of("A"), gold, human=False)[2] == [
        0,
        1,
        2,
        3,
        4,
    ]  # the human texts come from elsewhere


def test_equal_prompts_row_by_row_align_and_others_do_not(tmp_path: Path) -> None:
    def file(name: str, prompts: str) -> TextFile:
        rows = [{"prompt": prompt, "completion": f"{name}{prompt}"} for prompt in prompts]
        return TextFile(jsonl(tmp_path / f"{name}.jsonl", rows))

    assert join({"a": file("a", "xxy"), "b": file("b", "xxy")}, human=False)[2] == ["x", "x", "y"]
    _, models, groups, _ = join(
        {"a": file("a", "xxy"), "b": file("b", "xyx")}, human=False
    )  # prompts may repeat: nothing is matched
    assert groups is None and models["b"].texts == ["bx", "by", "bx"]


def test_files_without_human_texts(tmp_path: Path) -> None:
    path = jsonl(tmp_path / "a.jsonl", [{"text": "x"}])
    with pytest.raises(ValueError, match=r"there are no human texts beside the model's in .*a.jsonl"):
        join({"a": TextFile(path)}, human=True)
    path = harness_file(tmp_path, "a", rows_of("A"))
    with pytest.raises(ValueError, match=r"line 1 has no field 'doc.tale'; 'doc' has 'story' "):
        join({"a": TextFile(path, reference_field="doc.tale")}, human=True)
