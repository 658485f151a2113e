"""Featurizers that are functions: a packaged name is used, stored and signed like a model, without loading one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from samples import ngrams

from mauve_metric import FeatureSet, compute_mauve, featurize
from mauve_metric.features.packaged import PACKAGED
from mauve_metric.features.pretrained import MODEL_FOLDERS
from mauve_metric.features.text_functions import (
    REVISION,
    TEXT_FUNCTIONS,
    named_featurizers,
    ngram_features,
    text_function,
)

HUMAN = [f"The {n} ships of the king sailed to an island in the north." for n in range(60)]
MODEL = [f"{n} ships king island North sailed the of the to an in the." for n in range(60)]


def test_errors_know_every_packaged_featurizer() -> None:
    assert {*PACKAGED} == {*MODEL_FOLDERS, *TEXT_FUNCTIONS}


@pytest.mark.more
def test_a_packaged_function_is_signed_by_name_and_revision() -> None:
    result = compute_mauve(p_text=HUMAN, q_text=MODEL, featurize_model_name="ngrams", cache=False)
    assert f"featurize_model_name:ngrams|revision:{REVISION}|" in result.signature
    assert result.mauve < 0.5
    own = compute_mauve(p_text=HUMAN, q_text=MODEL, featurize_model_name=ngram_features, cache=False)
    assert own.mauve == result.mauve and "revision:unknown" in own.signature


@pytest.mark.more
def test_stored_features_are_followed_without_asking(tmp_path: Path) -> None:
    path = FeatureSet.from_texts(HUMAN, featurize_model_name="ngrams", cache=False).save(tmp_path / "human.npz")
    result = compute_mauve(p=FeatureSet.load(path), q_text=MODEL, cache=False)
    direct = compute_mauve(p_text=HUMAN, q_text=MODEL, featurize_model_name="ngrams", cache=False)
    assert result.mauve == direct.mauve and result.signature == direct.signature


def test_what_needs_tokens_is_refused_with_its_name() -> None:
    with pytest.raises(ValueError, match="q_tokens cannot be given with the featurizer"):
        compute_mauve(p_text=HUMAN, q_tokens=[[1, 2]] * 60, featurize_model_name="ngrams", cache=False)
    with pytest.raises(ValueError, match="match_lengths='truncate' needs a featurizer with tokens"):
        compute_mauve(p_text=HUMAN, q_text=MODEL, featurize_model_name="ngrams", match_lengths="truncate", cache=False)


def test_only_functions_and_their_names_are_functions() -> None:
    assert text_function("minilm") is None and text_function(("model", "tokenizer")) is None
    own = text_function(np.asarray)
    assert own is not None and own.function is np.asarray and own.identity == {"model": "numpy.asarray"}


def test_the_command_line_takes_the_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from mauve_metric.hosts.cli.main import main

    for name, texts in {"human.txt": HUMAN, "model.txt": MODEL}.items():
        (tmp_path / name).write_text("\n".join(texts), encoding="utf-8")
    files = [str(tmp_path / "human.txt"), str(tmp_path / "model.txt")]
    main(["score", *files, "--featurize-model-name", "ngrams", "--no-cache", "--json"])
    assert "featurize_model_name:ngrams|" in json.loads(capsys.readouterr().out)["signature"]


def test_options_that_a_function_does_not_read_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    from mauve_metric.hosts.cli.main import main

    for name, texts in {"human.txt": HUMAN, "model.txt": MODEL}.items():
        (tmp_path / name).write_text("\n".join(texts), encoding="utf-8")
    files = [str(tmp_path / "human.txt"), str(tmp_path / "model.txt")]
    command = ["score", *files, "--featurizer", "ngrams", "--no-cache"]
    main(command)
    assert "no effect" not in capsys.readouterr().err
    main([*command, "--max-text-length", "20", "--pooling", "mean", "--text-prefix", "a: "])
    assert "no effect with the featurizer ngrams: --max-text-length 20, --pooling mean\n" in capsys.readouterr().err
    compute_mauve(p_text=HUMAN, q_text=MODEL, featurize_model_name=ngrams, dtype="bfloat16", verbose=False)
    assert "no effect with the featurizer samples.ngrams: dtype='bfloat16'" in caplog.text
    featurize(HUMAN, "ngrams", max_text_length=7)
    assert "no effect with the featurizer ngrams: max_text_length=7" in caplog.text
    caplog.clear()
    featurize(HUMAN, "ngrams", max_text_length=None, pooling="auto")  # the defaults, which `robustness` passes
    assert "no effect" not in caplog.text


@pytest.mark.parametrize(
    ("given", "names"),
    [
        ("minilm", ["minilm"]),
        (["minilm", "ngrams"], ["minilm", "ngrams"]),
        (("minilm", "ngrams"), ["minilm", "ngrams"]),
        ((ngrams, "minilm"), ["samples.ngrams", "minilm"]),
        ({"a": ngrams}, ["a"]),
        ((torch.nn.Linear(1, 1), len), ["torch.nn.modules.linear.Linear"]),
    ],
)
def test_forms(given: Any, names: list[str]) -> None:
    assert list(named_featurizers(given)) == names


@pytest.mark.parametrize(
    "given",
    [
        np.array([1, 2]),
        np.array(["minilm"]),
        pd.Series(["minilm"]),
        3,
        iter(["minilm"]),
        [None],
        ["minilm", ["ngrams"]],
    ],
    ids=lambda item: type(item).__name__,
)
def test_other_values_are_refused(given: Any) -> None:
    with pytest.raises(TypeError, match=r"^featurizers"):
        named_featurizers(given, first="gpt2")
