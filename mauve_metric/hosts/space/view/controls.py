"""The options as controls: label, meaning, default and choices are the library's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import gradio as gr

from mauve_metric.hosts.space.limits import Limits, other_featurizers
from mauve_metric.options import VERBATIM, config_fields
from mauve_metric.results.wording.spelling import label_of

PLAY = ("mauve_scaling_factor", "num_buckets", "seed", "confidence_level")  # beside the pictures that they change
FIXED = ("drmm_preset", "lattice_preset")  # at their defaults: the others take many minutes
_ELSEWHERE = ("featurize_model_name", *FIXED, *PLAY)


def panel_names() -> list[str]:
    """The options of the folded panel, in the order of the config."""
    return [name for name in config_fields() if name not in _ELSEWHERE]


SETTINGS = ("featurize_model_name", *PLAY, *panel_names(), "featurizers")  # all settings of the page


def panel_controls() -> None:
    """One control for each of `panel_names`."""
    for name in panel_names():
        knob = config_fields()[name]
        default, choices = knob.default, knob.metadata["choices"]
        most = "" if knob.metadata["most"] is None else f"; at most {knob.metadata['most']} here"
        info = f"{knob.metadata['help']} (default: {'unset' if default is None else default}{most})"
        shown: dict[str, Any] = {"label": label_of(name), "info": info, "elem_id": name, "min_width": 250}
        if choices is not None:
            gr.Radio([(str(choice), choice) for choice in choices], value=default, **shown)
        elif isinstance(default, bool):
            gr.Checkbox(value=default, **shown)
        elif default is None or isinstance(default, str):
            gr.Textbox(value=default or "", max_length=60, **shown)
        else:
            gr.Number(value=default, precision=0 if isinstance(default, int) else None, **shown)


def play_ranges(limits: Limits) -> dict[str, tuple[float, float]]:
    """The smallest and the largest value of each control of `PLAY`."""
    return {
        "mauve_scaling_factor": (0.5, 20),
        "num_buckets": (0, limits.buckets),
        "seed": (0, 2**31 - 1),
        "confidence_level": (0.5, 0.99),
    }


def check_play(options: Mapping[str, object], limits: Limits) -> None:
    """Raise `ValueError` for a value that a control of `PLAY` cannot show.

    >>> check_play({"mauve_scaling_factor": 50}, Limits())
    Traceback (most recent call last):
        ...
    ValueError: Scaling factor c must be from 0.5 to 20 here, got 50
    """
    for name, (low, high) in play_ranges(limits).items():
        value = options.get(name)
        if isinstance(value, (int, float)) and not low <= value <= high:
            raise ValueError(f"{label_of(name)} must be from {low:g} to {high:.10g} here, got {value:g}")


def play_values(options: Mapping[str, object]) -> dict[str, object]:
    """The values of the controls of `PLAY` for options.

    >>> play_values({"num_buckets": "auto", "seed": 3, "mauve_scaling_factor": 2, "confidence_level": 0.9})
    {'mauve_scaling_factor': 2, 'num_buckets': 0, 'seed': 3, 'confidence_level': 0.9}
    """
    return {name: 0 if options[name] == "auto" else options[name] for name in PLAY}


def play_controls(limits: Limits) -> None:
    """One control for each of `PLAY`."""

    def shown(name: str, info: str) -> dict[str, Any]:
        return {"label": label_of(name), "info": info, "elem_id": name, "min_width": 280}

    c, level, seed = (config_fields()[name].default for name in ("mauve_scaling_factor", "confidence_level", "seed"))
    ranges = play_ranges(limits)
    (low, high), (lowest, highest) = ranges["mauve_scaling_factor"], ranges["confidence_level"]
    gr.Slider(low, high, value=c, step=0.5, **shown("mauve_scaling_factor", "the literature uses 5"))
    gr.Number(value=0, **shown("num_buckets", f"0: a tenth of the smaller set; at most {limits.buckets}"))
    gr.Number(value=seed, **shown("seed", "of the clustering"))
    gr.Slider(lowest, highest, value=level, step=0.01, **shown("confidence_level", "of the debiased scores"))


def options_of(names: Sequence[str], values: Sequence[object]) -> dict[str, object]:
    """The values of controls as options of the library; an emptied control means its default.

    >>> options_of(PLAY, [5, 0, None, 0.9])
    {'mauve_scaling_factor': 5, 'num_buckets': 'auto', 'seed': 25, 'confidence_level': 0.9}
    """
    return {name: _parse(name, value) for name, value in zip(names, values, strict=True)}


def all_options(values: Sequence[object]) -> dict[str, object]:
    """The values of `SETTINGS` as options of the library, and those that the page does not change."""
    featurizer, *own, others = values
    options = {"featurize_model_name": featurizer, **options_of(SETTINGS[1:-1], own)}
    options |= {name: config_fields()[name].default for name in FIXED}
    featurizers = tuple(name for name in other_featurizers({"featurizers": others}) if name != featurizer)
    return options | ({"featurizers": featurizers} if featurizers else {})


def _parse(name: str, value: object) -> object:
    """A control's value as the library takes it: numbers that are written in a text box, defaults for empty ones.

    >>> _parse("max_text_length", " 64"), _parse("text_prefix", "query: "), _parse("text_prefix", "")
    (64, 'query: ', None)
    """
    default = config_fields()[name].default
    if value is None or value == "" or (name == "num_buckets" and value == 0):
        return default
    if name in VERBATIM:
        return value
    if isinstance(value, str) and not config_fields()[name].metadata["choices"] and value.strip().isdecimal():
        return int(value)
    return value.strip() if isinstance(value, str) else value
