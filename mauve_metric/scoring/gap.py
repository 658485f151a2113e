"""The parts of the gap 1 - MAUVE: the buckets that cause it, and the texts that a classifier is surest of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mauve_metric.arrays import Array, Floats, Labels, Rows
from mauve_metric.clustering.histograms import count_labels
from mauve_metric.clustering.partition import Partition
from mauve_metric.features.sides import Subgroups
from mauve_metric.features.text_functions import differing_ngrams
from mauve_metric.options import MauveConfig
from mauve_metric.results.explanation import Explanation, GapBucket, NearText, ScoredText
from mauve_metric.results.result import MauveResult
from mauve_metric.runtime.tensors import on_cpu
from mauve_metric.scoring.phrases import Readable, repeated_phrases, telling_phrases
from mauve_metric.uncertainty.gap_buckets import best_overlaps, contributions, noise_p_values

AROUND = 20  # fewest texts of the other side that a side's texts in a bucket are compared with


def explain_buckets(
    partition: Partition,
    number: int,
    result: MauveResult,
    config: MauveConfig,
    readable: Readable,
    buckets: int | Sequence[int],
    texts: int,
    subgroups: Subgroups | None = None,
    *,
    with_extremes: bool = False,
) -> Explanation:
    """Explain the result of the model with this number.

    Args:
        partition: of P and all models, with a second clustering. number: from 1.
        result: with its labels. config: of the result. readable: the texts of P and of the model.
        buckets: how many to describe, the largest first, or the numbers of those to describe. texts: of each side to
            show.
        subgroups: rows of the texts of each label, of P and of the models.
        with_extremes: also the texts and n-grams by which the classifier of the learned score separates the two sets.
    """
    from scipy.stats import rankdata

    projected = on_cpu(partition.rows[0]), on_cpu(partition.rows[number])
    other_labels = partition.labels[1][0], partition.labels[1][number]
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
                composition=_composition(labels, bucket, subgroups or {}, number),
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
        **(_extremes(result, readable.texts, texts) if with_extremes else {}),
    )


def _composition(
    labels: tuple[Labels, Labels], bucket: int, subgroups: Subgroups, number: int
) -> dict[str, tuple[int, int]]:
    """The texts of P and of the model with each label that a bucket holds."""
    composition = {}
    for label, sides in subgroups.items():
        pair = zip(labels, (sides[0], sides[number]), strict=True)
        of_p, of_q = (0 if rows is None else int((side[rows] == bucket).sum()) for side, rows in pair)
        if of_p or of_q:
            composition[label] = of_p, of_q
    return composition


def _extremes(result: MauveResult, texts_of_sides: Sequence[Sequence[str] | None], texts: int) -> dict[str, Any]:
    """The fields of an explanation on the texts and n-grams by which the classifier separates the two sets."""
    if result.learned is None:
        return {}
    p_texts, q_texts = texts_of_sides
    fields: dict[str, Any] = {
        "most_human": _extreme(result.learned.p_ranks, -1, p_texts, texts),
        "most_model": _extreme(result.learned.q_ranks, 1, q_texts, texts),
    }
    if p_texts is None or q_texts is None or result.signature_entries.get("featurize_model_name") != "ngrams":
        return fields
    return fields | {"ngrams": differing_ngrams(p_texts, q_texts)}


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
