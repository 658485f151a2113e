"""Warnings about a score and a comparison of models: each threshold once, with its reason.

`warning_texts.md` in this folder has the message, the cause and the cure of each code.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import methodcaller
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from mauve_metric.arrays import Array, Bools, Counts, Hashes
from mauve_metric.clustering.histograms import Histograms
from mauve_metric.features.dependence import IN_STEP_SHARE
from mauve_metric.features.feature_set import FeatureSet
from mauve_metric.features.pretrained import advice_for, is_read
from mauve_metric.features.row_blocks import equal_rows, in_one_format, read_in_blocks, some_rows
from mauve_metric.inputs.fingerprints import TRAITS
from mauve_metric.measures.groups import (
    DECLARED,
    FEW_GROUPS,
    GROUPS_A_BUCKET,
    GroupCounts,
    answers_of_one_side,
    is_uneven,
)
from mauve_metric.runtime.plain_text import counted, printable
from mauve_metric.uncertainty.blind_spots import blind_spots, in_words

FEW_TEXTS = 500  # below, the standard error of the examples' scores by groups is above .08, more than models differ by
FEW_IN_BUCKET = 5  # below, sampling noise alone takes more than .1 off the score of equal sets
TEXTS_A_BUCKET_MANY = 100  # above, buckets are so coarse that different sets look alike; the literature has 10
SIZE_RATIO = 2.0  # above, the larger set alone decides where the buckets lie
DUPLICATE_SHARE = 0.01  # human prose has next to none; more means copied or degenerate texts
SHARED_SHARE = 0.01  # texts that are in both sets lift the score
REPEATED_SHARE = 0.1  # of a model's texts: of independent ones 0.03 at most are as near to another by chance
OPENING_SHARE = 0.1  # texts that continue the same prompts lift the score: halves of human text score lower
LENGTH_RATIO = 1.3  # cutting human text to two thirds of its length lowers its score as much as a weak model does
FAR_LENGTH_RATIO = 4.0  # above, one side is most often another field than the texts
SHORT_TOKENS = 6  # of half of the human texts, two of them perhaps special: an answer or a choice, and no prose
SHORT_WORDS = 4  # the same where there are no tokens
LONGEST_WORD = 8  # characters for which a word is counted at least: some scripts have no blanks between words
ONE_FILE_SHARE = 0.9  # of equal texts: more are no short answers to one prompt, but one file given twice
PROMPTS_SHARE = 0.2  # of model texts that are human ones: more are no accident, but the prompts, or one file twice
FEW_UNSEEN, MANY_UNSEEN = 0.05, 0.2  # of characters without a token; above the second the features follow the rest
TRUNCATED_SHARE = 0.1  # the featurizer never gets what was cut
FLOOR_REACH = 0.01  # of the range above the floor, or the floor again if that is less (a small c has a high floor)
CEILING_STDS = 2.0  # standard deviations of equal sets' score: one pair in forty is further above by chance
UNDECLARED = (  # after what suggests that texts share prompts
    "; intervals and tests take the texts for independent: say aligned=True (--aligned) if row i of every set answers "
    "prompt i, or name the prompts with p_groups and q_groups (--prompt-field)"
)
SEVERE = frozenset(  # after these the score may not mean what it seems to mean
    "echoed_prompts prompts_as_answers token_ids unseen_characters few_prompts_a_bucket "
    "constant_features nearly_constant_features one_column at_floor above_ceiling duplicates_between equal_models "
    "rows_not_aligned own_prompts rounded_features scaled_features wrapping_in_one_set no_interval "
    "short_references near_duplicates_between copied_passages".split()
)
LITERATURE_FEATURIZER = "gpt2-large"
ROWS_LOOKED_AT = 4096  # of features that are not in memory
_UNIT_ERROR = 1e-3  # of the length of rows that were scaled to 1, also in float16
_FEWEST_SCALED = 20  # rows of a set, whose median length is that of the others
SCALED = 3.0  # times as long as the rows of the other set: features of one model vary less
_ROWS_IN_FORMAT = 64  # whose numbers show to what the features of a set were rounded
_MOST_IN_DECIMALS = 1e6  # above, numbers of float32 have no decimals
_FORMATS: Mapping[str, Callable[[Array], Array]] = {  # to which the features of one set may be rounded
    "whole numbers": methodcaller("round"),
    "1 decimal": methodcaller("round", 1),
    **{f"{number} decimals": methodcaller("round", number) for number in (2, 3, 4)},
    "bfloat16": lambda rows: (rows.astype(np.float32).view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32),
    "float16": lambda rows: rows.astype(np.float16),
    "float32": lambda rows: rows.astype(np.float32),
}
TINY_VARIANCE = 1e-8  # of unit rows of float32: what differs is of the size of rounding
TINY_VARIANCE_OF_FLOAT64 = 1e-20  # the same of numbers that float32 does not hold
_DECLARED_WEIGHT = 0.1  # of shared prompts for which intervals and tests allow
BLURRED = 0.1  # common buckets that lift a score by more hide a difference as large as that between two models
ALIGNED_SHARE = 0.5  # of rows whose texts open alike in two models: they answer the same prompts

WEIGHTS: Mapping[str, float] = {  # how far a verdict may move once the cause is gone: 1 is from one end to the other
    **dict.fromkeys(("constant_features", "nearly_constant_features", "unseen_characters", "prompts_as_answers"), 1.0),
    **dict.fromkeys(("rows_not_aligned", "token_ids", "own_prompts"), 1.0),
    "uneven_answers": 0.45,
    **dict.fromkeys(("echoed_prompts", "wrapping_in_one_set", "equal_models", "short_references"), 0.9),
    **dict.fromkeys(("shared_prompts", "duplicates_between", "near_duplicates_between", "copied_passages"), 0.8),
    **dict.fromkeys(("no_interval", "above_ceiling", "missing_values", "looping_texts", "one_column"), 0.7),
    **dict.fromkeys(("opening_in_one_set", "at_floor", "repeated_prompts", "garbled_texts"), 0.6),
    **dict.fromkeys(("few_prompts_a_bucket", "length_mismatch", "some_unseen_characters", "featurizer_missing"), 0.5),
    **dict.fromkeys(("rounded_features", "scaled_features"), 0.5),
    **dict.fromkeys(("few_texts", "num_buckets_large", "truncated_texts", "duplicates_within"), 0.4),
    **dict.fromkeys(("repeated_texts", "joined_with_itself"), 0.6),
    **dict.fromkeys(("rows_look_aligned", "quantizer_not_converged", "few_texts_to_perturb"), 0.4),
    **dict.fromkeys(("format_differs", "few_prompts", "num_buckets_small", "coarse_common_buckets"), 0.3),
    **dict.fromkeys(("near_duplicates_within", "repeated_passages"), 0.3),
    **dict.fromkeys(("unequal_sizes", "dropped_texts", "blanks_in_one_set", "features_without_identity"), 0.2),
    **dict.fromkeys(("not_literature_featurizer", "empty_buckets", "stripped_texts", "unequal_models"), 0.1),
    "language_not_read": 0.5,
    "precision_with_prompts": 0.1,
}


def few_texts_a_bucket(p_counts: Counts, q_counts: Counts, least: int = FEW_IN_BUCKET) -> bool:
    """True if the smaller set has fewer than `least` texts for each bucket that is not empty."""
    filled = int(((p_counts + q_counts) > 0).sum())
    return min(int(p_counts.sum()), int(q_counts.sum())) < least * filled


def all_warnings(
    p: FeatureSet,
    q: FeatureSet,
    histograms: Histograms,
    mauve: float,
    floor: float,
    ceiling: float,
    ceiling_std: float,
    texts_a_bucket: Counts,
) -> Iterator[ScoreWarning]:
    """Every warning about a score; the ends of its range as in `score_warnings`.

    texts_a_bucket: of all sets that share the buckets, (k,).
    """
    yield from size_warnings(len(p), len(q), len(histograms.p_counts))
    yield from bucket_warnings(texts_a_bucket)
    yield from score_warnings(mauve, floor, ceiling, ceiling_std)
    looked_at = [
        some_rows(side.features, ROWS_LOOKED_AT) if read_in_blocks(side.features) else np.asarray(side.features)
        for side in (p, q)
    ]
    yield from feature_warnings(*looked_at)
    if p.identity is None and q.identity is None:
        yield from scale_warnings(*looked_at)
    yield from featurizer_warnings(p.identity, q.identity)
    yield from origin_warnings(p, q)
    yield from text_warnings(p, q)


def size_warnings(n_p: int, n_q: int, num_buckets: int) -> Iterator[ScoreWarning]:
    """Few texts, unequal sets, too many or too few buckets."""
    smaller, larger = min(n_p, n_q), max(n_p, n_q)
    sizes = {"n_p": n_p, "n_q": n_q}
    if smaller < FEW_TEXTS:
        yield warn("few_texts", sizes | {"threshold": FEW_TEXTS}, few=counted(smaller, "text is", "texts are"))
    if larger > SIZE_RATIO * smaller:
        yield warn("unequal_sizes", sizes | {"threshold": SIZE_RATIO})
    numbers = sizes | {"num_buckets": num_buckets}
    if num_buckets > max(smaller, 2):
        yield warn("num_buckets_large", numbers, problem=f"is more than the smaller set has texts ({smaller})")
    elif num_buckets * FEW_IN_BUCKET > smaller and num_buckets > 2:
        problem = f"leaves fewer than {FEW_IN_BUCKET} texts a bucket: noise lowers the score, and divergences have no "
        yield warn("num_buckets_large", numbers, problem=problem + "interval that holds")
    elif num_buckets * TEXTS_A_BUCKET_MANY < smaller:
        yield warn("num_buckets_small", numbers, smaller=smaller)


def bucket_warnings(texts_a_bucket: Counts) -> Iterator[ScoreWarning]:
    """Buckets without any text; the texts of all sets that share the buckets count, (k,)."""
    empty = int((texts_a_bucket == 0).sum())
    if empty:
        numbers = {"empty": empty, "num_buckets": len(texts_a_bucket)}
        yield warn("empty_buckets", numbers, are="is" if empty == 1 else "are")


def quantizer_warnings(problems: Sequence[str]) -> Iterator[ScoreWarning]:
    """Quantizers whose training had not converged."""
    if problems:
        yield warn("quantizer_not_converged", {"runs": len(problems)}, said=problems[0])


def design_warnings(groups: GroupCounts | None, problem: str | None, num_buckets: int = 1) -> Iterator[ScoreWarning]:
    """Intervals that are missing, with the reason, or that few prompts make unsure."""
    if problem is not None:
        yield warn("no_interval", {}, problem=problem)
    if groups is None or problem is not None:
        return
    answers = answers_of_one_side(groups.p_sizes, groups.q_sizes)
    if is_uneven(answers):
        yield warn("uneven_answers", {"p_answers": answers[0], "q_answers": answers[1]})
    number = min(int((sizes > 0).sum()) for sizes in (groups.p_sizes, groups.q_sizes))
    numbers = {"prompts": number, "num_buckets": num_buckets}
    if number <= FEW_GROUPS:
        yield warn("few_prompts", numbers | {"threshold": FEW_GROUPS})
    if num_buckets * GROUPS_A_BUCKET > number:
        yield warn("few_prompts_a_bucket", numbers, least=GROUPS_A_BUCKET, enough=number // GROUPS_A_BUCKET)


def score_warnings(mauve: float, floor: float, ceiling: float, ceiling_std: float) -> Iterator[ScoreWarning]:
    """A score at the end of its range; the ceiling with the standard deviation of the scores it is the mean of."""
    numbers = {"mauve": mauve, "mauve_floor": floor, "mauve_ceiling": ceiling}
    if mauve < floor + min(floor, FLOOR_REACH * (1 - floor)):
        yield warn("at_floor", numbers)
    elif mauve > ceiling + CEILING_STDS * ceiling_std:
        yield warn("above_ceiling", numbers)


def feature_warnings(p_features: Array, q_features: Array) -> Iterator[ScoreWarning]:
    """Features without any difference to score, or next to none."""
    sides = p_features, q_features
    if all(np.array_equal(np.broadcast_to(p_features[:1], side.shape), side) for side in sides):
        yield warn("constant_features", {})
        return
    if p_features.shape[1] == 1:
        yield warn("one_column", {})
        return
    samples = [_sample(side) for side in sides]
    yield from _format_warnings(*in_one_format(*(some[:_ROWS_IN_FORMAT] for some in samples)))
    sample = np.concatenate(samples)
    rows = sample.astype(np.float64)
    rows /= np.maximum(np.abs(rows).max(axis=1, keepdims=True), np.finfo(np.float64).tiny)
    rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-300)
    variance = float(np.square(rows - rows.mean(axis=0)).sum() / len(rows))  # of the directions of a few hundred rows
    with np.errstate(over="ignore"):
        is_exact = min(side.itemsize for side in sides) > 4 and bool((sample.astype(np.float32) != sample).any())
    if variance < (TINY_VARIANCE_OF_FLOAT64 if is_exact else TINY_VARIANCE):
        yield warn("nearly_constant_features", {"variance": variance})


def _sample(rows: Array) -> Array:
    """Some hundred of the rows, at equal steps."""
    return rows[:: max(1, len(rows) // 256)]


def _format_warnings(p: Array, q: Array) -> Iterator[ScoreWarning]:
    """Warning about features of one set that are all rounded, of which most of the other set are not."""
    has_decimals = max(float(np.abs(side).max()) for side in (p, q)) < _MOST_IN_DECIMALS
    for name, rounded in _FORMATS.items():
        if not (has_decimals or "float" in name):
            continue
        with np.errstate(over="ignore"):
            kept = [(rounded(side) == side)[side != 0] for side in (p, q)]
        whole = [bool(same.all()) for same in kept]
        if whole[0] != whole[1] and kept[whole[0]].mean() < 0.5:
            yield warn("rounded_features", {"set": "human" if whole[0] else "model", "format": name})
            return


def scale_warnings(p_features: Array, q_features: Array) -> Iterator[ScoreWarning]:
    """Warning about rows of one set alone that were scaled to length 1, or that are far longer than the other's."""
    if min(len(p_features), len(q_features)) < _FEWEST_SCALED:
        return
    lengths = []
    for side in (p_features, q_features):
        rows = _sample(side).astype(np.float64)
        largest = np.abs(rows).max(axis=1, initial=np.finfo(np.float64).tiny)
        lengths.append(largest * np.linalg.norm(rows / largest[:, None], axis=1))
    p_length, q_length = (float(np.median(side)) for side in lengths)
    is_unit = [bool((np.abs(side - 1) < _UNIT_ERROR).all()) for side in lengths]
    least = 1 + 10 * _UNIT_ERROR if is_unit[0] != is_unit[1] else SCALED
    if max(p_length, q_length) > least * min(p_length, q_length):
        yield warn("scaled_features", {"p_length": p_length, "q_length": q_length})


