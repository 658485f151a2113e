"""What changes the speed of a run or what it prints, and never its score; and how keywords become options."""

from __future__ import annotations

import inspect
import operator
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal, SupportsIndex, TypedDict

from mauve_metric.config import Check, Featurizer, MauveConfig, check_bool, is_bool, knob, knobs, shown, unknown_options
from mauve_metric.runtime.devices import check_device_name
from mauve_metric.texts.sources import text_source


def _integer_or_none(low: int, expected: str) -> Check:
    """A check for None or an integer of at least `low`, numpy's too."""

    def check(name: str, value: object) -> object:
        if value is None:
            return value
        try:
            number = None if is_bool(value) or not isinstance(value, SupportsIndex) else operator.index(value)
        except TypeError:  # an array of several numbers
            number = None
        if number is None or number < low:
            raise ValueError(f"{name} must be {expected}, got {shown(value)}")
        return number

    return check


def _column(name: str, value: object) -> object:
    """A check for None or the name of a column."""
    if value is not None and not isinstance(value, str):
        raise TypeError(f"{name} must be the name of a column, got {shown(value)}")
    return value


def _prompts(name: str, value: object) -> object:
    """A check for None, the name of a file of texts, or texts, of which a tuple is made."""
    if value is None or isinstance(value, (str, Path)):
        return value if value is None else _folder(name, value, "a list of texts or the name of a file")
    return tuple(text_source(name, value).texts)


def _folder_or_bool(name: str, value: object) -> object:
    """A check for True, False or a folder."""
    return bool(value) if is_bool(value) else _folder(name, value, "True, False or a folder")


def _folder_or_none(name: str, value: object) -> object:
    """A check for None or a folder."""
    return None if value is None else _folder(name, value, "a folder")


def _folder(name: str, value: object, expected: str) -> str | Path:
    """A folder's name as it was given; an empty one would be the working directory."""
    if not isinstance(value, (str, Path)):
        raise TypeError(f"{name} must be {expected}, got {shown(value)}")
    if not str(value).strip():
        raise ValueError(f"{name} must be {expected}, got the empty name {value!r}")
    try:
        os.fsencode(Path(value).expanduser())
    except (RuntimeError, UnicodeEncodeError) as error:  # another user's folder, half of a character
        raise ValueError(f"{name} must be {expected}, got {shown(value)}, which names none") from error
    if "\0" in str(value):
        raise ValueError(f"{name} must be {expected}, got {shown(value)} with a null character")
    return value


_COUNT = _integer_or_none(1, "an integer of at least 1")


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """What changes the speed of a run or what it prints, and never its score.

    The meaning of each stands in its field's metadata, as in `MauveConfig`. Those of the stage "speed" are flags of the
    command line.
    """

    device: str | None = knob(
        None, check_device_name, "speed", "auto (CUDA, else MPS, else CPU) or a torch device: cpu, cuda:0, mps, …"
    )
    device_id: int | None = knob(
        None,
        _integer_or_none(-1, "-1 (CPU) or the number of a CUDA device"),
        "host",
        "the number of a CUDA device, -1 for the CPU, as in mauve-text",
    )
    batch_size: int | None = knob(None, _COUNT, "speed", "most texts of a batch")
    max_batch_tokens: int | None = knob(None, _COUNT, "speed", "tokens of a batch")
    verbose: bool = knob(False, check_bool, "host", "a progress bar on stderr")
    text_field: str | None = knob(
        None,
        _column,
        "texts",
        "field or column of the texts; unset: 'text' or the only one",
        metavar="NAME",
    )
    prompts: Iterable[str] | str | Path | None = knob(
        None,
        _prompts,
        "texts",
        "what the texts were written from, for strip=prompts: a file of texts; in Python also a list",
        metavar="FILE",
    )
    cache: bool | str | Path = knob(
        True,
        _folder_or_bool,
        "speed",
        "keep features in this folder; in Python also True (the usual place) or False (keep none)",
        metavar="FOLDER",
    )
    checkpoint: str | Path | None = knob(
        None,
        _folder_or_none,
        "speed",
        "keep the clustering of features read in blocks in this folder, for a run that is taken up again",
        metavar="FOLDER",
    )
    score_device: str | None = knob(
        None,
        check_device_name,
        "speed",
        "project, cluster and find neighbours on this torch device, such as cuda:0; unset: features that are CUDA "
        "tensors stay on their GPU, all others are scored on the CPU (scores agree to 1e-3 between devices)",
        metavar="DEVICE",
    )
    compile: bool = knob(False, check_bool, "speed", "run the model through torch.compile")
    distributed: bool = knob(
        False,
        check_bool,
        "host",
        "every process of the torch process group calls with the same texts; each featurizes its share",
    )

    def __post_init__(self) -> None:
        for item in fields(self):
            object.__setattr__(self, item.name, item.metadata["check"](item.name, getattr(self, item.name)))


