"""Gates for automatic jobs: exit status and sentences, and that no wrecked text passes them."""

from __future__ import annotations

import dataclasses
import functools
import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from samples import write_jsonl
from scipy.stats import norm

from mauve_metric import Comparison, MauveResult, compare, compute_mauve
from mauve_metric.hosts.cli.commands import compare as command_of_compare
from mauve_metric.hosts.cli.gate import changes, closeness_below, read_scores
from mauve_metric.hosts.cli.main import main
from mauve_metric.hosts.flags_and_labels import SHELL
from mauve_metric.report.wording.verdict_sentence import NO_VERDICT

RNG = np.random.default_rng(5)
HUMAN = RNG.normal(size=(400, 6))
GOOD, BAD = RNG.normal(size=(400, 6)) + 0.3, RNG.normal(size=(400, 6)) + 1.2
OPTIONS: dict[str, Any] = {"num_buckets": 20, "kmeans_num_redo": 1, "num_runs": 2}
FEW = {"num_buckets": 4, "kmeans_num_redo": 1, "num_runs": 1}


@functools.cache
def earlier(name: str) -> Comparison:
    """The comparison of "good", "bad", or 60 rows ("few"), made once."""
    if name == "few":
        return compare(p_features=HUMAN[:60], models={"m": GOOD[:60]}, **FEW)
    return compare(p_features=HUMAN, models={"m": GOOD if name == "good" else BAD}, **OPTIONS)


def flags_of(options: dict[str, Any]) -> list[str]:
    return [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]


def stored(tmp_path: Path, name: str, change: dict[str, Any] | None = None) -> str:
    """A file that `compare --json` printed of `earlier`; change: what is another in its model."""
    found = json.loads(json.dumps(earlier(name).to_dict()))
    found["models"]["m"] |= change or {}
    path = tmp_path / f"{name}.json"
    path.write_text(json.dumps(found))
    return str(path)


def files(tmp_path: Path, **sets: np.ndarray[Any, Any]) -> list[str]:
    for name, rows in sets.items():
        np.save(tmp_path / f"{name}.npy", rows)
    return [str(tmp_path / f"{name}.npy") for name in sets]


@pytest.mark.more
def test_a_closeness_below_the_bound_is_status_3(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    human, good = files(tmp_path, human=HUMAN, good=GOOD)
    score = compute_mauve(p_features=HUMAN, q_features=GOOD, **OPTIONS)
    assert score.closeness is not None
    flags = flags_of(OPTIONS)
    for shift, status in ((-0.001, 0), (0.001, 3)):
        bound = score.closeness + shift
        assert main(["score", human, good, "--json", "--fail-under", str(bound), *flags]) == status
        out, err = capsys.readouterr()
        assert json.loads(out)["closeness"] == score.closeness
        assert ("failed: closeness is" in err) == (status == 3) == bool(closeness_below(score, bound))


@pytest.mark.slow
def test_only_a_significant_loss_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    human, first, second = files(tmp_path, human=HUMAN, first=GOOD, second=BAD)
    flags = flags_of(OPTIONS)
    assert main(["compare", human, f"m={first}", "--json", *flags]) == 0
    Path(stored(tmp_path, "good")).write_text(capsys.readouterr().out)
    stored(tmp_path, "bad")
    for before, file, status in (("good", second, 3), ("good", first, 0), ("bad", first, 0)):
        gate = ["--baseline", str(tmp_path / f"{before}.json"), "--fail-if-worse"]
        assert main(["compare", human, f"m={file}", *gate, *flags]) == status, before
        err = capsys.readouterr().err
        assert re.search(r"m: .* A difference of \S+ by (groups|classifier) would have shown in 8 of 10 cases", err)
        assert ("failed: m is worse than before" in err) == (status == 3)
    assert main(["compare", human, f"m={first}", "--baseline", str(tmp_path / "good.json"), *flags, "--seed", "3"]) == 1
    assert "cannot be compared with the earlier ones: seed 3 now and 25 before" in capsys.readouterr().err
    more = [human, f"m={first}", f"other={second}", "--baseline", str(tmp_path / "good.json"), *flags]
    assert main(["compare", *more]) == 1
    assert "buckets common to m, other now and common to m before" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["compare", human, first, "--fail-if-worse"])
    assert "--fail-if-worse needs --baseline" in capsys.readouterr().err