def featurizer_warnings(p: Mapping[str, str] | None, q: Mapping[str, str] | None) -> Iterator[ScoreWarning]:
    """Warning about another featurizer than that of the literature, with its blind spots if measured."""
    identity = p or q
    if identity is None or identity["model"].split("/")[-1] == LITERATURE_FEATURIZER:
        return
    numbers: dict[str, Any] = {"featurizer": identity["model"]}
    spots, blind_to = blind_spots(identity), ""
    if spots is not None:
        errors, texts = spots
        unseen = in_words([*errors.values()])
        blind_to = f"; on {texts} texts a side or more it did not see {unseen} (`mauve-metric stress-test` for yours)"
        numbers |= {"unseen": [*errors], "n": texts}
    yield warn("not_literature_featurizer", numbers, blind_to=blind_to)


def origin_warnings(p: FeatureSet, q: FeatureSet) -> Iterator[ScoreWarning]:
    """Warnings about files of features without the name of their model."""
    unknown = [name for side, name in ((p, "human"), (q, "model")) if side.from_file and side.identity is None]
    if unknown:
        yield warn("features_without_identity", {"sets": unknown}, of=" and of the ".join(unknown))


def text_warnings(p: FeatureSet, q: FeatureSet) -> Iterator[ScoreWarning]:
    """Duplicates, shared texts and prompts, lengths."""
    for name, side in (("human", p), ("model", q)):
        yield from _side_warnings(side, name)
    yield from _dependence_warnings(p, q)
    if p.text_hashes is not None and q.text_hashes is not None:
        shared = _shared_texts(p, q, p.text_hashes, q.text_hashes)
        _, kind_of, times = np.unique(p.text_hashes, return_inverse=True, return_counts=True)
        among_human = float((times[kind_of] > 1).mean())  # of short texts some are equal by chance
        error = math.sqrt(among_human * (1 - among_human) / len(p) + shared.mean() * (1 - shared.mean()) / len(q))
        if shared.mean() - among_human > max(SHARED_SHARE, 3 * error):
            numbers = {"share": float(shared.mean()), "examples": np.nonzero(shared)[0][:5].tolist()}
            yield warn("prompts_as_answers" if shared.mean() >= PROMPTS_SHARE else "duplicates_between", numbers)
        if p.opening_hashes is not None and q.opening_hashes is not None:
            opening = np.isin(q.opening_hashes, p.opening_hashes) & ~shared
            if opening.mean() > OPENING_SHARE and not is_one_prompt(p.opening_hashes, q.opening_hashes):
                undeclared = "" if q.design != "undeclared" else UNDECLARED
                warning = warn("shared_prompts", {"share": float(opening.mean())}, undeclared=undeclared)
                yield warning if undeclared else warning._replace(weight=_DECLARED_WEIGHT)
                yield warn("precision_with_prompts", {"share": float(opening.mean())})
    yield from _unseen_warnings(p, q)
    yield from _length_warnings(p, q)


