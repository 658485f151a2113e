"""`mauve-metric generate`: prompts from a file or a column, and a file that `score` reads."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commands import input_error, usage_error
from samples import HUMAN, write_jsonl

from mauve_metric.hosts.cli.main import main


def test_prompts_come_from_a_file_or_a_column(
    tiny_chat: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "prompts.txt").write_text("The ships\nShe counts\n", encoding="utf-8")
    (tmp_path / "prompts.csv").write_text("id,question\n1,The ships\n2,She counts\n", encoding="utf-8")
    options = ["--model", tiny_chat, "--max-new-tokens", "5", "--seed", "3", "--decoder", "top_k=9"]
    for name, more in (("prompts.txt", []), ("prompts.csv", ["--text-field", "question"])):
        target = tmp_path / f"{name}.jsonl"
        assert main(["generate", str(tmp_path / name), "-o", str(target), *options, *more]) == 0
        out, err = capsys.readouterr()
        assert out == "" and "2 texts with " in err and str(target) in err
    text, table = ((tmp_path / f"{name}.jsonl").read_bytes() for name in ("prompts.txt", "prompts.csv"))
    assert text == table
    rows = [json.loads(line) for line in text.splitlines()]
    assert [row["prompt"] for row in rows] == ["The ships", "She counts"]
    assert all(row["text"].startswith(row["prompt"]) and row["decoder"] == "top_k=9" for row in rows)
    answered = tmp_path / "answers.jsonl"
    assert main(["generate", str(tmp_path / "prompts.txt"), "-o", str(answered), *options, "--chat"]) == 0
    assert not any(json.loads(line)["text"].startswith(("The", "She")) for line in answered.open(encoding="utf-8"))


def test_its_file_is_one_that_score_reads(tiny_chat: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    human, target = write_jsonl(tmp_path / "human.jsonl", HUMAN), str(tmp_path / "model.jsonl")
    command = ["generate", str(human), "--prompt-tokens", "4", "--model", tiny_chat, "-o", target, "--quiet"]
    assert main(command) == 0
    assert capsys.readouterr() == ("", f"mauve-metric: {summary(target)}\n")
    assert main(["score", str(human), target, "--featurizer", "ngrams", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["n_q"] == len(HUMAN)
    again = input_error(command, capsys)
    assert "is there already, and texts are never overwritten" in again


def summary(path: str) -> str:
    rows = [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines()]
    return f"{len(rows)} texts with {sum(row['tokens'] for row in rows)} new tokens in {path}"


def test_inputs_are_never_overwritten(tiny_chat: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    human = write_jsonl(tmp_path / "human.jsonl", HUMAN)
    before = Path(human).read_bytes()
    assert "would replace" in input_error(["generate", str(human), "--model", tiny_chat, "-o", str(human)], capsys)
    part = Path(human).rename(tmp_path / "out.jsonl.part")
    target = str(tmp_path / "out.jsonl")
    assert "would replace" in input_error(["generate", str(part), "--model", tiny_chat, "-o", target], capsys)
    assert part.read_bytes() == before


def test_wrong_usage(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    start = ["generate", "p.txt", "--model", "m", "-o", "o.jsonl"]
    for flags, message in {
        ("--decoder", "nucleus"): "must be made of greedy, sampling, beam",
        ("--decoder", "temperature=1,top_p=2"): "--decoder: top_p must be a number in (0, 1], got 2.0",
        ("--seed", "-1"): "--seed",
        ("--n-per-prompt", "0"): "--n-per-prompt",
    }.items():
        assert message in usage_error([*start, *flags], capsys)
