"""The opening of the public functions: options and sides are checked, files are read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from mauve_metric.clustering.quantizers import scoring_options
from mauve_metric.features.feature_files import is_feature_file
from mauve_metric.features.feature_set import FeatureSet, FeaturizeJob, InputSide, Kind
from mauve_metric.features.sides import By, Inputs, check_columns, check_same_encoder, open_sides
from mauve_metric.options import MauveConfig, RunOptions
from mauve_metric.results.result import MauveResult
from mauve_metric.runtime.errors import RowsDiffer, WrongOption


def open_two(
    verb: str, options: Mapping[str, Any], sides: Mapping[str, InputSide], aligned: object, by: By | None = None
) -> tuple[FeaturizeJob, Inputs]:
    """Open the sides "p" and "q" for a public function.

    Args:
        verb: the name of the function. options: of the caller. aligned, by: see `open_sides`.
    """
    config, run = scoring_options(options, verb)
    inputs = open_sides(sides, config, run, aligned, by=by)
    return _job(options, config, run, inputs), inputs


def open_several(
    verb: str,
    options: Mapping[str, Any],
    human: InputSide,
    models: object,
    q_groups: object,
    aligned: object,
    common_rows: bool,
    by: By | None = None,
) -> tuple[list[str], FeaturizeJob, Inputs]:
    """Open the side "human" and those of models, "model NAME"; return the names of the models too.

    Args:
        verb, options: see `open_two`. models: by name. q_groups: of the texts of models, by name. aligned, common_rows,
            by: see `open_sides`.

    Raises:
        TypeError, ValueError: see `open_sides`; `q_groups` names another model.
    """
    config, run = scoring_options(options, verb)
    if not isinstance(models, Mapping):
        expected = "a dict from names to texts, features or FeatureSets"
        raise WrongOption.of("models", f"must be {expected}, got {type(models).__name__}")
    if not models:
        raise WrongOption.of("models", "must hold at least one model, got none")
    for name in models:
        if not isinstance(name, str) or not name.strip():
            raise TypeError(f"models: names must be non-empty strings, got {name!r}")
    if q_groups is not None and not isinstance(q_groups, Mapping):
        raise RowsDiffer.of("q_groups", f"must be a dict from names of models to groups, got {type(q_groups).__name__}")
    groups = dict(q_groups or {})
    for name in groups:
        if name not in models:
            raise RowsDiffer.of("q_groups", f"must name {', '.join(models)}, got {name!r}")
    sides = {"human": human}
    for name, data in models.items():
        sides[f"model {name}"] = side_of(f"models[{name!r}]", data, groups.get(name), f"q_groups[{name!r}]")
    inputs = open_sides(sides, config, run, aligned, common_rows=common_rows, by=by)
    return list(models), _job(options, config, run, inputs), inputs


def _job(options: Mapping[str, Any], config: MauveConfig, run: RunOptions, inputs: Inputs) -> FeaturizeJob:
    """The job that featurizes sides; prompts to strip are those of their files where the caller gave none."""
    if "prompts" in str(config.strip) and inputs.prompts:
        run = replace(run, prompts=inputs.prompts)
    return FeaturizeJob(config, run, frozenset(options))


def side_of(argument: str, data: object, groups: object = None, groups_argument: str = "") -> InputSide:
    """Make the side of one model; the type of its data determines the kind."""
    if isinstance(data, MauveResult):
        raise TypeError(f"{argument} must hold texts, features or a FeatureSet, got a result")
    if isinstance(data, (str, Path)) and is_feature_file(data):
        data = FeatureSet.load(data)
    if isinstance(data, FeatureSet):
        return InputSide("set", argument, data, None, groups, groups_argument)
    is_table = hasattr(data, "columns") or hasattr(data, "column_names")
    is_rows = isinstance(data, (list, tuple)) and len(data) > 0 and isinstance(data[0], (list, tuple, np.ndarray))
    is_numbers = getattr(getattr(data, "dtype", None), "kind", None) in ("f", "i", "u")
    is_matrix = getattr(data, "ndim", None) == 2 and not is_table
    kind: Kind = "features" if is_matrix or is_rows or is_numbers else "text"
    return InputSide(kind, argument, data, None, groups, groups_argument, (argument,))


def check_sides(sides: Mapping[str, FeatureSet]) -> None:
    """Raise an error for sets that cannot be compared, the human one first.

    Raises:
        TypeError, ValueError: as `compare`; the sides are called by their keys.
    """
    check_columns(sides)
    human, *models = sides.values()
    for name, side in sides.items():
        if len(side) < 2:
            raise ValueError(f"{name} must hold at least 2 texts to be compared, got {len(side)}")
        check_same_encoder(human.identity, side.identity)
        check_same_encoder(models[0].identity, side.identity)


def listed_texts(job: FeaturizeJob, side: InputSide) -> list[str]:
    """The texts of a side that is given as texts, as they are featurized."""
    return list(job.source(side.argument, side.content).texts)
