"""Number of different n-grams of texts, evenness of their frequencies, and length of texts."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from mauve_metric.arrays import Floats
from mauve_metric.lexical.ngrams import ngram_counts
from mauve_metric.lexical.tokens import Tokens, number_tokens


def distinct_n(texts: Sequence[Tokens], n: int = 4) -> float:
    """Distinct n-grams over all n-grams of the texts pooled; in [0, 1], higher is more diverse.

    Texts shorter than n add none; without any n-gram the share is 0. It falls with the number of texts, so only sets
    of one size compare (Pillutla et al. 2021, with n = 4).

    Args:
        texts: tokens of each text.
        n: tokens of an n-gram, at least 1.

    Raises:
        TypeError: a text is a string.
        ValueError: n below 1.

    >>> distinct_n([["a", "b", "a", "b"]], n=2)
    0.6666666666666666
    """
    counts = ngram_counts(texts, n)
    total = int(counts.times.sum())
    return counts.num_grams / total if total else 0.0


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


def distinct_n_per_text(texts: Sequence[Tokens], n: int = 4, groups: Sequence[Hashable] | None = None) -> Floats:
    """Distinct n-grams of each text over its tokens; in [0, 1], higher is more diverse (Li et al. 2016, §5.3).

    The denominator is the number of tokens, not of n-grams, so a text without repetition has 1 - (n - 1) / length. The
    mean over texts does not move with their number. With `groups`, such as the prompt of each text, the texts of one
    group are taken together (Ippolito et al. 2019, §4).

    Args:
        texts: tokens of each text.
        n: tokens of an n-gram, at least 1.
        groups: one for each text; without them each text is a group.

    Returns:
        One share for each text, shape (n,), or for each group in order of appearance; 0 for texts without tokens.

    Raises:
        TypeError: a text is a string.
        ValueError: n below 1, or not one group for each text.

    >>> distinct_n_per_text([["a", "b", "a", "b"], ["a", "b"]], n=2)
    array([0.5, 0.5])
    """
    if groups is not None and len(groups) != len(texts):
        raise ValueError(f"groups must be one for each of the {len(texts)} texts, got {len(groups)}")
    tokens = number_tokens(texts)
    counts = ngram_counts(tokens, n)
    if groups is None:
        return np.bincount(counts.text, minlength=len(tokens)) / np.maximum(tokens.lengths, 1)
    number = {group: place for place, group in enumerate(dict.fromkeys(groups))}
    group_of = np.fromiter(map(number.__getitem__, groups), dtype=np.int64, count=len(groups))
    base = max(counts.num_grams, 1)
    different = np.bincount(np.unique(group_of[counts.text] * base + counts.gram) // base, minlength=len(number))
    return different / np.maximum(np.bincount(group_of, weights=tokens.lengths, minlength=len(number)), 1)


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


def distinct_of_prompts(texts: Sequence[Tokens], prompts: Sequence[Hashable], n: int = 2) -> Floats:
    """`distinct_n_per_text` of the texts of each prompt together, (G,), in order of appearance.

    >>> distinct_of_prompts([["a", "b"], ["a", "c"], ["d", "d"]], ["x", "x", "y"], n=1)
    array([0.75, 0.5 ])
    """
    return distinct_n_per_text(texts, n, prompts)


def entropy_of_prompts(texts: Sequence[Tokens], prompts: Sequence[Hashable], n: int = 4) -> Floats:
    """`entropy_n` of the texts of each prompt together (Ippolito et al. 2019, §4), (G,), in order of appearance.

    Args:
        texts: tokens of each text. prompts: one for each text. n: tokens of an n-gram, at least 1.

    Raises:
        TypeError: a text is a string. ValueError: n below 1, or the texts of a prompt have no n-gram.

    >>> entropy_of_prompts([["a", "b"], ["c", "d"], ["e", "e"]], ["x", "x", "y"], n=1).round(4)
    array([1.3863, 0.    ])
    """
    members: dict[Hashable, list[Tokens]] = {}
    for text, prompt in zip(texts, prompts, strict=True):
        members.setdefault(prompt, []).append(text)
    return np.array([entropy_n(own, n) for own in members.values()])


def lengths(texts: Sequence[Tokens]) -> Floats:
    """Number of tokens of each text, shape (n,); the closer its mean to that of human texts the better.

    >>> lengths([["a", "b"], ["a"]])
    array([2., 1.])
    """
    return number_tokens(texts).lengths.astype(np.float64)


def mean_length(texts: Sequence[Tokens]) -> float:
    """Mean number of tokens; 0 without texts.

    >>> mean_length([["a", "b"], ["a"]])
    1.5
    """
    return float(lengths(texts).mean()) if texts else 0.0
