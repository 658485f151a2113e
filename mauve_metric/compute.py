"""The one place that knows all stages: two sets of texts, tokens or features in, a `MauveResult` out."""

from __future__ import annotations

import importlib.metadata
import inspect
import logging
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mauve_metric import divergence, precision_recall, quantize
from mauve_metric.config import MauveConfig, knobs, unknown_options
from mauve_metric.encoder import Encoder, load_encoder, resolve_device
from mauve_metric.featurize import FeaturizeStats, check_features, featurize_texts, featurize_tokens
from mauve_metric.result import MauveResult, ScoreWarning, format_signature
from mauve_metric.texts import text_source

logger = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """What changes the speed of a run or what it prints, and never its score.

    device: "auto" (CUDA, else MPS, else CPU) or a torch device. device_id: as in mauve-text, -1 is the CPU.
    batch_size: most texts of a batch. max_batch_tokens: tokens of a batch. verbose: a progress bar on stderr.
    text_field: the column of a `datasets.Dataset` that holds the texts.
    """

    device: str | None = None
    device_id: int | None = None
    batch_size: int | None = None
    max_batch_tokens: int | None = None
    verbose: bool = False
    text_field: str | None = None

    def __post_init__(self) -> None:
        for name in ("batch_size", "max_batch_tokens"):
            value = getattr(self, name)
            if value is not None and (
                isinstance(value, bool) or not isinstance(value, (int, np.integer)) or int(value) < 1
            ):
                raise ValueError(f"{name} must be an integer of at least 1, got {value!r}")


@dataclass(frozen=True)
class Side:
    """One of the two sets, ready for projection: its features and where they come from.

    origin: the identity of the encoder, or None for features given as such.
    """

    features: NDArray[Any]
    origin: Mapping[str, str] | None = None
    stats: FeaturizeStats | None = None
    dropped: int = 0


