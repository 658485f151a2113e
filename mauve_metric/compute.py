"""The one place that knows all stages: two sets of texts, tokens or features in, a `MauveResult` out."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mauve_metric import (
    embedding_statistics,
    histogram_scores,
    large,
    nearest_neighbours,
    on_device,
    quantize,
    score_warnings,
    uncertainty,
)
from mauve_metric.config import MauveConfig
from mauve_metric.feature_rows import ArrayRows, ConcatenatedRows
from mauve_metric.inputs import Featurizing, RunOptions, split_options, with_options
from mauve_metric.progress import watch_blocks
from mauve_metric.reference import Reference, check_same_encoder
from mauve_metric.result import MauveResult, ScoreWarning
from mauve_metric.signature import format_signature, signature_entries

logger = logging.getLogger(__name__)

Labels = NDArray[np.int64]

KNN_AUTO_ROWS = 10_000  # up to so many rows a side nearest neighbours take a second or two
KNN_MOST_ROWS = 20_000  # above, so many random rows a side, drawn by the seed; the time grows with the square
ROWS_LOOKED_AT = 4096
FEW_TEXTS_FOR_RUNS = 1000  # below, the seed of the clustering moves the score almost as much as sampling does
RUNS_OF_FEW_TEXTS = 5


def compute_mauve(
    p_features: Any = None,
    q_features: Any = None,
    p_tokens: Any = None,
    q_tokens: Any = None,
    p_text: Any = None,
    q_text: Any = None,
    *,
    p: Reference | None = None,
    q: Reference | None = None,
    **options: Any,
) -> MauveResult:
    """MAUVE between reference (human) texts P and model texts Q (Pillutla et al. 2021), with mauve-text's keywords.

    Each side is given as a `Reference`, features, tokens or texts; the first of these that is there is used, and the
    two sides may differ in form. Where one side is a `Reference`, texts of the other are featurized as it was.

    Args:
        p_features, q_features: finite arrays (n_p, d) and (n_q, d) of one featurizer.
        p_tokens, q_tokens: lists of token id lists of the featurizer's tokenizer, used as they are.
        p_text, q_text: texts: a list, a `datasets` column, a stream (see `texts.text_source`).
        p, q: features kept with their origin (see `Reference`).
        **options: the fields of `MauveConfig` (what can change the score) and of `RunOptions` (what cannot), and
            mauve-text's `use_float64`, which means `dtype="float64"`.

    Returns:
        A `MauveResult`.

    Raises:
        TypeError: an unknown option, or an argument of the wrong type.
        ValueError: a value out of range, or data that cannot be scored.
        OSError, ImportError: the model or a package is not there.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> human, model = rng.normal(size=(200, 8)), rng.normal(size=(200, 8)) + 1
    >>> out = compute_mauve(p_features=human, q_features=model, seed=1)
    >>> 0 < out.mauve < 1, out.num_buckets, out.divergence_curve.shape
    (True, 20, (27, 2))
    """
    config, run = split_options(options)
    forms = {
        "p": {"p": p, "p_features": p_features, "p_tokens": p_tokens, "p_text": p_text},
        "q": {"q": q, "q_features": q_features, "q_tokens": q_tokens, "q_text": q_text},
    }
    with Featurizing(config, run, frozenset(options), tensors_stay=True) as job:
        p_side, q_side = map(job.side, job.prepared(forms).values())
    check_same_encoder(p_side.identity, q_side.identity)
    return score_features(p_side, q_side, config, run=run)


compute_mauve.__signature__ = with_options(compute_mauve, "MauveResult")  # type: ignore[attr-defined]


def featurize(texts: Any, **options: Any) -> Reference:
    """The features of texts with their origin; see `Reference.from_texts`."""
    config, run = split_options(options)
    if config.match_lengths != "no":
        raise ValueError(f"match_lengths={config.match_lengths!r} needs both sets: give it to compute_mauve")
    with Featurizing(config, run, frozenset(options)) as job:
        return job.of_texts("texts", texts)


# --- features → result --------------------------------------------------------------------------------------------


class ProjectedPair(NamedTuple):
    """The projected rows of both sides in the configured order, and how to take them apart again."""

    projected: Any
    num_first: int
    p_first: bool

    def split(self, values: Any) -> tuple[Any, Any]:
        """The part of P and the part of Q."""
        first, second = values[: self.num_first], values[self.num_first :]
        return (first, second) if self.p_first else (second, first)


def score_features(
    p: Reference, q: Reference, config: MauveConfig, quiet: bool = False, run: RunOptions | None = None
) -> MauveResult:
    """Project, quantize and score two sides; `quiet` keeps the warnings out of the log.

    Features that are not in memory, or hardly fit, are read in blocks; `run` has the checkpoint folder for that, and
    the device to work on in place of the one where the features are.
    """
    check_columns({"p_features": p, "q_features": q})
    config, run = resolve_config(config, len(p), len(q)), run or RunOptions()
    device = _device_of(p, q, run)
    if device is None and (large.is_large(p.features) or large.is_large(q.features)):
        runs, projected = _label_large(p, q, config, run)
        p_value = _test(*runs[0], config) if config.permutations else None
    else:
        rows = project_pair(p, q, config, device)
        runs, projected = (
            [rows.split(labels) for labels in cluster_runs(rows.projected, config)],
            rows.split(rows.projected),
        )
        p_value = _p_value(rows, config) if config.permutations else None
    result = score_buckets(p, q, runs, projected, config, p_value)
    for warning in () if quiet else result.warnings:
        logger.warning("%s: %s", warning.code, warning.message)
    return result


def _device_of(p: Reference, q: Reference, run: RunOptions) -> Any:
    """The torch device to work on: the one asked for, else that of features on one, None for the CPU without torch."""
    if run.score_device is not None:
        return on_device.check_device(run.score_device)
    devices = [side.features.tensor.device for side in (p, q) if isinstance(side.features, on_device.TensorRows)]
    return devices[0] if devices else None


def _in_memory(side: Reference) -> NDArray[Any]:
    """A side's features as an array.

    Raises:
        ValueError: they are read in blocks.
    """
    if isinstance(side.features, on_device.TensorRows):
        return on_device.as_array(side.features.tensor)
    if not isinstance(side.features, np.ndarray):
        raise ValueError("frechet_distance=True needs features in memory, as an array")
    return side.features


def check_columns(sides: Mapping[str, Reference]) -> None:
    """`ValueError` unless the features of all sides have the same number of columns."""
    if len({side.features.shape[1] for side in sides.values()}) > 1:
        *most, last = sides
        shapes = [str(side.features.shape) for side in sides.values()]
        raise ValueError(
            f"{', '.join(most)} and {last} must have the same number of columns, got shapes "
            f"{', '.join(shapes[:-1])} and {shapes[-1]}"
        )


def score_buckets(
    p: Reference,
    q: Reference,
    runs: Sequence[tuple[Labels, Labels]],
    projected: tuple[Any, Any],
    config: MauveConfig,
    p_value: float | None = None,
    entries: Mapping[str, Any] | None = None,
) -> MauveResult:
    """The result of two sides whose texts are in buckets.

    Args:
        p, q: the sides.
        runs: for each clustering the buckets of the texts of P and of Q, (n_p,) and (n_q,); the first makes the score.
        projected: the rows that were clustered, (n_p, r) and (n_q, r): arrays, or tensors on a device.
        config: without "auto", see `resolve_config`.
        p_value: of the permutation test.
        entries: what the signature says besides.
    """
    k = int(config.num_buckets)
    histograms, *others = [quantize.count_labels(p_labels, q_labels, k) for p_labels, q_labels in runs]
    scores = histogram_scores.score_histograms(histograms, config)
    scores |= histogram_scores.score_uncertainty(scores["mauve"], histograms, others, config)
    scores |= _support(projected, config)
    scores["frechet_distance"] = (
        embedding_statistics.frechet_distance(*map(_in_memory, (p, q))) if config.frechet_distance else None
    )
    return MauveResult(
        **scores,
        **_facts(p, q),
        p_value=p_value,
        num_buckets=k,
        warnings=_warnings(p, q, histograms, scores, config),
        signature=format_signature(signature_entries(p, q, config, entries or {})),
        p_labels=runs[0][0],
        q_labels=runs[0][1],
    )


def resolve_config(config: MauveConfig, *sizes: int) -> MauveConfig:
    """The config with every "auto" replaced by what it means for sets of these sizes, P's first."""
    smaller = min(sizes)
    num_buckets = quantize.auto_num_buckets(smaller, smaller) if config.num_buckets == "auto" else config.num_buckets
    if num_buckets > sum(sizes):
        which = "both" if len(sizes) == 2 else "all"
        raise ValueError(
            f"num_buckets must be at most the number of texts of {which} sets, {' + '.join(map(str, sizes))}, "
            f"got {num_buckets}"
        )
    runs = (RUNS_OF_FEW_TEXTS if smaller < FEW_TEXTS_FOR_RUNS else 1) if config.num_runs == "auto" else config.num_runs
    knn = max(sizes) <= KNN_AUTO_ROWS and smaller > config.knn_k if config.knn == "auto" else config.knn
    return replace(config, num_buckets=num_buckets, num_runs=runs, knn=knn)


