"""A text's feature depends on the text and the encoder, and on nothing else; batches keep to their limits."""

from __future__ import annotations

import itertools
import logging
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from encoders import FLOAT32, WORDS, counting, mixed_texts, one_at_a_time, relative_difference
from numpy.typing import NDArray
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import WhitespaceSplit
from transformers import PreTrainedTokenizerFast

from mauve_metric.features import featurize
from mauve_metric.features.batches import plan_batches
from mauve_metric.features.encoder import Encoder, load_encoder
from mauve_metric.features.featurize import FeaturizeStats, featurize_texts, tokenize
from mauve_metric.options import RunOptions

# --- independence of the batch ------------------------------------------------------------------------------------


@pytest.mark.more
def test_feature_does_not_depend_on_the_batch(encoder: Encoder) -> None:
    texts = mixed_texts(20, 15)
    assert len({len(row) for row in tokenize(encoder, texts)[0]}) > 5
    expected = np.stack([states[-1 if encoder.pooling == "last" else slice(None)].numpy().reshape(-1, states.shape[1])
                         .mean(axis=0) for states, _ in one_at_a_time(encoder, texts)])  # fmt: skip
    for batch_size in (1, 3, 16):
        found, stats = featurize_texts(encoder, texts, RunOptions(batch_size=batch_size))
        assert found.dtype == np.float32 and found.shape == expected.shape
        assert relative_difference(found, expected) <= FLOAT32
        assert stats.texts == 20
    # the texts differ by far more than that
    assert np.linalg.norm(found[0] - found[1]) / np.linalg.norm(found[0]) > 100 * FLOAT32


def test_feature_does_not_depend_on_neighbours_or_order(encoder: Encoder) -> None:
    texts = mixed_texts(12, 15)
    found = featurize_texts(encoder, texts)[0]
    order = np.random.default_rng(1).permutation(12)
    shuffled = featurize_texts(encoder, [texts[index] for index in order], RunOptions(batch_size=5))[0]
    assert relative_difference(shuffled, found[order]) <= FLOAT32
    assert relative_difference(featurize_texts(encoder, texts[3:4])[0], found[3:4]) <= FLOAT32
    with_long = featurize_texts(encoder, [*texts[:2], " ".join(WORDS * 2)], RunOptions(batch_size=3))[0]
    assert relative_difference(with_long[:2], found[:2]) <= FLOAT32


@pytest.mark.parametrize("side", ["left", "right"])
def test_padding_side_of_the_tokenizer_does_not_matter(tiny_gpt2: str, side: str) -> None:
    encoder = load_encoder(tiny_gpt2)
    expected = featurize_texts(encoder, mixed_texts(6, 10), RunOptions(batch_size=1))[0]
    encoder.tokenizer.padding_side = side
    assert (
        relative_difference(featurize_texts(encoder, mixed_texts(6, 10), RunOptions(batch_size=6))[0], expected)
        <= FLOAT32
    )


# --- pooling ------------------------------------------------------------------------------------------------------


def test_pooling_equals_one_text_at_a_time(encoder: Encoder) -> None:
    texts = mixed_texts(8, 15, seed=2)
    states = [states for states, _ in one_at_a_time(encoder, texts)]
    expected = {
        "last": [state[-1] for state in states],
        "mean": [state.mean(dim=0) for state in states],
        "cls": [state[0] for state in states],
    }
    for pooling, wanted in expected.items():
        pooled = load_encoder(encoder.name, pooling=pooling)
        assert pooled.pooling == pooling
        found = featurize_texts(pooled, texts)[0]
        assert relative_difference(found, torch.stack(wanted).numpy()) <= FLOAT32


# --- lengths ------------------------------------------------------------------------------------------------------


