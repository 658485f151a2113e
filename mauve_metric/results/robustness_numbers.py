"""The numbers of a robustness analysis: the same models scored under many settings, and what follows from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

import numpy as np

from mauve_metric.results.numbers import Difference, plain
from mauve_metric.results.signature import format_signature

DESIGN = "design"
DEFAULT = "default"
RESCALING = "mauve_scaling_factor"  # which changes the scale of all differences, and so is looked at by ranks alone


@dataclass(frozen=True)
class SettingScore:
    """One model under one setting: its rank (1 is the best), MAUVE without sampling bias, its interval, and MAUVE."""

    rank: int
    mauve_debiased: float
    ci: tuple[float, float]
    mauve: float


@dataclass(frozen=True)
class Setting:
    """One setting and what it makes of the models.

    name: what is changed of the default, in words. factor: what is varied; "default", or "design" where several things
    are. changes: by factor, as text. num_buckets, texts: k, and texts of the smallest set. ranking: the best first.
    models: by name. differences: of every pair, the better one first. tau: Kendall's, to the default's ranking.
    in_design: how many settings of the small design are this one; 0 where there is none.
    """

    name: str
    factor: str
    changes: Mapping[str, str]
    num_buckets: int
    texts: int
    ranking: tuple[str, ...]
    models: Mapping[str, SettingScore]
    differences: tuple[Difference, ...]
    tau: float
    in_design: int = 0

    def difference(self, a: str, b: str) -> Difference:
        """That of two models, a minus b."""
        found = next(item for item in self.differences if {item.a, item.b} == {a, b})
        if found.a == a:
            return found
        ci = found.ci and (-found.ci[1], -found.ci[0])
        return Difference(a, b, -found.difference, ci, found.p_value, found.real, found.stderr)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain Python values."""
        return {
            "name": self.name,
            "factor": self.factor,
            "changes": dict(self.changes),
            "num_buckets": self.num_buckets,
            "texts": self.texts,
            "ranking": list(self.ranking),
            "tau": self.tau,
            "in_design": self.in_design,
            "models": {name: plain(score) for name, score in self.models.items()},
            "differences": [item.to_dict() for item in self.differences],
        }


@dataclass(frozen=True)
class PairStability:
    """How the difference of two models, a ahead by default, fares under all settings.

    default: the difference there. smallest, largest: over the settings with one scaling factor. ahead: settings in
    which a is ahead. real: settings in which a is ahead and told apart from b. turned: settings in which b is ahead and
    told apart from a. depends_on: the factor that moves the difference most, alone, from its default, and moved: by how
    much, signed; None where no factor alone moves it.
    """

    a: str
    b: str
    default: Difference
    smallest: float
    largest: float
    settings: int
    ahead: int
    real: int
    turned: tuple[str, ...]
    depends_on: str | None
    moved: float | None

    @property
    def verdict(self) -> str:
        """What can be said of the pair: turned, holds (told apart everywhere), in part, or never told apart."""
        if self.turned:
            return "turned"
        if self.real == self.settings:
            return "holds"
        return "in part" if self.real else "never told apart"


@dataclass(frozen=True)
class FactorEffect:
    """What one factor does to the models' differences.

    settings: in which it alone is changed. lowest_tau: among them. moved: the largest change of a difference from the
    default among them, and pair: of which models; None of c, which scales them all. effect: the largest mean change of
    a difference by the factor over the small design, signed, and effect_pair: of which models; None without a design.
    """

    factor: str
    settings: int
    lowest_tau: float
    moved: float | None
    pair: tuple[str, str] | None
    effect: float | None
    effect_pair: tuple[str, str] | None


