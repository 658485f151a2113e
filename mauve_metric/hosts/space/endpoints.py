"""What the page's endpoints do; their signatures and docstrings are their documentation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from mauve_metric.config import MauveConfig
from mauve_metric.hosts.space.clients import new_run
from mauve_metric.hosts.space.limits import Limits, check_options, check_texts, check_together
from mauve_metric.hosts.space.run import errors_shown
from mauve_metric.hosts.space.scoring import Encoders, Scored, embed, score


class Endpoints:
    """The endpoints of one page; nothing of a request is kept.

    Args:
        limits: of the server. models: featurizers that may be chosen. encoders: what is in memory of them.
    """

    def __init__(self, limits: Limits, models: Sequence[str], encoders: Encoders) -> None:
        self.limits, self.models, self.encoders = limits, list(models), encoders

    def score(self) -> Callable[..., dict[str, object]]:
        """What `/score` does."""
        preset = self.models[0]

        def score(
            references: list[str],
            predictions: list[str],
            num_buckets: int | None = None,
            seed: int = MauveConfig.seed,
            mauve_scaling_factor: float = MauveConfig.mauve_scaling_factor,
            confidence_level: float = MauveConfig.confidence_level,
            empty_texts: Literal["error", "drop"] = MauveConfig.empty_texts,
            featurize_model_name: str = preset,
        ) -> dict[str, object]:
            """Score a model's texts (predictions) against human texts (references): every number of the result.

            num_buckets: left out, it follows from the number of texts.
            """
            options = {
                "num_buckets": MauveConfig.num_buckets if num_buckets is None else num_buckets,
                "seed": seed,
                "mauve_scaling_factor": mauve_scaling_factor,
                "confidence_level": confidence_level,
                "empty_texts": empty_texts,
                "featurize_model_name": featurize_model_name,
            }
            with errors_shown(as_html=False):
                sets = {"references": references, "predictions": predictions}
                scored = self._scored(sets, options)
                return scored.results["predictions"].to_dict()

        return score

    def compare(self) -> Callable[..., dict[str, object]]:
        """What `/compare` does."""
        preset = self.models[0]

        def compare(
            references: list[str],
            models: dict[str, list[str]],
            aligned: bool = False,
            num_buckets: int | None = None,
            seed: int = MauveConfig.seed,
            mauve_scaling_factor: float = MauveConfig.mauve_scaling_factor,
            confidence_level: float = MauveConfig.confidence_level,
            empty_texts: Literal["error", "drop"] = MauveConfig.empty_texts,
            featurize_model_name: str = preset,
        ) -> dict[str, object]:
            """Compare several models' texts with each other by their scores against human texts (references).

            models: each model's texts by its name, two models at least. aligned: row i of every model answers the same
            prompt. num_buckets: left out, it follows from the number of texts.
            """
            options = {
                "num_buckets": MauveConfig.num_buckets if num_buckets is None else num_buckets,
                "seed": seed,
                "mauve_scaling_factor": mauve_scaling_factor,
                "confidence_level": confidence_level,
                "empty_texts": empty_texts,
                "featurize_model_name": featurize_model_name,
            }
            with errors_shown(as_html=False):
                titles = self._titles(models)
                sets = {"references": references} | {titles[name]: texts for name, texts in models.items()}
                comparison = self._scored(sets, options, {name: titles[name] for name in models}, aligned).comparison
                return {} if comparison is None else comparison.to_dict()

        return compare

    def _titles(self, models: object) -> dict[str, str]:
        """What errors call the models."""
        if not isinstance(models, dict):
            raise TypeError(f"models must be a dict from names to lists of texts, got {type(models).__name__}")
        if not 2 <= len(models) <= self.limits.model_sets:
            most = self.limits.model_sets
            raise ValueError(f"models must hold 2 to {most} models here (/score is for one), got {len(models)}")
        if any(not name.strip() for name in models):
            raise ValueError("models: names must be non-empty strings, got ''")
        for name in models:
            if any("\ud800" <= mark <= "\udfff" for mark in name):
                raise ValueError(f"models: names must be Unicode text, got half of a character in {name!r:.60}")
        return {name: f"models[{name!r}]" for name in models}

    def _scored(
        self,
        sets: Mapping[str, object],
        options: Mapping[str, object],
        names: Mapping[str, str] | None = None,
        aligned: bool = False,
    ) -> Scored:
        """The scores of sets by their titles, the human one first; names: of the models, to their titles."""
        checked = {title: check_texts(title, texts, self.limits) for title, texts in sets.items()}
        check_together(checked.values(), self.limits)
        check_options(options, self.models, self.limits)
        config = self.encoders.config(options)
        run = new_run(self.limits)
        embedded = embed(checked, config, self.encoders, run)
        return score(embedded, names or {title: title for title in list(sets)[1:]}, config, aligned=aligned, run=run)
