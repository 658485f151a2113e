"""Decoders of several continuations, against all continuations of a small model and by what each promises."""

from __future__ import annotations

import itertools
import sys
from collections import Counter

import numpy as np
import pytest
import torch
from samples import ROOT
from transformers import GPT2Config, GPT2LMHeadModel

sys.path.append(str(ROOT / "experiments"))

import diverse

SIZE, COUNT, PROMPT, NEVER = 6, 3, (1, 2), (0,)


torch.manual_seed(0)
MODEL = GPT2LMHeadModel(
    GPT2Config(vocab_size=SIZE, n_positions=8, n_embd=8, n_layer=1, n_head=2, initializer_range=1.0)
)
MODEL.eval()
EMBEDDINGS = np.random.default_rng(0).normal(size=(SIZE, 3))


@torch.no_grad()
def everything() -> dict[tuple[int, ...], float]:
    """The log-probability of every continuation, token by token."""
    found = {}
    for ids in itertools.product(range(1, SIZE), repeat=COUNT):
        total = 0.0
        for step in range(COUNT):
            logits = MODEL(torch.tensor([[*PROMPT, *ids[:step]]])).logits[0, -1].double()
            logits[0] = -torch.inf
            total += float(logits.log_softmax(0)[ids[step]])
        found[ids] = total
    return found


ALL = everything()


def check(found: list[diverse.Written]) -> None:
    """Every continuation has its log-probability, and the likeliest comes first."""
    for one in found:
        assert one.log_probability == pytest.approx(ALL[one.ids], abs=1e-5)
    logs = [one.log_probability for one in found]
    assert logs == sorted(logs, reverse=True)


def test_wide_beams_find_the_likeliest_of_all() -> None:
    found = diverse.beam_search(MODEL, PROMPT, COUNT, SIZE**COUNT, never=NEVER)
    check(found)
    assert {one.ids for one in found[:10]} == set(sorted(ALL, key=lambda ids: -ALL[ids])[:10])
    greedy = diverse.beam_search(MODEL, PROMPT, COUNT, 1, never=NEVER)
    assert greedy[0].ids == diverse.noisy(MODEL, PROMPT, COUNT, 1, noise=0.0, never=NEVER)[0].ids


def test_no_parent_has_more_children_than_the_cap() -> None:
    for most in (1, 2):
        found = diverse.beam_search(MODEL, PROMPT, COUNT, 4, diverse.capped(most), NEVER)
        check(found)
        assert max(Counter(one.ids[:-1] for one in found).values()) <= most
    assert diverse.beam_search(MODEL, PROMPT, COUNT, 4, diverse.capped(4), NEVER) == diverse.beam_search(
        MODEL, PROMPT, COUNT, 4, never=NEVER
    )


def test_a_large_hamming_penalty_makes_the_tokens_of_a_step_differ() -> None:
    found = diverse.beam_search(MODEL, PROMPT, COUNT, 4, diverse.hamming(1e6), NEVER)
    check(found)
    assert len({one.ids[-1] for one in found}) == 4
    assert diverse.beam_search(MODEL, PROMPT, COUNT, 4, diverse.hamming(0.0), NEVER) == diverse.beam_search(
        MODEL, PROMPT, COUNT, 4, never=NEVER
    )


def test_later_searches_share_no_beginning_with_earlier_ones() -> None:
    seen: set[tuple[int, ...]] = set()
    first = diverse.beam_search(MODEL, PROMPT, COUNT, 2, diverse.unlike(seen), NEVER)
    second = diverse.beam_search(MODEL, PROMPT, COUNT, 2, diverse.unlike(seen), NEVER)
    assert {one.ids[0] for one in first}.isdisjoint(one.ids[0] for one in second)
    found = diverse.iterative(MODEL, PROMPT, COUNT, 1, runs=5, never=NEVER)
    check(found)
    assert len({one.ids for one in found}) == 5 == len({one.ids[0] for one in found})  # each takes another first token


def test_clusters_share_the_beams() -> None:
    one_cluster = diverse.beam_search(MODEL, PROMPT, COUNT, 4, diverse.clustered(EMBEDDINGS, 1, 0), NEVER)
    assert one_cluster == diverse.beam_search(MODEL, PROMPT, COUNT, 4, never=NEVER)
    apart = np.eye(SIZE)[:, :2] * 100  # tokens 0 and 1 have clusters of their own
    children = [diverse.Child(-float(rank), 0, (token,)) for rank, token in enumerate([2, 3, 4, 5, 1, 1, 1, 1])]
    kept = diverse.clustered(apart, 2, 0)(children, 4)
    assert [child.ids[0] for child in kept] == [2, 3, 1, 1]
    check(diverse.beam_search(MODEL, PROMPT, COUNT, 4, diverse.clustered(EMBEDDINGS, 2, 0), NEVER))


def test_noise_and_samples_are_ranked_by_the_model() -> None:
    torch.manual_seed(0)
    found = diverse.noisy(MODEL, PROMPT, COUNT, 20, noise=3.0, never=NEVER)
    check(found)
    assert len({one.ids for one in found}) > 1
    sampled = diverse.oversampled(MODEL, PROMPT, COUNT, 3, 200, NEVER)
    check(sampled)
    assert len(sampled) == 3 and sampled[0].ids == max(ALL, key=lambda ids: ALL[ids])  # 200 draws have the likeliest


def test_each_cluster_gives_its_likeliest_first() -> None:
    near, far = [(1,), (1,), (1,), (1,)], [(5,), (5,), (5,)]
    written = [diverse.Written(-float(rank), ids) for rank, ids in enumerate([*near, (3,), *far])]
    embeddings = np.arange(SIZE)[:, None] ** 3.0  # 1, 27 and 125: three clusters
    kept = diverse.one_of_each(written, embeddings, 5, clusters=3, seed=0)
    assert [one.log_probability for one in kept] == [0.0, -5.0, -1.0, -6.0, -2.0]
    assert diverse.one_of_each(written, embeddings, 9, clusters=3, seed=0)[-1].ids == (3,)  # of a cluster of one
