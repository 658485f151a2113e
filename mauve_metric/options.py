"""What changes the speed of a run or what it prints, and never its score; and how keywords become options."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from mauve_metric.config import MauveConfig, knobs, unknown_options


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """What changes the speed of a run or what it prints, and never its score.

    device: "auto" (CUDA, else MPS, else CPU) or a torch device. device_id: as in mauve-text, -1 is the CPU.
    batch_size: most texts of a batch. max_batch_tokens: tokens of a batch. verbose: a progress bar on stderr.
    text_field: the column of a `datasets.Dataset` that holds the texts. cache: True for the feature cache at its usual
    place, a folder for one elsewhere, False for none. compile: run the model through `torch.compile`.
    distributed: every process of the torch process group calls with the same texts; each featurizes its share.
    checkpoint: a folder that keeps the clustering of features read in blocks, for a run that is taken up again.
    score_device: the torch device that projects, clusters and finds neighbours, such as "cuda:0"; None: features that
    are CUDA tensors stay on their GPU, all others are scored on the CPU. Scores agree to 1e-3 between devices.
    """

    device: str | None = None
    device_id: int | None = None
    batch_size: int | None = None
    max_batch_tokens: int | None = None
    verbose: bool = False
    text_field: str | None = None
    cache: bool | str | Path = True
    compile: bool = False
    distributed: bool = False
    checkpoint: str | Path | None = None
    score_device: str | None = None

    def __post_init__(self) -> None:
        for name in ("batch_size", "max_batch_tokens"):
            value = getattr(self, name)
            if value is not None and (
                isinstance(value, bool) or not isinstance(value, (int, np.integer)) or int(value) < 1
            ):
                raise ValueError(f"{name} must be an integer of at least 1, got {value!r}")
        number = self.device_id
        if number is not None and (
            isinstance(number, bool) or not isinstance(number, (int, np.integer)) or number < -1
        ):
            raise ValueError(f"device_id must be -1 (CPU) or the number of a CUDA device, got {number!r}")
        if self.text_field is not None and not isinstance(self.text_field, str):
            raise TypeError(f"text_field must be the name of a column, got {self.text_field!r}")
        if not isinstance(self.cache, (bool, str, Path)):
            raise TypeError(f"cache must be True, False or a folder, got {self.cache!r}")


def split_options(options: Mapping[str, Any]) -> tuple[MauveConfig, RunOptions]:
    """Keywords → the config and the run options; `TypeError` for an unknown one, with the nearest known name."""
    options = dict(options)
    use_float64 = options.pop("use_float64", False)
    if not isinstance(use_float64, (bool, np.bool_)):
        raise TypeError(f"use_float64 must be True or False, got {use_float64!r}")
    if use_float64 and options.setdefault("dtype", "float64") != "float64":
        raise ValueError(f"use_float64=True and dtype={options['dtype']!r} contradict each other: give one of them")
    config_names, run_names = set(knobs()), {item.name for item in fields(RunOptions)}
    problem = unknown_options(options, [*config_names, *run_names, "use_float64"])
    if problem:
        raise TypeError(problem)
    config = MauveConfig(**{key: value for key, value in options.items() if key in config_names})
    return config, RunOptions(**{key: value for key, value in options.items() if key in run_names})


def option_parameters() -> list[inspect.Parameter]:
    """Every option as a keyword parameter with its default, for a signature that `help` shows."""
    keyword = inspect.Parameter.KEYWORD_ONLY
    options = [
        inspect.Parameter(item.name, keyword, default=item.default, annotation=item.type)
        for source in (MauveConfig, RunOptions)
        for item in fields(source)
    ]
    return [*options, inspect.Parameter("use_float64", keyword, default=False, annotation="bool")]


def with_options(function: Callable[..., Any], returns: str, *left_out: str) -> inspect.Signature:
    """The signature of a function with every option in the place of its `**options`, but for those left out."""
    own = [item for item in inspect.signature(function).parameters.values() if item.kind is not item.VAR_KEYWORD]
    options = [item for item in option_parameters() if item.name not in left_out]
    return inspect.Signature([*own, *options], return_annotation=returns)


def check_option_names(options: Mapping[str, Any], function: Callable[..., Any]) -> None:
    """`TypeError` for keywords that are neither options of a score nor of the function, with the nearest name."""
    own = [name for name in inspect.signature(function).parameters if name != "self"]
    problem = unknown_options(options, [*own, *(item.name for item in option_parameters())])
    if problem:
        raise TypeError(problem)


def check_runs_on_cpu(run: RunOptions) -> None:
    """`ValueError` if another device is asked for than the one on which all models are clustered together."""
    if run.score_device is not None:
        raise ValueError(
            f"score_device must be left out here, got {run.score_device!r}: only compute_mauve scores on a device"
        )