def _shared_texts(p: FeatureSet, q: FeatureSet, p_hashes: Hashes, q_hashes: Hashes) -> Bools:
    """Mark the model's texts that are human ones, (n_q,); equal answers to one declared prompt are none.

    But where nearly all are, one file was given twice.
    """
    shared: Bools = np.isin(q_hashes, p_hashes)
    if q.design not in DECLARED or p.groups is None or q.groups is None or shared.mean() > ONE_FILE_SHARE:
        return shared
    of_prompt = {*zip(p_hashes.tolist(), p.groups.tolist(), strict=True)}
    answers = [pair in of_prompt for pair in zip(q_hashes.tolist(), q.groups.tolist(), strict=True)]
    return np.logical_and(shared, np.logical_not(answers))


def _unseen_warnings(p: FeatureSet, q: FeatureSet) -> Iterator[ScoreWarning]:
    """Characters that the featurizer cannot see, in the set with more of them, or a language that it does not read."""
    sides = {"human": p, "model": q}
    shares = {name: 0.0 if side.unseen is None else float(side.unseen.mean()) for name, side in sides.items()}
    name = max(shares, key=lambda name: shares[name])
    languages = {name: None if side.marks is None else side.marks.language for name, side in sides.items()}
    who = _featurizer_of(p if p.identity is not None else q)
    if shares[name] > FEW_UNSEEN:
        language, many = languages[name], shares[name] > MANY_UNSEEN
        numbers = {"share": shares[name], "set": name} | ({} if language is None else {"language": printable(language)})
        cure = advice_for(language, who)
        yield warn("unseen_characters" if many else "some_unseen_characters", numbers, who=who, cure=cure)
        return
    for name, language in languages.items():
        if language is not None and not is_read(who, language):
            numbers = {"set": name, "language": printable(language)}
            yield warn("language_not_read", numbers, who=who, cure=advice_for(language, who))
            return


