"""Similarity of texts by shared n-grams: Vendi score, and diversity of the texts of one prompt."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from mauve_metric.arrays import Floats, Integers
from mauve_metric.lexical.ngrams import ngram_counts
from mauve_metric.lexical.tokens import Tokens, number_tokens
from mauve_metric.runtime.checks import check_least

if TYPE_CHECKING:
    from scipy.sparse import csr_array

LONGEST = 4
_BLOCK_ROWS = 500  # of the kernel that are made at once


def vendi_ngrams(texts: Sequence[Tokens], n: int = LONGEST) -> float:
    """Effective number of different texts, exp(-Σ λ log λ) with λ the eigenvalues of K / n (Friedman & Dieng 2023, §5).

    K is the mean of the cosine kernels of the counts of 1- to n-grams; the only n-gram of a shorter text is the text
    itself, so that every text is as similar to itself as can be. In [1, number of texts], higher is more diverse: 1 if
    all are equal, the number of texts if no two share a token. It grows with the number of texts, so only sets of one
    size compare. Takes 8 bytes and time for each pair of texts, and the eigenvalues time that grows with the cube.

    Args:
        texts: tokens of each text, at least 1 text.
        n: longest n-grams, at least 1.

    Raises:
        TypeError: a text is a string.
        ValueError: no texts, or n below 1.

    >>> round(vendi_ngrams([["a", "b"], ["a", "b"], ["c", "d"], ["c", "d"]]), 6)
    2.0
    """
    from scipy.linalg import eigvalsh

    if not len(texts):
        raise ValueError("vendi_ngrams needs at least 1 text, got none")
    kernel = np.zeros((len(texts), len(texts)))
    for rows in unit_rows(texts, n):
        for start in range(0, len(texts), _BLOCK_ROWS):
            kernel[start : start + _BLOCK_ROWS] += (rows[start : start + _BLOCK_ROWS] @ rows.T).toarray()
    kernel /= n * len(texts)
    shares = eigvalsh(kernel, overwrite_a=True, check_finite=False)
    shares = shares[shares > 0]  # a kernel has none below, up to rounding
    return float(np.clip(np.exp(-(shares * np.log(shares)).sum()), 1.0, len(texts)))


def prompt_diversity(texts: Sequence[Tokens], prompts: Sequence[Hashable], n: int = LONGEST) -> Floats:
    """Mean over pairs of a prompt's texts of 1 minus their similarity, the kernel K of `vendi_ngrams`.

    In [0, 1], higher is more diverse: 0 if all texts of a prompt are equal, 1 if no two share a token. It does not move
    with the number of texts of a prompt (the average pairwise distance of Tevet & Berant 2021, §3.2).

    Args:
        texts: tokens of each text.
        prompts: the prompt of each text, equal for texts of one prompt.
        n: longest n-grams, at least 1.

    Returns:
        One value for each prompt that has several texts, in order of appearance.

    Raises:
        TypeError: a text is a string.
        ValueError: not one prompt for each text, no prompt with several texts, or n below 1.

    >>> prompt_diversity([["a"], ["b"], ["c"], ["c"], ["d"]], ["p", "p", "q", "q", "r"])
    array([1., 0.])
    """
    from scipy.sparse import csr_array

    prompt_of, sizes = _numbered_prompts(texts, prompts)
    places = np.arange(len(texts))
    belongs = csr_array((np.ones(len(texts)), (prompt_of, places)), shape=(len(sizes), len(texts)))
    similar = np.zeros(len(sizes))
    for rows in unit_rows(texts, n):
        together = belongs @ rows
        similar += together.multiply(together).sum(axis=1)
    pairs = np.maximum(sizes * (sizes - 1), 1)
    mean: Floats = np.clip(1 - (similar / n - sizes) / pairs, 0.0, 1.0)[sizes > 1]
    return mean


def prompt_distinct(texts: Sequence[Tokens], prompts: Sequence[Hashable]) -> Floats:
    """Different texts of a prompt over its texts, compared token by token; in [0, 1], higher is more diverse.

    It falls with the number of texts of a prompt, so only equal numbers compare.

    Args:
        texts: tokens of each text.
        prompts: the prompt of each text, equal for texts of one prompt.

    Returns:
        One share for each prompt that has several texts, in order of appearance.

    Raises:
        TypeError: a text is a string.
        ValueError: not one prompt for each text, or no prompt with several texts.

    >>> prompt_distinct([["a"], ["b"], ["c"], ["c"], ["d"]], ["p", "p", "q", "q", "r"])
    array([1. , 0.5])
    """
    prompt_of, sizes = _numbered_prompts(texts, prompts)
    answers = set(zip(prompt_of.tolist(), map(tuple, number_tokens(texts)), strict=True))
    different = np.bincount([prompt for prompt, _ in answers])
    return (different / sizes)[sizes > 1]


def unit_rows(texts: Sequence[Tokens], n: int = LONGEST) -> Iterator[csr_array]:
    """For 1- to n-grams in turn: the counts of each text, a sparse row of length one for each, (texts, n-grams).

    Raises:
        TypeError: a text is a string.
        ValueError: n below 1.
    """
    from scipy.sparse import csr_array

    check_least("n", n)
    tokens = number_tokens(texts)
    whole = {index: tuple(texts[index]) for index in np.flatnonzero(tokens.lengths < n).tolist()}
    number = {text: place for place, text in enumerate(dict.fromkeys(whole.values()))}
    for order in range(1, n + 1):
        counts = ngram_counts(tokens, order)
        short = [index for index in whole if tokens.lengths[index] < order]
        squares = counts.per_text(counts.times * counts.times)
        entries = np.concatenate([counts.times / np.sqrt(squares[counts.text]), np.ones(len(short))])
        columns = [*(counts.num_grams + number[whole[index]] for index in short)]
        places = (np.append(counts.text, short).astype(np.int64), np.append(counts.gram, columns).astype(np.int64))
        yield csr_array((entries, places), shape=(len(texts), counts.num_grams + len(number)))


def _numbered_prompts(texts: Sequence[Tokens], prompts: Sequence[Hashable]) -> tuple[Integers, Integers]:
    """The number of each text's prompt, (n,), and how many texts each prompt has, (m,)."""
    if len(prompts) != len(texts):
        raise ValueError(f"prompts must be one for each of the {len(texts)} texts, got {len(prompts)}")
    number = {prompt: place for place, prompt in enumerate(dict.fromkeys(prompts))}
    prompt_of = np.fromiter(map(number.__getitem__, prompts), dtype=np.int64, count=len(prompts))
    sizes = np.bincount(prompt_of)
    if not (sizes > 1).any():
        raise ValueError(f"prompts must have one with several texts, got {len(number)} prompts with one text each")
    return prompt_of, sizes