def project_pair(p: Reference, q: Reference, config: MauveConfig, device: Any = None) -> ProjectedPair:
    """The rows of both sides, projected together; on a torch device if one is given."""
    p_first = config.row_order == "pq"
    first, second = (p.features, q.features) if p_first else (q.features, p.features)
    if device is None:
        return ProjectedPair(project_together([first, second], config), first.shape[0], p_first)
    rows = on_device.stacked([first, second], device)
    projected = quantize.project(rows, config.kmeans_explained_var, config.pca_max_data, config.seed)
    return ProjectedPair(projected, first.shape[0], p_first)


def _label_large(
    p: Reference, q: Reference, config: MauveConfig, run: RunOptions
) -> tuple[list[tuple[Labels, Labels]], tuple[NDArray[np.float32], NDArray[np.float32]]]:
    """The buckets of every run, and the projected rows that nearest neighbours are looked for among, (0, r) if none."""
    p_first = config.row_order == "pq"
    ordered = [large.as_rows(side.features) for side in ((p, q) if p_first else (q, p))]
    labels, projection = large.label_rows(
        ConcatenatedRows(ordered),
        num_buckets=int(config.num_buckets),
        explained_variance=config.kmeans_explained_var,
        pca_max_data=config.pca_max_data,
        num_redo=config.kmeans_num_redo,
        max_iter=config.kmeans_max_iter,
        seed=config.seed,
        num_runs=int(config.num_runs),
        checkpoint=None if run.checkpoint is None else Path(run.checkpoint),
        watch=watch_blocks if run.verbose else large.unwatched,
    )
    n_first = ordered[0].shape[0]
    split = [(item[:n_first], item[n_first:]) for item in labels]
    runs = split if p_first else [(second, first) for first, second in split]
    most = KNN_MOST_ROWS if config.knn else 0
    some = (ArrayRows(large.some_rows(side.features, most, config.seed)) for side in (p, q))
    p_rows, q_rows = map(projection.apply_all, some)
    return runs, (p_rows, q_rows)


