"""Prompts that texts begin with are found in any field of their file, counted, and stripped without being named."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from mauve_metric import compute_mauve
from mauve_metric.features.feature_set import InputSide, featurize
from mauve_metric.features.sides import open_sides
from mauve_metric.inputs.files import TextFile
from mauve_metric.inputs.stripping import as_prompt, field_prompts
from mauve_metric.options import split_options
from mauve_metric.runtime.errors import WrongOption

WORDS = ["the", "old", "barn", "river", "cold", "and", "so", "left"]
RUN: dict[str, Any] = {"featurize_model_name": "ngrams", "num_runs": 1}


def _texts(number: int, seed: int) -> list[str]:
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(WORDS, size=20)) for _ in range(number)]


def _file(path: Path, rows: list[dict[str, Any]]) -> TextFile:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return TextFile(path, "text")


@pytest.mark.slow
@pytest.mark.parametrize("field", ["prompt", "question"])
@pytest.mark.parametrize("prompts_beside", ["human", "model"])
def test_echoed_prompts_are_named_and_stripped_by_the_flag_that_is_named(
    tmp_path: Path, field: str, prompts_beside: str
) -> None:
    human, model = _texts(60, 0), _texts(60, 1)
    prompts = [f"Say more about barn number {row}." for row in range(60)]
    texts = {"human": human, "model": [f"{prompt} {text}" for prompt, text in zip(prompts, model, strict=True)]}
    rows = {name: [{"text": text, "id": row} for row, text in enumerate(own)] for name, own in texts.items()}
    for row, prompt in zip(rows[prompts_beside], prompts, strict=True):
        row[field] = prompt
    files = {name: _file(tmp_path / f"{name}.jsonl", own) for name, own in rows.items()}
    found = compute_mauve(p_text=files["human"], q_text=files["model"], **RUN)
    (warning,) = [item for item in found.warnings if item.code == "echoed_prompts"]
    assert "0 of 60 human and 60 of 60 model texts begin with their prompt" in warning.message
    assert "strip='prompts'" in warning.message and found.verdict == "different"
    assert found.verdict_reason == "echoed_prompts"
    cured = compute_mauve(p_text=files["human"], q_text=files["model"], strip="prompts", **RUN)
    plain = compute_mauve(p_text=human, q_text=model, **RUN)
    assert "echoed_prompts" not in [item.code for item in cured.warnings] and cured.mauve == plain.mauve
    assert [*cured.q_stripped] == [("prompts", 60)]


@pytest.mark.parametrize("form", [tuple, pd.Series, np.array, lambda texts: pd.DataFrame({"text": texts})])
def test_texts_that_begin_with_given_prompts_are_counted_in_every_form(form: Callable[[list[str]], object]) -> None:
    prompts = [f"Say more about barn number {row}." for row in range(20)]
    model = [f"{prompt} {text}" for prompt, text in zip(prompts, _texts(20, 1), strict=True)]
    config, run = split_options({"prompts": prompts, "empty_texts": "drop"})
    for texts in (form(model), [None, *model]):
        sides = {"human": InputSide("text", "p_text", _texts(20, 0)), "model m": InputSide("text", "q_text", texts)}
        assert [side.echoes for side in open_sides(sides, config, run).sides.values()] == [0, 20]


@pytest.mark.parametrize("words, is_known", [(9, True), (8, False)])
def test_of_texts_that_were_featurized_before_and_of_streams_the_first_words_tell(words: int, is_known: bool) -> None:
    """The human texts continue the model's prompts as well, or do not."""
    prompts = [" ".join(["Say", *[str(row)] * (words - 1)]) for row in range(60)]
    human, model = ([f"{prompt} {text}" for prompt, text in zip(prompts, _texts(60, s), strict=True)] for s in (0, 1))
    for texts, told in ((human, False), (_texts(60, 0), is_known)):
        before = featurize(texts, "ngrams")
        for p, q in ({"p": before}, {"q_text": model}), ({"p_text": texts}, {"q_text": iter(model)}):
            codes = [warning.code for warning in compute_mauve(**p, **q, prompts=prompts, **RUN).warnings]
            assert ("echoed_prompts" in codes) == told


def test_prompts_that_no_text_begins_with_give_no_warning(tmp_path: Path) -> None:
    rows = [{"text": text, "prompt": f"Say more about barn number {row}."} for row, text in enumerate(_texts(60, 1))]
    found = compute_mauve(p_text=_texts(60, 0), q_text=_file(tmp_path / "m.jsonl", rows), **RUN)
    assert "echoed_prompts" not in [item.code for item in found.warnings]


def test_prompts_are_still_needed_where_no_file_has_them() -> None:
    with pytest.raises(WrongOption, match="needs the prompts"):
        compute_mauve(p_text=_texts(60, 0), q_text=_texts(60, 1), strip="prompts", **RUN)


def test_ids_and_few_chance_beginnings_are_no_prompts() -> None:
    assert as_prompt("q-17") == as_prompt(1234567890) == as_prompt(None) == ""
    texts = [f"{text} {row}" for row, text in enumerate(_texts(200, 3))]
    assert field_prompts([[texts[0][:20]] * 200], [texts]) == ()
    assert field_prompts([texts], [texts]) == ()  # the field of the texts themselves


def test_prompts_are_looked_for_in_the_fields_that_hold_text_in_the_first_row(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [{"text": "One", "a": "x", "b": 1}, {"text": "Two", "a": None}]
    assert _file(tmp_path / "rows.jsonl", rows).text_columns(2) == [["One", "Two"], ["x", None]]
