"""Texts that are nearly the same: most of their phrases in common, and most of their words in the same order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from mauve_metric.arrays import Floats, Integers
from mauve_metric.texts.edit_similarity import edit_similarity
from mauve_metric.texts.minhash import band_groups, groups_of
from mauve_metric.texts.windows import TokenIds, spaced_tokens, token_ids, window_groups

_PAIRS = 1 << 12  # compared at once

Open = Callable[[Integers], NDArray[np.bool_]]  # which pairs, (2, m), are still to be compared


@dataclass(frozen=True)
class NearDuplicateRule:
    """When two texts count as near duplicates.

    shingle: tokens of the phrases that are compared; a shorter text is one phrase. jaccard: the least share of
    phrases in common. edit: `edit_similarity` must be above. rows, bands: of the MinHash that says which texts are
    compared; None compares all that can be alike.
    """

    shingle: int = 5
    jaccard: float = 0.8
    edit: float = 0.8
    rows: int | None = None
    bands: int | None = None
    seed: int = 25

    def __post_init__(self) -> None:
        if self.shingle < 1:
            raise ValueError(f"shingle must be at least 1, got {self.shingle}")
        for name, value in (("jaccard", self.jaccard), ("edit", self.edit)):
            if not 0 < value <= 1:
                raise ValueError(f"{name} must lie above 0 and at most at 1, got {value}")
        if (self.rows is None) != (self.bands is None):
            raise ValueError(f"rows and bands belong together, got rows={self.rows} and bands={self.bands}")
        if self.rows is not None and self.bands is not None and min(self.rows, self.bands) < 1:
            raise ValueError(f"rows and bands must be at least 1, got rows={self.rows} and bands={self.bands}")


EXACT = NearDuplicateRule()
PUBLISHED: Mapping[str, NearDuplicateRule] = {
    "lee": NearDuplicateRule(rows=20, bands=450),  # Lee et al. 2022, §4.2 and appendix A: 9000 hashes
    "strict": NearDuplicateRule(jaccard=0.9, edit=0.9, rows=20, bands=40),  # the same with 800 hashes
}


def near_duplicates(texts: Sequence[str], rule: NearDuplicateRule = EXACT) -> float:
    """Share of texts with a near duplicate in their set; in [0, 1], the closer to that of human texts the better.

    Two texts are near duplicates if their sets of 5-grams have J = |A ∩ B| / |A ∪ B| >= 0.8 and the edit similarity of
    their tokens is above 0.8 (Lee et al. 2022, §4.2). It grows with the number of texts, so only sets of one size
    compare. By default no pair is missed: of the phrases of a text that are rarest in the set, one in five at most can
    be missing in a near duplicate, so that only texts that share one of those are compared (Bayardo et al. 2007, §3).

    Args:
        texts: of one set; tokens stand between blanks, and are characters in scripts without.
        rule: another threshold, or MinHash: one of `PUBLISHED`, or your own.

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
    sets = _ShingleSets(token_ids(list(map(spaced_tokens, texts))), rule)
    joined = np.arange(sets.count)  # the cluster of each different text, by the number of its first one

    def apart(pairs: Integers) -> NDArray[np.bool_]:
        found: NDArray[np.bool_] = joined[pairs[0]] != joined[pairs[1]]
        return found

    for pairs in sets.candidates(apart, lambda group: bool((joined[group] == joined[group[0]]).all())):
        for left, right in pairs[:, sets.share_phrases(pairs)].T:
            one, other = sorted((joined[left], joined[right]))
            if one != other and sets.share_order(left, right):
                joined[joined == other] = one
    return sets.first[joined][sets.which]


def near_duplicate_partners(texts: Sequence[str], others: Sequence[str], rule: NearDuplicateRule = EXACT) -> Integers:
    """For each text the number of one of the other set that it is a near duplicate of, -1 if there is none, (n,).

    >>> near_duplicate_partners(["three", "four"], ["one two", "three"]).tolist()
    [1, -1]
    """
    sets = _ShingleSets(token_ids([*map(spaced_tokens, others), *map(spaced_tokens, texts)]), rule)
    mine, theirs = sets.which[len(others) :], np.unique(sets.which[: len(others)])
    is_theirs = np.zeros(sets.count, dtype=bool)
    is_theirs[theirs] = True
    partner = np.where(is_theirs, np.arange(sets.count), -1)

    def lonely(pairs: Integers) -> NDArray[np.bool_]:
        """Pairs of one of the other set and of a text without a partner so far."""
        found: NDArray[np.bool_] = (is_theirs[pairs[0]] != is_theirs[pairs[1]]) & (partner[pairs] < 0).any(axis=0)
        return found

    for pairs in sets.candidates(lonely, lambda group: not (is_theirs[group].any() and (partner[group] < 0).any())):
        for left, right in pairs[:, sets.share_phrases(pairs)].T:
            text, other = (right, left) if is_theirs[left] else (left, right)
            if partner[text] < 0 and sets.share_order(text, other):
                partner[text] = other
    found = partner[mine]
    return np.where(found >= 0, sets.first[found], -1)


