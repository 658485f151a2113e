"""The first screen of a result in an address: numbers that anyone can write, so that the page marks them as such."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from mauve_metric.results.result import MauveResult
from mauve_metric.results.wording import answer
from mauve_metric.results.wording.verdict import Finding

NAME = "shared"  # of the query's entry
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
        marks = (_mark(answer.CONTENT, numbers[:3]), _mark(answer.STYLE, numbers[3:]))
        findings[name] = _CODES[code]
        label = answer.bar_label("this model", name if len(entries) > 1 else "")
        bars.append(answer.Bar(label, tuple(mark for mark in marks if mark is not None)))
    n_p, n_q = (min(int(size), _MOST_TEXTS) for size in sizes.groups())
    return SharedResult(n_p, n_q, findings, bars)


def _mark(kind: str, numbers: Sequence[float | None]) -> answer.Mark | None:
    """A mark; None without a score. `ValueError` unless the numbers are in [0, 1] and in their order."""
    value, low, high = numbers
    if value is None:
        return None
    mark = answer.Mark(kind, value, None if low is None or high is None else (low, high))
    if not mark.is_possible:
        raise ValueError("the link's shared result has numbers that no result has")
    return mark