def compute_mauve(
    p_features: Any = None,
    q_features: Any = None,
    p_tokens: Any = None,
    q_tokens: Any = None,
    p_text: Any = None,
    q_text: Any = None,
    **options: Any,
) -> MauveResult:
    """MAUVE between reference (human) texts P and model texts Q (Pillutla et al. 2021), with mauve-text's keywords.

    Each side is given as features, tokens or texts; the first of these that is there is used, and the two sides may
    differ in form.

    Args:
        p_features, q_features: finite arrays (n_p, d) and (n_q, d) of one featurizer.
        p_tokens, q_tokens: lists of token id lists of the featurizer's tokenizer, used as they are.
        p_text, q_text: texts: a list, a `datasets` column, a stream (see `texts.text_source`).
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
    given = {
        "p": {"p_features": p_features, "p_tokens": p_tokens, "p_text": p_text},
        "q": {"q_features": q_features, "q_tokens": q_tokens, "q_text": q_text},
    }
    for forms in given.values():
        if all(value is None for value in forms.values()):
            raise ValueError(f"one of {', '.join(forms)} must be given, all are None")
    load = _EncoderOnce(config, run)
    p, q = (_featurize_side(forms, config, run, load) for forms in given.values())
    return score_features(p, q, config)


def split_options(options: Mapping[str, Any]) -> tuple[MauveConfig, RunOptions]:
    """Keywords → the config and the run options; `TypeError` for an unknown one, with the nearest known name."""
    options = dict(options)
    if options.pop("use_float64", False) and options.setdefault("dtype", "float64") != "float64":
        raise ValueError(f"use_float64=True and dtype={options['dtype']!r} contradict each other: give one of them")
    config_names, run_names = set(knobs()), {item.name for item in fields(RunOptions)}
    problem = unknown_options(options, [*config_names, *run_names, "use_float64"])
    if problem:
        raise TypeError(problem)
    config = MauveConfig(**{key: value for key, value in options.items() if key in config_names})
    return config, RunOptions(**{key: value for key, value in options.items() if key in run_names})


def _signature_of_compute_mauve() -> inspect.Signature:
    """What `help(compute_mauve)` shows: every option with its default, read from the one place that has it."""
    keyword = inspect.Parameter.KEYWORD_ONLY
    shown = [p for p in inspect.signature(compute_mauve).parameters.values() if p.kind is not p.VAR_KEYWORD]
    options = [
        inspect.Parameter(item.name, keyword, default=item.default, annotation=item.type)
        for source in (MauveConfig, RunOptions)
        for item in fields(source)
    ]
    use_float64 = inspect.Parameter("use_float64", keyword, default=False, annotation="bool")
    return inspect.Signature([*shown, *options, use_float64], return_annotation="MauveResult")


compute_mauve.__signature__ = _signature_of_compute_mauve()  # type: ignore[attr-defined]


# --- features of each side ----------------------------------------------------------------------------------------


class _EncoderOnce:
    """Loads the encoder when a side first needs it, and then keeps it for the other."""

    def __init__(self, config: MauveConfig, run: RunOptions) -> None:
        self.config, self.run = config, run
        self.encoder: Encoder | None = None

    def __call__(self) -> Encoder:
        if self.encoder is None:
            config = self.config
            self.encoder = load_encoder(
                config.featurize_model_name,
                pooling=config.pooling,
                max_text_length=config.max_text_length,
                dtype=config.dtype,
                device=resolve_device(self.run.device, self.run.device_id),
            )
        return self.encoder


def _featurize_side(
    forms: Mapping[str, Any], config: MauveConfig, run: RunOptions, load: Callable[[], Encoder]
) -> Side:
    """The features of one side from the first form that is given: features, tokens, texts."""
    name, data = next((name, value) for name, value in forms.items() if value is not None)
    if name.endswith("features"):
        return Side(check_features(name, data))
    if name.endswith("tokens"):
        return _side_of_tokens(name, data, config, run, load)
    source = text_source(name, data, text_field=run.text_field, empty_texts=config.empty_texts)
    model = config.featurize_model_name
    if callable(model) and not isinstance(model, tuple):
        texts = list(source.texts)
        features = check_features(f"the features that {_callable_name(model)} gives for {name}", model(texts))
        if len(features) != len(texts):
            raise ValueError(f"{_callable_name(model)} must give one row a text, got {len(features)} for {len(texts)}")
        return Side(features, {"model": _callable_name(model)}, None, source.dropped)
    encoder = load()
    with _progress_bar(name, run.verbose) as advance:
        features, stats = featurize_texts(
            encoder, source.texts, batch_size=run.batch_size, max_batch_tokens=run.max_batch_tokens, progress=advance
        )
    return Side(check_features(f"the features of {name}", features), encoder.identity, stats, source.dropped)


def _side_of_tokens(name: str, data: Any, config: MauveConfig, run: RunOptions, load: Callable[[], Encoder]) -> Side:
    if callable(config.featurize_model_name) and not isinstance(config.featurize_model_name, tuple):
        raise ValueError(f"{name} cannot be given with a function as featurizer: it takes texts")
    encoder = load()
    ids = _check_tokens(name, data, encoder)
    stats = FeaturizeStats(batch_tokens=run.max_batch_tokens)
    features = featurize_tokens(encoder, ids, batch_size=run.batch_size, stats=stats)
    return Side(check_features(f"the features of {name}", features), encoder.identity, stats)


def _check_tokens(name: str, data: Any, encoder: Encoder) -> list[list[int]]:
    """Token ids as lists; rows may be lists, vectors, or (1, t) arrays as tokenizers return them."""
    if isinstance(data, (str, bytes)) or not hasattr(data, "__iter__"):
        raise TypeError(f"{name} must be a list of token id lists, got {type(data).__name__}")
    vocabulary = encoder.model.get_input_embeddings().num_embeddings
    rows = []
    for index, row in enumerate(data):
        ids = np.asarray(row)
        ids = ids[0] if ids.ndim == 2 and len(ids) == 1 else ids
        if ids.ndim != 1 or ids.size == 0 or ids.dtype.kind not in "iu":
            raise ValueError(f"{name}, row {index}: expected a non-empty list of token ids, got {row!r:.60}")
        if ids.min() < 0 or ids.max() >= vocabulary:
            raise ValueError(
                f"{name}, row {index}: token ids must be in [0, {vocabulary}), got {ids.min()}…{ids.max()}"
            )
        if encoder.max_positions is not None and len(ids) > encoder.max_positions:
            raise ValueError(
                f"{name}, row {index}: {len(ids)} tokens are more than the {encoder.max_positions} that "
                f"{encoder.name} takes"
            )
        rows.append(ids.tolist())
    if not rows:
        raise ValueError(f"{name} must hold at least one list of token ids, got none")
    return rows


def _callable_name(function: Any) -> str:
    module = getattr(function, "__module__", type(function).__module__)
    return f"{module}.{getattr(function, '__qualname__', type(function).__qualname__)}"


class _progress_bar:
    """A tqdm bar on stderr when asked for and stderr is a terminal; as a context it gives the function to call."""

    def __init__(self, name: str, verbose: bool) -> None:
        self.bar: Any = None
        if verbose and sys.stderr.isatty():
            from tqdm.auto import tqdm

            self.bar = tqdm(desc=f"featurize {name}", unit=" texts", dynamic_ncols=True)

    def __enter__(self) -> Callable[[int, int | None], None] | None:
        return None if self.bar is None else self._advance

    def _advance(self, done: int, total: int | None) -> None:
        self.bar.total = total
        self.bar.update(done - self.bar.n)

    def __exit__(self, *_: object) -> None:
        if self.bar is not None:
            self.bar.close()


# --- features → result --------------------------------------------------------------------------------------------


def score_features(p: Side, q: Side, config: MauveConfig) -> MauveResult:
    """Project, quantize and score two sides."""
    if p.features.shape[1] != q.features.shape[1]:
        raise ValueError(
            "p_features and q_features must have the same number of columns, got shapes "
            f"{p.features.shape} and {q.features.shape}"
        )
    n_p, n_q = len(p.features), len(q.features)
    num_buckets = _num_buckets(config, n_p, n_q)
    p_labels, q_labels = _labels(p.features, q.features, num_buckets, config)
    histograms = quantize.count_labels(p_labels, q_labels, num_buckets)
    scores = score_histograms(histograms, config)
    result = MauveResult(
        **scores,
        n_p=n_p,
        n_q=n_q,
        num_buckets=num_buckets,
        p_dropped=p.dropped,
        q_dropped=q.dropped,
        warnings=_warnings(p, q, num_buckets, p_labels, q_labels),
        signature=format_signature(_signature_entries(p, q, num_buckets, config)),
        p_labels=p_labels,
        q_labels=q_labels,
    )
    for warning in result.warnings:
        logger.warning("%s: %s", warning.code, warning.message)
    return result


def _num_buckets(config: MauveConfig, n_p: int, n_q: int) -> int:
    if config.num_buckets == "auto":
        return quantize.auto_num_buckets(n_p, n_q)
    if config.num_buckets > n_p + n_q:
        raise ValueError(
            f"num_buckets must be at most the number of texts of both sets, {n_p} + {n_q}, got {config.num_buckets}"
        )
    return config.num_buckets


def _labels(
    p_features: NDArray[Any], q_features: NDArray[Any], num_buckets: int, config: MauveConfig
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Bucket of each row of P and of Q after the common projection, rows stacked in the configured order."""
    first, second = (p_features, q_features) if config.row_order == "pq" else (q_features, p_features)
    rows = np.concatenate([first, second])
    projected = quantize.project(rows, config.kmeans_explained_var, config.pca_max_data, config.seed)
    labels = quantize.kmeans(projected, num_buckets, config.kmeans_num_redo, config.kmeans_max_iter, config.seed)
    head, tail = labels[: len(first)], labels[len(first) :]
    return (head, tail) if config.row_order == "pq" else (tail, head)


