"""Warnings about a score, a comparison of models and duplicates: each threshold once, with its reason."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from mauve_metric.arrays import Array, Counts
from mauve_metric.features.feature_set import FeatureSet
from mauve_metric.features.rows import equal_rows, read_in_blocks, some_rows
from mauve_metric.measures.groups import FEW_GROUPS, GROUPS_A_BUCKET, GroupCounts
from mauve_metric.quantize.histograms import Histograms
from mauve_metric.uncertainty.blind_spots import blind_spots

FEW_TEXTS = 500  # below, the standard error of a middling score is above .05, more than models differ by
TEXTS_A_BUCKET = 5  # below, sampling noise alone takes more than .1 off the score of equal sets
TEXTS_A_BUCKET_MANY = 100  # above, buckets are so coarse that different sets look alike; the literature has 10
SIZE_RATIO = 2.0  # above, the larger set alone decides where the buckets lie
DUPLICATE_SHARE = 0.01  # human prose has next to none; more means copied or degenerate texts
SHARED_SHARE = 0.01  # texts that are in both sets lift the score
OPENING_SHARE = 0.1  # texts that continue the same prompts lift the score: halves of human text score lower
LENGTH_RATIO = 1.3  # cutting human text to two thirds of its length lowers its score as much as a weak model does
SHORT_TOKENS = 6  # of half of the human texts, two of them perhaps special: an answer or a choice, and no prose
TRUNCATED_SHARE = 0.1  # the featurizer never gets what was cut
FLOOR_REACH = 0.01  # of the range above the floor, or the floor again if that is less (a small c has a high floor)
CEILING_STDS = 2.0  # standard deviations of equal sets' score: one pair in forty is further above by chance
UNDECLARED = (  # after what suggests that texts share prompts
    "; intervals and tests take the texts for independent: say aligned=True (--aligned) if row i of every set answers "
    "prompt i, or name the prompts with p_groups and q_groups (--prompt-field)"
)
SEVERE = frozenset(  # after these the score may not mean what it seems to mean
    "few_prompts_a_bucket "
    "constant_features nearly_constant_features at_floor above_ceiling duplicates_between equal_models "
    "wrapping_in_one_set no_interval short_references near_duplicates_between copied_passages".split()
)
LITERATURE_FEATURIZER = "gpt2-large"
ROWS_LOOKED_AT = 4096  # of features that are not in memory
TINY_VARIANCE = 1e-8  # of unit rows: what differs is of the size of float32 rounding
BLURRED = 0.1  # common buckets that lift a score by more hide a difference as large as that between two models
ALIGNED_SHARE = 0.5  # of rows whose texts open alike in two models: they answer the same prompts
NEAR_SHARE = 0.01  # of model texts that nearly repeat a human one: as for equal ones, they lift the score
COPIED_SHARE = 0.01  # of model tokens in copied passages: some five times what models copy from all of the web
WITHIN_MORE = 0.01  # more near duplicates than the human set has: fewer texts than it seems
REPEATED_MORE = 0.05  # more tokens in repeated passages than the human set has: boilerplate

_DUPLICATION = {  # measure: threshold, code, sentence; one that names {human} is above what the human texts have
    "near_duplicates_across": (
        NEAR_SHARE,
        "near_duplicates_between",
        "of the model's texts nearly repeat a human text: a model that copies its references scores close to 1",
    ),
    "copied_substrings": (
        COPIED_SHARE,
        "copied_passages",
        "of the model's words are in passages of 50 words that the human set has too: copies lift the score",
    ),
    "near_duplicates": (
        WITHIN_MORE,
        "near_duplicates_within",
        "of the model's texts nearly repeat another one of the set ({human} of the human texts do): they count for "
        "fewer texts than there are, and intervals are too narrow",
    ),
    "repeated_substrings": (
        REPEATED_MORE,
        "repeated_passages",
        "of the model's words are in passages of 50 that the set repeats ({human} of the human words do)",
    ),
}


def all_warnings(
    p: FeatureSet,
    q: FeatureSet,
    histograms: Histograms,
    mauve: float,
    floor: float,
    ceiling: float,
    ceiling_std: float,
    texts_a_bucket: Counts | None = None,
) -> Iterator[ScoreWarning]:
    """Every warning about a score; the ends of its range as in `score_warnings`.

    texts_a_bucket: of all sets that share the buckets, (k,); None: there are only these two.
    """
    yield from size_warnings(len(p), len(q), len(histograms.p_counts))
    yield from bucket_warnings(histograms.p_counts + histograms.q_counts if texts_a_bucket is None else texts_a_bucket)
    yield from score_warnings(mauve, floor, ceiling, ceiling_std)
    looked_at = (
        some_rows(side.features, ROWS_LOOKED_AT) if read_in_blocks(side.features) else np.asarray(side.features)
        for side in (p, q)
    )
    yield from feature_warnings(*looked_at)
    yield from featurizer_warnings(p.identity, q.identity)
    yield from origin_warnings(p, q)
    yield from text_warnings(p, q)


def size_warnings(n_p: int, n_q: int, num_buckets: int) -> Iterator[ScoreWarning]:
    """Few texts, unequal sets, too many or too few buckets."""
    smaller, larger = min(n_p, n_q), max(n_p, n_q)
    sizes = {"n_p": n_p, "n_q": n_q}
    if smaller < FEW_TEXTS:
        few = "1 text is" if smaller == 1 else f"{smaller} texts are"
        message = f"{few} few: the score depends on how many there are, and its error is large"
        yield ScoreWarning("few_texts", message, sizes | {"threshold": FEW_TEXTS})
    if larger > SIZE_RATIO * smaller:
        message = f"the sets differ in size ({n_p} human, {n_q} model): the larger one decides where the buckets lie"
        yield ScoreWarning("unequal_sizes", message, sizes | {"threshold": SIZE_RATIO})
    numbers = sizes | {"num_buckets": num_buckets}
    if num_buckets > smaller:
        message = f"num_buckets={num_buckets} is more than the smaller set has texts ({smaller})"
        yield ScoreWarning("num_buckets_large", message, numbers)
    elif num_buckets * TEXTS_A_BUCKET > smaller and num_buckets > 2:
        message = (
            f"num_buckets={num_buckets} leaves fewer than {TEXTS_A_BUCKET} texts a bucket: noise lowers the score, and "
            "divergences have no interval that holds"
        )
        yield ScoreWarning("num_buckets_large", message, numbers)
    elif num_buckets * TEXTS_A_BUCKET_MANY < smaller:
        message = f"num_buckets={num_buckets} is small for {smaller} texts: coarse buckets hide differences"
        yield ScoreWarning("num_buckets_small", message, numbers)


def bucket_warnings(texts_a_bucket: Counts) -> Iterator[ScoreWarning]:
    """Buckets without any text; the texts of all sets that share the buckets count, (k,)."""
    empty, total = int((texts_a_bucket == 0).sum()), len(texts_a_bucket)
    if empty:
        are = "is" if empty == 1 else "are"
        message = f"{empty} of {total} buckets {are} empty: there are fewer kinds of texts than buckets"
        yield ScoreWarning("empty_buckets", message, {"empty": empty, "num_buckets": total})


def quantizer_warnings(problems: Sequence[str]) -> Iterator[ScoreWarning]:
    """Quantizers whose training had not converged."""
    if problems:
        yield ScoreWarning("quantizer_not_converged", problems[0], {"runs": len(problems)})


def design_warnings(groups: GroupCounts | None, problem: str | None, num_buckets: int = 1) -> Iterator[ScoreWarning]:
    """Intervals that are missing, with the reason, or that few prompts make unsure."""
    if problem is not None:
        yield ScoreWarning("no_interval", f"there is no interval and no forecast: {problem}", {})
    if groups is None or problem is not None:
        return
    number = min(int((sizes > 0).sum()) for sizes in (groups.p_sizes, groups.q_sizes))
    numbers = {"prompts": number, "num_buckets": num_buckets}
    if number <= FEW_GROUPS:
        message = f"{number} prompts are few: intervals of so few may hold the truth less often than they say"
        yield ScoreWarning("few_prompts", message, numbers | {"threshold": FEW_GROUPS})
    if num_buckets * GROUPS_A_BUCKET > number:
        message = (
            f"num_buckets={num_buckets} leaves fewer than {GROUPS_A_BUCKET} prompts a bucket: the bias left over is "
            f"larger than the error, and the interval misses the truth; num_buckets={max(number // 10, 2)} would do"
        )
        yield ScoreWarning("few_prompts_a_bucket", message, numbers)


def score_warnings(mauve: float, floor: float, ceiling: float, ceiling_std: float) -> Iterator[ScoreWarning]:
    """A score at the end of its range; the ceiling with the standard deviation of the scores it is the mean of."""
    numbers = {"mauve": mauve, "mauve_floor": floor, "mauve_ceiling": ceiling}
    if mauve < floor + min(floor, FLOOR_REACH * (1 - floor)):
        message = f"the score is at its floor ({floor:.4f}): the sets have next to nothing in common, and such scores "
        yield ScoreWarning("at_floor", message + "cannot be told apart", numbers)
    elif mauve > ceiling + CEILING_STDS * ceiling_std:
        message = (
            f"the score is well above what two samples of one distribution give ({ceiling:.3f} on average): the sets "
            "are more alike than chance makes them; do they share prompts or texts?"
        )
        yield ScoreWarning("above_ceiling", message, numbers)


def feature_warnings(p_features: Array, q_features: Array) -> Iterator[ScoreWarning]:
    """Features without any difference to score, or next to none."""
    sides = p_features, q_features
    if all(np.array_equal(np.broadcast_to(p_features[:1], side.shape), side) for side in sides):
        message = "all features of both sets are equal: there is one bucket with everything in it, and MAUVE is 1"
        yield ScoreWarning("constant_features", message, {})
        return
    rows = np.concatenate([side[:: max(1, len(side) // 256)] for side in sides]).astype(np.float64)
    rows /= np.maximum(np.abs(rows).max(axis=1, keepdims=True), np.finfo(np.float64).tiny)
    rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-300)
    variance = float(np.square(rows - rows.mean(axis=0)).sum() / len(rows))  # of the directions of a few hundred rows
    if variance < TINY_VARIANCE:
        message = "all features point the same way: what differs may be rounding"
        yield ScoreWarning("nearly_constant_features", message, {"variance": variance})


def featurizer_warnings(p: Mapping[str, str] | None, q: Mapping[str, str] | None) -> Iterator[ScoreWarning]:
    """Warning about another featurizer than that of the literature, with its blind spots if measured."""
    identity = p or q
    if identity is None or identity["model"].split("/")[-1] == LITERATURE_FEATURIZER:
        return
    name = identity["model"]
    message = f"scores with the featurizer {name} are comparable among themselves, not with the literature's gpt2-large"
    numbers: dict[str, Any] = {"featurizer": name}
    spots = blind_spots(identity)
    if spots is not None:
        message += f"; on {spots.texts} texts a side it did not see {spots.said} (`mauve-metric stress-test` for yours)"
        numbers |= {"unseen": list(spots.errors), "n": spots.texts}
    yield ScoreWarning("not_literature_featurizer", message, numbers)


def origin_warnings(p: FeatureSet, q: FeatureSet) -> Iterator[ScoreWarning]:
    """Warnings about files of features without the name of their model."""
    unknown = [name for side, name in ((p, "human"), (q, "model")) if side.from_file and side.identity is None]
    if unknown:
        message = (
            f"the file of the {' and of the '.join(unknown)} features does not say which featurizer made them: nothing "
            "can check that both sets were featurized alike"
        )
        yield ScoreWarning("features_without_identity", message, {"sets": unknown})


def text_warnings(p: FeatureSet, q: FeatureSet) -> Iterator[ScoreWarning]:
    """Duplicates, shared texts and prompts, lengths."""
    for side, name in ((p, "human"), (q, "model")):
        yield from _side_warnings(side, name)
    if p.text_hashes is not None and q.text_hashes is not None:
        shared = np.isin(q.text_hashes, p.text_hashes)
        if shared.mean() > SHARED_SHARE:
            message = f"{percent(shared.mean())} of the model's texts are in the human set too"
            numbers = {"share": float(shared.mean()), "examples": np.nonzero(shared)[0][:5].tolist()}
            yield ScoreWarning("duplicates_between", message, numbers)
        if p.opening_hashes is not None and q.opening_hashes is not None:
            opening = np.isin(q.opening_hashes, p.opening_hashes) & ~shared
            if opening.mean() > OPENING_SHARE:
                message = (
                    f"{percent(opening.mean())} of the model's texts open like a human one: shared prompts lift the "
                    "score (compare scores that share prompts only with each other)"
                ) + ("" if p.groups is not None else UNDECLARED)
                yield ScoreWarning("shared_prompts", message, {"share": float(opening.mean())})
    if p.lengths is None:
        return
    human = float(np.median(p.lengths))
    if human <= SHORT_TOKENS:
        message = (
            f"half of the human texts have {human:.0f} tokens or fewer, as in multiple choice and short answers: "
            "MAUVE compares sets of longer text and is not for such a task, accuracy is"
        )
        yield ScoreWarning("short_references", message, {"p_median_length": human, "threshold": SHORT_TOKENS})
    if q.lengths is None:
        return
    model = float(np.median(q.lengths))
    if max(human, model) > LENGTH_RATIO * min(human, model):
        message = (
            f"the texts differ in length (median {human:.0f} tokens human, {model:.0f} model): the score may measure "
            "length; match_lengths='truncate' cuts both to one length"
        )
        yield ScoreWarning("length_mismatch", message, {"p_median_length": human, "q_median_length": model})


def _side_warnings(side: FeatureSet, name: str) -> Iterator[ScoreWarning]:
    if side.dropped:
        message = f"{side.dropped} empty texts of the {name} set were dropped"
        yield ScoreWarning("dropped_texts", message, {"dropped": side.dropped, "set": name})
    if side.text_hashes is not None:
        _, first = np.unique(side.text_hashes, return_index=True)
        repeated = np.setdiff1d(np.arange(len(side.text_hashes)), first)
        share = len(repeated) / len(side.text_hashes)
        if share > DUPLICATE_SHARE:
            message = f"{percent(share)} of the {name} texts repeat another one of the set"
            numbers = {"share": share, "set": name, "examples": repeated[:5].tolist()}
            yield ScoreWarning("duplicates_within", message, numbers)
    if side.groups is None and side.opening_hashes is not None:  # of different texts: several answers to one prompt
        kept = slice(None) if side.text_hashes is None else np.unique(side.text_hashes, return_index=True)[1]
        _, times = np.unique(side.opening_hashes[kept], return_counts=True)
        share = float(times[times > 1].sum() / len(side.opening_hashes))
        if share > OPENING_SHARE:
            message = f"{percent(share)} of the {name} texts open like another one of the set{UNDECLARED}"
            yield ScoreWarning("repeated_prompts", message, {"share": share, "set": name})
    share = side.truncated / len(side)
    if share > TRUNCATED_SHARE:
        message = f"{percent(share)} of the {name} texts were cut to the featurizer's length"
        yield ScoreWarning("truncated_texts", message, {"share": share, "set": name})


def comparison_warnings(models: Mapping[str, FeatureSet]) -> Iterator[ScoreWarning]:
    """Equal sets under two names, unequal sizes, rows that look aligned."""
    sizes = {name: len(side) for name, side in models.items()}
    if len(set(sizes.values())) > 1:
        message = (
            f"the models' sets differ in size ({min(sizes.values())} to {max(sizes.values())} texts): compare "
            "the debiased scores, `mauve` falls with fewer texts"
        )
        yield ScoreWarning("unequal_models", message, sizes)
    alike = []
    for a, b in itertools.combinations(models, 2):
        one, two = models[a], models[b]
        if equal_rows(one.features, two.features):
            yield ScoreWarning("equal_models", f"{a} and {b} hold the same texts", {"a": a, "b": b})
        elif _same_openings(one, two) > ALIGNED_SHARE:
            alike.append((a, b))
    if alike and all(side.groups is None for side in models.values()):
        message = (
            f"row by row the texts of {alike[0][0]} and {alike[0][1]} open alike: if row i of every model answers "
            "prompt i, aligned=True gives truer intervals"
        )
        yield ScoreWarning("rows_look_aligned", message, {"pairs": alike})


def _same_openings(one: FeatureSet, two: FeatureSet) -> float:
    """Share of rows whose texts open with the same words; 0 where that is not known."""
    a, b = one.opening_hashes, two.opening_hashes
    return 0.0 if a is None or b is None or len(a) != len(b) else float(np.mean(a == b))


def partition_warnings(common: Mapping[str, float], own: Mapping[str, float]) -> Iterator[ScoreWarning]:
    """Warnings about models that separate from human text better on own buckets than on common ones.

    Args:
        common, own: MAUVE of each model on either.
    """
    for name, mauve in common.items():
        alone = own[name]
        if mauve - alone > BLURRED:
            message = (
                f"{name} scores {alone:.3f} on buckets of its own, {mauve:.3f} on the common ones: these are "
                "too coarse to show all its differences; compare fewer models at once, or take more texts"
            )
            numbers = {"model": name, "mauve": mauve, "mauve_own": alone}
            yield ScoreWarning("coarse_common_buckets", message, numbers)


def duplication_warnings(
    model: Mapping[str, float], human: Mapping[str, float] | None = None
) -> Iterator[ScoreWarning]:
    """Warnings from the values of the measures of duplication, by their names; a missing one gives none.

    Args:
        model: values of the model's texts.
        human: values of the human texts; None: as if they had no duplicates.

    >>> [warning.code for warning in duplication_warnings({"near_duplicates_across": 0.2})]
    ['near_duplicates_between']
    """
    for name, (threshold, code, said) in _DUPLICATION.items():
        own = {"human": (human or {}).get(name, 0.0)} if "{human}" in said else {}
        value, usual = model.get(name, 0.0), sum(own.values())
        if value > usual + threshold:
            message = f"{percent(value)} {said.format(human=percent(usual))}"
            yield ScoreWarning(code, message, {"share": value, **own, "threshold": threshold})


def percent(share: float) -> str:
    """A share as a text in per cent."""
    return f"{100 * share:.1f} %"


class ScoreWarning(NamedTuple):
    """A problem that a careful reviewer would point out about a score.

    Attributes:
        code: a fixed word for programs.
        message: one sentence for people.
        numbers: what it is based on.
    """

    code: str
    message: str
    numbers: dict[str, Any]

    @property
    def severe(self) -> bool:
        """Return whether the score may not mean what it seems to mean."""
        return self.code in SEVERE
