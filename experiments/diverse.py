"""Decoders of several different continuations of one prompt (Ippolito et al. 2019; Ippolito 2021, §3.3).

Each returns continuations with their log-probabilities under the model, the likeliest first. transformers has left the
search in groups to code on the Hub; these are short loops over its models.
Means of the model's own input embeddings replace those of GloVe in the clusters.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from sklearn.cluster import KMeans

Model = Any  # of transformers


class Written(NamedTuple):
    """A continuation: its log-probability, and its tokens."""

    log_probability: float
    ids: tuple[int, ...]


class Child(NamedTuple):
    """A beam with one token more. parent: the number of the beam. ids: all tokens of the continuation by then."""

    log_probability: float
    parent: int
    ids: tuple[int, ...]


Choice = Callable[[list[Child], int], list[Child]]  # from children, the likeliest first, to those that stay


def best(children: list[Child], width: int) -> list[Child]:
    """The likeliest: plain beam search."""
    return children[:width]


def capped(most: int) -> Choice:
    """Choose at most so many children of one parent (top-g capping)."""

    def choose(children: list[Child], width: int) -> list[Child]:
        count: Counter[int] = Counter()
        kept = []
        for child in children:
            count[child.parent] += 1
            kept += [child] if count[child.parent] <= most else []
        return kept[:width]

    return choose


def hamming(penalty: float) -> Choice:
    """Choose one after the other, each token costing `penalty` for each time that it was chosen in this step before."""

    def choose(children: list[Child], width: int) -> list[Child]:
        count: Counter[int] = Counter()
        kept: list[Child] = []
        left = list(children)
        while left and len(kept) < width:
            child = max(left, key=lambda one: one.log_probability - penalty * count[one.ids[-1]])
            left.remove(child)
            kept.append(child)
            count[child.ids[-1]] += 1
        return sorted(kept, reverse=True)

    return choose


def clustered(embeddings: np.ndarray, clusters: int, seed: int) -> Choice:
    """Choose as many children of each cluster, among twice as many as stay (clustered beam search)."""

    def choose(children: list[Child], width: int) -> list[Child]:
        some = children[: 2 * width]
        if len(some) <= width:
            return some
        number = _clusters(embeddings, [child.ids for child in some], clusters, seed)
        count: Counter[int] = Counter()
        kept, others = [], []
        for child, cluster in zip(some, number, strict=True):
            count[cluster] += 1
            (kept if count[cluster] <= width // clusters else others).append(child)
        return sorted([*kept, *others[: width - len(kept)]], reverse=True)

    return choose


def unlike(seen: set[tuple[int, ...]]) -> Choice:
    """Choose children of which no earlier search had the same tokens (iterative beam search); adds those chosen."""
    known = frozenset(seen)

    def choose(children: list[Child], width: int) -> list[Child]:
        kept = [child for child in children if child.ids not in known][:width]
        seen.update(child.ids for child in kept)
        return kept

    return choose


@torch.no_grad()
def beam_search(
    model: Model,
    prompt: Sequence[int],
    count: int,
    width: int,
    choose: Choice = best,
    never: Sequence[int] = (),
    forbidden: int = 0,
) -> list[Written]:
    """Search with so many beams, of which `choose` keeps some in each step.

    Args:
        model: gives logits (b, t, V) of token ids (b, t). prompt: token ids, at least one. count: tokens to write.
        width: beams that stay. never: tokens that are never written. forbidden: how many children `choose` may refuse.
    """
    beams, reader = [Child(0.0, 0, ())], Reader(model, prompt, never)
    for _ in range(count):
        logs = reader.next_logs([(beam.parent, beam.ids) for beam in beams])
        likeliest = torch.topk(logs, min(logs.shape[1] - len(never), 2 * width + forbidden), dim=1)
        children = [
            Child(beam.log_probability + value, parent, (*beam.ids, token))
            for parent, beam in enumerate(beams)
            for value, token in zip(*(part[parent].tolist() for part in likeliest), strict=True)
        ]
        beams = choose(sorted(children, reverse=True), width)
    return [Written(beam.log_probability, beam.ids) for beam in beams]


def iterative(
    model: Model, prompt: Sequence[int], count: int, width: int, runs: int = 5, never: Sequence[int] = ()
) -> list[Written]:
    """Search several times, each time without the beginnings of the searches before."""
    seen: set[tuple[int, ...]] = set()
    found = [beam_search(model, prompt, count, width, unlike(seen), never, run * width) for run in range(runs)]
    return sorted((one for run in found for one in run), reverse=True)


@torch.no_grad()
def noisy(
    model: Model, prompt: Sequence[int], count: int, times: int, noise: float = 0.3, never: Sequence[int] = ()
) -> list[Written]:
    """Decode greedily several times with Gaussian noise of deviation `noise`/t on the last hidden state (NPAD)."""
    rows: list[tuple[int, ...]] = [()] * times
    head, reader = model.get_output_embeddings(), Reader(model, prompt, never)
    for step in range(1, count + 1):
        deviation = noise / step
        hook = head.register_forward_pre_hook(
            lambda _, given, size=deviation: (given[0] + size * torch.randn_like(given[0]), *given[1:])
        )
        try:
            tokens = reader.next_logs(list(enumerate(rows))).argmax(dim=1).tolist()
        finally:
            hook.remove()
        rows = [(*row, token) for row, token in zip(rows, tokens, strict=True)]
    return _ranked(model, prompt, rows, never)


@torch.no_grad()
def oversampled(
    model: Model, prompt: Sequence[int], count: int, kept: int, times: int, never: Sequence[int] = ()
) -> list[Written]:
    """Sample `times` continuations, and keep the likeliest of them."""
    rows: list[tuple[int, ...]] = [()] * times
    total, reader = torch.zeros(times, dtype=torch.float64), Reader(model, prompt, never)
    for _ in range(count):
        logs = reader.next_logs(list(enumerate(rows)))
        tokens = torch.multinomial(logs.exp(), 1)
        total += logs.gather(1, tokens)[:, 0]
        rows = [(*row, token) for row, token in zip(rows, tokens[:, 0].tolist(), strict=True)]
    return sorted(map(Written, total.tolist(), rows), reverse=True)[:kept]


def one_of_each(
    written: Sequence[Written], embeddings: np.ndarray, kept: int, clusters: int, seed: int
) -> list[Written]:
    """Keep the likeliest of each cluster of more than two, then the second of larger ones (post-decoding clustering).

    Where fewer than `kept` are in such clusters, the others follow.
    """
    number = _clusters(embeddings, [one.ids for one in written], clusters, seed)
    groups = [[one for one, own in zip(written, number, strict=True) if own == cluster] for cluster in set(number)]
    large = sorted((sorted(group, reverse=True) for group in groups if len(group) > 2), key=len, reverse=True)
    turns = [group[place] for place in range(len(written)) for group in large if place < len(group)]
    others = sorted((one for group in groups if len(group) <= 2 for one in group), reverse=True)
    return [*turns, *others][:kept]


class Reader:
    """The probabilities of the next token of rows that continue one prompt; keeps what the model has read.

    Args:
        model: see `beam_search`. prompt, never: likewise.
    """

    def __init__(self, model: Model, prompt: Sequence[int], never: Sequence[int]) -> None:
        self.model, self.prompt, self.never = model, prompt, list(never)
        self.read: Any = None

    def next_logs(self, rows: Sequence[tuple[int, Sequence[int]]]) -> torch.Tensor:
        """Natural logarithms of the next token of each row, renormalised without `never`, (b, V).

        Args:
            rows: of each the number of the row of the last call that it extends by one token, and its tokens.
        """
        device = next(self.model.parameters()).device
        if self.read is None:
            ids = torch.tensor([self.prompt] * len(rows), device=device)
        else:
            ids = torch.tensor([row[-1:] for _, row in rows], device=device)
            self.read.reorder_cache(torch.tensor([parent for parent, _ in rows], device=device))
        out = self.model(input_ids=ids, past_key_values=self.read, use_cache=True, logits_to_keep=1)
        self.read = out.past_key_values
        logits: torch.Tensor = out.logits[:, -1].double().cpu()
        logits[:, self.never] = -math.inf
        return logits.log_softmax(-1)


def _ranked(
    model: Model, prompt: Sequence[int], rows: Sequence[tuple[int, ...]], never: Sequence[int]
) -> list[Written]:
    """Rows with their log-probabilities, the likeliest first."""
    ids = torch.tensor([[*prompt, *row] for row in rows], device=next(model.parameters()).device)
    logits = model(input_ids=ids).logits[:, len(prompt) - 1 : -1].double().cpu()
    logits[..., list(never)] = -math.inf
    picked = logits.log_softmax(-1).gather(2, torch.tensor(rows)[:, :, None])[..., 0]
    return sorted(map(Written, picked.sum(dim=1).tolist(), rows), reverse=True)


def _clusters(embeddings: np.ndarray, rows: Sequence[Sequence[int]], clusters: int, seed: int) -> list[int]:
    """The cluster of each row by k-means of the mean embeddings of its tokens."""
    means = np.array([embeddings[list(row)].mean(axis=0) for row in rows])
    different = min(clusters, len(np.unique(means, axis=0)))
    found: list[int] = KMeans(different, n_init=3, random_state=seed).fit_predict(means).tolist()
    return found
