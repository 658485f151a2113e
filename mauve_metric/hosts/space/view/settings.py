"""The options as controls and in addresses of the page, and addresses that hold the first screen of a result.

Label, meaning, default and choices are the library's. Anyone can write the numbers of a result into an address, so that
the page marks them as such.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import urlencode

import gradio as gr

from mauve_metric.hosts.flags_and_labels import PAGE, label_of
from mauve_metric.hosts.space.limits import Limits, check_options, other_featurizers
from mauve_metric.hosts.space.session import bars
from mauve_metric.options import HUMAN, VERBATIM, page_fields, split_options
from mauve_metric.report.wording.verdict_sentence import DIFFERS, NO_VERDICT, Facts, facts_of, verdict_sentence
from mauve_metric.results.result import MauveResult, VerdictWord

PLAY = ("mauve_scaling_factor", "num_buckets", "seed", "confidence_level")  # beside the pictures that they change
FIXED = ("drmm_preset", "lattice_preset")  # at their defaults: the others take many minutes
_ELSEWHERE = ("featurize_model_name", *FIXED, *PLAY)


def panel_names() -> list[str]:
    """The options of the folded panel, in the order of the config."""
    return [name for name in page_fields() if name not in _ELSEWHERE]


SETTINGS = ("featurize_model_name", *PLAY, *panel_names(), "featurizers")  # all settings of the page


def panel_controls() -> None:
    """One control for each of `panel_names`."""
    for name in panel_names():
        knob = page_fields()[name]
        default, choices = knob.default, knob.metadata["choices"]
        most = "" if knob.metadata["most"] is None else f"; at most {knob.metadata['most']} here"
        info = f"{PAGE.respell(knob.metadata['help'])} (default: {'unset' if default is None else default}{most})"
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

    c, level, seed = (page_fields()[name].default for name in ("mauve_scaling_factor", "confidence_level", "seed"))
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
    >>> options_of(["max_text_length", "text_prefix"], [" 64", "query: "])
    {'max_text_length': 64, 'text_prefix': 'query: '}
    """
    options = dict(zip(names, values, strict=True))
    for name, value in options.items():
        if value is None or value == "" or (name == "num_buckets" and value == 0):
            options[name] = page_fields()[name].default
        elif isinstance(value, str) and name not in VERBATIM:
            options[name] = _parse(name, value)
    return options


def all_options(values: Sequence[object]) -> dict[str, object]:
    """The values of `SETTINGS` as options of the library, and those that the page does not change."""
    featurizer, *settings, others = values
    options = {"featurize_model_name": featurizer, **options_of(SETTINGS[1:-1], settings)}
    options |= {name: page_fields()[name].default for name in FIXED}
    featurizers = tuple(name for name in other_featurizers({"featurizers": others}) if name != featurizer)
    return options | ({"featurizers": featurizers} if featurizers else {})


def _parse(name: str, text: str) -> object:
    """A value as Python reads it, "true" and "AUTO" too; anything else is a string.

    >>> _parse("max_text_length", " 64"), _parse("num_buckets", "AUTO"), _parse("dtype", "x")
    (64, 'auto', 'x')
    """
    text, knob = text.strip(), page_fields()[name]
    for choice in (True, False, None, knob.default, *(knob.metadata["choices"] or ())):
        if str(choice).lower() == text.lower():
            return choice
    for kind in (int, float):
        with contextlib.suppress(ValueError):
            return kind(text)
    return text


SHARED = "shared"  # the query's entry of a result
_NOT_OURS = ("view", "logs", SHARED)  # and what begins with two underscores: of Gradio and of the Hub
_LONGEST = 60  # characters of a name or a value that are repeated


def query_of(options: Mapping[str, object], preset: str) -> str:
    """The options that are not at their default, as a query.

    Args:
        options: of the page.
        preset: the featurizer that the page has at first.

    >>> query_of({"featurize_model_name": "minilm", "seed": 3, "mauve_scaling_factor": 5}, "minilm")
    'seed=3'
    """
    defaults = {name: knob.default for name, knob in page_fields().items()} | {"featurize_model_name": preset}
    others = other_featurizers(options)
    changed = {name: str(value) for name, value in options.items() if name in defaults and value != defaults[name]}
    return urlencode(changed | ({"featurizers": ",".join(others)} if others else {}))


def read_query(query: Mapping[str, str], models: Sequence[str], limits: Limits) -> tuple[dict[str, object], list[str]]:
    """Read the settings in a query, and the mistakes in the rest of it, a sentence each.

    >>> read_query({"seed": "3", "colour": "red", "num_buckets": "many"}, ["minilm"], Limits())[0]
    {'seed': 3}
    >>> read_query({"text_prefix": "query: "}, ["minilm"], Limits())[0]
    {'text_prefix': 'query: '}
    >>> read_query({"featurizers": "ngrams"}, ["minilm", "ngrams"], Limits())[0]
    {'featurizers': ['ngrams']}
    """
    options: dict[str, object] = {}
    problems = []
    for name, text in query.items():
        if name.startswith("__") or name in _NOT_OURS:
            continue
        try:
            options[name] = _value(name, text, models, limits)
        except (ValueError, TypeError) as error:
            problems.append(" ".join(str(error).split()))
    return options, problems


