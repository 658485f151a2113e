"""Likelihoods of texts under a causal language model, token by token: one pass for all measures that need them."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from mauve_metric.apps.decoder_settings import Decoder, applied_settings, describe_decoder
from mauve_metric.apps.describing.likelihood.language_model import (
    COLUMNS,
    decoded_logits,
    find_head,
    run_likelihoods,
)
from mauve_metric.arrays import Floats, Integers, TextData
from mauve_metric.features.cache import open_cache
from mauve_metric.features.encoder import Encoder, load_encoder
from mauve_metric.features.featurize import WINDOW_TEXTS, FeaturizeStats, announce, featurize_tokens, tokenize, windows
from mauve_metric.inputs.files import read_texts
from mauve_metric.inputs.sources import text_source
from mauve_metric.options import MauveConfig, RunOptions
from mauve_metric.runtime.devices import resolve_device
from mauve_metric.runtime.errors import NotFinite
from mauve_metric.runtime.progress import progress_bar

logger = logging.getLogger(__name__)

_SHOWN = 5  # how many positions an error lists


@dataclass(frozen=True)
class Likelihoods:
    """Likelihoods of n texts with T predicted tokens in all, under a causal language model.

    token_ids: of the predicted tokens, text after text, (T,). offsets: where each text begins among them and the last
    one ends, (n + 1,). first_ids: the first token of each text, which has no context and thus no
    probability, (n,); -1 where a start token is there and the text's own first token is predicted.
    log_probabilities: natural, of each token under the model given those before it, (T,). ranks: 1 + how many tokens
    are more likely, (T,). sparsemax: p_x + (1 - ‖p‖²)/2, (T,). most_likely: the model's first choice, (T,).
    choices: how many tokens the distribution gives any probability, k_t of nucleus sampling, (T,).
    vocabulary_size: of the model's distribution. identity: what fixes the numbers (weights, tokenizer, dtype).
    truncated: texts that were cut. dropped: empty texts that were left out.
    """

    token_ids: Integers
    offsets: Integers
    first_ids: Integers
    log_probabilities: Floats
    ranks: Integers
    sparsemax: Floats
    most_likely: Integers
    choices: Integers
    vocabulary_size: int
    identity: Mapping[str, str] = field(default_factory=dict)
    truncated: int = 0
    dropped: int = 0

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def counts(self) -> Integers:
        """Predicted tokens of each text, (n,)."""
        return np.diff(self.offsets)


def likelihoods(
    texts: TextData,
    model: str | tuple[Any, Any],
    config: MauveConfig = MauveConfig(),  # noqa: B008 (immutable)
    run: RunOptions = RunOptions(),  # noqa: B008
    *,
    prepend_bos: bool = False,
    **decoder: Unpack[Decoder],
) -> Likelihoods:
    """One pass of a causal language model over texts: probability, rank, sparsemax score, first choice of each token.

    A text's first token has no context and no probability, unless the tokenizer puts a mark of the beginning
    before it (as Llama's does; GPT-2's does not) or `prepend_bos` asks for that: T tokens give T - 1 probabilities.
    `likelihood_measures.generation_perplexity` says what the reference implementation makes of that.

    With settings of a decoder, the distribution is that which `generate` samples from with them (transformers' own
    processors, renormalised): tokens that it never takes have the log-probability -inf. ε-perplexity, sparsemax score
    and Jensen–Shannon divergence are defined for these (Martins et al. 2020, §4.3); the plain perplexity is then
    infinite. `top_k=1` is greedy decoding.

    Batches are of like length; what is computed is kept in the cache batch by batch, so that a run that was killed is
    taken up again, and the same texts under the same weights are never run twice.

    Args:
        texts: a list or any other form that `compute_mauve` takes.
        model: a name or local folder that transformers' AutoModelForCausalLM loads, or a live (model, tokenizer) pair.
        config: says how many tokens of a text are kept, the number format of the model (probabilities are computed in
            float32 at least), and what becomes of empty texts.
        run: says on which device, in which batches, whether features are kept, and which field holds the texts.
        prepend_bos: put the tokenizer's BOS token before each text that does not begin with it.
        **decoder: temperature, top_k, top_p, min_p, typical_p, …, see `Decoder`.

    Raises:
        OSError: the model cannot be reached. TypeError, ValueError: it is no causal language model; a bad argument; a
        text of which no token is predicted.
    """
    settings = applied_settings(decoder)
    read = read_texts(texts, run.text_field) if isinstance(texts, Path) else texts
    source = text_source("texts", read, text_field=run.text_field, empty_texts=config.empty_texts)
    listed = list(source.texts)
    encoder = load_encoder(
        model,
        max_text_length=config.max_text_length,
        dtype=config.dtype,
        device=resolve_device(run.device),
        causal=True,
    )
    if settings:
        words = describe_decoder(settings)
        form = f"{encoder.identity['pooling']} {words}"  # of the cache's keys
        encoder = replace(encoder, identity={**encoder.identity, "pooling": form, "decoder": words})
    ids, cut = _token_ids(encoder, listed, prepend_bos)
    return replace(_read(encoder, ids, run, settings), truncated=sum(cut), dropped=source.dropped)


def last_tokens(likelihoods: Likelihoods, counts: Integers) -> Likelihoods:
    """The last tokens of each text, such as those after its prompt.

    Args:
        counts: tokens of each text, (n,); none of one that has fewer than 1.
    """
    kept = np.clip(counts, 0, likelihoods.counts)
    ends, texts = likelihoods.offsets[1:], np.repeat(np.arange(len(likelihoods)), likelihoods.counts)
    chosen = np.arange(len(likelihoods.token_ids)) >= (ends - kept)[texts]
    names = ("token_ids", "log_probabilities", "ranks", "sparsemax", "most_likely", "choices")
    columns = {name: getattr(likelihoods, name)[chosen] for name in names}
    return replace(likelihoods, offsets=np.concatenate([[0], np.cumsum(kept)]), **columns)


def _token_ids(encoder: Encoder, texts: Sequence[str], prepend_bos: bool) -> tuple[list[list[int]], list[bool]]:
    """Token ids of each text, and whether it was cut.

    Raises:
        ValueError: no token of a text is predicted, or there is no BOS token to put first.
    """
    parts = [tokenize(encoder, window) for window in windows(texts, WINDOW_TEXTS)]
    ids = [row for rows, _ in parts for row in rows]
    cut = [is_cut for _, cuts in parts for is_cut in cuts]
    bos: int | None = getattr(encoder.tokenizer, "bos_token_id", None)
    if prepend_bos and bos is None:
        raise ValueError(f"prepend_bos=True needs a tokenizer with a BOS token, and that of {encoder.name!r} has none")
    if prepend_bos and bos is not None:
        length = encoder.max_text_length
        cut = [is_cut or (row[0] != bos and len(row) == length) for row, is_cut in zip(ids, cut, strict=True)]
        ids = [row if row[0] == bos else [bos, *row][:length] for row in ids]
    short = [index for index, row in enumerate(ids) if len(row) < 2]
    if short:
        places = ", ".join(map(str, short[:_SHOWN])) + (", …" if len(short) > _SHOWN else "")
        way = "" if prepend_bos or bos is None else "; prepend_bos=True lets the model predict the first token too"
        raise ValueError(
            f"texts must have at least 2 tokens under {encoder.name!r}, the first has no probability: {len(short)} of "
            f"{len(texts)} have one (at {places}, such as {texts[short[0]]!r:.40}){way}"
        )
    return ids, cut


def _read(encoder: Encoder, ids: list[list[int]], run: RunOptions, decoder: Decoder) -> Likelihoods:
    """The likelihoods of texts by their tokens, from the cache or computed."""
    _check_ids(encoder, ids, int(encoder.model.get_input_embeddings().num_embeddings))
    head, vocabulary_size = find_head(encoder, ids[0])
    _check_ids(encoder, ids, vocabulary_size)
    announce(encoder, ids, len(ids), "reading")
    stats = FeaturizeStats()
    with (
        open_cache(run.cache) or contextlib.nullcontext() as store,
        progress_bar(f"read by {encoder.name}", run.verbose) as bar,
    ):
        rows = featurize_tokens(
            encoder,
            ids,
            run,
            stats,
            total=len(ids),
            store=store,
            progress=bar,
            compute=partial(
                run_likelihoods,
                head=head,
                vocabulary_size=vocabulary_size,
                decode=decoded_logits(decoder) if decoder else None,
            ),
        )
    logger.info("read by %s: %s", encoder.name, stats)
    table = np.concatenate([row.reshape(len(COLUMNS), -1) for row in rows], axis=1).astype(np.float64)
    log_probabilities, ranks, sparsemax, most_likely, choices = table
    never_taken = np.isneginf(log_probabilities) if decoder else False
    if not np.isfinite(np.where(never_taken, 0.0, table)).all():
        raise NotFinite(
            f"the model {encoder.name!r} must give finite log-probabilities, and does not in {encoder.dtype}: try "
            "dtype='float32'"
        )
    bos = getattr(encoder.tokenizer, "bos_token_id", None)
    return Likelihoods(
        token_ids=np.fromiter((token for row in ids for token in row[1:]), dtype=np.int64, count=table.shape[1]),
        offsets=np.concatenate([[0], np.cumsum([len(row) - 1 for row in ids])]).astype(np.int64),
        first_ids=np.array([-1 if row[0] == bos else row[0] for row in ids], dtype=np.int64),
        log_probabilities=log_probabilities,
        ranks=ranks.astype(np.int64),
        sparsemax=sparsemax,
        most_likely=most_likely.astype(np.int64),
        choices=choices.astype(np.int64),
        vocabulary_size=vocabulary_size,
        identity={key: value for key, value in encoder.identity.items() if key != "pooling"},
    )


def _check_ids(encoder: Encoder, ids: Sequence[Sequence[int]], size: int) -> None:
    """`ValueError` if a tokenizer gives tokens outside of its model's vocabulary."""
    most = max(map(max, ids))
    if most >= size:
        raise ValueError(
            f"the tokenizer does not belong to the model {encoder.name!r}: it gives the id {most}, and the model knows "
            f"{size} tokens"
        )
