"""The learned score of texts without what their format differs in."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import transformers
from tokenizers import Regex, normalizers

from mauve_metric import compute_mauve, explain
from mauve_metric.api import compute
from mauve_metric.api.score import NOT_READ_AGAIN
from mauve_metric.results.wording.verdict import learned_sentence

WORDS = ["the", "old", "barn", "river", "cold", "and", "so", "left"]
RUN: dict[str, Any] = {"num_runs": 1, "aligned": True}


def _sets() -> tuple[list[str], list[str], list[str]]:
    """Human texts, a model's, and the same with line breaks and capitals of their own."""
    rng = np.random.default_rng(2)
    human, model = ([" ".join(rng.choice(WORDS, size=25)) for _ in range(60)] for _ in range(2))
    return human, model, [text.replace(" and", "\n\nAnd") for text in model]


def test_the_score_without_format_is_that_of_texts_without_it() -> None:
    human, model, broken = _sets()
    found = compute_mauve(p_text=human, q_text=broken, featurize_model_name="ngrams", **RUN)
    plain = compute_mauve(p_text=human, q_text=model, featurize_model_name="ngrams", **RUN)
    assert found.normalised is not None and found.auc is not None and found.auc > 0.9
    assert found.normalised.mauve_classifier == pytest.approx(plain.mauve_classifier, abs=1e-12)
    assert found.normalised.auc == pytest.approx(plain.auc, abs=1e-12)
    report = " ".join(found.document().terminal().split())
    assert f"in lower case, that score is {plain.mauve_classifier:.3f}" in report
    assert json.loads(json.dumps(found.to_dict()))["normalised"]["auc"] == found.normalised.auc
    assert plain.normalised is None is plain.normalised_missing is found.normalised_missing
    explained = explain(p_text=human, q_text=broken, featurize_model_name="ngrams", **RUN)
    assert explained.result.normalised == found.normalised
    assert f"AUC {plain.auc:.3f}" in " ".join(str(explained).split())


def test_a_function_of_the_users_reads_few_texts_again_and_many_once(monkeypatch: pytest.MonkeyPatch) -> None:
    human, _, broken = _sets()
    calls: list[list[str]] = []

    def featurizer(texts: list[str]) -> np.ndarray:
        calls.append(texts)
        return np.array([[text.count(mark) for mark in "adehinortv\n"] for text in texts], dtype=float)

    found = compute_mauve(p_text=human, q_text=broken, featurize_model_name=featurizer, **RUN)
    assert found.normalised is not None and len(calls) == 4
    assert calls[3] == [" ".join(text.split()).lower() for text in broken]
    monkeypatch.setattr(compute, "MOST_TEXTS", 119)
    found = compute_mauve(p_text=human, q_text=broken, featurize_model_name=featurizer, **RUN)
    assert found.normalised is None and len(calls) == 6
    assert "not known: the featurizer would have to read all texts a second time" in learned_sentence(found)
    assert found.format_auc is not None and found.format_auc > 0.6


def test_streams_are_not_read_again() -> None:
    human, _, broken = _sets()
    found = compute_mauve(p_text=human, q_text=iter(broken), featurize_model_name="ngrams", num_runs=1)
    assert found.normalised_missing == NOT_READ_AGAIN and "not known: it needs the texts again" in learned_sentence(
        found
    )
    assert found.normalised is None and "format_differs" in [warning.code for warning in found.warnings]


def test_a_tokenizer_that_sees_no_format_reads_nothing_again(
    tiny_gpt2: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    human, _, broken = _sets()
    tokenizer = transformers.AutoTokenizer.from_pretrained(tiny_gpt2)
    steps = [normalizers.Replace(Regex(r"\s+"), " "), normalizers.Strip(), normalizers.Lowercase()]
    tokenizer.backend_tokenizer.normalizer = normalizers.Sequence(steps)
    pair = transformers.AutoModel.from_pretrained(tiny_gpt2).eval(), tokenizer
    read: list[int] = []
    forward = pair[0].forward
    monkeypatch.setattr(pair[0], "forward", lambda *args, **given: read.append(1) or forward(*args, **given))
    compute_mauve(p_text=human, q_text=human[::-1], featurize_model_name=pair, cache=tmp_path, **RUN)
    once = len(read)
    found = compute_mauve(p_text=human, q_text=broken, featurize_model_name=pair, cache=tmp_path, **RUN)
    assert found.normalised is not None and found.normalised_missing is None
    assert len(read) < 2.5 * once
    again = [[compute.normalised_text(text) for text in side] for side in (human, broken)]
    plain = compute_mauve(p_text=again[0], q_text=again[1], featurize_model_name=pair, cache=False, **RUN)
    assert found.normalised == (plain.mauve_classifier, plain.mauve_classifier_ci, plain.auc, plain.auc_ci)
