"""Numbers as words, the same in tables, reports, figures and the page."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from mauve_metric.results.names import printable, shown_names

if TYPE_CHECKING:
    from mauve_metric.results.numbers import ComparisonNumbers, GapBucket, NearText
from mauve_metric.uncertainty.score_warnings import ScoreWarning


def with_labels(comparison: ComparisonNumbers, form: Callable[[str], str] = printable) -> ComparisonNumbers:
    """The comparison with its models called by what is shown of their names."""
    called = shown_names(list(comparison.models), form)
    if all(name == label for name, label in called.items()):
        return comparison
    return replace(
        comparison,
        models={called[name]: result for name, result in comparison.models.items()},
        own={called[name]: own for name, own in comparison.own.items()},
        ranking=tuple(called[name] for name in comparison.ranking),
        differences=tuple(replace(item, a=called[item.a], b=called[item.b]) for item in comparison.differences),
        explanations={called[name]: explanation for name, explanation in comparison.explanations.items()},
    )


def ranking_verdict(comparison: ComparisonNumbers) -> str:
    """Which model is closest, and which differences are real, in words."""
    comparison = with_labels(comparison)
    best = comparison.ranking[0]
    result = comparison.models[best]
    debiased = result.mauve if result.mauve_debiased is None else result.mauve_debiased
    first = f"{best} is closest to the human texts: debiased MAUVE {debiased:.3f}"
    if result.mauve_ci is not None:
        first += f", between {result.mauve_ci[0]:.3f} and {result.mauve_ci[1]:.3f}"
    return f"{first}. {conclusion(comparison)}".strip()


WIDTH = 110  # characters of a line of prose in the terminal
EXCERPT = 160  # characters shown of a text


def cell(value: str | float | None, form: str) -> str:
    """A value as text; a dash for None.

    >>> cell(0.12345, ".3f"), cell(None, ".3f"), cell(1e-9, ".2g")
    ('0.123', '–', '<0.0001')
    """
    if value is None:
        return "–"
    if form == ".2g" and isinstance(value, float) and value < 1e-4:
        return "<0.0001"
    return format(value, form)


def forecast_sentence(comparison: ComparisonNumbers) -> str:
    """What these sets could show, in words; empty for one model."""
    comparison = with_labels(comparison)
    if comparison.smallest_difference is None:
        return ""
    best, second = comparison.ranking[:2]
    n = min(min(result.n_p, result.n_q) for result in comparison.models.values())
    sentence = f"Sets of {n} texts would show a difference of {comparison.smallest_difference:.3f} between {best} and "
    sentence += f"{second} in 8 of 10 cases; "
    if comparison.texts_needed is None:
        return sentence + "they do not differ here at all."
    difference = comparison.differences[0].difference
    texts = rounded_up(comparison.texts_needed)
    return sentence + f"if they truly differ by {difference:.3f}, that takes about {texts} texts a set."


def rounded_up(number: int) -> str:
    """A number with two leading digits, rounded up.

    >>> rounded_up(12345), rounded_up(87)
    ('13,000', '87')
    """
    unit = 10 ** max(len(str(number)) - 2, 0)
    return f"{-(-number // unit) * unit:,}"


def conclusion(comparison: ComparisonNumbers) -> str:
    """One sentence on which differences are real."""
    pairs = with_labels(comparison).differences
    if not pairs:
        return ""
    real = sum(item.real for item in pairs)
    level = f"{100 * (1 - comparison.confidence_level):.3g} %"
    if not real:
        return f"No difference is real at the level of {level} (corrected for {len(pairs)} pairs)."
    doubtful = [f"{item.a} and {item.b}" for item in pairs if not item.real]
    sentence = f"{real} of {len(pairs)} differences are real at the level of {level} (corrected for all pairs)"
    if not doubtful:
        return sentence + "."
    shown = ", ".join(doubtful[:6]) + (f" and {len(doubtful) - 6} more pairs" if len(doubtful) > 6 else "")
    return f"{sentence}; not told apart: {shown}."


NOTES = (
    "MAUVE: on the buckets that all models share. MAUVE own: on buckets of each pair's own, the literature's number.",
    "debiased, low, high: the shared buckets' score without sampling bias, and its interval; ranks and differences "
    "are of it.",
)


def collected_warnings(comparison: ComparisonNumbers) -> list[tuple[str, ScoreWarning]]:
    """Each warning once, with the models it is about: "all models", names, or "" for the comparison's own."""
    comparison = with_labels(comparison)
    owners: dict[tuple[str, str], list[str]] = {}
    first: dict[tuple[str, str], ScoreWarning] = {}
    for name, result in comparison.models.items():
        for warning in result.warnings:
            key = (warning.code, warning.message)
            first.setdefault(key, warning)
            owners.setdefault(key, []).append(name)
    found = [("", warning) for warning in comparison.warnings]
    for key, names in owners.items():
        everyone = len(names) == len(comparison.models) > 1
        found.append(("all models" if everyone else ", ".join(names), first[key]))
    return [(who, warning._replace(message=printable(warning.message))) for who, warning in found]


STABILITY_NOTE = (
    "Under another seed: how much of a bucket's texts another clustering keeps together (Jaccard index), and the rank "
    "of that bucket there."
)


def bucket_title(bucket: GapBucket) -> str:
    """What a bucket is, in one line."""
    side = {"too much": "TOO MUCH", "missed": "MISSED", "even": "EVEN"}[bucket.side]
    noise = ", could be noise" if bucket.noise else ""
    return (
        f"{bucket.rank}. {side}: {percent(bucket.share, 1)} of the gap, {bucket.p_count} human and {bucket.q_count} "
        f"model texts{noise}"
    )


def bucket_facts(bucket: GapBucket) -> list[tuple[str, str]]:
    """What stands below a bucket's title: names and values, without those that are empty."""
    facts = [
        ("about", ", ".join(bucket.words)),
        ("human texts say", ", ".join(bucket.p_words)),
        ("model texts say", ", ".join(bucket.q_words)),
        ("model repeats", ", ".join(bucket.repeated)),
        ("under another seed", f"overlap {bucket.overlap:.2f}, rank {bucket.other_rank}"),
    ]
    return [(name, printable(value)) for name, value in facts if value]


def excerpt(text: str, length: int = EXCERPT) -> str:
    """The beginning of a text on one line, without control characters.

    >>> excerpt("one two three", 10)
    'one two …'
    """
    line = " ".join("".join(mark if mark.isprintable() else " " for mark in text).split())
    return line if len(line) <= length else line[: length - 2].rsplit(" ", 1)[0] + " …"


def near_label(near: NearText) -> str:
    """The number of a text, and whether it lies in the bucket.

    >>> from mauve_metric.results.numbers import NearText
    >>> near_label(NearText(7, 0.5, False, None))
    'text 7 (outside, nearest)'
    """
    return f"text {near.row}" + ("" if near.in_bucket else " (outside, nearest)")


def percent(value: float, total: float) -> str:
    """A part of a total."""
    return f"{100 * value / total:.1f} %" if total > 0 else "0 %"


def wrapped(text: str, first: str, other: str) -> list[str]:
    """Prose in lines of `WIDTH` characters."""
    return textwrap.wrap(text, WIDTH, initial_indent=first, subsequent_indent=other, break_on_hyphens=False)
