"""Results on stdout and in files, messages on stderr."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from mauve_metric.results.plain_text import printable
from mauve_metric.results.wording.spelling import SHELL
from mauve_metric.runtime.checks import did_you_mean
from mauve_metric.runtime.errors import NotWritten

if TYPE_CHECKING:
    from mauve_metric.results.document import Document
    from mauve_metric.results.result_methods import Result

ResultT = TypeVar("ResultT", bound="Result")
GATE_FAILED = 3  # exit status


def tell(message: str) -> None:
    """Print a line on stderr, if there is one."""
    if sys.stderr is not None:
        print(f"mauve-metric: {printable(message)}", file=sys.stderr)


def show(text: object) -> None:
    """Print a result on stdout, and flush it.

    Raises:
        OSError: there is no room for it.
    """
    try:
        print(text, flush=True)
    except BrokenPipeError:
        raise
    except OSError as error:
        drop_output()
        raise NotWritten(f"standard output cannot be written: {error.strerror}") from error


def drop_output() -> None:
    """Discard what stdout still holds, so that Python does not write it again at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def json_of(value: object) -> str:
    """Format a value as one line of JSON, without NaN."""
    return json.dumps(value, allow_nan=False)


def show_result(result: Result, options: argparse.Namespace, title: str = "") -> None:
    """Print a result in the requested format, and write its figure and its report.

    Args:
        title: of the text, in place of the result's own.
    """
    try:
        if options.json:
            show(json_of(result.to_dict()))
        else:
            show(_format_document(result.document(), options, title).rstrip("\n"))
    finally:  # the files are written even if the reader closes the pipe after the first lines
        if options.plot is not None:
            from mauve_metric.results.result_methods import save_chart

            save_chart(result.plot(), options.plot)
        if options.report is not None:
            result.save_report(options.report)


def show_result_of(
    function: Callable[..., ResultT], options: argparse.Namespace, given: Mapping[str, Any], title: str = ""
) -> ResultT:
    """Call a function that several processes of a launcher share, and show its result in the first of them."""
    from mauve_metric.runtime.processes import launched_rank

    with launched_rank() as rank:
        result = function(**given, distributed=rank is not None)
    if not rank:
        show_result(result, options, title)
    return result


def _format_document(document: Document, options: argparse.Namespace, title: str) -> str:
    """Format a document as asked for; advice names flags."""
    from mauve_metric.results.document import Prose

    parts = list(document.parts)
    for place, part in enumerate(parts):
        if isinstance(part, Prose) and part.advice:
            parts[place] = part._replace(lines=[line._replace(text=SHELL.respell(line.text)) for line in part.texts])
    document = replace(document, title=title or document.title, parts=parts)
    if options.csv:
        return document.csv(options.csv)
    if options.markdown:
        return document.markdown()
    return document.latex() if options.latex else document.terminal(options.signature)


def failed_gate(reasons: Sequence[str]) -> int:
    """Print the reasons for which a gate fails; the exit status, 0 without any."""
    for reason in reasons:
        tell(f"failed: {reason}")
    return GATE_FAILED if reasons else 0


def show_advice(known: Mapping[str, tuple[str, str]], options: argparse.Namespace) -> None:
    """Print cause and cure of the requested codes, by default of all.

    Raises:
        SystemExit: with status 2 for an unknown code.
    """
    unknown = [code for code in options.codes if code not in known]
    if unknown:
        near = did_you_mean(unknown[0], known)
        options.error(f"there is no code {unknown[0]!r}{near}; without CODE the command shows all")
    asked = {code: known[code] for code in options.codes or known}
    if options.json:
        named = {code: {"cause": cause, "cure": cure} for code, (cause, cure) in asked.items()}
        show(json.dumps(named, ensure_ascii=False))
    else:
        from mauve_metric.results.document import wrapped

        spelled = {code: map(SHELL.respell, advice) for code, advice in asked.items()}
        advice = ([code, *wrapped(cause), *wrapped(cure, "  → ", "    ")] for code, (cause, cure) in spelled.items())
        show("\n\n".join(map("\n".join, advice)))