@pytest.mark.more
def test_a_summary_in_markdown_has_before_and_after_and_the_reason(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    human, second = files(tmp_path, human=HUMAN, second=BAD)
    gate = ["--baseline", stored(tmp_path, "good"), "--markdown", *flags_of(OPTIONS)]
    assert main(["compare", human, f"m={second}", *gate, "--fail-if-worse"]) == 3
    out = capsys.readouterr().out
    _, table = out.split("**Since the earlier run**")
    assert "| model | score | before | now | difference | p | shows |" in table
    assert re.search(r"\| m \| by groups \| 0\.\d{4} \| 0\.\d{4} \|", table)
    assert "Exit status 3: m is worse than before." in table
    codes = re.findall(r"\\\[(\w+(?:\\_\w+)*)\\\]\n", out)
    assert len(codes) == len({*codes}) > 0 and "\n    ! " not in out  # each warning once
    assert main(["compare", human, f"m={second}", *gate]) == 0
    assert "Exit status" not in capsys.readouterr().out


_BASELINES: list[tuple[Any, str]] = [
    ({"mauve_debiased": float("nan")}, r"a score of m must be made of numbers in \[0, 1\], got nan"),
    ({"mauve_debiased": 1e308}, r"a score of m must be made of numbers in \[0, 1\], got 1e\+308"),
    ({"mauve_debiased": "0.9"}, r"numbers in \[0, 1\], got '0.9'"),
    ({"mauve_debiased": True}, r"numbers in \[0, 1\], got True"),
    ({"mauve_debiased": 0.0}, r"must be in its interval, got 0.0 in \[0."),
    ({"mauve_debiased_stderr": -1}, r"numbers in \[0, 1\], got -1"),
    ({"mauve_debiased_stderr": None}, "a score of m has no interval"),
    ({"mauve_debiased_ci": None}, "a score of m has no interval"),
    ({"mauve_debiased_ci": [0.1]}, "a score of m has no interval"),
    ({"mauve_debiased_ci": [float("-inf"), float("inf")]}, r"numbers in \[0, 1\], got -inf"),
    ({"signature": "seed:3"}, "cannot be compared with the earlier ones: .*seed 25 now and 3 before"),
    (
        {"mauve": 0.5},
        r"--baseline must be what .*/.*\(the earlier result of m: its mauve is not what its own counts give",
    ),
    ({"p_hist": None}, "--baseline must be what compare --json printed, got '/.*earlier result of m: p_hist must hold"),
    ({"auc": 1}, "its auc is not what its own counts give"),
    ({"signature": None}, "cannot be compared with the earlier ones"),
]


@pytest.mark.parametrize(("change", "message"), _BASELINES)
def test_a_baseline_that_cannot_be_compared_with_ends_before_the_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], change: Any, message: str
) -> None:
    human, first = files(tmp_path, human=HUMAN, first=GOOD)
    monkeypatch.setattr(command_of_compare, "show_result_of", lambda *_: pytest.fail("it was computed"))
    gate = ["--baseline", stored(tmp_path, "good", change), *flags_of(OPTIONS)]
    assert main(["compare", human, f"m={first}", *gate]) == 1
    out, err = capsys.readouterr()
    assert out == "" and re.search(message, err), err


def test_options_names_and_human_texts_are_compared_before_the_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    human, first, other = files(tmp_path, human=HUMAN, first=GOOD, other=HUMAN + 1)
    flags, before = flags_of(OPTIONS), stored(tmp_path, "good")
    monkeypatch.setattr(command_of_compare, "show_result_of", lambda *_: pytest.fail("it was computed"))
    for command, said in (
        ([human, f"n={first}", *flags], "no model is in both runs: n now, m before"),
        ([human, f"m={first}", *flags, "--confidence-level", "0.9"], "--confidence-level 0.9 now and 0.95 before"),
        ([human, f"m={first}", *flags_of(OPTIONS | {"num_buckets": 10})], "--num-buckets 10 now and 20 before"),
        ([human, f"m={first}", *flags, "--aligned"], "design aligned now and undeclared before"),
        ([other, f"m={first}", *flags], "the hash of the human texts is [0-9a-f]+ now and [0-9a-f]+ before"),
    ):
        assert main(["compare", *command, "--baseline", before]) == 1
        out, err = capsys.readouterr()
        assert out == "" and re.search(said, err), err


