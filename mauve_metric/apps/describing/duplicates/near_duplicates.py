"""Texts that are nearly the same (most phrases in common, most words in the same order), and one text of each kind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mauve_metric.apps.describing.word_diversity.splitting import spaced_tokens
from mauve_metric.apps.lexical.ngrams import ngram_counts
from mauve_metric.apps.lexical.tokens import Tokens
from mauve_metric.arrays import Integers, MeasuredValue
from mauve_metric.inputs.fingerprints import OPENING_WORDS
from mauve_metric.measures.groups import same_origin
from mauve_metric.runtime.checks import check_count, check_number, or_none
from mauve_metric.runtime.errors import EmptyTexts, WrongOption
from mauve_metric.runtime.optional_imports import import_datasketch, import_edit_distance
from mauve_metric.runtime.plain_text import counted

if TYPE_CHECKING:
    from scipy.sparse import csr_array

COMMON_OPENING = 0.1  # of all texts: an opening that more share is a manner of writing, not a prompt
_ROWS = 256  # texts that are compared with all others at once


@dataclass(frozen=True)
class NearDuplicateRule:
    """Condition under which two texts count as near duplicates.

    shingle: tokens of the phrases that are compared; a shorter text is one phrase. jaccard: the least share of
    phrases in common. edit: 1 minus the Levenshtein distance of the tokens over the longer length must be above.
    rows, bands: of the MinHash that says which texts are compared, a pair of Jaccard similarity s with probability
    1 - (1 - s^rows)^bands; None compares all. seed: of the MinHash.
    """

    shingle: int = 5
    jaccard: float = 0.8
    edit: float = 0.8
    rows: int | None = None
    bands: int | None = None
    seed: int = 25

    def __post_init__(self) -> None:
        check_count("shingle", self.shingle)
        for name in ("jaccard", "edit"):
            check_number(name, getattr(self, name), "(0, 1]")
        for name in ("rows", "bands"):
            or_none(check_count)(name, getattr(self, name))
        check_count("seed", self.seed, low=0)
        if (self.rows is None) != (self.bands is None):
            raise WrongOption(f"rows and bands belong together, got rows={self.rows} and bands={self.bands}")


EXACT = NearDuplicateRule()


PUBLISHED: Mapping[str, NearDuplicateRule] = {
    "lee": NearDuplicateRule(rows=20, bands=450),  # Lee et al. 2022, §4.2 and appendix A: 9000 hashes
    "strict": NearDuplicateRule(jaccard=0.9, edit=0.9, rows=20, bands=40),  # the same with 800 hashes
}


def near_duplicates(texts: Sequence[str], rule: NearDuplicateRule = EXACT) -> float:
    """Share of texts with a near duplicate in their set; in [0, 1], the closer to that of human texts the better.

    Two texts are near duplicates if their sets of 5-grams have J = |A ∩ B| / |A ∪ B| >= 0.8 and the edit similarity of
    their tokens is above 0.8 (Lee et al. 2022, §4.2). It grows with the number of texts, so only sets of one size
    compare. By default no pair is missed: phrases in common are counted for all pairs that have one,
    in time that grows with the square of the number of texts of one template.

    Args:
        texts: of one set; tokens are separated by blanks, and are characters in scripts without.
        rule: another threshold, or MinHash: one of `PUBLISHED`, or your own.

    Raises:
        ImportError: a rule with MinHash, without `mauve_metric[duplicates]`.

    >>> near_duplicates(["one two three", "one  two three", "four five"])
    0.6666666666666666
    """
    clusters = near_duplicate_clusters(texts, rule)
    return float((np.bincount(clusters)[clusters] > 1).mean()) if len(clusters) else 0.0


def near_duplicate_clusters(texts: Sequence[str], rule: NearDuplicateRule = EXACT) -> Integers:
    """The cluster of each text, by the number of its first one, (n,): texts that near duplicates join.

    Two texts of a cluster may be joined by others between them (connected components, Lee et al. 2022, §4.2).

    >>> near_duplicate_clusters(["one two", "three", "one two"]).tolist()
    [0, 1, 0]
    """
    different, which, first = _different(texts)
    clusters = np.arange(len(different))
    for left, right in _sharing_phrases(different, rule):
        apart = clusters[left] != clusters[right]
        for i, j in zip(left[apart].tolist(), right[apart].tolist(), strict=True):
            low, high = sorted((clusters[i], clusters[j]))
            if low != high and _share_order(different[i], different[j], rule):
                clusters[clusters == high] = low
    return first[clusters][which]


def near_duplicate_partners(texts: Sequence[str], others: Sequence[str], rule: NearDuplicateRule = EXACT) -> Integers:
    """For each text the number of one of the other set that it is a near duplicate of, -1 if there is none, (n,).

    >>> near_duplicate_partners(["three", "four"], ["one two", "three"]).tolist()
    [1, -1]
    """
    different, which, first = _different([*others, *texts])
    border = int(which[: len(others)].max(initial=-1)) + 1  # those before it are of the other set
    partners = np.where(first < len(others), first, -1)
    for left, right in _sharing_phrases(different, rule):
        across = (left < border) & (right >= border)
        for other, text in zip(left[across].tolist(), right[across].tolist(), strict=True):
            if partners[text] < 0 and _share_order(different[text], different[other], rule):
                partners[text] = first[other]
    return partners[which[len(others) :]]


def _different(texts: Sequence[str]) -> tuple[list[Tokens], Integers, Integers]:
    """The tokens of the s different texts, which of them each text is, (n,), and the first text that each is, (s,)."""
    number: dict[Tokens, int] = {}
    which = [number.setdefault(tuple(spaced_tokens(text)), len(number)) for text in texts]
    return list(number), np.array(which, dtype=np.int64), np.unique(which, return_index=True)[1]


def _sharing_phrases(texts: Sequence[Tokens], rule: NearDuplicateRule) -> Iterator[tuple[Integers, Integers]]:
    """Pairs of texts with enough phrases in common, the first of a pair before the second, (m,) each at a time.

    |A ∩ B| / |A ∪ B| >= J where |A ∩ B| >= J (|A| + |B|) / (1 + J), short of rounding.
    """
    if not len(texts):
        return
    phrases = _phrases(texts, rule.shingle)
    columns, sizes = phrases if rule.rows is None else _bands(phrases, rule), np.diff(phrases.indptr)
    for start in range(0, len(texts), _ROWS):
        both = (columns[start : start + _ROWS] @ columns[start:].T).tocoo()
        left, right = both.coords[0] + start, both.coords[1] + start
        later = left < right
        left, right, common = left[later], right[later], both.data[later]
        if rule.rows is not None:
            common = phrases[left].multiply(phrases[right]).sum(axis=1)
        near = common >= rule.jaccard / (1 + rule.jaccard) * (sizes[left] + sizes[right]) - 1e-6
        yield left[near], right[near]


def _phrases(texts: Sequence[Tokens], length: int) -> csr_array:
    """A column for each phrase, 1 in the rows of the texts that have it; a text that is too short is filled up."""
    from scipy.sparse import csr_array

    counts = ngram_counts([(*text, *(None for _ in range(length - len(text)))) for text in texts], length)
    shape = (counts.num_texts, counts.num_grams)
    return csr_array((np.ones(len(counts.gram), dtype=np.int32), (counts.text, counts.gram)), shape=shape)


def _bands(phrases: csr_array, rule: NearDuplicateRule) -> csr_array:
    """A column for each hash of a band of a MinHash, 1 in the rows of the texts that have it (Broder 1997)."""
    from scipy.sparse import csr_array

    sets = np.split(phrases.indices, phrases.indptr[1:-1])
    rows, bands = rule.rows or 1, rule.bands or 1
    signatures = import_datasketch().MinHash.generator(
        map(np.ndarray.tolist, sets), num_perm=rows * bands, seed=rule.seed, hashfunc=int
    )
    hashes = [
        [hash((band, part.tobytes())) for band, part in enumerate(np.split(signature.hashvalues, bands))]
        for signature in signatures
    ]
    columns = np.unique(hashes, return_inverse=True)[1].ravel()
    return csr_array((np.ones(len(columns), dtype=np.int32), (np.repeat(np.arange(len(sets)), bands), columns)))


def _share_order(left: Tokens, right: Tokens, rule: NearDuplicateRule) -> bool:
    """Return whether two texts have enough tokens in the same order."""
    similarity = import_edit_distance().Levenshtein.normalized_similarity(left, right)
    return bool(similarity > rule.edit or similarity == 1)


def near_duplicates_across(
    human: Sequence[str], model: Sequence[str], *, seed: int = 25, level: float = 0.95
) -> MeasuredValue:
    """Share of model texts with a near duplicate among the human texts; in [0, 1], lower is better.

    Near duplicates are those of `near_duplicates`. The interval is Wilson's for a share of independent texts,
    against these human texts (Wilson 1927). More human texts can only raise it. Lee et al. 2022, §4.2.

    Args:
        human, model: texts.
        seed: not used; nothing is drawn.
        level: of the interval.

    >>> near_duplicates_across(["a story"], ["a story", "another one"]).value
    0.5
    """
    from scipy.stats import binomtest

    if not len(model):
        raise EmptyTexts.of("model", "holds no texts")
    duplicates = int((near_duplicate_partners(model, human) >= 0).sum())
    low, high = binomtest(duplicates, len(model)).proportion_ci(level, method="wilson")
    return MeasuredValue(duplicates / len(model), (float(low), float(high)))


class Deduplication(NamedTuple):
    """Texts of a set that remain after deduplication.

    kept, removed: numbers of texts, ascending. stands_for: for each removed one the text that is kept in its place, a
    number of the set, or of `against` where `from_against` is true, (r,).
    """

    kept: Integers
    removed: Integers
    stands_for: Integers
    from_against: NDArray[np.bool_]

    def __str__(self) -> str:
        within = int((~self.from_against).sum())
        return (
            f"kept {len(self.kept)} of {counted(len(self.kept) + len(self.removed), 'text')}: {within} nearly repeat a "
            f"text of the set, {len(self.removed) - within} one of the texts to keep apart from"
        )


def deduplicate(texts: Sequence[str], against: Sequence[str] = (), rule: NearDuplicateRule = EXACT) -> Deduplication:
    """Keep one text of each cluster of near duplicates, and none where a text of `against` is in it.

    This removes from training text the overlap with human or test texts, which stay whole (Lee et al. 2022, §4.2).

    Args:
        texts: to thin out; the first of a cluster is kept.
        against: texts that are kept in any case, such as the human ones or a test set.
        rule: when two texts are near duplicates.

    >>> deduplicate(["one two", "three", "one two", "four"], against=["four"]).kept.tolist()
    [0, 1]
    """
    clusters = near_duplicate_clusters([*against, *texts], rule)[len(against) :]
    keeps = clusters == np.arange(len(against), len(against) + len(texts))
    removed = np.nonzero(~keeps)[0]
    from_against = clusters[removed] < len(against)
    stands_for = np.where(from_against, clusters[removed], clusters[removed] - len(against))
    return Deduplication(np.nonzero(keeps)[0], removed, stands_for, from_against)


# --- groups of dependent texts, to be kept in one fold: copies, and answers to one prompt -----------------------------


def texts_of_one_origin(texts: Sequence[str | Tokens], prompts: Sequence[Hashable | None] | None = None) -> Integers:
    """Groups of texts that are copies (up to case and white space) or have one prompt, numbered from 0, (n,).

    Args:
        texts: strings or tokens, of all sets one after the other.
        prompts: of each text; None: texts with the same first eight words have one, unless more than a tenth of all
            texts begin so, which is a manner of writing.

    Raises:
        ValueError: there are not as many prompts as texts.

    >>> texts_of_one_origin(["One two.", "one  TWO.", "three"]).tolist()
    [0, 0, 1]
    """
    if prompts is not None and len(prompts) != len(texts):
        raise ValueError(f"prompts must have one entry a text, got {len(prompts)} for {len(texts)} texts")
    folded = [tuple(text.casefold().split()) if isinstance(text, str) else tuple(text) for text in texts]
    if prompts is None:
        openings = [words[:OPENING_WORDS] for words in folded]
        times = Counter(openings)
        prompts = [opening if times[opening] <= COMMON_OPENING * len(folded) else None for opening in openings]
    return same_origin(folded, prompts)
