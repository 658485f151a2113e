"""Measures of `Likelihoods`. Of one set: one number a text, (n,), whose mean is the measure and has an honest interval.

How these numbers are made of tokens says `per_token.mean_by_text`. Of two sets: how well they are told apart.
"""

from __future__ import annotations

import hashlib
from typing import Literal

import numpy as np

from mauve_metric.apps.describing.distances.discriminators import accuracy_of_scores
from mauve_metric.apps.describing.likelihood import per_token
from mauve_metric.apps.describing.likelihood.likelihoods import Likelihoods
from mauve_metric.arrays import Floats, Integers, MeasuredValue
from mauve_metric.measures.cross_fitting import assign_folds, cross_fit
from mauve_metric.measures.groups import same_origin
from mauve_metric.measures.roc_auc import HeldOut

_FIXED = ("revision", "tokenizer", "dtype", "max_text_length", "decoder")  # of an identity: what both sides must share


def generation_perplexity(
    likelihoods: Likelihoods, *, tokens_counted: Literal["predicted", "all"] = "predicted"
) -> Floats:
    """exp(-Σ log R(x_t | x_<t) / T) under the model R that read the texts; the human value is best.

    The first token of a text has no context, so that it has no probability. The experiment code of MAUVE takes
    that of the others and divides by all: T is one too large for each text, and texts of a few tokens get a much lower
    perplexity. "predicted" is exact; "all" is what the published tables hold.

    Args:
        likelihoods: of one set. tokens_counted: which tokens T counts.

    Returns:
        Numbers (n,) with the perplexity, in [1, ∞), as their mean.

    Raises:
        ValueError: other tokens.

    Pillutla et al. 2021, §4.
    """
    if tokens_counted not in ("predicted", "all"):
        raise ValueError(f"tokens_counted must be 'predicted' or 'all', got {tokens_counted!r}")
    besides = (likelihoods.first_ids >= 0) & (tokens_counted == "all")
    return per_token.perplexity_by_text(likelihoods.log_probabilities, likelihoods.offsets, besides.astype(np.int64))


def epsilon_perplexity(likelihoods: Likelihoods, *, epsilon: float = per_token.EPSILON) -> Floats:
    """exp(-mean log((p + ε)/(1 + ε·V))) over all predicted tokens; see `per_token.epsilon_log_probabilities`.

    Returns:
        Numbers (n,) with the ε-perplexity, in [1, ∞), as their mean.
    """
    logs = per_token.epsilon_log_probabilities(likelihoods.log_probabilities, likelihoods.vocabulary_size, epsilon)
    return per_token.perplexity_by_text(logs, likelihoods.offsets, np.zeros(len(likelihoods), dtype=np.int64))


def mean_log_probability(likelihoods: Likelihoods) -> Floats:
    """Mean natural log-probability of each text's predicted tokens, (n,), at most 0; the human value is best."""
    means: Floats = per_token.sums_by_text(likelihoods.log_probabilities, likelihoods.offsets) / likelihoods.counts
    return means


def log_probability_after_prompt(continuations: Likelihoods) -> Floats:
    """Mean natural log-probability of each text's tokens given its prompt and those before, (n,), at most 0.

    Args:
        continuations: of the tokens after the prompts.

    Returns:
        NaN for a text without a token after its prompt, as where the prompt fills the model's window.

    Su and Xu 2022, §3.1 (coherence).
    """
    sums, counts = per_token.sums_by_text(continuations.log_probabilities, continuations.offsets), continuations.counts
    means: Floats = np.divide(sums, counts, out=np.full(len(counts), np.nan), where=counts > 0)
    return means


def mean_probability(likelihoods: Likelihoods) -> Floats:
    """Mean probability of the tokens that came, over all predicted tokens (Ippolito 2021, §3.4).

    Returns:
        Numbers (n,) with the mean probability, in [0, 1], as their mean.
    """
    return per_token.mean_by_text(np.exp(likelihoods.log_probabilities), likelihoods.offsets)


