"""Results on stdout and in files, messages on stderr."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

from mauve_metric.results.names import printable

if TYPE_CHECKING:
    from pathlib import Path

    import altair as alt

    from mauve_metric.results.result import MauveResult


class _Drawn(Protocol):
    """A result that has a figure, and perhaps a report."""

    def plot(self) -> alt.TopLevelMixin: ...

    def save_report(self, path: str) -> Path: ...


class _Formatted(Protocol):
    def to_dict(self) -> dict[str, Any]: ...

    def to_markdown(self) -> str: ...

    def to_csv(self, table: Any = ..., /) -> str: ...

    def to_latex(self) -> str: ...


def tell(message: str) -> None:
    """Print a line on stderr, if there is one."""
    if sys.stderr is not None:
        print(f"mauve-metric: {printable(message)}", file=sys.stderr)


def show(text: object) -> None:
    """Print a result on stdout, down to its last byte.

    Raises:
        OSError: there is no room for it.
    """
    try:
        print(text, flush=True)
    except BrokenPipeError:
        raise
    except OSError as error:
        drop_output()
        raise OSError(f"standard output cannot be written: {error.strerror}") from error


def drop_output() -> None:
    """Discard what stdout still holds, so that Python does not try again at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def json_of(value: object) -> str:
    """Format a value as one line of JSON, without NaN."""
    return json.dumps(value, allow_nan=False)


def in_form(result: _Formatted, options: argparse.Namespace) -> str:
    """Format a result in the form that was asked for."""
    if options.json:
        return json_of(result.to_dict())
    if options.csv:
        return (result.to_csv() if options.csv is True else result.to_csv(options.csv)).rstrip("\n")
    text = result.to_markdown() if options.markdown else result.to_latex() if options.latex else str(result)
    return text.rstrip("\n")


def show_and_draw(text: str, result: _Drawn, options: argparse.Namespace) -> None:
    """Print a result and write the figure and the report that were asked for."""
    try:
        show(text)
    finally:  # the files are written even if the reader closes the pipe after the first lines
        if getattr(options, "plot", None) is not None:
            from mauve_metric.results.charts.figure import save_chart

            save_chart(result.plot(), options.plot)
        if getattr(options, "report", None) is not None:
            result.save_report(options.report)


def show_score(result: MauveResult, options: argparse.Namespace, title: str) -> None:
    """Print a score and draw its figure."""
    from mauve_metric.results.tables import score_report

    show_and_draw(json_of(result.to_dict()) if options.json else score_report(result, title), result, options)


def add_codes(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of a command that explains codes."""
    parser.add_argument("codes", metavar="CODE", nargs="*", help="the word in brackets (none: all of them)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def show_advice(known: Mapping[str, tuple[str, str]], options: argparse.Namespace) -> None:
    """Print cause and cure of the codes that were asked for, or of all.

    Raises:
        ValueError: a code is not known.
    """
    unknown = [code for code in options.codes if code not in known]
    if unknown:
        raise ValueError(f"CODE must be among {', '.join(known)}, got {', '.join(map(repr, unknown))}")
    asked = {code: known[code] for code in options.codes or known}
    if options.json:
        named = {code: {"cause": cause, "cure": cure} for code, (cause, cure) in asked.items()}
        show(json.dumps(named, ensure_ascii=False))
    else:
        show("\n\n".join(f"{code}\n  {cause}\n  → {cure}" for code, (cause, cure) in asked.items()))