def _featurizer_of(side: FeatureSet) -> str:
    return "the featurizer" if side.identity is None else side.identity.get("model", "the featurizer")


def _length_warnings(p: FeatureSet, q: FeatureSet) -> Iterator[ScoreWarning]:
    """Human texts of a few tokens, or words where there are no tokens, and sets of unlike length."""
    units, short, cure = "tokens", SHORT_TOKENS, "; match_lengths='truncate' cuts both to one length"
    if p.lengths is None:  # of a function, which has no tokens to cut
        units, short, cure = "words", SHORT_WORDS, ""
    human, model = (_median_length(side, units) for side in (p, q))
    if human is not None and human <= short:
        yield warn("short_references", {"p_median_length": human, "threshold": short}, units=units)
    if human is not None and model is not None and max(human, model) > LENGTH_RATIO * min(human, model):
        numbers = {"p_median_length": human, "q_median_length": model, "units": units}
        check = check_of_lengths(human, model)
        yield warn("length_mismatch", numbers, cure=f"; {check}" if check else cure)


def check_of_lengths(human: float, model: float) -> str:
    """Words for what to check where the median lengths of two sets are far apart; empty where they are not.

    >>> check_of_lengths(80, 10), check_of_lengths(80, 60)
    ('check that the model texts are whole, and no prompts or labels', '')
    """
    shorter = "model" if human > model else "human"
    is_far = max(human, model) > FAR_LENGTH_RATIO * min(human, model)
    return f"check that the {shorter} texts are whole, and no prompts or labels" if is_far else ""