def test_the_change_is_that_of_two_independent_scores(tmp_path: Path) -> None:
    now, before = earlier("bad"), earlier("good")
    change = changes(now, read_scores(Path(stored(tmp_path, "good"))))["m"]
    a, b = now.models["m"], before.models["m"]
    assert None not in (a.mauve_debiased, b.mauve_debiased, a.mauve_debiased_stderr, b.mauve_debiased_stderr)
    difference = a.mauve_debiased - b.mauve_debiased  # type: ignore[operator]
    error = math.hypot(a.mauve_debiased_stderr, b.mauve_debiased_stderr)  # type: ignore[arg-type]
    assert change.is_worse and f"difference {difference:+.4f}" in change.sentence
    assert 2 * norm.sf(abs(difference) / error) < 1e-4  # far beyond any rounding of the level


def test_a_model_whose_pairs_with_human_texts_were_found_is_compared(tmp_path: Path) -> None:
    now = compare(p_features=HUMAN, models={"m": np.concatenate([HUMAN[:200] + 0.01, BAD[:200]])}, **OPTIONS)
    assert now.design == "found" and earlier("good").design == "undeclared"
    assert changes(now, read_scores(Path(stored(tmp_path, "good"))))["m"].is_worse


@pytest.mark.slow
def test_the_change_of_a_model_with_runs_is_that_of_its_means(tmp_path: Path) -> None:
    rng, path = np.random.default_rng(3), tmp_path / "before.json"

    def runs_at(*shifts: float) -> Comparison:
        models = {f"m (run {i})": rng.normal(shift, 1, size=(300, 6)) for i, shift in enumerate(shifts, 1)}
        return compare(p_features=HUMAN[:300], models=models, **OPTIONS)

    before = runs_at(0.28, 0.3, 0.32)
    path.write_text(json.dumps(before.to_dict()))
    (change,) = changes(now := runs_at(1.18, 1.2, 1.22), read_scores(path)).values()
    means = [np.mean([each.mauve_debiased for each in side.models.values()]) for side in (now, before)]
    assert change.is_worse and change.sentence.startswith(f"m: by groups {means[0]:.4f} now, {means[1]:.4f} before")
    # two runs that are far apart: their mean may be anything
    assert not changes(runs_at(0.3, 0.3, 1.2), read_scores(path))["m"].is_worse


@pytest.mark.parametrize("content", ["[]", "{}", '{"models": 3}', '{"models": {"m": 3}}'])
def test_files_without_scores_are_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "x.json").write_text(content)
    with pytest.raises(ValueError, match=r"x\.json must be what compare --json printed"):
        read_scores(tmp_path / "x.json")
    with pytest.raises(ValueError, match="no model is in both runs: m now, other before"):
        changes(earlier("good"), {"other": {}})


def sentences(count: int, seed: int) -> list[str]:
    """Texts of three sentences, whose words have an order."""
    rng = np.random.default_rng(seed)
    parts = (
        "the a every this".split(),
        "old small quiet bright new heavy".split(),
        "teacher river council engine farmer court".split(),
        "watched found praised repaired sold crossed".split(),
        "near behind before after".split(),
        "the a every this".split(),
        "harbour market bridge school window garden".split(),
    )
    return [
        " ".join(" ".join(rng.choice(words) for words in parts) + "." for _ in range(4)).capitalize()
        for _ in range(count)
    ]


def shuffled(text: str) -> str:
    words = text.split()
    return " ".join(np.random.default_rng(len(text)).permutation(words))


def looped(text: str) -> str:
    words = text.split()
    half = len(words) // 2
    return " ".join((words[:half] + words[half : half + 6] * half)[: len(words)])


@pytest.mark.slow
@pytest.mark.parametrize("wreck", [shuffled, looped])
def test_wrecked_texts_fail_every_gate(tmp_path: Path, capsys: pytest.CaptureFixture[str], wreck: Any) -> None:
    human, model = sentences(70, 0), sentences(70, 1)
    sets = {"human": human, "good": model, "wrecked": [wreck(text) for text in model]}
    paths = {name: write_jsonl(tmp_path / f"{name}.jsonl", texts) for name, texts in sets.items()}
    flags = ["--featurizer", "ngrams", "--num-runs", "2"]
    before = tmp_path / "before.json"
    assert main(["compare", paths["human"], f"m={paths['good']}", *flags, "--json"]) == 0
    before.write_text(capsys.readouterr().out)
    gate = ["--baseline", str(before), "--fail-if-worse"]
    for name, status in (("good", 0), ("wrecked", 3)):
        assert main(["score", paths["human"], paths[name], *flags, "--fail-under", "0.85"]) == status, name
        assert main(["compare", paths["human"], f"m={paths[name]}", *flags, *gate]) == status, name
    assert "failed: m is worse than before" in capsys.readouterr().err