def score_histograms(histograms: quantize.Histograms, config: MauveConfig) -> dict[str, Any]:
    """Every score that follows from the histograms alone, by the names of `MauveResult`."""
    c, points = config.mauve_scaling_factor, config.divergence_curve_discretization_size
    p, q = histograms.probabilities()
    p_star, q_star = histograms.probabilities(smoothing=0.5)
    curve = divergence.divergence_curve(p, q, c, points)
    prd = precision_recall.prd_curve(p, q)
    return {
        "mauve": divergence.curve_area(curve),
        "mauve_star": divergence.curve_area(divergence.divergence_curve(p_star, q_star, c, points)),
        "frontier_integral": divergence.frontier_integral(p, q),
        "frontier_integral_star": divergence.frontier_integral(p_star, q_star),
        "mauve_exact": divergence.exact_area(p, q, c),
        "mauve_floor": divergence.mauve_floor(c),
        "prd_precision": prd.prd_precision,
        "prd_recall": prd.prd_recall,
        "prd_area": prd.area,
        "p_hist": p,
        "q_hist": q,
        "divergence_curve": curve,
        "prd_curve": np.stack([prd.recall, prd.precision], axis=1),
    }


def _warnings(
    p: Side, q: Side, num_buckets: int, p_labels: NDArray[np.int64], q_labels: NDArray[np.int64]
) -> tuple[ScoreWarning, ...]:
    found = []
    n_p, n_q = len(p_labels), len(q_labels)
    if num_buckets > min(n_p, n_q):
        found.append(
            ScoreWarning(
                "num_buckets_large",
                f"num_buckets={num_buckets} is more than the smaller set has texts ({min(n_p, n_q)})",
                {"num_buckets": num_buckets, "n_p": n_p, "n_q": n_q},
            )
        )
    return tuple(found)


def _signature_entries(p: Side, q: Side, num_buckets: int, config: MauveConfig) -> dict[str, Any]:
    """What fixes the score, in the order in which the signature shows it, the package's version last."""
    entries: dict[str, Any] = {}
    for side, name in ((p, "p"), (q, "q")):
        if side.origin is None:
            entries[f"{name}_input"] = "features"
    origin = p.origin or q.origin
    if origin is not None:
        entries["featurize_model_name"] = origin["model"]
        entries["revision"] = origin.get("revision", "unknown")[:12]
        for key in ("tokenizer", "max_text_length", "pooling", "dtype"):
            if key in origin:
                entries[key] = origin[key]
        entries["empty_texts"] = config.empty_texts
    for name, knob in knobs().items():
        if knob.metadata["stage"] != "featurize":
            entries[name] = getattr(config, name)
    entries |= {"num_buckets": num_buckets, "n_p": len(p.features), "n_q": len(q.features)}
    packages = ["faiss-cpu", "numpy"] + (["torch", "transformers"] if origin is not None else [])
    for package in packages:
        entries[package] = _version(package)
    import mauve_metric

    return entries | {"mauve_metric": mauve_metric.__version__}


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "unknown"