class _ShingleSets:
    """The different texts of a list with their sets of shingles, and which of them may be alike.

    Attributes:
        count: different texts, s. which: the different text that each text is, (n,). first: the first text that each
        of them is, (s,), ascending.
    """

    def __init__(self, tokens: TokenIds, rule: NearDuplicateRule) -> None:
        self._rule = rule
        known: dict[bytes, int] = {}
        of = [known.setdefault(tokens.of(text).tobytes(), len(known)) for text in range(len(tokens.starts) - 1)]
        self.which, self.count = np.array(of, dtype=np.int64), len(known)
        self.first = np.unique(self.which, return_index=True)[1].astype(np.int64)
        self._tokens = [tokens.of(text).tolist() for text in self.first]
        self._shingles, self._starts = _shingle_sets(self._tokens, rule.shingle)
        self._sizes = np.diff(self._starts)
        self._marked = np.zeros(int(self._shingles.max(initial=-1)) + 1, dtype=bool)

    def candidates(self, wanted: Open, settled: Callable[[Integers], bool]) -> Iterator[Integers]:
        """Pairs of different texts that may be alike, (2, m) at a time.

        wanted: which pairs are still open. settled: whether none of a group's pairs is.
        """
        waiting, size = [], 0
        for group, rest in self._groups():
            for row in range(len(group) - 1):
                if settled(group[row:]):
                    break
                others, enough = group[row + 1 :], np.minimum(rest[row], rest[row + 1 :])
                others = others[enough >= self._needed(group[row], others)]
                waiting.append(np.stack([np.broadcast_to(group[row], len(others)), others]))
                size += len(others)
                if size >= _PAIRS:
                    yield from self._open_pairs(waiting, wanted)
                    waiting, size = [], 0
        yield from self._open_pairs(waiting, wanted)

    def _needed(self, left: Integers, right: Integers) -> Floats:
        """How many shingles texts must have in common: |A ∩ B| >= J (|A| + |B|) / (1 + J), short of rounding."""
        share = self._rule.jaccard / (1 + self._rule.jaccard)
        found: Floats = share * (self._sizes[left] + self._sizes[right]) - 1e-6
        return found

    def _open_pairs(self, waiting: list[Integers], wanted: Open) -> Iterator[Integers]:
        """Each open pair once, ordered by the first text."""
        if waiting:
            pairs = np.concatenate(waiting, axis=1)
            pairs = pairs[:, wanted(pairs)]
            pairs = np.stack(np.divmod(np.unique(pairs[0] * self.count + pairs[1]), self.count))
            for start in range(0, pairs.shape[1], _PAIRS):
                yield pairs[:, start : start + _PAIRS]

    def _groups(self) -> Iterator[tuple[Integers, Integers]]:
        """Texts that may be alike, and how many shingles each of them can have in common with the others, (g,) each."""
        rule = self._rule
        if rule.rows is None or rule.bands is None:
            keys, texts, rests = self._rarest()
            groups = groups_of(keys)
        else:
            texts, rests = np.arange(self.count), self._sizes
            groups = band_groups(self._shingles, self._starts, rule.rows, rule.bands, rule.seed)
        return ((texts[group], rests[group]) for group in groups)

    def _rarest(self) -> tuple[Integers, Integers, Integers]:
        """Of each text the shingles that are rarest, of which two near duplicates share one (Bayardo et al. 2007, §3).

        With the text of each and how many shingles of the text are no rarer: if it is the rarest one in common, all
        others in common are among those (Xiao et al. 2008, §4).
        """
        frequency = np.bincount(self._shingles)[self._shingles]
        shared = np.nonzero(frequency > 1)[0]
        owners = np.repeat(np.arange(self.count), self._sizes)[shared]
        order = shared[np.lexsort((self._shingles[shared], frequency[shared], owners))]
        rests = np.searchsorted(owners, owners, side="right") - np.arange(len(owners))
        kept = rests >= self._rule.jaccard * self._sizes[owners] - 1e-6
        return self._shingles[order[kept]], owners[kept], rests[kept]

    def share_phrases(self, pairs: Integers) -> NDArray[np.bool_]:
        """Which pairs have enough shingles in common, (m,)."""
        common = np.empty(pairs.shape[1], dtype=np.int64)
        ends = np.append(np.nonzero(np.diff(pairs[0]))[0] + 1, pairs.shape[1])
        for start, end in zip([0, *ends[:-1]], ends, strict=True):
            common[start:end] = self._common(pairs[0, start], pairs[1, start:end])
        found: NDArray[np.bool_] = common >= self._needed(*pairs)
        return found

    def _common(self, text: int, others: Integers) -> Integers:
        """How many shingles a text has in common with each of some others."""
        mine = self._shingles[self._starts[text] : self._starts[text + 1]]
        self._marked[mine] = True
        ends = np.cumsum(self._sizes[others])
        begins = ends - self._sizes[others]
        places = np.repeat(self._starts[others] - begins, self._sizes[others]) + np.arange(ends[-1])
        found: Integers = np.add.reduceat(self._marked[self._shingles[places]], begins, dtype=np.int64)
        self._marked[mine] = False
        return found

    def share_order(self, left: int, right: int) -> bool:
        """Whether two texts have enough tokens in the same order."""
        similarity = edit_similarity(self._tokens[left], self._tokens[right])
        return similarity > self._rule.edit or similarity == 1


def _shingle_sets(texts: Sequence[Sequence[int]], length: int) -> tuple[Integers, Integers]:
    """The numbers of the different shingles of each text, ascending, and where each text's begin.

    A text that is too short for a shingle is one: it is filled up with a number that no token has.
    """
    short = {text: [-1] * (length - len(ids)) for text, ids in enumerate(texts) if len(ids) < length}
    filled = [ids if text not in short else [*ids, *short[text]] for text, ids in enumerate(texts)]
    numbers = np.fromiter(chain.from_iterable(filled), dtype=np.int64)
    tokens = TokenIds(numbers, np.cumsum([0, *map(len, filled)], dtype=np.int64))
    found = window_groups(tokens, length)
    owner = np.repeat(np.arange(len(texts)), tokens.lengths - length + 1)
    many = max(len(found.first), 1)
    keys = np.sort(owner * many + found.groups)
    owners, shingles = np.divmod(keys[np.diff(keys, prepend=-1) > 0], many)
    return shingles, np.searchsorted(owners, np.arange(len(texts) + 1))
