"""A comparison's tables in CSV, Markdown, LaTeX and the terminal; exit status and sentences of gates."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from samples import ROOT, script
from scipy.stats import norm

from mauve_metric import Comparison, compare, compute_mauve
from mauve_metric.hosts.cli.commands import compare as command_of_compare
from mauve_metric.hosts.cli.main import main
from mauve_metric.results.comparison import DIFFERENCE_COLUMNS, MODEL_COLUMNS, changes, read_scores, score_below
from mauve_metric.results.wording import words


def test_csv_holds_the_numbers(told: Comparison) -> None:
    rows = list(csv.DictReader(io.StringIO(told.to_csv())))
    assert [row["model"] for row in rows] == list(told.ranking)
    assert float(rows[0]["mauve"]) == told.models[told.ranking[0]].mauve
    pairs = list(csv.DictReader(io.StringIO(told.to_csv("differences"))))
    assert len(pairs) == 1 and float(pairs[0]["p_value"]) == told.differences[0].p_value
    with pytest.raises(ValueError, match="models, differences"):
        told.to_csv("other")


def test_markdown_and_latex_escape_names(told: Comparison) -> None:
    table = next(part for part in told.to_markdown().split("\n\n") if part.startswith("| rank |"))
    for line in table.splitlines():
        assert len(re.findall(r"(?<!\\)\|", line)) == len(MODEL_COLUMNS) + 1
    body = told.to_latex().rpartition("\n%")[0]
    assert not re.search(r"(?<!\\)[$#_]|(?<=.)(?<!\\)%", body)
    for line in body.splitlines():
        if line.endswith(r"\\"):
            assert len(re.findall(r"(?<!\\)&", line)) in (
                len(MODEL_COLUMNS) - 1,
                len(DIFFERENCE_COLUMNS) - 1,
            )


def test_terminal_table_has_everything(comparison: Comparison) -> None:
    shown = str(comparison)
    for name in comparison.ranking:
        assert f"{comparison.models[name].mauve:.4f}" in shown and f"{comparison.own[name].mauve:.4f}" in shown
    assert "few_texts" in shown and shown.endswith(comparison.signature)
    assert shown.count("120 texts are few") == 1  # what is true of all models is said once
    assert words.rounded_up(1) == "1" and words.rounded_up(100) == "100" and words.rounded_up(101) == "110"


RNG = np.random.default_rng(5)
HUMAN = RNG.normal(size=(400, 6))
GOOD, BAD = RNG.normal(size=(400, 6)) + 0.3, RNG.normal(size=(400, 6)) + 1.2
OPTIONS: dict[str, Any] = {"num_buckets": 20, "kmeans_num_redo": 1, "num_runs": 2}


def files(tmp_path: Path, **sets: np.ndarray[Any, Any]) -> list[str]:
    for name, rows in sets.items():
        np.save(tmp_path / f"{name}.npy", rows)
    return [str(tmp_path / f"{name}.npy") for name in sets]


def test_a_score_below_the_bound_is_status_3(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    human, good = files(tmp_path, human=HUMAN, good=GOOD)
    score = compute_mauve(p_features=HUMAN, q_features=GOOD, **OPTIONS)
    assert score.mauve_debiased is not None
    flags = [f"--{name.replace('_', '-')}={value}" for name, value in OPTIONS.items()]
    for shift, status in ((-0.001, 0), (0.001, 3)):
        bound = score.mauve_debiased + shift
        assert main(["score", human, good, "--json", "--fail-under", str(bound), *flags]) == status
        out, err = capsys.readouterr()
        assert json.loads(out)["mauve_debiased"] == score.mauve_debiased
        assert ("failed: the debiased score is" in err) == (status == 3) == bool(score_below(score, bound))


def test_only_a_significant_loss_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    human, first, second = files(tmp_path, human=HUMAN, first=GOOD, second=BAD)
    flags = [f"--{name.replace('_', '-')}={value}" for name, value in OPTIONS.items()]
    earlier = {}
    for name, file in (("good", first), ("bad", second)):
        assert main(["compare", human, f"m={file}", "--json", *flags]) == 0
        earlier[name] = tmp_path / f"{name}.json"
        earlier[name].write_text(capsys.readouterr().out)
    for before, file, status in (("good", second, 3), ("good", first, 0), ("bad", first, 0)):
        gate = ["--baseline", str(earlier[before]), "--fail-if-worse"]
        assert main(["compare", human, f"m={file}", *gate, *flags]) == status, before
        err = capsys.readouterr().err
        assert "m: " in err and "would have shown in 8 of 10 cases" in err
        assert ("failed: m is worse than before" in err) == (status == 3)
    assert main(["compare", human, f"m={first}", "--baseline", str(earlier["good"]), *flags, "--seed", "3"]) == 1
    assert "cannot be compared with the earlier ones: seed 3 now and 25 before" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["compare", human, first, "--fail-if-worse"])
    assert "--fail-if-worse needs --baseline" in capsys.readouterr().err


_BASELINES: list[tuple[Any, str]] = [
    ({"mauve_debiased": float("nan")}, r"a score of m must be made of numbers in \[0, 1\], got nan"),
    ({"mauve_debiased": 1e308}, r"a score of m must be made of numbers in \[0, 1\], got 1e\+308"),
    ({"mauve_debiased": "0.9"}, r"numbers in \[0, 1\], got '0.9'"),
    ({"mauve_debiased": True}, r"numbers in \[0, 1\], got True"),
    ({"mauve_debiased": 0.0}, r"must be in its interval, got 0.0 in \[0."),
    ({"mauve_stderr": -1}, r"numbers in \[0, 1\], got -1"),
    ({"mauve_stderr": None}, "a score of m has no interval"),
    ({"mauve_ci": None}, "a score of m has no interval"),
    ({"mauve_ci": [0.1]}, "a score of m has no interval"),
    ({"mauve_ci": [float("-inf"), float("inf")]}, r"numbers in \[0, 1\], got -inf"),
    ({"signature": "seed:3"}, "cannot be compared with the earlier ones: .*seed 25 now and 3 before"),
    ({"mauve": 0.5}, r"the earlier result of m is none that .*its mauve is not what its own counts give"),
    ({"p_hist": None}, "the earlier result of m is none that compare --json printed"),
    ({"auc": 1}, "its auc is not what its own counts give"),
    ({"signature": None}, "cannot be compared with the earlier ones"),
]


@pytest.mark.parametrize(("change", "message"), _BASELINES)
def test_a_baseline_that_cannot_be_compared_with_ends_before_the_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], change: Any, message: str
) -> None:
    human, first = files(tmp_path, human=HUMAN, first=GOOD)
    flags = [f"--{name.replace('_', '-')}={value}" for name, value in OPTIONS.items()]
    assert main(["compare", human, f"m={first}", "--json", *flags]) == 0
    before = json.loads(capsys.readouterr().out)
    monkeypatch.setattr(command_of_compare, "show_result_of", lambda *_: pytest.fail("it was computed"))
    (tmp_path / "before.json").write_text(json.dumps(before | {"models": {"m": before["models"]["m"] | change}}))
    gate = ["--baseline", str(tmp_path / "before.json"), *flags]
    assert main(["compare", human, f"m={first}", *gate]) == 1
    out, err = capsys.readouterr()
    assert out == "" and re.search(message, err), err


def test_options_names_and_human_texts_are_compared_before_the_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    human, first, other = files(tmp_path, human=HUMAN, first=GOOD, other=HUMAN + 1)
    flags = [f"--{name.replace('_', '-')}={value}" for name, value in OPTIONS.items()]
    assert main(["compare", human, f"m={first}", "--json", *flags]) == 0
    (tmp_path / "before.json").write_text(capsys.readouterr().out)
    monkeypatch.setattr(command_of_compare, "show_result_of", lambda *_: pytest.fail("it was computed"))
    for command, said in (
        ([human, f"n={first}", *flags], "no model is in both runs: n now, m before"),
        ([human, f"m={first}", *flags, "--confidence-level", "0.9"], "--confidence-level 0.9 now and 0.95 before"),
        ([human, f"m={first}", *flags, "--num-buckets", "10"], "--num-buckets 10 now and 20 before"),
        ([human, f"m={first}", *flags, "--aligned"], "design aligned now and independent before"),
        ([other, f"m={first}", *flags], "p_digest [0-9a-f]+ now and [0-9a-f]+ before"),
    ):
        assert main(["compare", *command, "--baseline", str(tmp_path / "before.json")]) == 1
        out, err = capsys.readouterr()
        assert out == "" and re.search(said, err), err


def test_the_change_is_that_of_two_independent_scores(tmp_path: Path) -> None:
    now, before = (compare(p_features=HUMAN, models={"m": rows}, **OPTIONS) for rows in (BAD, GOOD))
    (tmp_path / "before.json").write_text(json.dumps(before.to_dict()))
    change = changes(now, read_scores(tmp_path / "before.json"))["m"]
    a, b = now.models["m"], before.models["m"]
    assert None not in (a.mauve_debiased, b.mauve_debiased, a.mauve_stderr, b.mauve_stderr)
    difference = a.mauve_debiased - b.mauve_debiased  # type: ignore[operator]
    error = math.hypot(a.mauve_stderr, b.mauve_stderr)  # type: ignore[arg-type]
    assert change.is_worse and f"difference {difference:+.4f}" in change.sentence
    assert 2 * norm.sf(abs(difference) / error) < 1e-4  # far beyond any rounding of the level


@pytest.mark.parametrize("content", ["[]", "{}", '{"models": 3}', '{"models": {"m": 3}}'])
def test_files_without_scores_are_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "x.json").write_text(content)
    with pytest.raises(ValueError, match=r"x\.json must be what compare --json printed"):
        read_scores(tmp_path / "x.json")
    now = compare(p_features=HUMAN, models={"m": GOOD}, **OPTIONS)
    with pytest.raises(ValueError, match="no model is in both runs: m now, other before"):
        changes(now, {"other": {}})


@pytest.mark.parametrize("command", ["score", "compare"])
def test_the_published_schemas_are_those_of_the_results(command: str) -> None:
    published = (ROOT / f"docs/{command}.schema.json").read_text(encoding="utf-8")
    assert published == script("docs/make_schema").text(command), "run: python docs/make_schema.py"