def project_together(sets: Sequence[Any], config: MauveConfig) -> NDArray[np.float32]:
    """The rows of all sets, stacked in this order and projected: arrays (n_i, d) → (Σ n_i, r)."""
    rows = ConcatenatedRows([large.as_rows(features) for features in sets])
    projected: NDArray[np.float32] = quantize.project(
        rows, config.kmeans_explained_var, config.pca_max_data, config.seed
    )
    return projected


def cluster(projected: Any, config: MauveConfig, offset: int = 0) -> Labels:
    """The bucket of each row; `offset` is added to the seed."""
    return quantize.kmeans(
        projected, int(config.num_buckets), config.kmeans_num_redo, config.kmeans_max_iter, config.seed + offset
    )


def cluster_runs(projected: Any, config: MauveConfig) -> list[Labels]:
    """The bucket of each row for `num_runs` seeds, one after the other."""
    return [cluster(projected, config, offset) for offset in range(int(config.num_runs))]


def _support(projected: tuple[Any, Any], config: MauveConfig) -> dict[str, Any]:
    """Nearest-neighbour precision, recall, density and coverage, or None for each."""
    names = nearest_neighbours.SupportScores._fields
    if not config.knn:
        return dict.fromkeys(names)
    if not isinstance(projected[0], np.ndarray):
        some = [
            rows if len(rows) <= KNN_MOST_ROWS else rows[large.some_numbers(len(rows), KNN_MOST_ROWS, config.seed)]
            for rows in projected
        ]
        scores = on_device.support_scores(some[0], some[1], config.knn_k, nearest_neighbours.ROUNDING)
        return dict(zip(names, scores, strict=True))
    p_rows, q_rows = (large.some_rows(rows, KNN_MOST_ROWS, config.seed) for rows in projected)
    scores = nearest_neighbours.support_scores(p_rows, q_rows, config.knn_k, tolerance=nearest_neighbours.ROUNDING)
    return scores._asdict()