def _value(name: str, text: str, models: Sequence[str], limits: Limits) -> object:
    """The value of a setting.

    Raises:
        ValueError, TypeError: an unknown name, or a value that it cannot have here.
    """
    if name == "featurizers":
        others = text.split(",")
        check_options({"featurize_model_name": models[0], name: others}, models, limits)
        return others
    if name not in page_fields():
        raise ValueError(f"the link sets “{name[:_LONGEST]}”, which is no setting of this page")
    value = text[:_LONGEST] if name == "text_prefix" else text if name in VERBATIM else _parse(name, text[:_LONGEST])
    try:
        if name != "featurize_model_name":
            split_options({name: value})  # which checks it
        check_options({"featurize_model_name": models[0], name: value}, models, limits)
        if name in PLAY:
            check_play({name: value}, limits)
    except (ValueError, TypeError) as error:
        raise ValueError(f"the link's {name} is not taken: {error}") from error
    return value


def control_values(chosen: Mapping[str, object], models: Sequence[str]) -> dict[str, object]:
    """The values of the controls by their options; "featurizers": the additional ones."""
    options = {name: option.default for name, option in page_fields().items()} | {"featurize_model_name": models[0]}
    options |= chosen
    for name in panel_names():
        knob = page_fields()[name]
        if knob.metadata["choices"] is None and isinstance(knob.default, (str, type(None))):  # written in a box
            options[name] = "" if options[name] is None else str(options[name])
    shown = {name: options[name] for name in ("featurize_model_name", *panel_names())}
    return shown | play_values(options) | {"featurizers": list(other_featurizers(chosen))}


_MOST_TEXTS = 10**7
_FOREIGN = "the link's shared result is not one that this page made"
_SCALE = 100_000  # closeness is written in whole parts of this
_VERDICTS: tuple[VerdictWord, ...] = ("like human", "different", "undecided", "no verdict")
_REASONS = ("", "layout", *NO_VERDICT)
_PART = r"(\d{1,6}|)"
_SHARED = re.compile(
    rf"(\d{{1,8}}),(\d{{1,8}}),{_PART},{_PART},{_PART},{_PART},(\d{{1,8}}|),(\d),(\d{{1,2}}),(\d),(\d{{1,3}});([\w./,:-]{{1,600}})",
    re.ASCII,
)


class SharedResult(NamedTuple):
    """The first screen that a link holds; see `MauveResult` and `Facts` for its fields."""

    n_p: int
    n_q: int
    closeness: float | None
    ends: tuple[float, float] | None
    verdict: VerdictWord
    reason: str | None
    featurizers: list[str]
    facts: Facts
    reference_name: str = HUMAN

    @property
    def answer(self) -> str:
        """The first sentence, as that of the result."""
        seen = " + ".join(self.featurizers)
        size, low = min(self.n_p, self.n_q), self.ends and self.ends[0]
        return verdict_sentence(self.verdict, self.reason, size, seen, low, self.facts, self.reference_name)


def shared_value(result: MauveResult, featurizers: Sequence[str]) -> str:
    """The entry of the query for a result of one model.

    Raises:
        ValueError: the result is of a featurizer that is not offered here, so that no link is read with it.
    """
    names = list(result.by_featurizer) or [str(result.signature_entries.get("featurize_model_name", "features"))]
    if not {*names} <= {*featurizers}:
        raise ValueError(f"a link holds results of {', '.join(featurizers)} alone: send the files")
    facts = facts_of(result)
    numbers = [result.closeness, *(result.closeness_ci or (None, None)), facts.p_value]
    codes = [
        _VERDICTS.index(result.verdict),
        _REASONS.index(result.verdict_reason or ""),
        sum(1 << number for number, kind in enumerate(DIFFERS) if kind in facts.differs),
        sum(1 << number for number, name in enumerate(names) if name in facts.seen_by),
    ]
    written = ["" if value is None else f"{_SCALE * value:.0f}" for value in numbers]
    numbers_and_codes = [result.n_p, result.n_q, *written, "" if facts.needed is None else facts.needed, *codes]
    return f"{','.join(map(str, numbers_and_codes))};{','.join(names)}"


def read_shared(value: str, featurizers: Sequence[str]) -> SharedResult:
    """Read the entry of a query.

    Raises:
        ValueError: not what `shared_value` writes, or a featurizer that is not offered here.
    """
    match = _SHARED.fullmatch(value[:2000])
    if match is None:
        raise ValueError(_FOREIGN)
    n_p, n_q, needed, *codes, seen = (int(match[group] or 0) for group in (1, 2, 7, 8, 9, 10, 11))
    names, choices = match[12].split(","), (_VERDICTS, _REASONS, range(1 << len(DIFFERS)))
    if not {*names} <= {*featurizers} or len({*names}) < len(names):
        raise ValueError(_FOREIGN)
    if any(code >= len(words) for code, words in zip(codes, choices, strict=True)):
        raise ValueError(_FOREIGN)
    closeness, low, high, p_value = (int(match[group]) / _SCALE if match[group] else None for group in (3, 4, 5, 6))
    ends = None if low is None or high is None else (low, high)
    is_none = closeness is None and ends is None
    if not is_none and not bars.Mark("closeness", -1.0 if closeness is None else closeness, ends).is_possible:
        raise ValueError("the link's shared result has numbers that no result has")
    verdict, reason = _VERDICTS[codes[0]], _REASONS[codes[1]]
    differs = tuple(kind for number, kind in enumerate(DIFFERS) if codes[2] >> number & 1)
    seen_by = tuple(name for number, name in enumerate(names) if seen >> number & 1)
    facts = Facts(differs, seen_by, None, p_value, needed or None, ())
    sizes = min(n_p, _MOST_TEXTS), min(n_q, _MOST_TEXTS)
    return SharedResult(*sizes, closeness, ends, verdict, reason or None, names, facts)