def test_truncation_keeps_the_first_tokens_and_is_counted(tiny_gpt2: str) -> None:
    texts = ["ships " * 30, "ships ships", "quick"]
    encoder = load_encoder(tiny_gpt2, max_text_length=5)
    found, stats = featurize_texts(encoder, texts)
    ids, cut = tokenize(encoder, texts)
    assert cut == [len(row) > 5 for row in encoder.tokenizer(texts)["input_ids"]] and stats.truncated == sum(cut) > 0
    assert max(map(len, ids)) == 5
    expected = torch.stack([states[-1] for states, _ in one_at_a_time(encoder, texts)]).numpy()
    assert relative_difference(found, expected) <= FLOAT32


def test_a_text_of_exactly_the_length_is_not_truncated(tiny_gpt2: str) -> None:
    length = len(load_encoder(tiny_gpt2).tokenizer("ships and rain")["input_ids"])
    assert tokenize(load_encoder(tiny_gpt2, max_text_length=length), ["ships and rain"])[1] == [False]
    assert tokenize(load_encoder(tiny_gpt2, max_text_length=length - 1), ["ships and rain"])[1] == [True]


# --- what is computed, and how often ------------------------------------------------------------------------------


def test_identical_texts_are_computed_once(tiny_gpt2: str) -> None:
    encoder, model = counting(tiny_gpt2)
    texts = ["ships and rain", "quick", "ships and rain", "lazy numbers", "quick", "quick"]
    found, stats = featurize_texts(encoder, texts)
    assert sum(rows for rows, _ in model.shapes) == stats.distinct == 3 and stats.texts == 6
    np.testing.assert_array_equal(found[[0, 1, 1]], found[[2, 4, 5]])
    assert not np.array_equal(found[0], found[1])


def test_progress_counts_every_text(tiny_gpt2: str) -> None:
    calls: list[tuple[int, int | None]] = []
    texts = [*mixed_texts(9, 8), "ships", "ships"]
    featurize_texts(load_encoder(tiny_gpt2), texts, RunOptions(batch_size=2), progress=lambda *call: calls.append(call))
    done = [count for count, _ in calls]
    assert done == sorted(done) and done[-1] == 11 and {total for _, total in calls} == {11}


