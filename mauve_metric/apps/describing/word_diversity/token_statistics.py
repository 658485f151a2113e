"""Statistics of the n-grams and tokens of a set of texts: shares, entropy, frequencies, compression."""

from __future__ import annotations

import math
import zlib
from collections.abc import Hashable, Sequence
from typing import Literal

import numpy as np

from mauve_metric.apps.lexical.ngrams import ngram_counts
from mauve_metric.apps.lexical.tokens import Tokens, number_tokens
from mauve_metric.arrays import Floats
from mauve_metric.measures.groups import number_items
from mauve_metric.runtime.checks import check_known, check_least

TOP_RANKS = 5000
_STEPS = 15  # of the logarithm of the rank, where ranks are thinned
_GZIP = 16 + zlib.MAX_WBITS  # the format, with the largest window


def distinct_n_once(texts: Sequence[Tokens], n: int = 4) -> float:
    """N-grams that occur once in all texts over all n-grams; in [0, 1] (the tool of Holtzman et al. 2020).

    Higher is more diverse. At most `distinct_n`, since an n-gram that comes twice counts nothing here. It falls with
    the number of texts, so only sets of one size compare; without any n-gram it is 0.

    Args:
        texts: tokens of each text.
        n: tokens of an n-gram, at least 1.

    Raises:
        TypeError: a text is a string.
        ValueError: n below 1.

    >>> distinct_n_once([["a", "b", "a", "b"]], n=2)
    0.3333333333333333
    """
    frequencies = ngram_counts(texts, n).frequencies
    total = int(frequencies.sum())
    return int((frequencies == 1).sum()) / total if total else 0.0