def _dependence_warnings(p: FeatureSet, q: FeatureSet) -> Iterator[ScoreWarning]:
    """Aligned rows whose features pair other rows, and repeats that may mean prompts or a mistake."""
    if q.dependence is None:
        return
    share, repetition = q.dependence.in_step, q.dependence.repetition
    if p.by_rows and q.by_rows and q.design == "aligned" and share is not None and share < IN_STEP_SHARE:
        yield warn("rows_not_aligned", {"share": share})
    if repetition is None:
        return
    for name, times in zip(("human", "model"), repetition.whole, strict=True):
        if times in (2, 3):
            yield warn("joined_with_itself", {"set": name, "times": times})
    if q.design == "undeclared" and repetition.both:
        yield warn("own_prompts", {"p_share": repetition.p_share, "share": repetition.q_share})
    elif q.design in ("undeclared", "found") and repetition.excess and repetition.q_share > REPEATED_SHARE:
        groups = len(np.unique(repetition.groups[repetition.groups >= 0]))
        in_groups = counted(groups, "group")
        yield warn("repeated_texts", {"share": repetition.q_share, "groups": groups}, in_groups=in_groups)


def is_one_prompt(*openings: Hashes) -> bool:
    """Return whether all texts open alike: given their one prompt, they are independent.

    >>> is_one_prompt(np.array([7, 7]), np.array([7])), is_one_prompt(np.array([7, 7]), np.array([8]))
    (True, False)
    """
    return len(np.unique(np.concatenate(openings))) == 1