def test_streams_are_worked_through_in_windows(tiny_gpt2: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(featurize, "WINDOW_TEXTS", 4)
    encoder, model = counting(tiny_gpt2)
    texts = mixed_texts(10, 8)
    drawn: list[int] = []
    calls: list[tuple[int, int | None]] = []

    def stream() -> Iterator[str]:
        for index, text in enumerate(texts):
            # at most one window ahead of what the model has seen
            assert index - sum(rows for rows, _ in model.shapes) < 4
            drawn.append(index)
            yield text

    found, stats = featurize_texts(encoder, stream(), progress=lambda *call: calls.append(call))
    assert drawn == list(range(10)) and stats.texts == 10
    assert [len(part) for part in stats.lengths] == [4, 4, 2]
    assert calls[-1] == (10, None)
    expected = torch.stack([states[-1] for states, _ in one_at_a_time(load_encoder(tiny_gpt2), texts)]).numpy()
    assert relative_difference(found, expected) <= FLOAT32


def test_no_texts_is_an_error(tiny_gpt2: str) -> None:
    encoder = load_encoder(tiny_gpt2)
    with pytest.raises(ValueError, match="no texts"):
        featurize_texts(encoder, [])


def test_a_text_without_tokens_is_an_error(tiny_gpt2: str) -> None:
    with pytest.raises(ValueError, match=r"text 1 has no token for .*: ''"):
        tokenize(load_encoder(tiny_gpt2), ["ships", ""])


def test_store_is_asked_and_filled(tiny_gpt2: str) -> None:
    kept: dict[bytes, NDArray[Any]] = {}

    class Store:
        def get(self, keys: Any) -> list[NDArray[Any] | None]:
            return [kept.get(key) for key in keys]

        def put(self, keys: Any, features: NDArray[Any]) -> None:
            kept.update(zip(keys, features, strict=True))

    encoder, model = counting(tiny_gpt2)
    texts = mixed_texts(12, 8)
    first, _ = featurize_texts(encoder, texts, store=Store())
    assert len(kept) == 12
    shapes = len(model.shapes)
    again, stats = featurize_texts(encoder, texts, store=Store())
    np.testing.assert_array_equal(first, again)
    assert len(model.shapes) == shapes and stats.cached == 12
    # another length is another encoder, whose features are not those
    other = featurize_texts(load_encoder(tiny_gpt2, max_text_length=2), texts, store=Store())[1]
    assert other.cached == 0


def test_stats_read_as_one_line() -> None:
    stats = FeaturizeStats(texts=4, distinct=3, cached=1, tokens=30, padded_tokens=40, seconds=2.0, truncated=1)
    assert str(stats) == "4 texts (3 distinct, 1 from the cache), 15 tokens/s, 25.0 % padding, 1 truncated"


# --- where the model comes from -----------------------------------------------------------------------------------


def test_weights_of_minilm_are_checked(minilm: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mauve_metric.features.pretrained.MINILM_SHA256", "0" * 64)
    with pytest.raises(ValueError, match=r"weights in .* are not the published ones"):
        load_encoder(minilm)


def test_reduced_precision_runs(tiny_gpt2: str) -> None:
    texts = mixed_texts(5, 8)
    full = featurize_texts(load_encoder(tiny_gpt2), texts)[0]
    half = featurize_texts(load_encoder(tiny_gpt2, dtype="bfloat16"), texts)[0]
    assert half.dtype == np.float32
    # 8 bits: 4e-3 a rounding, some dozens of them in two layers
    assert 1e-4 < relative_difference(half, full) < 0.15


# --- batches of like length -----------------------------------------------------------------------------------


def test_batches_keep_to_the_limits(tiny_gpt2: str) -> None:
    encoder, model = counting(tiny_gpt2)
    featurize_texts(encoder, mixed_texts(30, 12), RunOptions(batch_size=4, max_batch_tokens=60))
    assert max(rows for rows, _ in model.shapes) <= 4
    assert all(rows * length <= 60 or rows == 1 for rows, length in model.shapes)
    assert sum(rows for rows, _ in model.shapes) == 30


@pytest.mark.more
def test_little_padding_on_mixed_lengths(tiny_gpt2: str) -> None:
    encoder, model = counting(tiny_gpt2)
    _, stats = featurize_texts(encoder, mixed_texts(1500, 20))
    assert stats.padded_tokens == sum(rows * length for rows, length in model.shapes)
    assert stats.tokens == int(np.concatenate(stats.lengths).sum())
    # 1 to 75 tokens in batches of 1024: some 15 to 100 neighbours of the 1500 sorted texts, so that a batch spans one
    # or two of the 75 lengths: a waste of a token in some 35, below five in a hundred
    assert 1 - stats.tokens / stats.padded_tokens < 0.05
    assert len(model.shapes) < 1.1 * stats.tokens / 1024 + 2  # and not by running each text alone


@pytest.mark.parametrize("batch_size", [None, 1, 3])
@pytest.mark.parametrize("budget", [1, 7, 64, 10_000])
def test_plan_batches(budget: int, batch_size: int | None) -> None:
    lengths = np.random.default_rng(budget).integers(1, 40, size=100)
    batches = plan_batches(lengths, budget, batch_size)
    assert sorted(itertools.chain.from_iterable(batch.tolist() for batch in batches)) == list(range(100))
    longest = [int(lengths[batch].max()) for batch in batches]
    assert longest == sorted(longest, reverse=True)  # the largest batch first: memory runs out early or never
    for batch, length in zip(batches, longest, strict=True):
        assert len(batch) == 1 or len(batch) * length <= budget
        assert batch_size is None or len(batch) <= batch_size
    assert plan_batches(np.array([], dtype=np.int64), 10) == []


@pytest.mark.parametrize("max_padding", [0, 5, 100])
def test_plan_batches_bounds_the_padding_of_each_and_makes_no_more_than_that_needs(max_padding: int) -> None:
    lengths = np.random.default_rng(max_padding).integers(1, 40, size=100)
    batches = plan_batches(lengths, 10_000, max_padding=max_padding)
    assert sorted(itertools.chain.from_iterable(batch.tolist() for batch in batches)) == list(range(100))
    for batch, following in itertools.zip_longest(batches, batches[1:]):
        padding = (lengths[batch].max() - lengths[batch]).sum()
        assert padding <= max_padding
        if following is not None:
            assert padding + lengths[batch].max() - lengths[following].max() > max_padding


def test_out_of_memory_halves_the_batch_and_is_remembered(tiny_gpt2: str, caplog: pytest.LogCaptureFixture) -> None:
    texts = mixed_texts(60, 12)
    expected = featurize_texts(load_encoder(tiny_gpt2), texts)[0]
    encoder, model = counting(tiny_gpt2, most_tokens=100)
    with caplog.at_level(logging.WARNING, logger="mauve_metric"):
        found, stats = featurize_texts(encoder, texts, RunOptions(max_batch_tokens=800))
    assert relative_difference(found, expected) <= FLOAT32
    assert all(rows * length <= 100 for rows, length in model.shapes)
    # 800 tokens → 400 → 200 → 100 takes three failures, one more where the halves are uneven; later batches
    # start within the budget
    assert 1 <= model.failures <= 4
    assert stats.backed_off and stats.batch_tokens is not None and stats.batch_tokens <= 100
    assert "out of memory" in caplog.text
    assert stats.texts == stats.distinct == 60
    assert stats.padded_tokens == sum(rows * length for rows, length in model.shapes)


def test_out_of_memory_on_one_text_is_an_error(tiny_gpt2: str) -> None:
    encoder, _ = counting(tiny_gpt2, most_tokens=3)
    with pytest.raises(torch.OutOfMemoryError):
        featurize_texts(encoder, ["ships and rain over the quick harbour"])


def test_other_errors_of_the_model_come_through(tiny_gpt2: str) -> None:
    encoder, model = counting(tiny_gpt2)

    def fail(*_: Any, **__: Any) -> None:
        raise RuntimeError("shapes do not fit")

    model.inner.forward = fail
    with pytest.raises(RuntimeError, match="shapes do not fit"):
        featurize_texts(encoder, ["a", "b"])


# --- characters that the tokenizer does not know ------------------------------------------------------------------


def known_words(*, eos: str | None = None) -> SimpleNamespace:
    """An encoder whose tokenizer knows three words and splits at blanks; its unknown token is `[UNK]`."""
    words = Tokenizer(WordLevel({word: row for row, word in enumerate(("[UNK]", "the", "ship", "sails"))}, "[UNK]"))
    words.pre_tokenizer = WhitespaceSplit()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=words, unk_token="[UNK]", eos_token=eos)
    return SimpleNamespace(tokenizer=tokenizer, text_prefix="", max_text_length=4)


def test_the_share_of_characters_without_a_token_is_measured() -> None:
    texts = ["the ship sails", "the 🚢🚢🚢 sails", "เรือ 船", "the ship sails the 船船船船"]
    encoder = known_words()
    ids = encoder.tokenizer(texts, truncation=True, max_length=4)["input_ids"]
    # of 11 characters 3; all; what is cut off after four tokens does not count
    assert featurize.unseen_shares(encoder, texts, ids).tolist() == pytest.approx([0, 3 / 11, 1, 0])
    # an unknown token that also ends texts, as GPT-2's, says nothing
    encoder = known_words(eos="[UNK]")
    assert not featurize.unseen_shares(encoder, texts, ids).any()


def test_without_offsets_the_share_of_tokens_is_measured() -> None:
    encoder = SimpleNamespace(tokenizer=SimpleNamespace(unk_token_id=0, eos_token_id=8, bos_token_id=9))
    assert featurize.unseen_shares(encoder, ["a b", "c d"], [[1, 0], [1, 2]]).tolist() == [0.5, 0]
