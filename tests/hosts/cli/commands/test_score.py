"""`score -o DIR`: many files on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from samples import ngrams, texts_of, write_jsonl

from mauve_metric import compute_mauve
from mauve_metric.hosts.cli.main import main, parse

HUMAN, MODEL = texts_of(20, seed=0), texts_of(24, seed=1)


@pytest.mark.more
def test_score_of_folders_prints_what_the_texts_give(
    tiny_gpt2: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, texts in (("human", HUMAN), ("model", MODEL)):
        (tmp_path / name).mkdir()
        write_jsonl(tmp_path / name / "a.jsonl", texts[:10])
        write_jsonl(tmp_path / name / "b.jsonl", texts[10:])
    flags = ["--featurize-model-name", tiny_gpt2, "--num-buckets", "4", "--seed", "2", "--device", "cpu"]
    command = ["score", str(tmp_path / "human"), str(tmp_path / "model"), "-o", str(tmp_path / "out"), *flags]
    assert main([*command, "--json"]) == 0
    shown = capsys.readouterr()
    expected = compute_mauve(
        p_text=HUMAN, q_text=MODEL, featurize_model_name=tiny_gpt2, num_buckets=4, seed=2, device="cpu", cache=False
    )
    found = json.loads(shown.out)
    # a text's neighbours in its batch move the last bits of its feature
    assert found["p_hist"] == expected.p_hist.tolist() and found["signature"] == expected.signature
    assert "featurize: 100 %, 4 of 4 shards, 44 texts" in shown.err
    assert main([*command, "--quiet", "--signature", "--all"]) == 0
    again = capsys.readouterr()
    assert expected.signature.split("|")[0] in again.out and again.err == ""
    (tmp_path / "model" / "b.jsonl").write_text("{")
    assert main(command) == 1
    assert "model/b.jsonl, line 1: not JSON" in capsys.readouterr().err


def test_output_of_other_libraries_is_not_in_the_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    result = compute_mauve(p_text=HUMAN, q_text=MODEL, featurize_model_name=ngrams, num_buckets=4)

    def talking(*_: object, **__: object) -> object:
        print("(raylet) A worker died")
        return result

    monkeypatch.setattr("mauve_metric.apps.sharding.score_sharded.score_sharded", talking)
    assert main(["score", "a.jsonl", "b.jsonl", "-o", str(tmp_path), "--ray", "--json"]) == 0
    shown = capsys.readouterr()
    assert json.loads(shown.out) == json.loads(json.dumps(result.to_dict())) and "raylet" not in shown.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["a.jsonl", "b.jsonl", "--ray"], "--ray needs -o DIR"),
        (["a.jsonl", "b.jsonl", "--fail-under", "nan"], "--fail-under must be a number in [0, 1], got nan"),
        (["a.jsonl", "b.jsonl", "--workers", "2"], "--workers needs -o DIR"),
        (["--ray", "a.jsonl", "b.jsonl", "-o", "out"], "expected local, auto or HOST:PORT, got 'a.jsonl'"),
        (["a.jsonl", "-o", "out"], "-o needs HUMAN and MODEL"),
        (["a.jsonl", "b.jsonl", "-o", "out", "--independent"], "--independent is not for shards (-o): leave it out"),
        (["a.jsonl", "b.jsonl", "-o", "out", "--no-cache"], "--no-cache is not for shards (-o): leave it out"),
        (["a.jsonl", "b.jsonl", "-o", "out", "--header"], "--header is not for shards (-o): leave it out"),
    ],
)
def test_wrong_usage_is_refused(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        parse(["score", *arguments])
    assert ended.value.code == 2 and message in capsys.readouterr().err


@pytest.mark.parametrize("before", [["--ray=local"], ["--ray", "10.0.0.1:6379"], ["--ray", "auto"]])
def test_an_address_precedes_the_files_or_ray_follows_them(before: list[str]) -> None:
    options = parse(["score", *before, "a.jsonl", "b.jsonl", "-o", "out"])
    assert (options.ray, options.human) == (before[-1].rpartition("=")[2], "a.jsonl")
    assert parse(["score", "a.jsonl", "b.jsonl", "-o", "out", "--ray"]).ray == "local"
