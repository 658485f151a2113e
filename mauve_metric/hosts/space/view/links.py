"""Addresses of the page: settings that differ from the defaults, or the first screen of a result; never texts.

Anyone can write the numbers of a result into an address, so that the page marks them as such.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple
from urllib.parse import urlencode

from mauve_metric.hosts.space.limits import Limits, check_options, other_featurizers
from mauve_metric.hosts.space.view.controls import PLAY, check_play, panel_names, play_values
from mauve_metric.options import VERBATIM, MauveConfig, config_fields
from mauve_metric.results.result import MauveResult
from mauve_metric.results.wording import answer
from mauve_metric.results.wording.verdict import Finding

RESULT = "shared"  # the query's entry of a result
_NOT_OURS = ("view", "logs", RESULT)  # and what begins with two underscores: of Gradio and of the Hub
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
    text, knob = text.strip()[:_LONGEST], config_fields()[name]
    choices = {
        str(choice).lower(): choice for choice in (*(knob.metadata["choices"] or ()), knob.default, None, False, True)
    }
    if text.lower() in choices:
        return choices[text.lower()]
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


_CODES: dict[str, Finding] = {"s": "shown", "n": "not shown", "u": "undecided", "w": "withheld"}
_MOST_TEXTS = 10**7
_FOREIGN = "the link's shared result is not one that this page made"
_SCALE = 100_000  # numbers are written as whole parts of this
_NUMBERS = r"(?:,(\d{1,6}|)){6}"
_ENTRY = re.compile(r"([\w./-]{1,60}),([snuw])" + _NUMBERS, re.ASCII)


class SharedResult(NamedTuple):
    """The first screen that a link holds: numbers of texts, and each featurizer's finding and bar."""

    n_p: int
    n_q: int
    findings: dict[str, Finding]
    bars: list[answer.Bar]

    @property
    def answer(self) -> str:
        """The first sentence, as that of a result without its warnings."""
        reasons = dict.fromkeys(self.findings, "")
        reasons |= {name: "the result had none" for name, found in self.findings.items() if found == "withheld"}
        return answer.answer_of(self.findings, reasons, min(self.n_p, self.n_q))

    @property
    def number(self) -> float | None:
        """The score in large letters: the first one on the first bar."""
        return self.bars[0].marks[0].value if self.bars[0].marks else None


def shared_value(result: MauveResult, featurizers: Sequence[str]) -> str:
    """The entry of the query for a result of one model.

    A verdict with a caution is given as none.

    Raises:
        ValueError: the result is of a featurizer that is not offered here, so that no link is read with it.
    """
    entries = [f"{result.n_p},{result.n_q}"]
    names = list(result.by_featurizer) or [str(result.signature_entries.get("featurize_model_name", "features"))]
    if not {*names} <= {*featurizers}:
        raise ValueError(f"a link holds results of {', '.join(featurizers)} alone: send the files")
    each = list(result.by_featurizer.values()) or [result]
    findings = answer.findings_of(result).values()
    for name, one, found, bar in zip(names, each, findings, answer.bars(result), strict=True):
        code = next(code for code, finding in _CODES.items() if finding == found)
        marks = {mark.kind: mark for mark in bar.marks}
        numbers: list[str] = []
        for kind in (answer.CONTENT, answer.STYLE):
            mark = marks.get(kind)
            values = (None, None, None) if mark is None else (mark.value, *(mark.ends or (None, None)))
            numbers += ["" if value is None else f"{_SCALE * value:.0f}" for value in values]
        entries.append(",".join([name, "w" if answer.caution(one) else code, *numbers]))
    return ";".join(entries)


def read_shared(value: str, featurizers: Sequence[str]) -> SharedResult:
    """Read the entry of a query.

    Raises:
        ValueError: not what `shared_value` writes, or a featurizer that is not offered here.
    """
    first, *entries = value[:2000].split(";")
    sizes = re.fullmatch(r"(\d{1,8}),(\d{1,8})", first, re.ASCII)
    if sizes is None or not 1 <= len(entries) <= 8:
        raise ValueError(_FOREIGN)
    findings: dict[str, Finding] = {}
    bars = []
    for entry in entries:
        if _ENTRY.fullmatch(entry) is None:
            raise ValueError(_FOREIGN)
        name, code, *written = entry.split(",")
        if name not in featurizers or name in findings:
            raise ValueError(_FOREIGN)
        numbers = [None if number == "" else int(number) / _SCALE for number in written]
        marks = []
        for kind, (score, low, high) in ((answer.CONTENT, numbers[:3]), (answer.STYLE, numbers[3:])):
            if score is not None:
                marks.append(answer.Mark(kind, score, None if low is None or high is None else (low, high)))
        if not all(mark.is_possible for mark in marks):
            raise ValueError("the link's shared result has numbers that no result has")
        findings[name] = _CODES[code]
        label = answer.bar_label("this model", name if len(entries) > 1 else "")
        bars.append(answer.Bar(label, tuple(marks)))
    n_p, n_q = (min(int(size), _MOST_TEXTS) for size in sizes.groups())
    return SharedResult(n_p, n_q, findings, bars)
