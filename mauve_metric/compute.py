"""The one place that knows all stages: two sets of texts, tokens or features in, a `MauveResult` out."""

from __future__ import annotations

import importlib.metadata
import inspect
import logging
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mauve_metric import (
    divergence,
    embedding_statistics,
    nearest_neighbours,
    precision_recall,
    quantize,
    score_warnings,
    uncertainty,
)
from mauve_metric.config import MauveConfig, knobs
from mauve_metric.inputs import Featurizing, option_parameters, split_options
from mauve_metric.reference import Reference, check_same_encoder
from mauve_metric.result import MauveResult, ScoreWarning, format_signature

logger = logging.getLogger(__name__)

KNN_AUTO_ROWS = 10_000  # up to so many rows a side nearest neighbours take a second or two
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
    for given in forms.values():
        if all(value is None for value in given.values()):
            raise ValueError(f"one of {', '.join(given)} must be given, all are None")
    with Featurizing(config, run, frozenset(options)) as job:
        for reference in (p, q):
            job.follow(getattr(reference, "identity", None))
        if config.match_lengths == "truncate":
            forms = job.matched(forms)
        p_side, q_side = job.side(forms["p"]), job.side(forms["q"])
    check_same_encoder(p_side.identity, q_side.identity)
    return score_features(p_side, q_side, config)


compute_mauve.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
    [
        *(item for item in inspect.signature(compute_mauve).parameters.values() if item.kind is not item.VAR_KEYWORD),
        *option_parameters(),
    ],
    return_annotation="MauveResult",
)


def featurize(texts: Any, **options: Any) -> Reference:
    """The features of texts with their origin; see `Reference.from_texts`."""
    config, run = split_options(options)
    if config.match_lengths != "no":
        raise ValueError(f"match_lengths={config.match_lengths!r} needs both sets: give it to compute_mauve")
    with Featurizing(config, run, frozenset(options)) as job:
        return job.of_texts("texts", texts)


# --- features → result --------------------------------------------------------------------------------------------


