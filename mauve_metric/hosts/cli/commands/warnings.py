"""`mauve-metric warnings`: the meaning of a warning's code, and what to do about it."""

from __future__ import annotations

import argparse

from mauve_metric.hosts.cli.flags import CommandParser
from mauve_metric.hosts.cli.inputs_and_outputs import show_advice

HELP = "say what a warning means and what to do about it"
add_arguments = CommandParser.add_codes


def run(options: argparse.Namespace) -> None:
    """Show cause and cure of the codes."""
    from mauve_metric.hosts.cli.warning_guide import ADVICE

    show_advice({code: (advice.cause, advice.cure) for code, advice in ADVICE.items()}, options)
