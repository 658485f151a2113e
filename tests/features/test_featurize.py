"""A text's feature depends on the text and the encoder, and on nothing else."""

from __future__ import annotations

import itertools
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from mauve_metric.features import featurize
from mauve_metric.features.batches import FeaturizeStats, plan_batches
from mauve_metric.features.encoder import Encoder, load_encoder
from mauve_metric.features.featurize import featurize_texts, featurize_tokens, tokenize
from mauve_metric.runtime.devices import resolve_device

SENTENCE = "the quick harbour counts lists of ships and raises errors when rain walks over lazy numbers"
WORDS = SENTENCE.split()
# rounding of float32 is 6e-8; a few layers of sums of 32 to 1536 terms lose two digits of that
FLOAT32 = 1e-5


def mixed_texts(count: int, longest: int, seed: int = 0) -> list[str]:
    """Texts of 1 to `longest` words, lengths mixed."""
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(WORDS, size=rng.integers(1, longest + 1))) + str(index) for index in range(count)]


def relative_difference(found: NDArray[Any], expected: NDArray[Any]) -> float:
    """The largest difference of two features, relative to the feature's length."""
    return float((np.linalg.norm(found - expected, axis=1) / np.linalg.norm(expected, axis=1)).max())


@pytest.fixture(params=["tiny_gpt2", "tiny_roberta", "minilm"])
def encoder(request: pytest.FixtureRequest) -> Encoder:
    return load_encoder(request.getfixturevalue(request.param))


def one_at_a_time(encoder: Encoder, texts: list[str]) -> Iterator[tuple[Any, list[int]]]:
    """The last hidden state of each text alone, by plain transformers without padding or mask: (t, d)."""
    for text in texts:
        ids = encoder.tokenizer(text, truncation=True, max_length=encoder.max_text_length)["input_ids"]
        with torch.no_grad():
            yield encoder.model(input_ids=torch.tensor([ids])).last_hidden_state[0], ids


# --- independence of the batch ------------------------------------------------------------------------------------


@pytest.mark.parametrize("batch_size", [1, 2, 3, 8, 16])
def test_feature_does_not_depend_on_the_batch(encoder: Encoder, batch_size: int) -> None:
    texts = mixed_texts(20, 15)
    assert len({len(row) for row in tokenize(encoder, texts)[0]}) > 5
    expected = np.stack([states[-1 if encoder.pooling == "last" else slice(None)].numpy().reshape(-1, states.shape[1])
                         .mean(axis=0) for states, _ in one_at_a_time(encoder, texts)])  # fmt: skip
    found, stats = featurize_texts(encoder, texts, batch_size=batch_size)
    assert found.dtype == np.float32 and found.shape == expected.shape
    assert relative_difference(found, expected) <= FLOAT32
    assert stats.texts == 20
    # the texts differ by far more than that
    assert np.linalg.norm(found[0] - found[1]) / np.linalg.norm(found[0]) > 100 * FLOAT32


def test_feature_does_not_depend_on_neighbours_or_order(encoder: Encoder) -> None:
    texts = mixed_texts(12, 15)
    found = featurize_texts(encoder, texts)[0]
    order = np.random.default_rng(1).permutation(12)
    shuffled = featurize_texts(encoder, [texts[index] for index in order], batch_size=5)[0]
    assert relative_difference(shuffled, found[order]) <= FLOAT32
    assert relative_difference(featurize_texts(encoder, texts[3:4])[0], found[3:4]) <= FLOAT32
    with_long = featurize_texts(encoder, [*texts[:2], " ".join(WORDS * 2)], batch_size=3)[0]
    assert relative_difference(with_long[:2], found[:2]) <= FLOAT32


@pytest.mark.parametrize("side", ["left", "right"])
def test_padding_side_of_the_tokenizer_does_not_matter(tiny_gpt2: str, side: str) -> None:
    encoder = load_encoder(tiny_gpt2)
    expected = featurize_texts(encoder, mixed_texts(6, 10), batch_size=1)[0]
    encoder.tokenizer.padding_side = side
    assert relative_difference(featurize_texts(encoder, mixed_texts(6, 10), batch_size=6)[0], expected) <= FLOAT32


# --- pooling ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("pooling", ["last", "mean", "cls"])
def test_pooling_equals_one_text_at_a_time(encoder: Encoder, pooling: str) -> None:
    texts = mixed_texts(8, 15, seed=2)
    states = [states for states, _ in one_at_a_time(encoder, texts)]
    expected = {
        "last": [state[-1] for state in states],
        "mean": [state.mean(dim=0) for state in states],
        "cls": [state[0] for state in states],
    }[pooling]
    pooled = load_encoder(encoder.name, pooling=pooling)
    assert pooled.pooling == pooling
    found = featurize_texts(pooled, texts)[0]
    assert relative_difference(found, torch.stack(expected).numpy()) <= FLOAT32