def mean_choices(likelihoods: Likelihoods) -> Floats:
    """Mean number of tokens that a decoder chooses among, over all predicted tokens: k_t of nucleus sampling.

    Returns:
        Numbers (n,) with the mean, from 1 to the size of the vocabulary, as their mean (Ippolito 2021, §3.4, Fig. 3.4).
    """
    return per_token.mean_by_text(likelihoods.choices.astype(np.float64), likelihoods.offsets)


def sparsemax_score(likelihoods: Likelihoods) -> Floats:
    """p_x + (1 - ‖p‖²)/2 over all predicted tokens, x the token that came (Martins et al. 2020, §4.3).

    Returns:
        Numbers (n,) with the score, in [0, 1], as their mean; 1 for certainty that is right.
    """
    return per_token.mean_by_text(likelihoods.sparsemax, likelihoods.offsets)


def token_jensen_shannon(likelihoods: Likelihoods) -> Floats:
    """Jensen–Shannon divergence of the model's distribution and the token that came, over all predicted tokens.

    Returns:
        Numbers (n,) with the divergence, in [0, log 2], as their mean (Martins et al. 2020, §4.3).
    """
    return per_token.mean_by_text(per_token.token_jensen_shannon(likelihoods.log_probabilities), likelihoods.offsets)


def rep(likelihoods: Likelihoods, *, window: int = per_token.WINDOW) -> Floats:
    """rep-ℓ: share of tokens for which the model's first choice is among the ℓ before (Welleck et al. 2020, §6).

    Returns:
        Numbers (n,) with the share, in [0, 1], as their mean.
    """
    return per_token.mean_by_text(_repeats(likelihoods, window), likelihoods.offsets)


def wrep(likelihoods: Likelihoods, *, window: int = per_token.WINDOW) -> Floats:
    """wrep-ℓ: share of tokens for which a wrong first choice is among the ℓ before (Welleck et al. 2020, §6).

    Returns:
        Numbers (n,) with the share, in [0, 1], as their mean; at most that of `rep`.
    """
    wrong = likelihoods.most_likely != likelihoods.token_ids
    return per_token.mean_by_text(_repeats(likelihoods, window) * wrong, likelihoods.offsets)


def _repeats(likelihoods: Likelihoods, window: int) -> Floats:
    return per_token.repeated_choices(
        likelihoods.most_likely, likelihoods.token_ids, likelihoods.offsets, likelihoods.first_ids, window
    )


def rank_share(likelihoods: Likelihoods, *, low: int = 1, high: int | None = None) -> Floats:
    """Share of tokens whose rank is in [low, high], without bound for None (Gehrmann et al. 2019, §3).

    Returns:
        Numbers (n,) with the share, in [0, 1], as their mean.
    """
    ranks = likelihoods.ranks
    inside = (ranks >= low) & (ranks <= (likelihoods.vocabulary_size if high is None else high))
    return per_token.mean_by_text(inside.astype(np.float64), likelihoods.offsets)


def rank_distance(human: Likelihoods, model: Likelihoods, *, seed: int = 25, level: float = 0.95) -> float:
    """Total variation distance between the shares of tokens with ranks 1, 2, 3–4, 5–8, … under one language model.

    Args:
        human, model: of both sets. seed, level: not used.

    Returns:
        ½ Σ_b |p_b - q_b|, in [0, 1], lower is better; above 0 for equal sets, the less the more tokens they have.

    Raises:
        ValueError: both were not read alike.

    Gehrmann et al. 2019, §3 (the histogram of ranks).
    """
    _check_read_alike(human, model)
    bins = [np.ceil(np.log2(side.ranks)).astype(np.int64) for side in (human, model)]
    size = 1 + max(int(of_side.max()) for of_side in bins)
    p, q = (np.bincount(of_side, minlength=size) / len(of_side) for of_side in bins)
    return float(np.abs(p - q).sum() / 2)


