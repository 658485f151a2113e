"""The commands `warnings` and `errors`: what a code in brackets means and what to do about it."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping

ABOUT = {
    "warnings": "say what a warning means and what to do about it",
    "errors": "say what an error means and what to do about it",
}


def add_guide_commands(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> list[argparse.ArgumentParser]:
    """The parsers of the commands, but for the flags that all commands have."""
    return [_add_command(commands, name, about) for name, about in ABOUT.items()]


def _add_command(
    commands: argparse._SubParsersAction[argparse.ArgumentParser], name: str, about: str
) -> argparse.ArgumentParser:
    """The parser of one."""
    added = commands.add_parser(name, help=about)
    added.add_argument("codes", metavar="CODE", nargs="*", help="the word in brackets (none: all of them)")
    added.add_argument("--json", action="store_true", help="print one JSON object")
    return added


def guide_text(options: argparse.Namespace) -> str:
    """What `warnings` and `errors` print."""
    known = _advice(options.command)
    unknown = [code for code in options.codes if code not in known]
    if unknown:
        raise ValueError(f"CODE must be among {', '.join(known)}, got {', '.join(map(repr, unknown))}")
    asked = {code: known[code] for code in options.codes or known}
    if options.json:
        named = {code: {"cause": cause, "cure": cure} for code, (cause, cure) in asked.items()}
        return json.dumps(named, ensure_ascii=False)
    return "\n\n".join(f"{code}\n  {cause}\n  → {cure}" for code, (cause, cure) in asked.items())


def _advice(command: str) -> Mapping[str, tuple[str, str]]:
    """Cause and cure of each code."""
    if command == "errors":
        from mauve_metric.hosts.cli.error_guide import GUIDES

        return {code: (guide.cause, guide.cure) for code, guide in GUIDES.items()}
    from mauve_metric.uncertainty.warning_guide import ADVICE

    return {code: (advice.cause, advice.cure) for code, advice in ADVICE.items()}
