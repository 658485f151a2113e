"""Models named by their files, and the order of the files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from samples import texts_of, write_jsonl

from mauve_metric.hosts.cli import inputs_and_outputs
from mauve_metric.hosts.cli.inputs_and_outputs import model_names, names_of_models
from mauve_metric.hosts.cli.main import main


def test_names_are_unique() -> None:
    assert model_names(["a/b.jsonl", "c/b.txt", "d.npy"]) == ["a/b", "c/b", "d"]
    assert model_names(["a/b.jsonl", "a/b.txt", "a/b.jsonl"]) == ["b", "b-2", "b-3"]
    assert model_names(["texts/", "-", "./x.y.jsonl"]) == ["texts", "stdin", "x.y"]
    assert names_of_models(["old=a/b.jsonl", "a/b.jsonl", "c/d.txt", "new=e/d.txt"]) == ["old", "b", "d", "new"]


@pytest.mark.parametrize("command", ["score", "compare"])
def test_swapped_files_are_told_of(command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("human", "human-other", "gpt2"):
        write_jsonl(tmp_path / f"{name}.jsonl", texts_of(20, seed=len(name)))

    def told(*names: str) -> bool:
        files = [str(tmp_path / f"{name}.jsonl") for name in names]
        assert main([command, *files, "--featurizer", "ngrams", "--num-buckets", "4"]) == 0
        return "the human file comes first" in capsys.readouterr().err

    assert told("gpt2", "human") and not told("human", "gpt2") and not told("human", "human-other")


@pytest.mark.parametrize(
    ("command", "option"),
    [
        (command, option)
        for command in ("score", "compare", "explain", "robustness")
        for option in (["--text-field", "body"], ["--encoding", "cp1252"], ["--no-header"])
    ],
)
def test_how_texts_are_read_is_refused_beside_features_alone(
    command: str, option: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [tmp_path / f"{side}.npy" for side in ("human", "model")]
    for number, file in enumerate(files):
        np.save(file, np.random.default_rng(number).normal(size=(30, 4)))
    assert main([command, *map(str, files), *option]) == 1
    assert f"{option[0].replace('no-', '')} says how texts are read, got features in" in capsys.readouterr().err


@pytest.mark.parametrize("lead", ["! ", "DIFFERENT from human text. But ", "NO VERDICT YET: ", "NO RANKING: on m: "])
def test_advice_on_a_first_screen_names_flags_and_rows_keep_their_names(lead: str) -> None:
    screen = f"{lead}add strip='prompts'.\n  strip='prompts'  0.5"
    assert inputs_and_outputs._with_flags(screen) == f"{lead}add --strip prompts.\n  strip='prompts'  0.5"
