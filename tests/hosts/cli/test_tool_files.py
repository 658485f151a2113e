"""Files of other tools."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from commands import usage_error
from samples import HUMAN, MODEL, write_jsonl
from tools import harness_file, harness_rows

from mauve_metric import compare, compute_mauve
from mauve_metric.hosts.cli.main import main


def harness(tmp_path: Path, model: str, shift: int = 0, **options: Any) -> str:
    """Samples of a task in a model's folder; the model's texts are those of another one, moved on by `shift`."""
    made = MODEL[shift:] + MODEL[:shift]
    return str(harness_file(tmp_path / "results", model, harness_rows(HUMAN[: len(made)], made), **options))


@pytest.fixture
def featurized(tiny_gpt2: str) -> list[str]:
    return ["--featurize-model-name", tiny_gpt2, "--num-buckets", "4", "--num-runs", "1", "--json"]


@pytest.mark.more
def test_one_file_holds_both_sides(tmp_path: Path, featurized: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    path = harness(tmp_path, "gpt2")
    assert main(["score", path, *featurized]) == 0
    out, err = capsys.readouterr()
    found, human = json.loads(out), HUMAN[: len(MODEL)]
    expected = compute_mauve(
        p_text=human, q_text=MODEL, featurize_model_name=featurized[1], num_buckets=4, num_runs=1, aligned=True
    )
    assert found["mauve"] == expected.mauve and found["mauve_debiased_ci"] == list(expected.mauve_debiased_ci or ())
    told = "p_texts:lm_eval/target|q_texts:lm_eval/filtered_resps/none|"
    assert found["signature"] == told + expected.signature
    title = "(samples of lm-evaluation-harness (filter 'none'))"
    assert err.count("\n") == 3 and f"{path}: {len(MODEL)} texts from `filtered_resps` {title}" in err
    assert main(["score", path, *featurized, "--quiet"]) == 0
    assert capsys.readouterr().err == ""
    fields = ["--reference-field", "doc.story", "--prediction-field", "resps.0.0"]
    assert main(["explain", str(Path(path).parent), *featurized, *fields]) == 0
    signature = json.loads(capsys.readouterr().out)["result"]["signature"]
    assert signature.startswith("p_texts:lm_eval/doc.story|q_texts:lm_eval/resps.0.0/none|")
    assert compute_mauve(
        q_text=path, featurize_model_name=featurized[1], num_buckets=4, num_runs=1
    ).signature == told + expected.signature  # fmt: skip


def test_human_texts_of_their_own_beside_a_tool_s_file(
    tmp_path: Path, featurized: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    human = tmp_path / "human.txt"
    human.write_text("\n".join(HUMAN))
    assert main(["score", str(human), harness(tmp_path, "gpt2"), *featurized]) == 0
    out, err = capsys.readouterr()
    found = json.loads(out)
    assert (found["n_p"], found["n_q"]) == (len(HUMAN), len(MODEL)) and "'target'" not in err
    assert found["signature"].startswith("q_texts:lm_eval/filtered_resps/none|feat")


@pytest.mark.more
def test_models_are_compared_without_a_human_file(
    tmp_path: Path, featurized: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    paths = [harness(tmp_path, "org__a", day=1), harness(tmp_path, "org__b", 1, day=2)]
    assert main(["compare", *paths, *featurized]) == 0
    out, err = capsys.readouterr()
    found = json.loads(out)
    assert set(found["models"]) == {"org__a", "org__b"} and found["design"] == "aligned"
    assert err.count("\n") == 4 and "answer the same 24 prompts: scored as aligned" in err
    assert "p_texts:lm_eval/target|q_texts:lm_eval/filtered_resps/none|" in found["signature"]
    assert "design:aligned" in found["signature"]
    options = {"featurize_model_name": featurized[1], "num_buckets": 4, "num_runs": 1}
    direct = compare(models={"org__a": paths[0], "org__b": paths[1]}, **options)
    lists = compare(
        p_text=HUMAN[: len(MODEL)], models={"a": MODEL, "b": MODEL[1:] + MODEL[:1]}, aligned=True, **options
    )
    assert direct.signature == found["signature"]
    assert direct.differences[0].ci == lists.differences[0].ci
    folders = [str(Path(path).parent) for path in paths]
    assert main(["compare", *folders, *featurized]) == 0
    assert json.loads(capsys.readouterr().out)["signature"] == found["signature"]


def test_rows_that_only_some_models_have(
    tmp_path: Path, featurized: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    a = harness(tmp_path, "a")
    b = str(harness_file(tmp_path / "results", "b", harness_rows(HUMAN[:20], MODEL[:20]), day=2))
    assert "model b lacks 4 (20, 21, 22, …); pass --common-rows to compare the 20" in last_error(
        ["compare", a, b], capsys
    )
    assert main(["compare", a, b, *featurized, "--common-rows"]) == 0
    out, err = capsys.readouterr()
    found = json.loads(out)
    assert "rows that not all models have are left out: model a 4, model b 0" in err
    assert "q_texts:lm_eval/filtered_resps/none/common_rows|" in found["signature"]
    assert found["models"]["a"]["n_q"] == found["models"]["b"]["n_p"] == 20


def last_error(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    assert main(arguments) == 1
    return capsys.readouterr().err.splitlines()[-1]


def test_files_that_cannot_be_told_apart(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a, twin = harness(tmp_path, "a"), harness(tmp_path, "a", day=2)
    (tmp_path / "plain.txt").write_text("\n".join(HUMAN))
    plain = str(tmp_path / "plain.txt")
    assert "are two files of one model, 'a': give one of them" in last_error(["compare", a, twin], capsys)
    assert "is given twice" in last_error(["compare", plain, a, a], capsys)
    assert f"write it as NAME={a} to compare its model too" in last_error(["compare", a, plain], capsys)
    assert f"'{tmp_path / 'results' / 'a'}' holds" not in last_error(["score", str(tmp_path / "results")], capsys)
    assert "expected one of them" in last_error(["score", str(tmp_path / "results" / "a")], capsys)
    assert "'target' and the model's texts in 'filtered_resps': say which" in last_error(
        ["featurize", a, "-o", str(tmp_path / "x.npz")], capsys
    )
    one = write_jsonl(tmp_path / "one.jsonl", MODEL)
    assert "does not hold human texts and a model's beside each other: give MODEL" in last_error(["score", one], capsys)
    assert "is the only file: expected MODEL after HUMAN" in last_error(["compare", one], capsys)
    assert "expected MODEL after HUMAN" in usage_error(["score", plain], capsys)


@pytest.mark.more
def test_an_empty_completion_is_an_error_unless_it_is_dropped(
    tmp_path: Path, featurized: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    rows = harness_rows(HUMAN[:24], [*MODEL[:22], " ", ""])
    a = str(harness_file(tmp_path, "a", rows))
    b = str(harness_file(tmp_path, "b", harness_rows(HUMAN[:24], MODEL[:24]), day=2))
    message = last_error(["score", a], capsys)
    assert f"{a}, line 23: the text in 'filtered_resps' is empty (2 of 24 in all)" in message
    assert main(["score", a, *featurized, "--empty-texts", "drop"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["n_p"], found["n_q"], found["q_dropped"]) == (24, 22, 2)
    assert main(["compare", a, b, *featurized, "--empty-texts", "drop"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["design"] == "prompts" and "the same 24 prompts" in err


def test_texts_in_standard_input_that_hold_both_sides(
    tmp_path: Path, featurized: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    content = Path(harness(tmp_path, "a")).read_bytes()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    assert main(["score", "-", *featurized]) == 0
    out, err = capsys.readouterr()
    assert (
        json.loads(out)["n_p"] == len(MODEL)
        and "standard input: 24 texts from `target` (samples of lm-evaluation-harness" in err
    )
