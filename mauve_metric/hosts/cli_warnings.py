"""The command `warnings`: what a warning's code means and what to do about it."""

from __future__ import annotations

import argparse
import json


def add_warnings_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> argparse.ArgumentParser:
    """The parser of the command, but for the flags that all commands have."""
    warnings = commands.add_parser("warnings", help="say what a warning means and what to do about it")
    warnings.add_argument("codes", metavar="CODE", nargs="*", help="the word in brackets (none: all of them)")
    warnings.add_argument("--json", action="store_true", help="print one JSON object")
    return warnings


def warnings_text(options: argparse.Namespace) -> str:
    """What `warnings` prints."""
    from mauve_metric.uncertainty.warning_guide import ADVICE

    unknown = [code for code in options.codes if code not in ADVICE]
    if unknown:
        raise ValueError(f"CODE must be among {', '.join(ADVICE)}, got {', '.join(map(repr, unknown))}")
    asked = {code: ADVICE[code] for code in options.codes or ADVICE}
    if options.json:
        return json.dumps({code: advice._asdict() for code, advice in asked.items()}, ensure_ascii=False)
    return "\n\n".join(f"{code}\n  {advice.cause}\n  → {advice.cure}" for code, advice in asked.items())
