"""Objects with a method `encode`, taken as they are: their rows, their name and revision in the signature."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from samples import HUMAN, MODEL, ngrams, write_jsonl

from mauve_metric import FeatureSet, compute_mauve, score_sharded
from mauve_metric.features.encode_objects import encode_identity
from mauve_metric.features.pretrained import minilm_folder
from mauve_metric.features.text_functions import featurizer_name


class Static:
    """What a StaticModel of model2vec has; not callable."""

    def __init__(self, embedding: Any = None, name: str | None = "owner/potion") -> None:
        self.embedding = np.eye(4, dtype=np.float32) if embedding is None else embedding
        self.base_model_name, self.config = name, {"normalize": True}

    def encode(self, sentences: list[str], **_: object) -> Any:
        assert isinstance(sentences, list)
        return ngrams(sentences)


class Named:
    revision = "v7"

    def encode(self, texts: list[str]) -> Any:
        return ngrams(texts)


@pytest.mark.more
def test_any_object_with_encode_is_a_featurizer(tmp_path: Path) -> None:
    options: dict[str, Any] = {"p_text": HUMAN, "q_text": MODEL, "num_buckets": 3, "cache": False}
    expected = compute_mauve(**options, featurize_model_name=ngrams)
    own = compute_mauve(**options, featurize_model_name=Named())
    assert own.mauve == expected.mauve and "Named|revision:v7|" in own.signature
    both = compute_mauve(**options, featurizers=[Static(), ngrams])
    assert list(both.by_featurizer) == ["owner/potion", "samples.ngrams"]
    assert both.mauve == expected.mauve and "featurize_model_name:owner/potion|revision:" in both.signature
    paths = [write_jsonl(tmp_path / f"{side}.jsonl", texts) for side, texts in (("p", HUMAN), ("q", MODEL))]
    sharded = score_sharded(*paths, tmp_path / "out", featurize_model_name=Static(), num_buckets=3)
    assert sharded.mauve == expected.mauve


def test_the_revision_follows_from_weights_and_settings() -> None:
    first = encode_identity(Static())
    assert first == encode_identity(Static()) and first["model"] == "owner/potion"
    other, unset = Static(np.eye(4, dtype=np.float32) * 2), Static()
    unset.config = {"normalize": False}
    revisions = {first["revision"], *(encode_identity(it)["revision"] for it in (other, unset))}
    assert len(revisions) == 3
    assert encode_identity(Named())["model"].endswith("test_encode_objects.Named")


@pytest.mark.slow
def test_a_sentence_transformer_is_taken_as_it_is() -> None:
    """Its rows are those of minilm, which is the same model with the same pooling, at length 1."""
    import torch
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(minilm_folder()), device="cpu")
    made = FeatureSet.from_texts(HUMAN, featurize_model_name=model, cache=False)
    rows = np.asarray(FeatureSet.from_texts(HUMAN, featurize_model_name="minilm", cache=False).features)
    np.testing.assert_allclose(made.features, rows / np.linalg.norm(rows, axis=1, keepdims=True), atol=1e-5)
    before = encode_identity(model)
    assert made.identity == before and featurizer_name(model) == before["model"] == minilm_folder().name
    model.max_seq_length = 16
    shorter = encode_identity(model)["revision"]
    with torch.no_grad():
        next(model.parameters())[0, 0] += 1
    assert len({before["revision"], shorter, encode_identity(model)["revision"]}) == 3
