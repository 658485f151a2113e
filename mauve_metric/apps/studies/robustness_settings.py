"""Settings that a robustness analysis tries: the levels of each factor, one at a time, and a small design of all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mauve_metric.apps.studies.robustness_result import RESCALING
from mauve_metric.arrays import Integers
from mauve_metric.options import Featurizer, MauveConfig, ResolvedConfig, config_fields
from mauve_metric.results.signature import format_value
from mauve_metric.runtime.checks import listed_names
from mauve_metric.runtime.errors import WrongOption

NEIGHBOURS = "knn_k"
APART = (RESCALING, "quantizer", NEIGHBOURS)  # not in the small design: one scales all, others make their own buckets
OF_TEXTS = ("featurize_model_name", "pooling", "max_text_length")  # can only be varied with texts
OF_BUCKETS = ("quantizer", "num_buckets", "row_order", NEIGHBOURS)  # change no classifier
SAME_BUCKETS = {RESCALING, NEIGHBOURS}
FACTORS = (*OF_TEXTS, "quantizer", "num_buckets", "mauve_scaling_factor", "seed", "n", "row_order", NEIGHBOURS)
_NO_TEXTS = "features are given, and it takes the texts to vary it"
KMEANS = "kmeans"
_SHORT = {
    "featurize_model_name": "featurizer",
    "max_text_length": "length",
    "num_buckets": "k",
    "mauve_scaling_factor": "c",
    "row_order": "order",
}
LEAST_OF_A_SET = 20  # per set; fewer make two buckets and no useful ranking
DESIGN_RUNS = 12
_FIRST_ROW = "++-+++---+-"  # of Plackett and Burman's design for 11 factors
_SEEDS = (100, 200, 300)  # added: compare's own clusterings take the seeds right after the first
_OTHER_POOLINGS = {"last": ("mean",), "mean": ("last", "cls"), "cls": ("mean", "last")}
_FEWEST_TOKENS = 4


@dataclass(frozen=True)
class SetPart:
    """A random part of every set: 1/`of` of its texts, the one with this number."""

    of: int
    number: int

    def __str__(self) -> str:
        return f"1/{self.of} ({'ABCD'[self.number]})"


def part_rows(n: int, part: SetPart) -> Integers:
    """The rows of a part of n texts, rising; the parts of one size have no row in common.

    >>> sorted([*part_rows(4, SetPart(2, 0)).tolist(), *part_rows(4, SetPart(2, 1)).tolist()])
    [0, 1, 2, 3]
    """
    size = n // part.of
    order = np.random.default_rng(25).permutation(n)
    return np.sort(order[part.number * size : (part.number + 1) * size]).astype(np.int64)


Level = Featurizer | SetPart | int | float
Changes = Mapping[str, Level]


@dataclass(frozen=True)
class Base:
    """Inputs from which the levels are chosen.

    config: of the default setting. sizes: texts of each set, P's first.
    identity: of the encoder, empty if it is a function or unknown. median_length: of the human texts in tokens, None
    if unknown. has_texts: True if all sets are given as texts. featurizers: the others to try.
    auto_buckets: True if the number of buckets depends on that of texts. by_size: other options that do.
    """

    config: ResolvedConfig
    sizes: tuple[int, ...]
    identity: Mapping[str, str]
    median_length: float | None
    has_texts: bool
    featurizers: tuple[Featurizer, ...] = ()
    auto_buckets: bool = True
    by_size: tuple[str, ...] = ()


def _levels(base: Base) -> dict[str, tuple[Level, ...] | str]:
    """The levels of each factor without the default's, or the reason for which there are none."""
    config, smallest = base.config, min(base.sizes)
    k, c, median = config.num_buckets, config.mauve_scaling_factor, base.median_length or 0.0
    lengths = (int(median // 2), int(median // 4))
    quantizers = config_fields()["quantizer"].metadata["choices"]
    parts = [SetPart(of, number) for of in (2, 4) if smallest // of >= LEAST_OF_A_SET for number in range(2)]
    levels: dict[str, tuple[Level, ...] | str] = {
        "featurize_model_name": base.featurizers
        or "no other featurizer is here: name some with featurizers (--featurizer, again for each)",
        "pooling": _OTHER_POOLINGS.get(base.identity.get("pooling", "")) or "the featurizer pools by itself",
        "max_text_length": tuple(length for length in lengths if length >= _FEWEST_TOKENS)
        or f"the human texts are too short to be cut: half of them have {median:g} tokens",
        "quantizer": tuple(choice for choice in quantizers if choice != config.quantizer),
        "num_buckets": tuple(number for number in (k // 2, 2 * k) if 2 <= number <= smallest and number != k)
        or f"{k} buckets can be neither halved nor doubled with sets of {smallest} texts",
        "mauve_scaling_factor": tuple(value for value in (c / 5, 2 * c) if 1e-6 <= value <= 10_000),
        "seed": tuple(config.seed + step for step in _SEEDS),
        "n": tuple(parts) or f"half of {smallest} texts is too few: a part must hold at least {LEAST_OF_A_SET}",
        NEIGHBOURS: tuple(k for k in (config.knn_k // 2, 2 * config.knn_k, 4 * config.knn_k) if 1 <= k < smallest),
        "row_order": tuple(order for order in ("qp", "pq") if order != config.row_order),
    }
    if base.median_length is None:
        levels["max_text_length"] = "the featurizer has no tokens to count"
    if config.match_lengths != "no":
        levels["max_text_length"] = f"match_lengths={config.match_lengths!r} sets it"
    if config.quantizer != KMEANS:
        levels["num_buckets"] = f"quantizer={config.quantizer!r} makes its own number of buckets"
    return levels if base.has_texts else levels | dict.fromkeys(OF_TEXTS, _NO_TEXTS)


def chosen_factors(vary: object) -> tuple[str, ...]:
    """The selected factors, in their order.

    Raises:
        TypeError, ValueError: not names of factors.

    >>> chosen_factors("seed,pooling"), "knn_k" in chosen_factors(None)
    (('pooling', 'seed'), False)
    """
    if vary is None:
        return tuple(name for name in FACTORS if name != NEIGHBOURS)  # which moves no closeness
    wanted = [name.replace("-", "_") for name in listed_names("vary", vary, "names of factors")]
    unknown = [name for name in wanted if name not in FACTORS]
    if unknown or not wanted:
        unusable = unknown[0] if unknown else vary
        raise WrongOption.of("vary", f"must name at least one of {', '.join(FACTORS)}, got {unusable!r}")
    return tuple(name for name in FACTORS if name in wanted)


def planned(
    base: Base, factors: Sequence[str] = FACTORS, design: bool = True
) -> tuple[dict[str, tuple[Level, ...]], dict[str, str], tuple[Changes, ...]]:
    """Plan the levels of the factors that can be varied, and the small design of all of them.

    Args:
        factors: names out of `FACTORS`. design: include the small design.

    Returns:
        The levels of each factor that is varied, without the default's; the reasons for which others are not; and the
        settings of the small design.

    >>> from mauve_metric.scoring.evaluation import resolve_config
    >>> base = Base(resolve_config(MauveConfig(num_buckets=60), 600), (600, 600, 600), {}, None, False)
    >>> planned(base, ("num_buckets", "pooling"))[0]
    {'num_buckets': (30, 120)}
    """
    all_levels = {factor: levels for factor, levels in _levels(base).items() if factor in factors}
    varied = {factor: levels for factor, levels in all_levels.items() if not isinstance(levels, str)}
    left_out = {factor: reason for factor, reason in all_levels.items() if isinstance(reason, str)}
    joint = {factor: levels for factor, levels in varied.items() if factor not in APART}
    if design and len(joint) < 2:
        left_out["design"] = f"it takes at least two factors other than {' and '.join(APART)}"
    return varied, left_out, small_design(joint) if design and len(joint) > 1 else ()


def small_design(levels: Mapping[str, Sequence[Level]]) -> tuple[Changes, ...]:
    """Twelve settings that change about half of up to eleven factors each: Plackett and Burman's design.

    Each factor is at its default in six settings and at its first other level in six, and any two factors take all four
    combinations three times, so that the mean difference between the halves is a factor's own effect, whatever the
    others do (as far as effects add up). The last setting is the default.

    Args:
        levels: of at most eleven factors.

    Plackett and Burman 1946, n = 12.

    >>> len(small_design({"seed": [1], "num_buckets": [30]}))
    12
    """
    signs = [_FIRST_ROW[-turn:] + _FIRST_ROW[:-turn] if turn else _FIRST_ROW for turn in range(DESIGN_RUNS - 1)]
    rows = [*signs, "-" * len(_FIRST_ROW)]
    return tuple(
        {factor: levels[factor][0] for factor, sign in zip(levels, row, strict=False) if sign == "+"} for row in rows
    )


def changed(base: Base, changes: Changes) -> MauveConfig:
    """The config of a setting; "auto" buckets depend on its number of texts and quantizer."""
    values: dict[str, Any] = dict.fromkeys(base.by_size, "auto")
    values |= {name: value for name, value in changes.items() if name != "n"}
    part, k = changes.get("n"), values.get("num_buckets")
    if "quantizer" in values or (base.auto_buckets and k is None):
        values["num_buckets"] = "auto"
    elif base.auto_buckets and k is not None and isinstance(part, SetPart):
        values["num_buckets"] = max(int(k) // part.of, 2)
    return MauveConfig(**{name: getattr(base.config, name) for name in config_fields()} | values)


def setting_name(changes: Changes) -> str:
    """The name of a setting.

    >>> setting_name({"num_buckets": 30, "n": SetPart(2, 1)}), setting_name({})
    ('k=30, n=1/2 (B)', 'default')
    """
    parts = (f"{_SHORT.get(factor, factor)}={level_name(level)}" for factor, level in changes.items())
    return ", ".join(parts) or "default"


def level_name(level: object) -> str:
    """A level as text; a model object is named by its class, a function by its own name."""
    if isinstance(level, tuple):
        return type(level[0]).__name__
    if callable(level):
        return str(getattr(level, "__qualname__", type(level).__name__))
    return format_value(level)