def _median_length(side: FeatureSet, units: str) -> float | None:
    """Median length of texts in tokens, or in words, of eight characters each in scripts without blanks."""
    if units == "tokens":
        return None if side.lengths is None else float(np.median(side.lengths))
    if side.format_numbers is None:
        return None
    names = list(TRAITS)
    characters, a_word = (side.format_numbers[:, names.index(name)] for name in ("length", "word_length"))
    return float(np.median(np.maximum(characters / np.maximum(a_word, 1), characters / LONGEST_WORD)))


def _side_warnings(side: FeatureSet, name: str) -> Iterator[ScoreWarning]:
    if side.dropped:
        texts = counted(side.dropped, f"empty text of the {name} set was", f"empty texts of the {name} set were")
        yield warn("dropped_texts", {"dropped": side.dropped, "set": name}, texts=texts)
    if side.text_hashes is not None:
        _, first = np.unique(side.text_hashes, return_index=True)
        repeated = np.setdiff1d(np.arange(len(side.text_hashes)), first)
        share = len(repeated) / len(side.text_hashes)
        if share > DUPLICATE_SHARE:
            yield warn("duplicates_within", {"share": share, "set": name, "examples": repeated[:5].tolist()})
    is_looked_for = side.groups is None and side.design != "independent"
    if is_looked_for and side.opening_hashes is not None:  # of different texts: several answers to one prompt
        kept = slice(None) if side.text_hashes is None else np.unique(side.text_hashes, return_index=True)[1]
        _, times = np.unique(side.opening_hashes[kept], return_counts=True)
        share = float(times[times > 1].sum() / len(side.opening_hashes))
        if share > OPENING_SHARE and len(times) > 1:
            yield warn("repeated_prompts", {"share": share, "set": name}, undeclared=UNDECLARED)
    share = side.truncated / len(side)
    is_asked = side.identity is not None and side.identity.get("match_lengths") == "truncate"
    if share > TRUNCATED_SHARE and not is_asked:
        yield warn("truncated_texts", {"share": share, "set": name})


