"""A picture of 1200 × 630 pixels of a result, for messages and posts: answer, score, bars and caveats."""

from __future__ import annotations

import textwrap
from html import escape
from pathlib import Path

from mauve_metric.results.comparison import Comparison
from mauve_metric.results.names import one_line
from mauve_metric.results.result import MauveResult
from mauve_metric.results.wording import answer, words
from mauve_metric.runtime.optional_imports import import_vl_convert

WIDTH, HEIGHT = 1200, 630
_LEFT, _RIGHT = 60, 1140
_COLORS = {answer.CONTENT: "#0072B2", answer.STYLE: "#B25D24"}
_MOST_BARS = 3


def save_card(result: MauveResult | Comparison, path: Path) -> None:
    """Write the card of a result as PNG.

    Raises:
        ImportError: vl-convert-python is not installed.
    """
    path.write_bytes(import_vl_convert().svg_to_png(card_svg(result)))


def card_svg(result: MauveResult | Comparison) -> str:
    """The card as SVG; every word of a result is escaped."""
    if isinstance(result, Comparison):
        said, bars = answer.comparison_answer(result), answer.comparison_bars(result)
        lead, found = words.comparison_headline(result), words.collected_warnings(result)
        sizes = f"{len(result.models)} models"
    else:
        said, bars = answer.answer(result), answer.bars(result)
        lead, found = words.headline(result), words.result_warnings(result)
        sizes = f"{result.n_q} model texts against {result.n_p} human texts"
    first = sorted((warning for _, warning in found), key=lambda warning: not warning.severe)[:1]
    caveats = [f" Caveat: {warning.message}." for warning in first]
    parts = _lines(said, 100, 44, 46, 3)
    doubt = isinstance(result, MauveResult) and not answer.reliable(result)
    parts.append(_text(f"MAUVE {lead.number}", _LEFT, 285, 40 if doubt else 64))
    parts.append(_text(answer.DOUBT if doubt else answer.SCALE, 520, 285, 26))
    for number, bar in enumerate(bars[:_MOST_BARS]):
        parts += _bar(bar, 325 + 68 * number)
    ends = 325 + 68 * min(len(bars), _MOST_BARS) + 8
    parts += [_text(f"0: {answer.ENDS[0]}", _LEFT, ends, 20), _text(f"1: {answer.ENDS[1]}", _RIGHT, ends, 20, "end")]
    parts += _lines(f"{sizes}.{''.join(caveats)}", 575, 22, 100, 2)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}">'
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#FFFFFF"/>{"".join(parts)}</svg>'
    )


def _text(words: str, x: float, y: float, size: int, anchor: str = "start") -> str:
    return (
        f'<text x="{x:.0f}" y="{y}" font-size="{size}" font-family="sans-serif" text-anchor="{anchor}">'
        f"{escape(one_line(words))}</text>"
    )


def _lines(words: str, y: int, size: int, most: int, lines: int) -> list[str]:
    """The words in lines of so many characters."""
    found = textwrap.wrap(words, most, max_lines=lines, placeholder=" …")
    return [_text(line, _LEFT, y + number * int(1.2 * size), size) for number, line in enumerate(found)]


def _bar(bar: answer.Bar, y: int) -> list[str]:
    """A bar with its marks and their intervals; under it its name and the scores in words."""
    length = _RIGHT - _LEFT
    parts = [f'<rect x="{_LEFT}" y="{y}" width="{length}" height="14" rx="7" fill="#EEEEEE" stroke="#767676"/>']
    for mark in bar.marks:
        color = _COLORS[mark.kind]
        if mark.ends is not None:
            left, wide = _LEFT + length * mark.ends[0], length * (mark.ends[1] - mark.ends[0])
            parts.append(
                f'<rect x="{left:.1f}" y="{y + 3}" width="{wide:.1f}" height="8" fill="{color}" opacity=".5"/>'
            )
        parts.append(f'<circle cx="{_LEFT + length * mark.value:.1f}" cy="{y + 7}" r="10" fill="{color}"/>')
    said = ", ".join(mark.words for mark in bar.marks)
    return [*parts, _text(f"{bar.label}: {said}", _LEFT, y + 40, 20)]
