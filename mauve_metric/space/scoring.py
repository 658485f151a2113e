"""Texts → features → result for the page: one encoder in memory, features kept, runs that can be stopped."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from mauve_metric.compute import (
    check_columns,
    cluster_runs,
    project_together,
    resolve_config,
    score_buckets,
    score_features,
)
from mauve_metric.config import MauveConfig
from mauve_metric.encoder import Encoder, load_encoder, resolve_device
from mauve_metric.inputs import Featurizing, RunOptions
from mauve_metric.reference import Reference
from mauve_metric.result import MauveResult

Featurizer = Callable[[list[str]], Any]
Tell = Callable[[float, str], None]

_KEPT_ENCODERS = 2
_SIDES = {"p_text": "human texts", "q_text": "model texts"}
FEATURE_KNOBS = (
    "featurize_model_name",
    "max_text_length",
    "pooling",
    "dtype",
    "empty_texts",
    "match_lengths",
)
_SCORE_ONLY = (
    "mauve_scaling_factor",
    "confidence_level",
    "divergence_curve_discretization_size",
    "knn",
    "knn_k",
    "frechet_distance",
)


class Cancelled(Exception):
    """A visitor stopped the run, or left."""


class Run:
    """One run in progress: whether it was stopped, and how far it is."""

    def __init__(self, tell: Tell | None = None) -> None:
        self._tell = tell
        self._stopped = threading.Event()
        self._started: dict[str, float] = {}

    @property
    def stopped(self) -> bool:
        """Whether it was told to stop."""
        return self._stopped.is_set()

    def cancel(self) -> None:
        """Stop at the next batch."""
        self._stopped.set()

    def check(self) -> None:
        """Raise `Cancelled` if the run was stopped."""
        if self._stopped.is_set():
            raise Cancelled

    def stage(self, share: float, words: str) -> None:
        """Say what is done next; share: of the whole run."""
        self.check()
        if self._tell is not None:
            self._tell(share, words)

    def texts_done(self, name: str, done: int, total: int | None) -> None:
        """Say how many texts of a side were read by the model, and about how long the rest takes."""
        now = time.monotonic()
        started = self._started.setdefault(name, now)
        share = done / max(total or done, 1)
        left = (now - started) * (1 - share) / share if share > 0 else 0.0
        words = f"{_SIDES.get(name, 'texts')}: {done} of {total}" + (f", about {left:.0f} s left" if left >= 1 else "")
        self.stage(0.05 + 0.4 * share + (0.4 if name == "q_text" else 0.0), words)


class Encoders:
    """The encoders in memory, the last ones used; `lock` is held while one of them works.

    Args:
        functions: featurizers that are functions from texts to an array, by the name under which they are offered.
    """

    def __init__(self, functions: Mapping[str, Featurizer] | None = None) -> None:
        self.functions = dict(functions or {})
        self.lock = threading.Lock()
        self._kept: dict[tuple[Any, ...], Encoder] = {}

    def config(self, options: Mapping[str, Any]) -> MauveConfig:
        """The config of a visitor's options, with a function in place of its name."""
        name = options["featurize_model_name"]
        return MauveConfig(**{**options, "featurize_model_name": self.functions.get(name, name)})

    def get(self, config: MauveConfig) -> Encoder | None:
        """The encoder of a config, loaded once; None for a function."""
        name = config.featurize_model_name
        if not isinstance(name, str):
            return None
        key = (name, config.pooling, config.max_text_length, config.dtype)
        encoder = self._kept.pop(key, None)
        if encoder is None:
            while len(self._kept) >= _KEPT_ENCODERS:
                del self._kept[next(iter(self._kept))]
            encoder = load_encoder(
                name,
                pooling=config.pooling,
                max_text_length=config.max_text_length,
                dtype=config.dtype,
                device=resolve_device(),
            )
        self._kept[key] = encoder
        return encoder


@dataclass(frozen=True)
class Embedded:
    """The features of both sides, what they were made with, and the texts that were given."""

    key: tuple[Any, ...]
    p: Reference
    q: Reference
    p_text: list[str]
    q_text: list[str]

    def fits(self, p_text: list[str], q_text: list[str], config: MauveConfig) -> bool:
        """Whether the same texts under this config would have the same features."""
        return self.key == feature_key(config) and self.p_text == p_text and self.q_text == q_text

    def kept(self) -> tuple[list[str], list[str]]:
        """The texts behind the rows: without the empty ones."""
        p, q = ([text for text in texts if text.strip()] for texts in (self.p_text, self.q_text))
        return p, q


def embed(p_text: list[str], q_text: list[str], config: MauveConfig, encoders: Encoders, run: Run) -> Embedded:
    """The features of both sides; nothing of a text is kept on the disk.

    Raises:
        Cancelled: stopped. ValueError, TypeError, OSError, ImportError: as `compute_mauve`.
    """
    run.stage(0.0, "waiting for the model")
    with encoders.lock:
        run.stage(0.02, "loading the model")
        job = Featurizing(config, RunOptions(cache=False), encoder=encoders.get(config), progress=run.texts_done)
        forms: dict[str, Any] = {"p": {"p_text": p_text}, "q": {"q_text": q_text}}
        with job:
            if config.match_lengths == "truncate":
                forms = job.matched(forms)
            run.stage(0.05, "reading the human texts")
            p = job.side(forms["p"])
            run.stage(0.45, "reading the model's texts")
            q = job.side(forms["q"])
    check_columns({"p_features": p, "q_features": q})
    return Embedded(feature_key(config), p, q, p_text, q_text)


def feature_key(config: MauveConfig) -> tuple[Any, ...]:
    """What the features of given texts depend on."""
    return tuple(getattr(config, name) for name in FEATURE_KNOBS)


@dataclass(frozen=True)
class Partition:
    """The buckets of both sides under one config, to score again when only the scoring changes."""

    embedded: Embedded
    config: MauveConfig
    runs: list[tuple[Any, Any]]
    projected: tuple[Any, Any]


def score_again(
    embedded: Embedded, config: MauveConfig, last: Partition | None = None
) -> tuple[MauveResult, Partition | None]:
    """The result of `score_features`; the clustering of `last` is used again where it would be the same.

    Returns:
        The result, and the partition for the next time (None with a permutation test, which needs its own).
    """
    config = resolve_config(config, len(embedded.p), len(embedded.q))
    if config.permutations:
        return score_features(embedded.p, embedded.q, config, quiet=True), None
    if last is None or last.embedded is not embedded or _clustering(last.config) != _clustering(config):
        last = _partition(embedded, config)
    return score_buckets(embedded.p, embedded.q, last.runs, last.projected, config), last


def _clustering(config: MauveConfig) -> MauveConfig:
    """The config without what only the scoring reads."""
    default = MauveConfig()
    return replace(config, **{name: getattr(default, name) for name in _SCORE_ONLY})


def _partition(embedded: Embedded, config: MauveConfig) -> Partition:
    sides = [embedded.p.features, embedded.q.features]
    p_first = config.row_order == "pq"
    projected = project_together(sides if p_first else sides[::-1], config)
    first = len(sides[0] if p_first else sides[1])

    def split(rows: Any) -> tuple[Any, Any]:
        return (rows[:first], rows[first:]) if p_first else (rows[first:], rows[:first])

    runs = [split(labels) for labels in cluster_runs(projected, config)]
    return Partition(embedded, config, runs, split(projected))
