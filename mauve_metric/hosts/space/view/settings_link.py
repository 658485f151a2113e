"""Settings as the query of an address, and back: only values that differ from the defaults, never texts."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from urllib.parse import urlencode

from mauve_metric.hosts.space.limits import Limits, check_options, other_featurizers
from mauve_metric.hosts.space.session.shared_result import NAME
from mauve_metric.hosts.space.view.controls import PLAY, check_play, panel_names, play_values
from mauve_metric.options import VERBATIM, MauveConfig, config_fields

_NOT_OURS = ("view", "logs", NAME)  # and what begins with two underscores: of Gradio and of the Hub
_LONGEST = 60  # characters of a name or a value that are repeated


def query_of(options: Mapping[str, object], preset: str) -> str:
    """The options that are not at their default, as a query.

    Args:
        options: of the page.
        preset: the featurizer that the page has at first.

    >>> query_of({"featurize_model_name": "minilm", "seed": 3, "mauve_scaling_factor": 5}, "minilm")
    'seed=3'
    """
    defaults = {name: knob.default for name, knob in config_fields().items()} | {"featurize_model_name": preset}
    others = other_featurizers(options)
    given = {name: str(value) for name, value in options.items() if name in defaults and value != defaults[name]}
    return urlencode(given | ({"featurizers": ",".join(others)} if others else {}))


def read_query(query: Mapping[str, str], models: Sequence[str], limits: Limits) -> tuple[dict[str, object], list[str]]:
    """Read the settings in a query, and the mistakes in the rest of it, a sentence each.

    >>> read_query({"seed": "3", "colour": "red", "num_buckets": "many"}, ["minilm"], Limits())[0]
    {'seed': 3}
    >>> read_query({"text_prefix": "query: "}, ["minilm"], Limits())[0]
    {'text_prefix': 'query: '}
    >>> read_query({"featurizers": "ngrams"}, ["minilm", "ngrams"], Limits())[0]
    {'featurizers': ['ngrams']}
    """
    found: dict[str, object] = {}
    problems = []
    for name, text in query.items():
        if name.startswith("__") or name in _NOT_OURS:
            continue
        try:
            found[name] = _value(name, text, models, limits)
        except (ValueError, TypeError) as error:
            problems.append(" ".join(str(error).split()))
    return found, problems


def _value(name: str, text: str, models: Sequence[str], limits: Limits) -> object:
    """The value of a setting.

    Raises:
        ValueError, TypeError: an unknown name, or a value that it cannot have here.
    """
    if name == "featurizers":
        others = text.split(",")
        check_options({"featurize_model_name": models[0], name: others}, models, limits)
        return others
    if name not in config_fields():
        raise ValueError(f"the link sets “{name[:_LONGEST]}”, which is no setting of this page")
    value = text[:_LONGEST] if name == "text_prefix" else text if name in VERBATIM else _parse_value(name, text)
    try:
        if name != "featurize_model_name":
            MauveConfig(**{name: value})  # type: ignore[arg-type]  # which checks it
        check_options({"featurize_model_name": models[0], name: value}, models, limits)
        if name in PLAY:
            check_play({name: value}, limits)
    except (ValueError, TypeError) as error:
        raise ValueError(f"the link's {name} is not taken: {error}") from error
    return value


def _parse_value(name: str, text: str) -> object:
    """A value as Python reads it, "true" and "AUTO" too; anything else is a string."""
    text = text.strip()[:_LONGEST]
    for choice in (
        True,
        False,
        None,
        config_fields()[name].default,
        *(config_fields()[name].metadata["choices"] or ()),
    ):
        if str(choice).lower() == text.lower():
            return choice
    for kind in (int, float):
        with contextlib.suppress(ValueError):
            return kind(text)
    return text


def control_values(found: Mapping[str, object], models: Sequence[str]) -> dict[str, object]:
    """The values of the controls by their options; "featurizers": the additional ones."""
    options = {name: option.default for name, option in config_fields().items()} | {"featurize_model_name": models[0]}
    options |= found
    for name in panel_names():
        knob = config_fields()[name]
        if knob.metadata["choices"] is None and isinstance(knob.default, (str, type(None))):  # written in a box
            options[name] = "" if options[name] is None else str(options[name])
    shown = {name: options[name] for name in ("featurize_model_name", *panel_names())}
    return shown | play_values(options) | {"featurizers": list(other_featurizers(found))}