def _p_value(rows: ProjectedPair, config: MauveConfig) -> float:
    """Permutation test on buckets that do not know the sets: the rows are shuffled before they are clustered."""
    order = np.random.default_rng(config.seed).permutation(len(rows.projected))
    labels = np.empty(len(order), dtype=np.int64)
    labels[order] = cluster(rows.projected[order], config)
    return _test(*rows.split(labels), config)


def _test(p_labels: Labels, q_labels: Labels, config: MauveConfig) -> float:
    return uncertainty.permutation_test(
        p_labels, q_labels, int(config.num_buckets), config.permutations, config.paired, config.seed
    )


def _facts(p: Reference, q: Reference) -> dict[str, Any]:
    """What is known about the two sets, by the names of `MauveResult`."""
    facts: dict[str, Any] = {}
    for side, reference in (("p", p), ("q", q)):
        lengths = reference.lengths
        facts[f"n_{side}"] = len(reference)
        facts[f"{side}_dropped"] = reference.dropped
        facts[f"{side}_truncated"] = reference.truncated
        facts[f"{side}_median_length"] = None if lengths is None else float(np.median(lengths))
    return facts


def _warnings(
    p: Reference, q: Reference, histograms: quantize.Histograms, scores: Mapping[str, Any], config: MauveConfig
) -> tuple[ScoreWarning, ...]:
    found = score_warnings.size_warnings(len(p), len(q), len(histograms.p_counts))
    found += score_warnings.bucket_warnings(histograms.p_counts, histograms.q_counts)
    ends = [scores[name] for name in ("mauve", "mauve_floor", "mauve_ceiling", "mauve_ceiling_std")]
    found += score_warnings.score_warnings(*ends)
    found += score_warnings.feature_warnings(*(_looked_at(side.features) for side in (p, q)))
    found += score_warnings.featurizer_warnings(p.identity, q.identity)
    found += score_warnings.origin_warnings(p, q)
    found += score_warnings.text_warnings(p, q)
    return tuple(found)


def _looked_at(features: Any) -> NDArray[Any]:
    """The rows that the warnings about features look at: all in memory, else some."""
    return large.some_rows(features, ROWS_LOOKED_AT) if large.is_large(features) else np.asarray(features)
