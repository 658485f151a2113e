"""Pickled objects, which run code when they are read, under every name that a command opens: none is."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from commands import input_error
from samples import HUMAN

from mauve_metric.hosts.cli.main import main


class Hostile:
    def __reduce__(self) -> tuple[Callable[[str], None], tuple[str]]:
        return os.mkdir, ("it-was-run",)


OBJECTS = np.array([Hostile()] * 20, dtype=object)
NAMES = ("plain.npy", "array.npy", "array.npz", "a.txt", "a.jsonl", "a.json", "a.csv", "a.parquet", "a.xlsx", "a.gz")


@pytest.mark.parametrize("name", NAMES)
def test_no_pickled_object_is_made(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(name).write_bytes(pickle.dumps([Hostile()] * 20))
    if name.startswith("array"):
        np.save(name, OBJECTS) if name.endswith(".npy") else np.savez(name, features=OBJECTS, meta=OBJECTS)
    Path("human.txt").write_text("\n".join(HUMAN), encoding="utf-8")
    ngrams = ["score", "human.txt", "human.txt", "--featurizer", "ngrams"]
    for command in (
        ["score", name, name],
        ["compare", name, name, name],
        ["describe", "human.txt", "human.txt", "--training", name],
        ["baseline", name],
        ["deduplicate", name],
        ["preferences", name],
        ["boundaries", name],
        [*ngrams, "--prompts", name],
        ["compare", *ngrams[1:], "--baseline", name],
    ):
        input_error([*command, "-q"], capsys)
    assert not Path("it-was-run").exists()


def test_neither_a_checkpoint_nor_a_model_is_unpickled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from mauve_metric.clustering.checkpoint import CHECKPOINT_FILE

    monkeypatch.chdir(tmp_path)
    Path("human.txt").write_text("\n".join(HUMAN), encoding="utf-8")
    Path("model").mkdir()
    np.savez(CHECKPOINT_FILE, key=OBJECTS, mean=OBJECTS, directions=OBJECTS)
    Path("model/pytorch_model.bin").write_bytes(pickle.dumps(Hostile()))
    Path("model/config.json").write_text('{"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"]}')
    scored = ["score", "human.txt", "human.txt", "--featurizer"]
    main([*scored, "ngrams", "--checkpoint", ".", "-q"])
    capsys.readouterr()
    input_error([*scored, "model", "-q"], capsys)
    assert not Path("it-was-run").exists()
