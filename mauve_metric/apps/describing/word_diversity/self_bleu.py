"""Self-BLEU, and other measures of the overlap of texts: shared n-grams, Vendi score, diversity of a prompt's texts."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from mauve_metric.apps.lexical.ngrams import NgramCounts, ngram_counts, starts_run
from mauve_metric.apps.lexical.tokens import Tokens, number_tokens
from mauve_metric.arrays import Floats, Integers
from mauve_metric.measures.groups import number_items
from mauve_metric.runtime.checks import check_least

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_NO_MATCH = 0.1  # in place of a numerator of 0: smoothing method 1 of Chen & Cherry 2014, as in NLTK
LONGEST = 4
_BLOCK_ROWS = 500  # of the kernel that are made at once


def self_bleu(texts: Sequence[Tokens], n: int = 4) -> float:
    """Mean BLEU of the texts, each against all others as its references (Zhu et al. 2018, §3.4).

    In [0, 1]: 1 if every text (of at least n tokens) has a twin, lower is more diverse. It rises with the number of
    texts, so only sets of one size compare; a mean of dependent parts, it has no bootstrap interval. All
    texts are scored against all others, in time linear in the tokens, where the usual implementations draw a sample.

    Args:
        texts: tokens of each text, at least 2 texts.
        n: longest n-grams; those of 1 to n tokens have equal weight.

    Raises:
        TypeError: a text is a string.
        ValueError: fewer than 2 texts, or n below 1.

    >>> self_bleu([["so", "we", "beat", "on"], ["so", "we", "beat", "on"]])
    1.0
    """
    return float(bleu_against_others(texts, n).mean())


def bleu_against_others(texts: Sequence[Tokens], n: int = 4) -> Floats:
    """BLEU of each text with all others as its references, equal to NLTK's `sentence_bleu` with smoothing method 1.

    The geometric mean of the clipped precisions of 1- to n-grams (a precision without a match has 0.1 as numerator, one
    without n-grams 1 as denominator), times exp(1 - r / length) where the closest reference's length r is not below
    the text's; of two at one distance the shorter. 0 without a token that another text has. An n-gram is clipped at the
    most that another text has of it: the largest count of all, unless it is this text's alone, then the second largest.

    Args:
        texts: tokens of each text, at least 2 texts.
        n: longest n-grams.

    Returns:
        Scores in [0, 1], shape (n,); lower is further from the others.

    Raises:
        TypeError: a text is a string.
        ValueError: fewer than 2 texts, or n below 1.

    >>> bleu_against_others([["a"], ["a"]]).round(6)  # the value of one known token: .1 to the power of 3/4
    array([0.177828, 0.177828])
    """
    check_least("n", n)
    if len(texts) < 2:
        raise ValueError(f"self_bleu compares each text with the others and needs at least 2 texts, got {len(texts)}")
    tokens = number_tokens(texts)
    logarithms, has_match = np.zeros(len(texts)), np.zeros(len(texts), dtype=bool)
    for order in range(1, n + 1):
        counts = ngram_counts(tokens, order)
        matches = counts.per_text(np.minimum(counts.times, _most_elsewhere(counts)))
        has_match = matches > 0 if order == 1 else has_match
        possible = np.maximum(tokens.lengths - order + 1, 1)
        logarithms += np.log(np.where(matches > 0, matches, _NO_MATCH) / possible)
    by_length = np.argsort(tokens.lengths, kind="stable")
    ranked = tokens.lengths[by_length].astype(np.float64)
    below, above = np.append(-np.inf, ranked[:-1]), np.append(ranked[1:], np.inf)
    closest = np.empty(len(texts))
    closest[by_length] = np.where(ranked - below <= above - ranked, below, above)
    brevity = np.exp(np.minimum(1 - closest / np.maximum(tokens.lengths, 1), 0))
    return np.where(has_match, brevity * np.exp(logarithms / n), 0.0)


def self_repetition(texts: Sequence[Tokens], n: int = 4) -> float:
    """Mean over texts of log(1 + Σ over its different n-grams of the number of other texts with the n-gram).

    At least 0, without bound; lower is more diverse, 0 if no two texts share an n-gram (Salkar et al. 2022; Shaib et
    al. 2024, §3). It rises with the number of texts and with their length.

    Args:
        texts: tokens of each text, at least 2 texts.
        n: tokens of an n-gram, at least 1.

    Raises:
        TypeError: a text is a string.
        ValueError: fewer than 2 texts, or n below 1.

    >>> round(self_repetition([["a", "b", "c"], ["a", "b"], ["d", "e"]], n=2), 4)  # log 2, log 2, log 1
    0.4621
    """
    if len(texts) < 2:
        raise ValueError(f"self_repetition compares texts with each other and needs at least 2, got {len(texts)}")
    counts = ngram_counts(texts, n)
    texts_with = np.bincount(counts.gram, minlength=counts.num_grams)
    return float(np.log1p(counts.per_text(texts_with[counts.gram] - 1)).mean())


def _most_elsewhere(counts: NgramCounts) -> Integers:
    """The largest count of each entry's n-gram in a text other than the entry's, (e,)."""
    if not len(counts.gram):
        return counts.times
    first = np.flatnonzero(starts_run(counts.gram))
    most = np.maximum.reduceat(counts.times, first)[counts.gram]
    is_most = counts.times == most
    alone = is_most & (np.add.reduceat(is_most.astype(np.int64), first)[counts.gram] == 1)
    second = np.maximum.reduceat(np.where(is_most, 0, counts.times), first)[counts.gram]
    return np.where(alone, second, most)


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
    for rows in ngram_unit_rows(texts, n):
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
    for rows in ngram_unit_rows(texts, n):
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


def ngram_unit_rows(texts: Sequence[Tokens], n: int = LONGEST) -> Iterator[csr_array]:
    """For 1- to n-grams in turn: the counts of each text, a sparse row of length one for each, (texts, n-grams).

    Raises:
        TypeError: a text is a string.
        ValueError: n below 1.
    """
    from scipy.sparse import csr_array

    check_least("n", n)
    tokens = number_tokens(texts)
    whole = {index: tuple(texts[index]) for index in np.flatnonzero(tokens.lengths < n).tolist()}
    number = {text: column for column, text in enumerate(dict.fromkeys(whole.values()))}
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
    prompt_of = number_items(prompts)
    sizes = np.bincount(prompt_of)
    if not (sizes > 1).any():
        raise ValueError(f"prompts must have one with several texts, got {len(sizes)} prompts with one text each")
    return prompt_of, sizes
