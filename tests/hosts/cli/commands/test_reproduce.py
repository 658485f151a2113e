"""A score again from its signature: the same options, and an exit status that says whether the score is the same."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from commands import direct, input_error
from samples import texts_of, write_jsonl

from mauve_metric import compute_mauve
from mauve_metric.hosts.cli.main import main

OPTIONS: dict[str, Any] = {
    **{"num_buckets": 7, "seed": 3, "num_runs": 2, "mauve_scaling_factor": 4.5},
    **{"knn": False, "row_order": "pq"},
}
FLAGS = "--num-buckets 7 --seed 3 --num-runs 2 --mauve-scaling-factor 4.5 --knn false --row-order pq".split()


_SCORED: dict[str, Any] = {}


def scored(files: tuple[str, str]) -> dict[str, Any]:
    """The score of the two files, which hold the same numbers in every test."""
    if not _SCORED:
        _SCORED.update(direct(files, **OPTIONS).to_dict())
    return dict(_SCORED)


def test_the_options_are_those_of_the_signature(files: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    signature = direct(files, **OPTIONS).signature
    assert main(["score", *files, *FLAGS, "--signature"]) == 0
    printed = capsys.readouterr().out
    assert printed.splitlines()[-1] == f"signature: {signature}"
    assert main(["reproduce", printed, *files]) == 0  # all of it
    capsys.readouterr()
    assert main(["reproduce", f"signature: {signature}", *files, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["differences"] == {} and found["result"] == json.loads(json.dumps(direct(files, **OPTIONS).to_dict()))


def test_what_differs_is_named(files: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = scored(files)
    stored = tmp_path / "score.json"

    def again(human: str, model: str) -> tuple[int, list[str]]:
        stored.write_text(json.dumps(before))
        status = main(["reproduce", str(stored), human, model])
        return status, [line.split()[0] for line in capsys.readouterr().out.splitlines()[3:]]

    assert again(*files) == (0, [])
    stored = tmp_path / "score.JSON"
    assert again(*files) == (0, [])
    before["signature"] = before["signature"].replace("|mauve_metric:", "|mauve_metric:before-")
    assert again(*files) == (0, ["mauve_metric"])
    status, names = again(*files[::-1])
    assert status == 3 and {"p_digest", "q_digest", "mauve_metric"} <= {*names}
    before["mauve"] += 0.01
    assert again(*files) == (3, ["mauve_metric", "mauve"])


@pytest.mark.parametrize(("text", "content"), [("a:b", ""), ("score.json", "[]"), ("score.json", '{"signature": 3}')])
def test_no_signature(
    text: str, content: str, files: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "score.json").write_text(content)
    assert "SIGNATURE must be" in input_error(
        ["reproduce", text.replace("score", str(tmp_path / "score")), *files], capsys
    )


_CHANGES: dict[str, Any] = {
    "mauve": [1, None, "0.99", float("nan"), True, 1e308, 10**400, [0.5]],
    "mauve_debiased": [0.5, None],
    "mauve_debiased_ci": [[0.1, 0.2], None, [0.1]],
    "auc": [1, 0.9999, None],
    "p_hist": [[1.0, 0, 0, 0, 0, 0, 0], [], None],
    "divergence_curve": [[[0.0, 1.0]]],
    "warnings": [[], None],
    "design": ["prompts"],
    "n_p": [3, "60"],
    "learned_p_counts": [[1]],
}


@pytest.mark.more
@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in _CHANGES.items() for value in values])
def test_any_changed_entry_is_named(
    name: str, value: object, files: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = scored(files)
    assert before[name] != value
    stored = tmp_path / "score.json"
    stored.write_text(json.dumps(before | {name: value}))
    assert main(["reproduce", str(stored), *files, "--json"]) == 3
    named = json.loads(capsys.readouterr().out)["differences"]
    assert {entry.partition("[")[0] for entry in named} == {name}


def test_a_removed_score_and_an_unknown_one_are_named(
    files: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before, stored = scored(files), tmp_path / "score.json"
    gone = ("auc", "mauve_classifier", "mauve_debiased_ci")
    short = {name: value for name, value in before.items() if name not in gone} | {"luck": 1.0}

    def named(values: dict[str, Any], status: int) -> dict[str, list[str]]:
        stored.write_text(json.dumps(values))
        assert main(["reproduce", str(stored), *files, "--json"]) == status
        differences: dict[str, list[str]] = json.loads(capsys.readouterr().out)["differences"]
        return differences

    found = named(short, 3)
    assert {name: pair[0] for name, pair in found.items()} == {**dict.fromkeys(gone, "missing"), "luck": "1"}
    assert found["luck"][1] == "missing"
    older = {**short, "signature": short["signature"].replace("|mauve_metric:", "|mauve_metric:before-")}
    del older["luck"]
    assert {*named(older, 0)} == {*gone, "mauve_metric"}  # a version that had fewer scores


def test_names_of_the_result_and_facts_of_its_file_do_not_differ(
    files: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stored = tmp_path / "score.json"
    named = direct(files, **OPTIONS, reference_name="release 1.2").to_dict()
    stored.write_text(json.dumps({**named, "_timestamp": "of `evaluate.save`"}))
    assert main(["reproduce", str(stored), *files]) == 0 and "Nothing differs" in capsys.readouterr().out


def test_featurizers_with_names_of_their_own_are_reproduced(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sides = [write_jsonl(tmp_path / f"{name}.jsonl", texts_of(40, seed=seed)) for name, seed in (("p", 0), ("q", 1))]
    featurizers = {"style": "ngrams", "topics": "use"}
    result = compute_mauve(p_text=sides[0], q_text=sides[1], featurizers=featurizers, num_runs=1, cache=False)
    (tmp_path / "score.json").write_text(json.dumps(result.to_dict()))
    assert main(["reproduce", str(tmp_path / "score.json"), *sides, "--no-cache"]) == 0, capsys.readouterr()
    capsys.readouterr()
    assert main(["reproduce", result.signature, *sides, "--no-cache", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["result"]["closeness"] == result.closeness


def test_a_comparison_is_no_score(files: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stored = tmp_path / "compare.json"
    stored.write_text(json.dumps({"models": {}, "signature": scored(files)["signature"]}))
    assert "a comparison of models" in input_error(["reproduce", str(stored), *files], capsys)


def test_the_last_digits_may_differ(files: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def moved(value: Any, by: float) -> Any:
        if isinstance(value, float):
            return value * (1 + by) + 1e-12
        if isinstance(value, dict):
            return {name: moved(item, by) for name, item in value.items()}
        return [moved(item, by) for item in value] if isinstance(value, list) else value

    for by, status in ((1e-9, 0), (1e-5, 3)):
        (tmp_path / "score.json").write_text(json.dumps(moved(scored(files), by)))
        assert main(["reproduce", str(tmp_path / "score.json"), *files]) == status
        assert ("Nothing differs" in capsys.readouterr().out) == (status == 0)


@pytest.mark.more
def test_several_featurizers_are_reproduced(tiny_gpt2: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sides = [write_jsonl(tmp_path / f"{name}.jsonl", texts_of(40, seed=seed)) for name, seed in (("p", 0), ("q", 1))]

    flags = ["--featurizer", "ngrams", "--featurizer", tiny_gpt2, "--num-buckets", "4", "--json", "-q", "--no-cache"]
    assert main(["score", *sides, *flags]) == 0
    stored = tmp_path / "score.json"
    content = json.loads(capsys.readouterr().out)
    stored.write_text(json.dumps(content))
    assert main(["reproduce", str(stored), *sides, "-q", "--no-cache"]) == 0
    content["by_featurizer"][tiny_gpt2]["auc"] = 7
    stored.write_text(json.dumps(content))
    capsys.readouterr()
    assert main(["reproduce", str(stored), *sides, "-q", "--no-cache"]) == 3
    assert f"{tiny_gpt2}.auc" in capsys.readouterr().out