def comparison_warnings(models: Mapping[str, FeatureSet]) -> Iterator[ScoreWarning]:
    """Equal sets under two names, unequal sizes, rows that look aligned."""
    sizes = {name: len(side) for name, side in models.items()}
    if len(set(sizes.values())) > 1:
        yield warn("unequal_models", sizes, smallest=min(sizes.values()), largest=max(sizes.values()))
    alike = []
    for a, b in itertools.combinations(models, 2):
        openings = models[a].opening_hashes, models[b].opening_hashes
        if equal_rows(models[a].features, models[b].features):
            yield warn("equal_models", {"a": a, "b": b}, said=_equality(a, b, models))
        elif openings[0] is not None and openings[1] is not None and len(openings[0]) == len(openings[1]):
            alike += [(a, b)] if np.mean(openings[0] == openings[1]) > ALIGNED_SHARE else []
    if alike and all(side.groups is None for side in models.values()):
        yield warn("rows_look_aligned", {"pairs": alike}, a=alike[0][0], b=alike[0][1])


def _equality(a: str, b: str, models: Mapping[str, FeatureSet]) -> str:
    """A clause on two models of equal features."""
    hashes = [models[name].text_hashes for name in (a, b)]
    if hashes[0] is None or hashes[1] is None:
        return f"{a} and {b} hold the same features"
    if np.array_equal(hashes[0], hashes[1]):
        return f"{a} and {b} hold the same texts"
    who = _featurizer_of(models[a])
    return f"{who} gives {a} and {b} the same features, though their texts differ: take another featurizer"


def partition_warnings(scores: Mapping[str, tuple[float, float]]) -> Iterator[ScoreWarning]:
    """Warnings about models that separate from human text better on own buckets than on common ones.

    Args:
        scores: MAUVE of each model on common buckets, and on its own.
    """
    for name, (mauve, alone) in scores.items():
        if mauve - alone > BLURRED:
            yield warn("coarse_common_buckets", {"model": name, "mauve": mauve, "mauve_own": alone})


def share_in_percent(share: float) -> str:
    """A share as a text in per cent."""
    return f"{100 * share:.1f} %"


class ScoreWarning(NamedTuple):
    """A problem that a careful reviewer would point out about a score.

    Attributes:
        code: a fixed word for programs.
        message: one sentence for people.
        numbers: what it is based on.
        weight: how much it can change the verdict, from 0 to 1.
    """

    code: str
    message: str
    numbers: dict[str, Any]
    weight: float = 0.0

    @property
    def severe(self) -> bool:
        """Return whether the score may not mean what it seems to mean."""
        return self.code in SEVERE


class Advice(NamedTuple):
    """One code. message: with the names of its numbers. cause: when the warning comes. cure: what to do."""

    message: str
    cause: str
    cure: str


def _read() -> dict[str, Advice]:
    """`warning_texts.md` by codes, as it is written."""
    text = re.sub(
        "<!--.*?-->", "", Path(__file__).with_name("warning_texts.md").read_text(encoding="utf-8"), flags=re.S
    )
    guide = {}
    for part in re.split("^# ", re.sub("^> ", "", text, flags=re.MULTILINE), flags=re.MULTILINE)[1:]:
        code, *message, cause, cure = (" ".join(lines.split()) for lines in part.strip().split("\n\n"))
        guide[code] = Advice(" ".join(message), cause, cure)
    return guide


GUIDE = _read()


def warn(code: str, numbers: dict[str, Any], said: str | None = None, **words: object) -> ScoreWarning:
    """The warning of a code.

    Args:
        numbers: what it is based on; of a "share" of the texts depends its weight.
        said: its message, where the guide has none. words: what the guide's message names besides the numbers.
    """
    share = {"percent": share_in_percent(numbers["share"])} if "share" in numbers else {}
    message = GUIDE[code].message.format_map({**numbers, **share, **words}) if said is None else said
    weight = WEIGHTS[code] * (0.5 + 0.5 * min(numbers.get("share", 1.0), 1.0))
    return ScoreWarning(code, message, numbers, weight)