def distinct_n_per_text(
    texts: Sequence[Tokens],
    n: int = 4,
    groups: Sequence[Hashable] | None = None,
    *,
    over: Literal["ngrams", "tokens"] = "ngrams",
) -> Floats:
    """Distinct n-grams of each text over its n-grams; in (0, 1], 1 without repetition, whatever the length.

    The mean over texts does not move with their number. With `groups`, such as the prompt of each text, the texts of
    one group are taken together (Ippolito et al. 2019, §4). Li et al. 2016, §5.3, divide by the tokens: a text without
    repetition has 1 - (n - 1) / length there, so that short texts seem less diverse.

    Args:
        texts: tokens of each text.
        n: tokens of an n-gram, at least 1.
        groups: one for each text; without them each text is a group.
        over: "tokens" divides as Li et al. do.

    Returns:
        One share for each text, shape (n,), or for each group in order of appearance; NaN for those with nothing to
        divide by.

    Raises:
        TypeError: a text is a string.
        ValueError: n below 1, not one group for each text, or another denominator.

    >>> distinct_n_per_text([["a", "b", "a", "b"], ["a", "b"], ["a"]], n=2).round(4).tolist()
    [0.6667, 1.0, nan]
    >>> distinct_n_per_text([["a", "b", "a", "b"], ["a", "b"]], n=2, over="tokens")
    array([0.5, 0.5])
    """
    check_known("over", over, ("ngrams", "tokens"))
    if groups is not None and len(groups) != len(texts):
        raise ValueError(f"groups must be one for each of the {len(texts)} texts, got {len(groups)}")
    tokens = number_tokens(texts)
    counts = ngram_counts(tokens, n)
    group_of = np.arange(len(tokens)) if groups is None else number_items(groups)
    sizes = tokens.lengths if over == "tokens" else counts.per_text(counts.times)
    total = np.bincount(group_of, weights=sizes) if len(tokens) else np.zeros(0)
    base = max(counts.num_grams, 1)
    cells = np.unique(group_of[counts.text] * base + counts.gram)
    distinct = np.bincount(cells // base, minlength=len(total))
    shares: Floats = np.divide(distinct, total, out=np.full(len(total), np.nan), where=total > 0)
    return shares


def repeated_ngrams(texts: Sequence[Tokens], n: int = 4) -> Floats:
    """rep-n: share of the n-grams of a text that the text has had before, over all texts (Su et al. 2022, §4.2).

    1 - Σ distinct / Σ n-grams, both counted within each text; seq-rep-n of Welleck et al. 2020 is the mean of the
    shares of the texts. The public code of Su et al. splits at blanks and leaves the last n-gram of each text out.

    Args:
        texts: tokens of each text. n: tokens of an n-gram, at least 1.

    Returns:
        Numbers (n,) with the share, in [0, 1), as their mean, and its error as their scatter (see `mean_by_text`).

    Raises:
        TypeError: a text is a string. ValueError: n below 1, or no text has n tokens.

    >>> repeated_ngrams([["a", "b", "a", "b"], ["c", "d"]], n=2).mean().round(6).tolist()
    0.25
    """
    counts = ngram_counts(texts, n)
    distinct, grams = counts.per_text(np.ones_like(counts.times)), counts.per_text(counts.times)
    if not grams.sum():
        raise ValueError(f"rep-{n} needs a text of at least {n} tokens, got {len(texts)} shorter ones")
    share = 1 - distinct.sum() / grams.sum()
    numbers: Floats = share + ((grams - distinct) - share * grams) * len(grams) / grams.sum()
    return numbers


def unrepeated(texts: Sequence[Tokens]) -> Floats:
    """The product of 1 - rep-n for n = 2, 3, 4, called diversity (Su et al. 2022, §4.2; Li et al. 2023, §5.2).

    Returns:
        Numbers (n,) with the product, in (0, 1], as their mean, and its error as their scatter: `repeated_ngrams`
        carried through the product.

    Raises:
        TypeError: a text is a string. ValueError: no text has four tokens.

    >>> unrepeated([["a", "b", "a", "b", "a"]]).mean().round(6).tolist()  # 2/4 · 2/3 · 2/2
    0.333333
    """
    new = [1 - repeated_ngrams(texts, n) for n in (2, 3, 4)]
    shares = [values.mean() for values in new]
    product = np.prod(shares)
    numbers: Floats = product * (1 + sum((values - share) / share for values, share in zip(new, shares, strict=True)))
    return numbers


def entropy_per_text(texts: Sequence[Tokens]) -> Floats:
    """Entropy in nats of the tokens of each text, (n,), NaN without tokens; the human value is best.

    At most the logarithm of the text's length, with which it grows: compare texts of one length. Papers on text
    diffusion report it in the tokens of the model (Dieleman et al. 2022; Sahoo et al. 2024).

    Args:
        texts: tokens of each text.

    Raises:
        TypeError: a text is a string.

    >>> entropy_per_text([["a", "b"], ["a", "a"]]).round(4).tolist()
    [0.6931, 0.0]
    """
    counts = ngram_counts(texts, 1)
    size = counts.per_text(counts.times)
    shares = counts.times / size[counts.text]
    entropies = np.bincount(counts.text, -shares * np.log(shares), counts.num_texts)
    return np.where(size > 0, np.maximum(entropies, 0.0), np.nan)


def entropy_n(texts: Sequence[Tokens], n: int = 4) -> float:
    """Entropy in nats of the n-grams of the texts pooled, -Σ F/ΣF log F/ΣF (Zhang et al. 2018, §4.2: Ent-n).

    At least 0 and at most the logarithm of the number of n-grams; higher is more diverse, and n-grams that are all
    different, or equally frequent, have the most. It grows with the number of texts, so only sets of one size compare.

    Args:
        texts: tokens of each text.
        n: tokens of an n-gram, at least 1.

    Raises:
        TypeError: a text is a string.
        ValueError: n below 1, or no text has n tokens.

    >>> round(entropy_n([["a", "b"], ["c", "d", "d", "c"]], n=1) - 1.0986, 3) > 0
    True
    """
    frequencies = ngram_counts(texts, n).frequencies
    if not len(frequencies):
        raise ValueError(f"entropy_n needs a text of at least n = {n} tokens, got {len(texts)} shorter ones")
    shares = frequencies / frequencies.sum()
    return max(0.0, float(-(shares * np.log(shares)).sum()))


def distinct_of_prompts(
    texts: Sequence[Tokens],
    prompts: Sequence[Hashable],
    n: int = 2,
    *,
    over: Literal["ngrams", "tokens"] = "ngrams",
) -> Floats:
    """`distinct_n_per_text` of the texts of each prompt together, (G,), in order of appearance.

    over: see there.

    >>> distinct_of_prompts([["a", "b"], ["a", "c"], ["d", "d"]], ["x", "x", "y"], n=1)
    array([0.75, 0.5 ])
    """
    return distinct_n_per_text(texts, n, prompts, over=over)


def entropy_of_prompts(texts: Sequence[Tokens], prompts: Sequence[Hashable], n: int = 4) -> Floats:
    """`entropy_n` of the texts of each prompt together (Ippolito et al. 2019, §4), (G,), in order of appearance.

    Args:
        texts: tokens of each text. prompts: one for each text. n: tokens of an n-gram, at least 1.

    Returns:
        NaN for a prompt whose texts have no n-gram.

    Raises:
        TypeError: a text is a string. ValueError: n below 1.

    >>> entropy_of_prompts([["a", "b"], ["c", "d"], ["e", "e"]], ["x", "x", "y"], n=1).round(4)
    array([1.3863, 0.    ])
    """
    members: dict[Hashable, list[Tokens]] = {}
    for text, prompt in zip(texts, prompts, strict=True):
        members.setdefault(prompt, []).append(text)
    check_least("n", n)
    long_enough = [any(len(text) >= n for text in of_prompt) for of_prompt in members.values()]
    entropies = [
        entropy_n(of_prompt, n) if is_long else math.nan
        for of_prompt, is_long in zip(members.values(), long_enough, strict=True)
    ]
    return np.array(entropies)


def types_of_mass(texts: Sequence[Tokens], mass: float = 0.8) -> float:
    """Number of the most frequent different tokens that make up a share `mass` of all tokens.

    Ippolito et al. 2020, §6: sampling from truncated distributions needs fewer than people do.

    Args:
        texts: tokens of each text. mass: the share, in (0, 1].

    Returns:
        At least 1; the closer to the human texts' value the better. It grows with the number of texts.

    Raises:
        TypeError: a text is a string. ValueError: mass out of range, or no token.

    >>> types_of_mass([["a"] * 5 + ["b"] * 3 + ["c"] * 2])
    2.0
    """
    if not 0 < mass <= 1:
        raise ValueError(f"mass must be above 0 and at most 1, got {mass}")
    frequencies = np.sort(ngram_counts(texts, 1).frequencies)[::-1]
    if not len(frequencies):
        raise ValueError("types_of_mass needs at least one token, got none")
    reached = np.cumsum(frequencies) >= mass * frequencies.sum() * (1 - 1e-12)
    return float(reached.argmax() + 1)


def zipf_coefficient(texts: Sequence[Tokens], ranks: int | None = TOP_RANKS, thinned: bool = False) -> float:
    """Minus the least-squares slope of log frequency on log rank; human text is near 1 (Holtzman et al. 2020, §5.2).

    The most frequent token has rank 1. A steeper fall (higher) is less diverse, so the closer to the human texts' value
    the better. Holtzman et al. take all ranks (`ranks=None`). The tables of Pillutla et al. 2021 come from thinned
    ranks: 1 to one below `ranks` or the vocabulary, of which the first stays for each different value of
    round(15 ln rank) / 15, and this value is the abscissa, so that the many rare tokens do not rule the line.

    Args:
        texts: tokens of each text.
        ranks: how many of the most frequent tokens count, at least 2; None for all.
        thinned: the rule of Pillutla et al.

    Returns:
        At least 0: frequencies do not rise with the rank. It moves with the number of texts.

    Raises:
        TypeError: a text is a string.
        ValueError: ranks below 2, or too few different tokens for a line.

    >>> round(zipf_coefficient([["a"] * 60 + ["b"] * 30 + ["c"] * 20 + ["d"] * 15]), 6)
    1.0
    """
    if ranks is not None and ranks < 2:
        raise ValueError(f"ranks must be at least 2 or None, got {ranks}")
    frequencies = np.sort(ngram_counts(texts, 1).frequencies)[::-1][:ranks]
    if len(frequencies) < (3 if thinned else 2):
        raise ValueError(
            f"zipf_coefficient needs at least {3 if thinned else 2} different tokens, got {len(frequencies)}"
        )
    x = np.log(np.arange(1, len(frequencies) + 1))
    if thinned:
        x, kept = np.unique(np.round(x[:-1] * _STEPS) / _STEPS, return_index=True)
        frequencies = frequencies[kept]
    y = np.log(frequencies)
    x = x - x.mean()
    return max(float(-(x @ (y - y.mean())) / (x @ x)), 0.0)


def compression_ratio(texts: Sequence[str]) -> float:
    """Bytes of all texts, joined by spaces, over their bytes after gzip; human prose is near 2.5 (Shaib et al. 2024).

    Above 0: higher is more redundant, so the closer to the human texts' value the better. The window of gzip holds 32
    kB, so it sees repetition within a text and between neighbours, and the value depends on the order and the length of
    the texts; below some hundred texts also on their number. (The tool of the paper compresses twice and rounds.)

    Args:
        texts: strings.

    Raises:
        ValueError: there are no letters in the texts.

    >>> compression_ratio(["to be or not to be"] * 1000) > 100
    True
    """
    compressor, size, packed = zlib.compressobj(9, zlib.DEFLATED, _GZIP), 0, 0
    for index, text in enumerate(texts):
        data = (" " * (index > 0) + text).encode("utf-8", "surrogatepass")
        size += len(data)
        packed += len(compressor.compress(data))
    if not any(texts):
        raise ValueError(f"compression_ratio needs a text that is not empty, got {len(texts)} empty ones")
    return size / (packed + len(compressor.flush()))
