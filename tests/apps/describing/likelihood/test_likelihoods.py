"""Likelihoods of texts under causal language models, against plain transformers one text at a time."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from samples import texts_of

from mauve_metric.apps.decoder_settings import Decoder, parse_decoder
from mauve_metric.apps.describing.likelihood import language_model
from mauve_metric.apps.describing.likelihood import likelihood_measures as measures
from mauve_metric.apps.describing.likelihood import likelihoods as module
from mauve_metric.apps.describing.likelihood.language_model import (
    COLUMNS,
    find_head,
    token_columns,
)
from mauve_metric.apps.describing.likelihood.likelihoods import Likelihoods
from mauve_metric.features.encoder import load_encoder
from mauve_metric.options import split_options

FLOAT32 = 1e-5  # rounding of 6e-8, through a few layers and a sum over a vocabulary
TEXTS = texts_of(9, longest=7)


def likelihoods(texts: Any, model: Any, *, prepend_bos: bool = False, **options: Any) -> Likelihoods:
    """The likelihoods of texts with options by their names."""
    decoder: Any = {name: options.pop(name) for name in Decoder.__annotations__ if name in options}
    return module.likelihoods(texts, model, *split_options(options), prepend_bos=prepend_bos, **decoder)


def with_tokenizer(folder: str) -> tuple[Any, Any]:
    from transformers import AutoModelForCausalLM, AutoTokenizer

    return AutoModelForCausalLM.from_pretrained(folder).eval(), AutoTokenizer.from_pretrained(folder)


def one_at_a_time(model: Any, tokenizer: Any, text: str, bos: int | None = None) -> Iterator[tuple[float, ...]]:
    """Log-probability, rank, sparsemax score, first choice and id of each predicted token, by a loop over tokens."""
    ids = tokenizer(text)["input_ids"]
    ids = ids if bos is None else [bos, *ids]
    for place in range(1, len(ids)):
        with torch.no_grad():
            logits = model(input_ids=torch.tensor([ids[:place]])).logits[0, -1].double()
        p = [float(value) for value in torch.exp(logits - torch.logsumexp(logits, 0))]
        gold = p[ids[place]]
        sparsemax = gold + 0.5 * (1 - sum(value * value for value in p))
        yield float(np.log(gold)), 1 + sum(value > gold for value in p), sparsemax, p.index(max(p)), ids[place]


def assert_equals_the_loop(found: Likelihoods, model: Any, tokenizer: Any, bos: int | None = None) -> None:
    expected = [row for text in TEXTS for row in one_at_a_time(model, tokenizer, text, bos)]
    logs, ranks, sparsemax, choices, ids = (np.array(column) for column in zip(*expected, strict=True))
    np.testing.assert_allclose(found.log_probabilities, logs, rtol=FLOAT32, atol=FLOAT32)
    np.testing.assert_allclose(found.sparsemax, sparsemax, atol=FLOAT32)
    np.testing.assert_array_equal(found.ranks, ranks)
    np.testing.assert_array_equal(found.most_likely, choices)
    np.testing.assert_array_equal(found.token_ids, ids)


def assert_same(found: Likelihoods, expected: Likelihoods) -> None:
    for name in ("token_ids", "offsets", "first_ids", *COLUMNS):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))


def test_equals_a_loop_over_tokens(tiny_gpt2: str) -> None:
    model, tokenizer = with_tokenizer(tiny_gpt2)
    assert tokenizer.pad_token_id is None  # and none is needed
    found = likelihoods(TEXTS, tiny_gpt2, max_batch_tokens=64)
    assert_equals_the_loop(found, model, tokenizer)
    ids = [tokenizer(text)["input_ids"] for text in TEXTS]
    assert found.counts.tolist() == [len(row) - 1 for row in ids] and len(set(found.counts.tolist())) > 5
    assert found.first_ids.tolist() == [row[0] for row in ids]
    assert len(found) == 9 and found.vocabulary_size == model.config.vocab_size


def test_live_pair_batches_and_chunks_change_nothing(tiny_gpt2: str, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = likelihoods(TEXTS, tiny_gpt2, cache=False)
    monkeypatch.setattr(language_model, "_CHUNK_BYTES", {"cpu": 3 * 4 * expected.vocabulary_size})
    model, tokenizer = with_tokenizer(tiny_gpt2)
    tokenizer.padding_side = "left"
    found = likelihoods([*TEXTS, TEXTS[0]], (model.train(), tokenizer), batch_size=4, cache=False)
    assert model.training  # as it was
    size = len(expected.token_ids)
    np.testing.assert_allclose(found.log_probabilities[:size], expected.log_probabilities, atol=FLOAT32)
    np.testing.assert_allclose(found.log_probabilities[size:], found.log_probabilities[: found.offsets[1]], atol=0)
    np.testing.assert_array_equal(found.most_likely[:size], expected.most_likely)


def test_model_that_clips_its_logits(tiny_gpt2: str) -> None:
    model, tokenizer = with_tokenizer(tiny_gpt2)
    row = tokenizer(TEXTS[0])["input_ids"]
    assert find_head(load_encoder((model, tokenizer), causal=True), row)[0] is model.lm_head
    plain = model.forward

    def clipped(input_ids: torch.Tensor, attention_mask: torch.Tensor | None = None) -> Any:
        output = plain(input_ids=input_ids, attention_mask=attention_mask)
        output.logits = 3 * torch.tanh(output.logits / 3)  # as Gemma 2 does
        return output

    model.forward = clipped
    assert find_head(load_encoder((model, tokenizer), causal=True), row)[0] is None
    assert_equals_the_loop(likelihoods(TEXTS, (model, tokenizer), batch_size=3, cache=False), model, tokenizer)


def test_whole_logits_go_a_few_rows_at_a_time(tiny_gpt2: str, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = likelihoods(TEXTS, tiny_gpt2, cache=False)
    monkeypatch.setattr(language_model, "_module", lambda *_: None)
    monkeypatch.setattr(language_model, "_CHUNK_BYTES", {"cpu": 1})
    found = likelihoods(TEXTS, tiny_gpt2, cache=False)
    np.testing.assert_allclose(found.log_probabilities, expected.log_probabilities, atol=FLOAT32)


def test_mark_of_the_beginning_gives_the_first_token_a_probability(tiny_chat: str) -> None:
    model, tokenizer = with_tokenizer(tiny_chat)
    tokenizer.bos_token = "<|im_start|>"
    bos = tokenizer.bos_token_id
    found = likelihoods(TEXTS, (model, tokenizer), prepend_bos=True, cache=False)
    assert_equals_the_loop(found, model, tokenizer, bos)
    assert (found.first_ids == -1).all()
    marked = likelihoods([f"<|im_start|>{text}" for text in TEXTS], (model, tokenizer), prepend_bos=True, cache=False)
    assert_same(marked, found)
    short = likelihoods(TEXTS, (model, tokenizer), prepend_bos=True, max_text_length=5, cache=False)
    assert short.counts.max() == 4 and short.truncated == sum(len(tokenizer(text)["input_ids"]) > 4 for text in TEXTS)


@pytest.mark.parametrize(("dtype", "tolerance"), [("float64", 1e-5), ("bfloat16", 0.3)])
def test_number_formats(tiny_gpt2: str, dtype: Any, tolerance: float) -> None:
    # bfloat16 keeps 8 bits: logits of about 10 are off by 0.04, and by a few times that after two layers
    expected = likelihoods(TEXTS, tiny_gpt2)
    found = likelihoods(TEXTS, tiny_gpt2, dtype=dtype)
    assert abs(found.log_probabilities - expected.log_probabilities).mean() < tolerance
    assert (found.log_probabilities != expected.log_probabilities).any()  # not those of the cache


def test_columns_in_closed_form() -> None:
    size = 7
    uniform = token_columns(torch.zeros(1, size, dtype=torch.float64), torch.tensor([4]))
    np.testing.assert_allclose(uniform[:3, 0], [-np.log(size), 1, 0.5 + 1 / (2 * size)], rtol=1e-12)
    certain = torch.full((2, size), -np.inf, dtype=torch.float64)
    certain[:, 3] = 2.0
    columns = token_columns(certain, torch.tensor([3, 0]))
    np.testing.assert_array_equal(columns, [[0, -np.inf], [1, 2], [1, 0], [3, 3], [1, 1]])


# --- decoders -----------------------------------------------------------------------------------------------------


def truncated(p: Any, temperature: float = 1.0, top_k: int = 0, top_p: float = 1.0) -> Any:
    """The distribution that generation samples from, one token at a time: temperature, top-k, nucleus, renormalised."""
    p = p ** (1 / temperature)
    p = p / p.sum()
    order = sorted(range(len(p)), key=lambda token: -p[token])
    kept = order[: top_k or None]
    total = sum(p[token] for token in kept)
    mass, nucleus = 0.0, []
    for token in kept:
        if mass / total < top_p:
            nucleus.append(token)
            mass += p[token]
    return np.array([p[token] / mass if token in nucleus else 0.0 for token in range(len(p))])


DECODERS: tuple[dict[str, Any], ...] = (
    {"top_k": 1},
    {"temperature": 0.7},
    {"top_p": 0.6},
    {"temperature": 1.5, "top_k": 20, "top_p": 0.8},
)


@pytest.mark.parametrize("decoder", DECODERS)
def test_decoder_truncates_and_renormalises(decoder: dict[str, Any], tiny_gpt2: str, tmp_path: Path) -> None:
    model, tokenizer = with_tokenizer(tiny_gpt2)
    found = likelihoods(TEXTS, tiny_gpt2, cache=tmp_path, **decoder)
    assert_same(likelihoods(TEXTS, tiny_gpt2, cache=tmp_path, **decoder), found)
    rows = []
    for text in TEXTS:
        ids = tokenizer(text)["input_ids"]
        with torch.no_grad():
            logits = model(input_ids=torch.tensor([ids])).logits[0].double()
        for place in range(1, len(ids)):
            p = truncated(torch.softmax(logits[place - 1], 0).numpy(), **decoder)
            gold = p[ids[place]]
            rows.append((gold, gold + 0.5 * (1 - (p**2).sum()), p.argmax(), 1 + (p > gold).sum(), (p > 0).sum()))
    golds, sparsemax, first, ranks, choices = (np.array(column) for column in zip(*rows, strict=True))
    np.testing.assert_allclose(np.exp(found.log_probabilities), golds, rtol=FLOAT32, atol=FLOAT32)
    np.testing.assert_allclose(found.sparsemax, sparsemax, atol=FLOAT32)
    np.testing.assert_array_equal(found.most_likely, first)
    np.testing.assert_array_equal(found.ranks, ranks)
    np.testing.assert_array_equal(found.choices, choices)
    assert measures.mean_choices(found).mean() == pytest.approx(choices.mean())
    assert (golds == 0).any() == ("top_k" in decoder or "top_p" in decoder)
    assert set(found.identity) - set(likelihoods(TEXTS, tiny_gpt2).identity) == {"decoder"}


def test_measures_under_greedy_decoding(tiny_gpt2: str) -> None:
    # greedy: p is 1 for the model's first choice and 0 for every other token, so that only the share of hits counts
    found, raw = likelihoods(TEXTS, tiny_gpt2, top_k=1), likelihoods(TEXTS, tiny_gpt2)
    hits = (raw.most_likely == raw.token_ids).mean()
    size, epsilon = raw.vocabulary_size, 1e-5
    logs = hits * np.log(1 + epsilon) + (1 - hits) * np.log(epsilon) - np.log1p(epsilon * size)
    assert measures.epsilon_perplexity(found).mean() == pytest.approx(np.exp(-logs))
    assert measures.sparsemax_score(found).mean() == pytest.approx(hits, abs=FLOAT32)
    assert measures.token_jensen_shannon(found).mean() == pytest.approx((1 - hits) * np.log(2), abs=FLOAT32)
    assert np.isposinf(measures.generation_perplexity(found)).all()
    with pytest.raises(ValueError, match="read by one language model in one way, got decoder 'top_k=1' and None"):
        measures.discriminator_total_probability(found, raw)


def test_decoder_in_words() -> None:
    assert parse_decoder("top_p=0.95, temperature=.7") == {"temperature": 0.7, "top_p": 0.95}
    assert parse_decoder("sampling") == parse_decoder("temperature=1,top_p=1") == {}
    for words, said in [
        ("top_q=1", "got 'top_q' .did you mean 'top_p'"),
        ("top_p=1.5", r"top_p must be a number in \(0, 1\], got 1.5"),
        ("top_k=0", "top_k must be an integer of at least 1"),
        ("beam", "a decoder must be greedy, sampling or settings such as"),
    ]:
        with pytest.raises(ValueError, match=said):
            parse_decoder(words)


# --- the cache ----------------------------------------------------------------------------------------------------


def counted(monkeypatch: pytest.MonkeyPatch, stop_after: int | None = None) -> list[int]:
    """Number of rows of each computed batch; the process is "killed" after a number of batches."""
    sizes: list[int] = []
    plain = module.run_likelihoods

    def run(encoder: Any, rows: Any, **options: Any) -> Any:
        if stop_after is not None and len(sizes) == stop_after:
            raise KeyboardInterrupt
        sizes.append(len(rows))
        return plain(encoder, rows, **options)

    monkeypatch.setattr(module, "run_likelihoods", run)
    return sizes


def test_killed_run_is_taken_up_again(tiny_gpt2: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = likelihoods(TEXTS, tiny_gpt2, batch_size=2, cache=False)
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        counted(patch, stop_after=3)
        likelihoods(TEXTS, tiny_gpt2, batch_size=2, cache=tmp_path)
    sizes = counted(monkeypatch)
    assert_same(likelihoods(TEXTS, tiny_gpt2, batch_size=2, cache=tmp_path), expected)
    assert sum(sizes) == 3
    assert_same(likelihoods(TEXTS, tiny_gpt2, cache=tmp_path), expected)
    assert sum(sizes) == 3


def test_features_of_the_same_model_are_something_else(tiny_gpt2: str, tmp_path: Path) -> None:
    from mauve_metric.features.feature_set import featurize

    features = featurize(TEXTS, featurize_model_name=tiny_gpt2, cache=tmp_path).features
    found = likelihoods(TEXTS, tiny_gpt2, cache=tmp_path)
    assert_same(found, likelihoods(TEXTS, tiny_gpt2, cache=False))
    np.testing.assert_array_equal(featurize(TEXTS, featurize_model_name=tiny_gpt2, cache=tmp_path).features, features)


def test_other_weights_are_computed_anew(tiny_gpt2: str, tmp_path: Path) -> None:
    model, tokenizer = with_tokenizer(tiny_gpt2)
    before = likelihoods(TEXTS, (model, tokenizer), cache=tmp_path)
    with torch.no_grad():
        model.transformer.wpe.weight.mul_(2)
    after = likelihoods(TEXTS, (model, tokenizer), cache=tmp_path)
    assert (before.log_probabilities != after.log_probabilities).any()
    assert before.identity["revision"] != after.identity["revision"]


def test_dropped_and_cut_texts_are_counted(tiny_gpt2: str) -> None:
    found = likelihoods([*TEXTS, ""], tiny_gpt2, empty_texts="drop", max_text_length=10)
    assert len(found) == 9 and found.dropped == 1 and found.truncated > 0


# --- what is refused ----------------------------------------------------------------------------------------------


def test_model_without_a_head_is_refused(tiny_gpt2: str, tiny_roberta: str) -> None:
    from transformers import AutoModel, AutoTokenizer, RobertaForCausalLM, T5Config, T5ForConditionalGeneration

    expected = "model must be a causal language model, and "
    tokenizer = AutoTokenizer.from_pretrained(tiny_gpt2)
    with pytest.raises(ValueError, match=rf"{expected}.* has no head: it is a GPT2Model"):
        likelihoods(TEXTS, (AutoModel.from_pretrained(tiny_gpt2), tokenizer))
    with pytest.raises(ValueError, match=rf"{expected}.* comes without weights of its head: lm_head"):
        likelihoods(TEXTS, tiny_roberta)
    both = RobertaForCausalLM.from_pretrained(tiny_roberta)
    with pytest.raises(ValueError, match=rf"{expected}.* looks at later tokens: it is a RobertaForCausalLM"):
        likelihoods(TEXTS, (both, AutoTokenizer.from_pretrained(tiny_roberta)))
    config = T5Config(vocab_size=len(tokenizer), d_model=8, d_kv=4, d_ff=8, num_layers=1, num_heads=2)
    with pytest.raises(ValueError, match=rf"{expected}.* has no head: it is a T5"):
        likelihoods(TEXTS, (T5ForConditionalGeneration(config), tokenizer))


def test_text_of_one_token_is_refused(tiny_gpt2: str) -> None:
    model, tokenizer = with_tokenizer(tiny_gpt2)
    expected = r"at least 2 tokens under .*: 2 of 11 have one \(at 9, 10, such as 'a'\)"
    with pytest.raises(ValueError, match=expected + "$"):
        likelihoods([*TEXTS, "a", "b"], (model, tokenizer))
    tokenizer.bos_token = "<|endoftext|>"
    with pytest.raises(ValueError, match=expected + "; prepend_bos=True lets"):
        likelihoods([*TEXTS, "a", "b"], (model, tokenizer))
    assert likelihoods(["a", "b"], (model, tokenizer), prepend_bos=True).counts.tolist() == [1, 1]


def test_bad_arguments(tiny_gpt2: str, tiny_chat: str, tmp_path: Path) -> None:
    model, _ = with_tokenizer(tiny_gpt2)
    with pytest.raises(ValueError, match="prepend_bos=True needs a tokenizer with a BOS token"):
        likelihoods(TEXTS, tiny_gpt2, prepend_bos=True)
    with pytest.raises(ValueError, match=r"tokenizer does not belong to the model .* knows \d+ tokens"):
        likelihoods(["<|im_start|>a b"], (model, with_tokenizer(tiny_chat)[1]))
    with pytest.raises(TypeError, match=r"model must be a name, a folder or a .* pair, got int"):
        likelihoods(TEXTS, 3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"model as a pair must be .*, got \(str, str\)"):
        likelihoods(TEXTS, ("gpt2", "gpt2"))
    with pytest.raises(FileNotFoundError, match=r"^model '.*' looks like a folder, and there is none"):
        likelihoods(TEXTS, str(tmp_path / "none"))
    with pytest.raises(ValueError, match="device 'cuda:99' does not exist"):
        likelihoods(TEXTS, tiny_gpt2, device="cuda:99")
    with pytest.raises(TypeError, match="texts must be a list of texts, got a single str"):
        likelihoods("one text", tiny_gpt2)
    with pytest.raises(ValueError, match="batch_size must be"):
        likelihoods(TEXTS, tiny_gpt2, batch_size=0)


def test_broken_weights_give_no_number(tiny_gpt2: str) -> None:
    model, tokenizer = with_tokenizer(tiny_gpt2)
    with torch.no_grad():
        model.transformer.ln_f.bias.fill_(float("nan"))
    with pytest.raises(ValueError, match="must give finite log-probabilities, and does not in float32"):
        likelihoods(TEXTS, (model, tokenizer), cache=False)


def test_a_folder_with_a_head_differs_from_one_without(tiny_gpt2: str, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    shutil.copytree(tiny_gpt2, folder)
    from transformers import GPT2LMHeadModel

    GPT2LMHeadModel.from_pretrained(tiny_gpt2).save_pretrained(folder)
    assert_same(likelihoods(TEXTS, str(folder), cache=False), likelihoods(TEXTS, tiny_gpt2, cache=False))
