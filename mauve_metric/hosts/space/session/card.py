"""A picture of 1200 × 630 pixels of a result, for messages and posts: answer, score, bars and caveats."""

from __future__ import annotations

import textwrap
from pathlib import Path

import jinja2

from mauve_metric.results.comparison import Comparison
from mauve_metric.results.plain_text import one_line
from mauve_metric.results.result import MauveResult
from mauve_metric.results.wording import answer, words
from mauve_metric.runtime.optional_imports import import_vl_convert

_COLORS = {answer.CONTENT: "#0072B2", answer.STYLE: "#B25D24"}
_MOST_BARS = 3
_TEMPLATES = jinja2.Environment(
    loader=jinja2.PackageLoader("mauve_metric.hosts.space", "session"),
    autoescape=True,
    finalize=lambda value: one_line(value) if type(value) is str else value,
    undefined=jinja2.StrictUndefined,
    trim_blocks=True,
)


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
    return _TEMPLATES.get_template("card.svg").render(
        said=textwrap.wrap(said, 46, max_lines=3, placeholder=" …"),
        number=lead.number,
        doubt=isinstance(result, MauveResult) and not answer.reliable(result),
        bars=bars[:_MOST_BARS],
        facts=textwrap.wrap(f"{sizes}.{''.join(caveats)}", 100, max_lines=2, placeholder=" …"),
        colors=_COLORS,
        wording=answer,
    )
