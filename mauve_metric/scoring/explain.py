"""Explain the gap 1 - MAUVE: the buckets that cause it, with their words and texts."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any, Unpack

import numpy as np

from mauve_metric.arrays import Array, FeatureData, Floats, Integers, Labels, Rows, TextData, TokenData
from mauve_metric.clustering.histograms import count_labels
from mauve_metric.clustering.partition import Partition
from mauve_metric.features.feature_set import FeatureSet, FeaturizeJob, given_side
from mauve_metric.features.sides import By, Subgroups, check_columns, check_same_encoder, read_sides
from mauve_metric.features.text_functions import differing_ngrams
from mauve_metric.inputs.files import TextFile
from mauve_metric.measures.groups import pair_of_groups
from mauve_metric.options import MauveConfig, Options, with_options
from mauve_metric.results.explanation import Explanation, GapBucket, NearText, ScoredText
from mauve_metric.results.result import MauveResult
from mauve_metric.runtime.checks import check_count
from mauve_metric.runtime.tensors import on_cpu
from mauve_metric.scoring.opening import open_two
from mauve_metric.scoring.phrases import Readable, repeated_phrases, telling_phrases
from mauve_metric.scoring.pipeline import cluster
from mauve_metric.scoring.score import score_clustered
from mauve_metric.scoring.without_layout import without_layout
from mauve_metric.uncertainty.gap_buckets import best_overlaps, contributions, noise_p_values

AROUND = 20  # fewest texts of the other side that a side's texts in a bucket are compared with


@with_options()
def explain(
    p_features: FeatureData | None = None,
    q_features: FeatureData | None = None,
    p_tokens: TokenData | None = None,
    q_tokens: TokenData | None = None,
    p_text: TextData | TextFile | None = None,
    q_text: TextData | TextFile | None = None,
    *,
    p: FeatureSet | None = None,
    q: FeatureSet | None = None,
    aligned: bool = False,
    p_groups: Sequence[Hashable] | None = None,
    q_groups: Sequence[Hashable] | None = None,
    buckets: int = 10,
    texts: int = 3,
    by: By | None = None,
    **options: Unpack[Options],
) -> Explanation:
    """Score two sides as `compute_mauve` does, and find the buckets that cause the gap 1 - MAUVE.

    Each side is given as in `compute_mauve`. Texts that are given beside features, tokens or a `FeatureSet` are not
    featurized but read: they are what the buckets' words and texts are taken from, one for each row.

    Args:
        p_features, q_features, p_tokens, q_tokens, p_text, q_text, p, q: see `compute_mauve`.
        aligned, p_groups, q_groups, **options: likewise.
        buckets: how many are described, the largest contributions first.
        texts: how many of each side are shown for a bucket.
        by: the field of a label of each text in the files, such as its topic; or the labels, lists for "human" and
            "model". Each bucket then says how many texts of each label it has (MAUVE's appendix F).

    Returns:
        An `Explanation`.

    Raises:
        TypeError, ValueError, OSError, ImportError: as `compute_mauve`; `ValueError` too for a number of texts other
            than that of the rows.

    >>> rng = np.random.default_rng(0)
    >>> human, model = rng.normal(size=(200, 8)), 0.5 * rng.normal(size=(200, 8))
    >>> found = explain(p_features=human, q_features=model, seed=1)
    >>> bool(abs(found.contributions.sum() - (1 - found.result.mauve)) < 1e-12)
    True
    """
    buckets = check_count("buckets", buckets)
    texts = check_count("texts", texts, low=0)
    sides = {
        "p": given_side("p", {"set": p, "features": p_features, "tokens": p_tokens, "text": p_text}, p_groups),
        "q": given_side("q", {"set": q, "features": q_features, "tokens": q_tokens, "text": q_text}, q_groups),
    }
    job, inputs = open_two("explain", options, sides, aligned, by)
    with job:
        (p_side, p_read), (q_side, q_read) = read_sides(job, inputs).values()
        subgroups = inputs.rows_of_subgroups({"p": len(p_side), "q": len(q_side)})
        check_same_encoder(p_side.identity, q_side.identity)
        check_columns({"p_features": p_side, "q_features": q_side})
        clustered = cluster([p_side, q_side], job.config, job.run, every_row=True)
        config, partition = clustered.config, clustered.partition
        result = score_clustered(clustered)
        readable = Readable.of([p_read, q_read])
        explanation = explain_model(partition, 1, result, config, readable, buckets=buckets, texts=texts)
        composed = tuple(_with_composition(bucket, result, subgroups) for bucket in explanation.buckets)
        explanation = replace(explanation, buckets=composed)
        pair = pair_of_groups(*clustered.groups)
        explanation = explain_learned(explanation, readable.texts, pair, config, texts, job, inputs.prompts)
        return explanation.with_reference_name(job.run.reference_name)


def _with_composition(bucket: GapBucket, result: MauveResult, subgroups: Subgroups) -> GapBucket:
    """The bucket with its texts of each label that it holds."""
    inside = [labels == bucket.bucket for labels in (result.p_labels, result.q_labels)]
    counts = {
        label: [0 if rows is None else int(mask[rows].sum()) for mask, rows in zip(inside, sides, strict=True)]
        for label, sides in subgroups.items()
    }
    return replace(bucket, composition={label: (of_p, of_q) for label, (of_p, of_q) in counts.items() if of_p or of_q})


def explain_model(
    partition: Partition,
    number: int,
    result: MauveResult,
    config: MauveConfig,
    readable: Readable,
    *,
    buckets: int | Sequence[int],
    texts: int,
) -> Explanation:
    """Explain the result of the model with this number.

    Args:
        partition: of P and all models, with a second clustering. number: from 1.
        result: with its labels. config: of the result. readable: the texts of P and of all models.
        buckets: how many to describe, the largest first, or the numbers of those to describe. texts: of each side to
            show.
    """
    from scipy.stats import rankdata

    projected = on_cpu(partition.rows[0]), on_cpu(partition.rows[number])
    other_labels = partition.labels[1][0], partition.labels[1][number]
    readable = readable.pair(0, number)
    k, c, points = result.num_buckets, config.mauve_scaling_factor, config.divergence_curve_discretization_size
    labels = result.p_labels, result.q_labels
    histograms = count_labels(*labels, k)
    parts = contributions(result.p_hist, result.q_hist, c, points)
    p_values = noise_p_values(histograms.p_counts, histograms.q_counts)
    other_parts = contributions(*count_labels(*other_labels, k).probabilities(), c, points)
    ranks, other_ranks = (rankdata(-shares, "ordinal") for shares in (parts, other_parts))  # 1 for the largest
    match, overlap = best_overlaps(np.concatenate(labels), np.concatenate(other_labels), k)
    too_much, noise = result.q_hist > result.p_hist, p_values > 1 - config.confidence_level
    total = float(parts.sum())
    described = []
    for bucket in np.argsort(-parts, kind="stable")[:buckets].tolist() if isinstance(buckets, int) else buckets:
        part, distances = float(parts[bucket]), _distances(labels, projected, bucket)
        near = [
            _nearest(away, side == bucket, side_texts, texts)
            for away, side, side_texts in zip(distances, labels, readable.texts, strict=True)
        ]
        even = result.p_hist[bucket] == result.q_hist[bucket]
        described.append(
            GapBucket(
                bucket=bucket,
                rank=int(ranks[bucket]),
                side="even" if even else "too much" if too_much[bucket] else "missed",
                contribution=part,
                share=part / total if total > 0 else 0.0,
                type_one=part if too_much[bucket] else 0.0,
                type_two=0.0 if too_much[bucket] else part,
                p_count=int(histograms.p_counts[bucket]),
                q_count=int(histograms.q_counts[bucket]),
                p_value=float(p_values[bucket]),
                noise=bool(noise[bucket]),
                overlap=float(overlap[bucket]),
                other_rank=int(other_ranks[match[bucket]]),
                **_phrases(labels, bucket, distances, readable),
                p_texts=near[0],
                q_texts=near[1],
            )
        )
    return Explanation(
        result=result,
        gap=1 - result.mauve,
        type_one=float(parts[too_much].sum()),
        type_two=float(parts[~too_much].sum()),
        noise=float(parts[noise].sum()),
        contributions=parts,
        p_values=p_values,
        buckets=tuple(described),
    )


def explain_learned(
    explanation: Explanation,
    texts_of_sides: Sequence[Sequence[str] | None],
    groups: tuple[Integers, Integers] | None,
    config: MauveConfig,
    texts: int,
    job: FeaturizeJob | None = None,
    prompts: Sequence[str] = (),
) -> Explanation:
    """Add the texts and n-grams by which the classifier of the learned score separates the two sets.

    Args:
        texts_of_sides: of P and of Q, or None. groups: codes of texts that are not independent; None: each is alone.
        config: of the result. texts: of each side to show. job, prompts: see `without_layout`.
    """
    result = explanation.result
    if result.learned is None:
        return explanation
    p_texts, q_texts = texts_of_sides
    explained = replace(
        explanation,
        result=without_layout(result, texts_of_sides, groups, config, job, prompts),
        most_human=_extreme(result.learned.p_ranks, -1, p_texts, texts),
        most_model=_extreme(result.learned.q_ranks, 1, q_texts, texts),
    )
    if p_texts is None or q_texts is None or result.signature_entries.get("featurize_model_name") != "ngrams":
        return explained
    return replace(explained, ngrams=differing_ngrams(p_texts, q_texts))


def _extreme(scores: Floats, sign: int, texts: Sequence[str] | None, most: int) -> tuple[ScoredText, ...]:
    """The texts with the largest (sign 1) or smallest (-1) scores, the most extreme first; copies once.

    >>> [item.row for item in _extreme(np.array([2.0, 5.0, 5.0]), 1, ["a", "b", "b"], 2)]
    [1, 0]
    """
    by_text: dict[object, ScoredText] = {}
    for row in np.argsort(-sign * scores, kind="stable").tolist():
        if len(by_text) == most:
            break
        text = None if texts is None else texts[row]
        by_text.setdefault(row if text is None else text, ScoredText(row, float(scores[row]), text))
    return tuple(by_text.values())


def _phrases(
    labels: tuple[Labels, Labels], bucket: int, distances: Sequence[Floats], readable: Readable
) -> dict[str, Any]:
    """The fields of `GapBucket` that are made of words; empty ones where the texts are not known."""
    inside, near, everything = [], [], []
    most = max(AROUND, 2 * max(int((side == bucket).sum()) for side in labels))
    for side, away, start, texts in zip(labels, distances, readable.starts, readable.texts, strict=True):
        rows = np.arange(len(side) if texts is not None else 0) + start
        everything.append(rows)
        inside.append(rows[side[: len(rows)] == bucket])
        near.append(rows[np.argsort(away[: len(rows)], kind="stable")[:most]])
    table, members, skip = readable.table, np.concatenate(inside), readable.functional
    model_texts = (
        [readable.texts[1][row] for row in np.nonzero(labels[1] == bucket)[0].tolist()] if readable.texts[1] else []
    )
    return {
        "words": telling_phrases(table, members, np.setdiff1d(np.concatenate(everything), members), skip),
        "p_words": telling_phrases(table, inside[0], near[1], skip),
        "q_words": telling_phrases(table, inside[1], near[0], skip),
        "repeated": repeated_phrases(model_texts),
    }


def _distances(labels: tuple[Labels, Labels], projected: Sequence[Rows], bucket: int) -> list[Floats]:
    """Distance of each row of either side from the mean of the bucket's rows, (n_p,) and (n_q,)."""
    members = np.concatenate([rows[side == bucket] for rows, side in zip(projected, labels, strict=True)])
    centre = members.mean(axis=0) if len(members) else np.zeros(projected[0].shape[1], dtype=np.float32)
    return [np.sqrt(np.square(rows - centre).sum(axis=1, dtype=np.float64)) for rows in projected]


def _nearest(distances: Floats, inside: Array, texts: Sequence[str] | None, most: int) -> tuple[NearText, ...]:
    """The texts of one side nearest to a bucket's centre. inside: true for those of the bucket, (n,)."""
    return tuple(
        NearText(row, float(distances[row]), bool(inside[row]), None if texts is None else texts[row])
        for row in np.argsort(distances, kind="stable")[:most].tolist()
    )