@dataclass(frozen=True)
class RobustnessNumbers:
    """What a `Robustness` holds; its fields are explained there."""

    settings: tuple[Setting, ...]
    failed: Mapping[str, str]
    left_out: Mapping[str, str]
    seconds: float
    confidence_level: float
    signature_entries: Mapping[str, object] = field(repr=False)
    signature: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "signature", format_signature(self.signature_entries))

    @property
    def default(self) -> Setting:
        """The setting that was asked for, to which all others are compared."""
        return self.settings[0]

    @property
    def ranking(self) -> tuple[str, ...]:
        """The default's, the best first."""
        return self.default.ranking

    @property
    def agreeing(self) -> int:
        """Settings other than the default that rank the models as it does."""
        return sum(setting.ranking == self.ranking for setting in self.settings[1:])

    @property
    def holds(self) -> bool:
        """Whether no setting turns a pair: none has the lower ranked model ahead and told apart."""
        return not any(pair.turned for pair in self.pairs)

    @cached_property
    def pairs(self) -> tuple[PairStability, ...]:
        """Every pair in the order of the default's differences."""
        return tuple(self._pair(item) for item in self.default.differences)

    def _pair(self, default: Difference) -> PairStability:
        found = [(setting, setting.difference(default.a, default.b)) for setting in self.settings]
        values = [item.difference for setting, item in found if setting.factor != RESCALING]
        ahead = [setting.ranking.index(default.a) < setting.ranking.index(default.b) for setting in self.settings]
        moves = [
            (setting.factor, item.difference - default.difference)
            for setting, item in found[1:]
            if setting.factor not in (DESIGN, RESCALING) and item.difference != default.difference
        ]
        factor, moved = max(moves, key=lambda item: abs(item[1]), default=(None, None))
        return PairStability(
            default.a,
            default.b,
            default,
            min(values),
            max(values),
            len(found),
            sum(ahead),
            sum(item.real and first for (_, item), first in zip(found, ahead, strict=True)),
            tuple(setting.name for (setting, item), first in zip(found, ahead, strict=True) if item.real and not first),
            factor,
            moved,
        )

    @cached_property
    def factors(self) -> tuple[FactorEffect, ...]:
        """Every factor that was varied alone, the one that moves a difference most first."""
        names = dict.fromkeys(setting.factor for setting in self.settings[1:] if setting.factor != DESIGN)
        return tuple(sorted((self._factor(name) for name in names), key=lambda item: -(item.moved or 0.0)))

    def _factor(self, factor: str) -> FactorEffect:
        own = [setting for setting in self.settings if setting.factor == factor]
        tau = min(item.tau for item in own)
        if factor == RESCALING:
            return FactorEffect(factor, len(own), tau, None, None, None, None)
        moved, pair = max(
            (abs(setting.difference(item.a, item.b).difference - item.difference), (item.a, item.b))
            for setting in own
            for item in self.default.differences
        )
        effects = [(self._effect(factor, item.a, item.b), (item.a, item.b)) for item in self.default.differences]
        known = [(effect, pair) for effect, pair in effects if effect is not None]
        effect, effect_pair = max(known, key=lambda item: abs(item[0]), default=(None, None))
        return FactorEffect(factor, len(own), tau, moved, pair, effect, effect_pair)

    def _effect(self, factor: str, a: str, b: str) -> float | None:
        """The mean difference over the design's settings that change the factor, minus that over the others."""
        groups: tuple[list[float], list[float]] = ([], [])
        for setting in self.settings:
            groups[factor in setting.changes].extend([setting.difference(a, b).difference] * setting.in_design)
        return float(np.mean(groups[1]) - np.mean(groups[0])) if all(groups) else None

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain Python values, fit for JSON."""
        return {
            "holds": self.holds,
            "ranking": list(self.ranking),
            "agreeing": self.agreeing,
            "settings": [setting.to_dict() for setting in self.settings],
            "pairs": [_pair_dict(pair) for pair in self.pairs],
            "factors": [plain(item) for item in self.factors],
            "failed": dict(self.failed),
            "left_out": dict(self.left_out),
            "seconds": self.seconds,
            "confidence_level": self.confidence_level,
            "signature": self.signature,
        }


def _pair_dict(pair: PairStability) -> dict[str, Any]:
    values = {item.name: plain(getattr(pair, item.name)) for item in fields(pair)}
    return values | {"default": pair.default.to_dict(), "verdict": pair.verdict}