class OptionsOfOneProcess(TypedDict, total=False):
    """Every option as a keyword, for editors and type checkers, but for `distributed` and `prompts`."""

    featurize_model_name: Featurizer
    max_text_length: int | None
    pooling: Literal["auto", "last", "mean", "cls"]
    text_prefix: str | None
    dtype: Literal["float32", "float64", "bfloat16", "float16"]
    empty_texts: Literal["error", "drop"]
    strip: str | list[str] | tuple[str, ...]
    match_lengths: Literal["no", "truncate"]
    quantizer: Literal["kmeans", "drmm", "lattice", "classifier"]
    num_buckets: int | Literal["auto"]
    row_order: Literal["qp", "pq"]
    pca_max_data: int
    kmeans_explained_var: float
    kmeans_num_redo: int
    kmeans_max_iter: int
    drmm_layers: int
    drmm_components: int
    drmm_steps: int
    lattice_squared_radius: int
    lattice_epochs: int
    lattice_hidden: int
    lattice_spread: float
    seed: int
    divergence_curve_discretization_size: int
    mauve_scaling_factor: float
    num_runs: int | Literal["auto"]
    confidence_level: float
    permutations: int
    knn: bool | Literal["auto"]
    knn_k: int
    frechet_distance: bool
    use_float64: bool
    device: str | None
    device_id: int | None
    batch_size: int | None
    max_batch_tokens: int | None
    verbose: bool
    text_field: str | None
    cache: bool | str | Path
    checkpoint: str | Path | None
    score_device: str | None
    compile: bool


class Options(OptionsOfOneProcess, total=False):
    """The options of `compute_mauve`: the fields of `MauveConfig` and of `RunOptions`, and `use_float64`."""

    distributed: bool
    prompts: Iterable[str] | str | Path | None


def run_fields() -> dict[str, Any]:
    """The fields of `RunOptions` by name: default, and `metadata` as in `MauveConfig`."""
    return {item.name: item for item in fields(RunOptions)}


def split_options(given: Mapping[str, object]) -> tuple[MauveConfig, RunOptions]:
    """Keywords → the config and the run options; `TypeError` for an unknown one, with the nearest known name."""
    options: dict[str, Any] = dict(given)
    use_float64 = check_bool("use_float64", options.pop("use_float64", False))
    if use_float64 and options.setdefault("dtype", "float64") != "float64":
        raise ValueError(f"use_float64=True and dtype={options['dtype']!r} contradict each other: give one of them")
    problem = unknown_options(options, [*knobs(), *run_fields(), "use_float64"])
    if problem:
        raise TypeError(problem)
    config = MauveConfig(**{key: value for key, value in options.items() if key in knobs()})
    return config, RunOptions(**{key: value for key, value in options.items() if key in run_fields()})


def option_parameters() -> list[inspect.Parameter]:
    """Every option as a keyword parameter with its default, for a signature that `help` shows."""
    keyword = inspect.Parameter.KEYWORD_ONLY
    options = [
        inspect.Parameter(item.name, keyword, default=item.default, annotation=item.type)
        for item in (*knobs().values(), *run_fields().values())
    ]
    return [*options, inspect.Parameter("use_float64", keyword, default=False, annotation="bool")]


def with_options(function: Callable[..., object], returns: str, *left_out: str) -> inspect.Signature:
    """The signature of a function with every option in the place of its `**options`, but for those left out.

    Editors and type checkers see the options through `Unpack[Options]`; `help`, IPython and `inspect` do not look into
    that, and a `TypedDict` knows no defaults: for them the signature is written out.
    """
    own = [item for item in inspect.signature(function).parameters.values() if item.kind is not item.VAR_KEYWORD]
    options = [item for item in option_parameters() if item.name not in left_out]
    return inspect.Signature([*own, *options], return_annotation=returns)


def check_option_names(options: Mapping[str, object], function: Callable[..., object]) -> None:
    """`TypeError` for keywords that are neither options of a score nor of the function, with the nearest name."""
    own = [name for name in inspect.signature(function).parameters if name != "self"]
    problem = unknown_options(options, [*own, *(item.name for item in option_parameters())])
    if problem:
        raise TypeError(problem)