def discriminator_ranks(
    human: Likelihoods,
    model: Likelihoods,
    *,
    groups_p: Integers | None = None,
    groups_q: Integers | None = None,
    seed: int = 25,
    level: float = 0.95,
) -> MeasuredValue:
    """Held-out accuracy of a logistic regression on how often each text's tokens have which rank.

    Args:
        human, model: of both sets under one language model.
        groups_p, groups_q: texts with one number hang together (of one prompt), (n_p,) and (n_q,); None: copies do.
        seed: of the folds. level: of the interval.

    Returns:
        Accuracy in [0, 1], ½ where the sets cannot be told apart, lower is better for the model; with interval and
        p-value as `discriminators.accuracy_of_scores` says.

    Raises:
        ValueError: a side has fewer than two different texts; both were not read alike.

    Ippolito 2021, §3.4; Gehrmann et al. 2019.
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import PredefinedSplit, cross_val_predict
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    groups = _groups(human, model, groups_p, groups_q)
    counts = [per_token.rank_counts(side.ranks, side.offsets) for side in (human, model)]
    p, q = (side / side.sum(axis=1, keepdims=True) for side in counts)
    rows, is_model = np.concatenate([p, q]), np.repeat([False, True], [len(p), len(q)])
    fold_of = assign_folds(groups, is_model, seed)
    classifier = make_pipeline(StandardScaler(), LogisticRegression(class_weight="balanced"))
    scores = cross_val_predict(classifier, rows, is_model, cv=PredefinedSplit(fold_of), method="decision_function")
    return accuracy_of_scores(HeldOut(scores, is_model, fold_of, groups), level)


def discriminator_total_probability(
    human: Likelihoods,
    model: Likelihoods,
    *,
    groups_p: Integers | None = None,
    groups_q: Integers | None = None,
    seed: int = 25,
    level: float = 0.95,
) -> MeasuredValue:
    """Held-out accuracy of a threshold on each text's total log-probability, midway between the means of both sets.

    A total grows with the text: sets of other lengths are told apart by that too. Arguments, result and errors as of
    `discriminator_ranks`.

    Solaiman et al. 2019; Ippolito 2021, §3.4.
    """
    groups = _groups(human, model, groups_p, groups_q)
    p, q = (per_token.sums_by_text(side.log_probabilities, side.offsets)[:, None] for side in (human, model))
    is_model = np.repeat([False, True], [len(p), len(q)])
    fitted = cross_fit(np.concatenate([p, q]), is_model, groups, seed=seed)
    return accuracy_of_scores(fitted.held_out, level)


def _groups(human: Likelihoods, model: Likelihoods, groups_p: Integers | None, groups_q: Integers | None) -> Integers:
    """The group of each text, human ones first, from 0, (n,): those given and copies, joined where they meet.

    Raises:
        ValueError: the sets were read by two models or in two ways; groups that are none.
    """
    _check_read_alike(human, model)
    copies: list[bytes] = []
    codes: list[int | None] = []
    for side, groups, name in ((human, groups_p, "groups_p"), (model, groups_q, "groups_q")):
        rows = zip(side.first_ids, np.split(side.token_ids, side.offsets[1:-1]), strict=True)
        copies += [hashlib.blake2b(first.tobytes() + row.tobytes(), digest_size=16).digest() for first, row in rows]
        if groups is None:
            codes += [None] * len(side)
            continue
        groups = np.asarray(groups)
        if groups.shape != (len(side),) or groups.dtype.kind not in "iu" or groups.min() < 0:
            raise ValueError(f"{name} must be {len(side)} whole numbers from 0, got {groups.dtype} {groups.shape}")
        codes += groups.tolist()
    return same_origin(copies, codes)


def _check_read_alike(human: Likelihoods, model: Likelihoods) -> None:
    """`ValueError` if the sets were read by two models or in two ways."""
    for key in _FIXED:
        p, q = human.identity.get(key), model.identity.get(key)
        if p != q:
            raise ValueError(f"both sets must be read by one language model in one way, got {key} {p!r} and {q!r}")