def test_automatic_pooling(tiny_gpt2: str, tiny_roberta: str, minilm: str) -> None:
    assert [load_encoder(name).pooling for name in (tiny_gpt2, tiny_roberta, minilm)] == ["last", "last", "mean"]


@pytest.mark.parametrize(
    ("declared", "expected"),
    [
        ({"pooling_mode_mean_tokens": True, "pooling_mode_cls_token": False}, "mean"),
        ({"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}, "cls"),
        ({"pooling_mode_lasttoken": True, "include_prompt": True}, "last"),
        ({"pooling_mode": "mean"}, "mean"),
    ],
)
def test_declared_pooling(tiny_roberta: str, tmp_path: Path, declared: dict[str, Any], expected: str) -> None:
    folder = copy_folder(tiny_roberta, tmp_path)
    write_json(folder / "1_Pooling" / "config.json", {"word_embedding_dimension": 32, **declared})
    write_json(folder / "sentence_bert_config.json", {"max_seq_length": 12})
    encoder = load_encoder(str(folder))
    assert (encoder.pooling, encoder.max_text_length) == (expected, 12)
    assert load_encoder(str(folder), pooling="cls").pooling == "cls"


def test_declared_pooling_that_is_not_there(tiny_roberta: str, tmp_path: Path) -> None:
    folder = copy_folder(tiny_roberta, tmp_path)
    write_json(folder / "1_Pooling" / "config.json", {"pooling_mode_max_tokens": True})
    with pytest.raises(
        ValueError, match=r"declares the pooling .*max_tokens.*: choose pooling='mean', 'cls' or 'last'"
    ):
        load_encoder(str(folder))
    assert load_encoder(str(folder), pooling="mean").pooling == "mean"


def copy_folder(source: str, target: Path) -> Path:
    import shutil

    return Path(shutil.copytree(source, target / "model"))


def write_json(path: Path, content: dict[str, Any]) -> None:
    import json

    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(content))


# --- lengths ------------------------------------------------------------------------------------------------------


def test_roberta_counts_positions_from_its_padding_index(tiny_roberta: str) -> None:
    encoder = load_encoder(tiny_roberta)
    # 66 position embeddings, of which padding_idx + 1 = 2 are no token's
    assert encoder.max_positions == encoder.max_text_length == 64
    long = " ".join(WORDS * 5)
    found, stats = featurize_texts(encoder, ["ships", long], batch_size=2)
    assert stats.truncated == 1 and stats.lengths[0].tolist()[1] == 64
    expected = torch.stack([states[-1] for states, _ in one_at_a_time(encoder, ["ships", long])]).numpy()
    assert relative_difference(found, expected) <= FLOAT32


def test_default_length_is_clamped_quietly(tiny_gpt2: str, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, logger="mauve_metric"):
        encoder = load_encoder(tiny_gpt2)
    assert encoder.max_text_length == 96 and encoder.identity["max_text_length"] == "96"
    assert caplog.records == []


def test_length_that_the_user_gave_is_clamped_with_a_warning(tiny_gpt2: str, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, logger="mauve_metric"):
        encoder = load_encoder(tiny_gpt2, max_text_length=500)
    assert encoder.max_text_length == 96
    assert "max_text_length=500" in caplog.text and "96" in caplog.text
    caplog.clear()
    with caplog.at_level(logging.WARNING, logger="mauve_metric"):
        assert load_encoder(tiny_gpt2, max_text_length=5).max_text_length == 5
    assert caplog.records == []


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


class CountingModel(torch.nn.Module):
    """A model that notes the shape of each batch, and runs out of memory above a number of tokens."""

    def __init__(self, model: Any, most_tokens: int | None = None) -> None:
        super().__init__()
        self.inner, self.config, self.most_tokens = model, model.config, most_tokens
        self.shapes: list[tuple[int, int]] = []
        self.failures = 0

    @property
    def device(self) -> Any:
        return self.inner.device

    @property
    def dtype(self) -> Any:
        return self.inner.dtype

    def forward(self, input_ids: Any, attention_mask: Any, use_cache: bool = False) -> Any:
        if self.most_tokens is not None and input_ids.numel() > self.most_tokens:
            self.failures += 1
            raise torch.OutOfMemoryError("out of memory, as asked for by the test")
        self.shapes.append(tuple(input_ids.shape))
        return self.inner(input_ids=input_ids, attention_mask=attention_mask, use_cache=use_cache)


def counting(folder: str, most_tokens: int | None = None) -> tuple[Encoder, CountingModel]:
    import dataclasses

    encoder = load_encoder(folder)
    model = CountingModel(encoder.model, most_tokens)
    return dataclasses.replace(encoder, model=model), model


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
    featurize_texts(load_encoder(tiny_gpt2), texts, batch_size=2, progress=lambda *call: calls.append(call))
    done = [count for count, _ in calls]
    assert done == sorted(done) and done[-1] == 11 and {total for _, total in calls} == {11}


def test_batches_keep_to_the_limits(tiny_gpt2: str) -> None:
    encoder, model = counting(tiny_gpt2)
    featurize_texts(encoder, mixed_texts(30, 12), batch_size=4, max_batch_tokens=60)
    assert max(rows for rows, _ in model.shapes) <= 4
    assert all(rows * length <= 60 or rows == 1 for rows, length in model.shapes)
    assert sum(rows for rows, _ in model.shapes) == 30


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


def test_out_of_memory_halves_the_batch_and_is_remembered(tiny_gpt2: str, caplog: pytest.LogCaptureFixture) -> None:
    texts = mixed_texts(60, 12)
    expected = featurize_texts(load_encoder(tiny_gpt2), texts)[0]
    encoder, model = counting(tiny_gpt2, most_tokens=100)
    with caplog.at_level(logging.WARNING, logger="mauve_metric"):
        found, stats = featurize_texts(encoder, texts, max_batch_tokens=800)
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
    with pytest.raises(ValueError, match="no texts"):
        featurize_tokens(encoder, [])


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


def test_unreachable_model_is_said_at_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from huggingface_hub import constants

    # a port of loopback that nobody listens on stands for a network that is down
    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    asked: list[str] = []
    monkeypatch.setattr("transformers.AutoTokenizer.from_pretrained", lambda name, **options: asked.append(name))
    with pytest.raises(OSError, match="'nobody/no-model' cannot be loaded") as caught:
        load_encoder("nobody/no-model")
    assert asked == []  # transformers would try many times
    for works in ("minilm", "local model folder", "precomputed"):
        assert works in str(caught.value)


def test_unreachable_model_that_never_answers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import socket

    from huggingface_hub import constants

    with socket.create_server(("127.0.0.1", 0)) as silent:  # accepts, and says nothing
        monkeypatch.setattr(constants, "ENDPOINT", f"http://127.0.0.1:{silent.getsockname()[1]}")
        monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
        with pytest.raises(OSError, match="minilm"):
            load_encoder("nobody/no-model")
        silent.setblocking(False)
        silent.accept()[0].close()
        with pytest.raises(BlockingIOError):  # one attempt, which has its own limit, and no second
            silent.accept()


def test_folder_without_a_model(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="cannot be loaded by transformers"):
        load_encoder(str(tmp_path))


def test_devices() -> None:
    assert resolve_device("cpu") == resolve_device(None, -1) == resolve_device("cpu", -1) == "cpu"
    assert resolve_device(device_id=np.int64(-1)) == "cpu"  # type: ignore[arg-type]
    count = torch.cuda.device_count()
    assert resolve_device("auto").split(":")[0] == ("cuda" if count else "cpu") or torch.backends.mps.is_available()
    with pytest.raises(ValueError, match=rf"device 'cuda:{count}' does not exist: this machine has {count} CUDA"):
        resolve_device(device_id=count)
    for bad in (True, -2, "0", 1.0):
        with pytest.raises(ValueError, match="device_id must be -1"):
            resolve_device(device_id=bad)  # type: ignore[arg-type]


def test_weights_of_minilm_are_checked(minilm: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mauve_metric.features.pretrained.MINILM_SHA256", "0" * 64)
    with pytest.raises(ValueError, match=r"weights in .* are not the published ones"):
        load_encoder(minilm)


def test_identity_names_what_fixes_the_features(tiny_gpt2: str, tmp_path: Path) -> None:
    identity = dict(load_encoder(tiny_gpt2).identity)
    assert set(identity) == {"model", "revision", "tokenizer", "pooling", "max_text_length", "dtype"}
    elsewhere = dict(load_encoder(str(copy_folder(tiny_gpt2, tmp_path))).identity)
    assert {key for key in identity if identity[key] != elsewhere[key]} == {"model"}  # only the name, a path


def test_reduced_precision_runs(tiny_gpt2: str) -> None:
    texts = mixed_texts(5, 8)
    full = featurize_texts(load_encoder(tiny_gpt2), texts)[0]
    half = featurize_texts(load_encoder(tiny_gpt2, dtype="bfloat16"), texts)[0]
    assert half.dtype == np.float32
    # 8 bits: 4e-3 a rounding, some dozens of them in two layers
    assert 1e-4 < relative_difference(half, full) < 0.15