@pytest.mark.more
def test_a_gate_fails_without_a_verdict(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    human, few, good = files(tmp_path, human=HUMAN, few=GOOD[:15], good=GOOD)
    flags = flags_of(OPTIONS | {"num_buckets": 4})
    assert main(["score", human, few, *flags, "--fail-under", "0"]) == 4
    assert "failed: NO VERDICT YET: a set has only 15 texts." in capsys.readouterr().err
    assert main(["score", human, few, *flags]) == 0
    capsys.readouterr()
    before_of = {}
    for name, file in (("few", few), ("good", good)):
        assert main(["compare", human, f"m={file}", "--json", *flags]) == 0
        before_of[name] = tmp_path / f"{name}.json"
        before_of[name].write_text(capsys.readouterr().out)
    for before, now, said in (
        ("good", few, "failed: m: NO VERDICT YET: a set has only 15 texts"),
        ("few", good, "earlier result of m: no"),
    ):
        gate = ["--baseline", str(before_of[before]), *flags]
        assert main(["compare", human, f"m={now}", *gate]) == 0
        assert main(["compare", human, f"m={now}", *gate, "--fail-if-worse"]) == 4
        assert said in capsys.readouterr().err


@pytest.mark.parametrize("reason", NO_VERDICT)
def test_every_reason_fails_every_gate(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, reason: str
) -> None:
    human, good = files(tmp_path, human=HUMAN[:60], good=GOOD[:60])
    flags, before, first = flags_of(FEW), stored(tmp_path, "few"), earlier("few")

    def doubted(result: MauveResult) -> MauveResult:
        return dataclasses.replace(result, verdict="no verdict", verdict_reason=reason)

    @functools.wraps(compute_mauve)
    def score(**given: Any) -> MauveResult:
        return doubted(first.models["m"])

    @functools.wraps(compare)
    def comparison(**given: Any) -> Comparison:
        return dataclasses.replace(first, models={name: doubted(one) for name, one in first.models.items()})

    monkeypatch.setattr("mauve_metric.scoring.compute.compute_mauve", score)
    monkeypatch.setattr("mauve_metric.scoring.compare.compare", comparison)
    assert main(["score", human, good, *flags, "--fail-under", "0"]) == 4
    out, err = capsys.readouterr()
    said = f"NO VERDICT YET: {SHELL.respell(NO_VERDICT[reason]).format(texts='60 texts')}"
    assert said in out and f"failed: {said}" in err
    assert main(["compare", human, f"m={good}", *flags, "--baseline", before, "--fail-if-worse"]) == 4
    out, err = capsys.readouterr()
    assert said in out and f"failed: m: {said}" in err


@pytest.mark.slow
def test_every_featurizer_is_in_the_gate(tmp_path: Path) -> None:
    human, model = sentences(120, 0), sentences(120, 1)
    wrecked = [shuffled(text) for text in model]
    several: dict[str, Any] = {"featurizers": {"lengths": lengths, "ngrams": "ngrams"}, "num_runs": 2}
    before, good, bad = (compare(human, {"m": texts}, **several) for texts in (model, model[::-1], wrecked))
    (tmp_path / "before.json").write_text(json.dumps(before.to_dict()))
    stored = read_scores(tmp_path / "before.json")
    assert not changes(good, stored)["m"].is_worse
    worse = changes(bad, stored)["m"]
    assert worse.is_worse and "lengths by groups" in worse.sentence and "ngrams by classifier" in worse.sentence
    alone = compare(human, {"m": model}, featurizers={"lengths": lengths}, num_runs=2)
    with pytest.raises(ValueError, match="featurizers one now and lengths, ngrams before"):
        changes(alone, stored)


def lengths(texts: list[str]) -> np.ndarray:
    return np.array([[len(text), text.count("a"), text.count("e"), text.count("t")] for text in texts], dtype=float)