class _Rows(NamedTuple):
    """The projected rows of both sides in the configured order, and how to take them apart again."""

    projected: NDArray[np.float32]
    num_first: int
    p_first: bool

    def split(self, values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """The part of P and the part of Q."""
        first, second = values[: self.num_first], values[self.num_first :]
        return (first, second) if self.p_first else (second, first)


def score_features(p: Reference, q: Reference, config: MauveConfig) -> MauveResult:
    """Project, quantize and score two sides."""
    if p.features.shape[1] != q.features.shape[1]:
        raise ValueError(
            "p_features and q_features must have the same number of columns, got shapes "
            f"{p.features.shape} and {q.features.shape}"
        )
    n_p, n_q = len(p), len(q)
    config = _resolved(config, n_p, n_q)
    k = int(config.num_buckets)
    rows = _project(p, q, config)
    p_labels, q_labels = rows.split(_cluster(rows.projected, config))
    histograms = quantize.count_labels(p_labels, q_labels, k)
    scores = score_histograms(histograms, config)
    scores |= _uncertainty(histograms, _other_runs(rows, config), config)
    scores |= _support(rows, config)
    scores["frechet_distance"] = (
        embedding_statistics.frechet_distance(p.features, q.features) if config.frechet_distance else None
    )
    scores["p_value"] = _p_value(rows, config) if config.permutations else None
    result = MauveResult(
        **scores,
        **_facts(p, q),
        num_buckets=k,
        warnings=_warnings(p, q, histograms, scores, config),
        signature=format_signature(_signature_entries(p, q, config)),
        p_labels=p_labels,
        q_labels=q_labels,
    )
    for warning in result.warnings:
        logger.warning("%s: %s", warning.code, warning.message)
    return result


def _resolved(config: MauveConfig, n_p: int, n_q: int) -> MauveConfig:
    """The config with every "auto" replaced by what it means for these sizes."""
    smaller = min(n_p, n_q)
    num_buckets = quantize.auto_num_buckets(n_p, n_q) if config.num_buckets == "auto" else config.num_buckets
    if num_buckets > n_p + n_q:
        raise ValueError(
            f"num_buckets must be at most the number of texts of both sets, {n_p} + {n_q}, got {num_buckets}"
        )
    runs = (RUNS_OF_FEW_TEXTS if smaller < FEW_TEXTS_FOR_RUNS else 1) if config.num_runs == "auto" else config.num_runs
    knn = max(n_p, n_q) <= KNN_AUTO_ROWS and smaller > config.knn_k if config.knn == "auto" else config.knn
    return replace(config, num_buckets=num_buckets, num_runs=runs, knn=knn)


def _project(p: Reference, q: Reference, config: MauveConfig) -> _Rows:
    p_first = config.row_order == "pq"
    first, second = (p.features, q.features) if p_first else (q.features, p.features)
    stacked = np.concatenate([first, second])
    projected = quantize.project(stacked, config.kmeans_explained_var, config.pca_max_data, config.seed)
    return _Rows(projected, len(first), p_first)


def _cluster(projected: NDArray[np.float32], config: MauveConfig, offset: int = 0) -> NDArray[np.int64]:
    """The bucket of each row; `offset` is added to the seed."""
    return quantize.kmeans(
        projected, int(config.num_buckets), config.kmeans_num_redo, config.kmeans_max_iter, config.seed + offset
    )


def _other_runs(rows: _Rows, config: MauveConfig) -> list[quantize.Histograms]:
    """Histograms of the clusterings with the following seeds, `num_runs` - 1 of them."""
    return [
        quantize.count_labels(*rows.split(_cluster(rows.projected, config, offset)), int(config.num_buckets))
        for offset in range(1, int(config.num_runs))
    ]


def score_histograms(histograms: quantize.Histograms, config: MauveConfig) -> dict[str, Any]:
    """Every score that follows from the histograms alone, by the names of `MauveResult`."""
    c, points = config.mauve_scaling_factor, config.divergence_curve_discretization_size
    p, q = histograms.probabilities()
    p_star, q_star = histograms.probabilities(smoothing=0.5)
    curve = divergence.divergence_curve(p, q, c, points)
    prd = precision_recall.prd_curve(p, q)
    type_one, type_two = divergence.frontier(p, q, [0.5])
    return {
        "mauve": divergence.curve_area(curve),
        "mauve_star": divergence.curve_area(divergence.divergence_curve(p_star, q_star, c, points)),
        "frontier_integral": divergence.frontier_integral(p, q),
        "frontier_integral_star": divergence.frontier_integral(p_star, q_star),
        "mauve_exact": divergence.exact_area(p, q, c),
        "mauve_floor": divergence.mauve_floor(c),
        "jensen_shannon": float(type_one[0] + type_two[0]) / 2,
        "prd_precision": prd.prd_precision,
        "prd_recall": prd.prd_recall,
        "prd_area": prd.area,
        "p_hist": p,
        "q_hist": q,
        "divergence_curve": curve,
        "prd_curve": np.stack([prd.recall, prd.precision], axis=1),
    }


def _uncertainty(
    histograms: quantize.Histograms, others: list[quantize.Histograms], config: MauveConfig
) -> dict[str, Any]:
    """Debiased scores, errors, intervals, ceiling and the spread over clusterings; None with one text on a side."""
    c = config.mauve_scaling_factor
    every = [histograms, *others]
    plug_in = [
        divergence.curve_area(
            divergence.divergence_curve(*run.probabilities(), c, config.divergence_curve_discretization_size)
        )
        for run in every
    ]
    scores: dict[str, Any] = {
        "mauve_ceiling": uncertainty.mauve_ceiling(histograms.p_counts, histograms.q_counts, c),
        "mauve_runs": np.array(plug_in),
        "mauve_mean": float(np.mean(plug_in)),
        "mauve_std": float(np.std(plug_in, ddof=1)) if others else None,
        "ci_scope": "over clusterings" if others else "for this partition",
    }
    names = [f"{score}_{part}" for score in ("mauve", "frontier_integral") for part in ("debiased", "stderr", "ci")]
    if min(histograms.p_counts.sum(), histograms.q_counts.sum()) < 2:
        return scores | dict.fromkeys(names)
    frontiers = [uncertainty.debiased_frontier(run.p_counts, run.q_counts) for run in every]
    spread = [[estimate.value for estimate in uncertainty.estimate_scores(frontier, c)] for frontier in frontiers]
    variances = np.var(spread, axis=0, ddof=1) if others else np.zeros(2)
    mauve, integral = uncertainty.estimate_scores(
        frontiers[0], c, config.confidence_level, float(variances[0]), float(variances[1])
    )
    return scores | dict(zip(names, [*mauve, *integral], strict=True))


def _support(rows: _Rows, config: MauveConfig) -> dict[str, Any]:
    """Nearest-neighbour precision, recall, density and coverage, or None for each."""
    names = nearest_neighbours.SupportScores._fields
    if not config.knn:
        return dict.fromkeys(names)
    return nearest_neighbours.support_scores(*rows.split(rows.projected), k=config.knn_k)._asdict()


def _p_value(rows: _Rows, config: MauveConfig) -> float:
    """Permutation test on buckets that do not know the sets: the rows are shuffled before they are clustered."""
    order = np.random.default_rng(config.seed).permutation(len(rows.projected))
    labels = np.empty(len(order), dtype=np.int64)
    labels[order] = _cluster(rows.projected[order], config)
    p_labels, q_labels = rows.split(labels)
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
    found += score_warnings.score_warnings(scores["mauve"], scores["mauve_floor"], scores["mauve_ceiling"])
    found += score_warnings.feature_warnings(p.features, q.features)
    found += score_warnings.featurizer_warnings(p.identity, q.identity)
    found += score_warnings.origin_warnings(p, q)
    found += score_warnings.text_warnings(p, q)
    return tuple(found)


def _signature_entries(p: Reference, q: Reference, config: MauveConfig) -> dict[str, Any]:
    """What fixes the score, in the order in which the signature shows it, the package's version last."""
    import mauve_metric

    entries: dict[str, Any] = {f"{name}_input": "features" for name, side in (("p", p), ("q", q)) if not side.identity}
    identity = p.identity or q.identity
    if identity is not None:
        entries["featurize_model_name"] = identity["model"]
        entries["revision"] = identity.get("revision", "unknown")[:12]
        for key in ("tokenizer", "max_text_length", "pooling", "dtype"):
            if key in identity:
                entries[key] = identity[key]
        entries |= {"match_lengths": config.match_lengths, "empty_texts": config.empty_texts}
    for name, knob in knobs().items():
        if knob.metadata["stage"] != "featurize":
            entries[name] = getattr(config, name)
    entries |= {"n_p": len(p), "n_q": len(q)}
    packages = ["faiss-cpu", "numpy"] + (["torch", "transformers"] if identity is not None else [])
    entries |= {package: _version(package) for package in packages}
    return entries | {"mauve_metric": mauve_metric.__version__}


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "unknown"
