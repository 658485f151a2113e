"""`mauve-metric errors`: the meaning of an error's code, and what to do about it."""

from __future__ import annotations

import argparse

from mauve_metric.hosts.cli.flags import CommandParser
from mauve_metric.hosts.cli.inputs_and_outputs import show_advice
from mauve_metric.runtime.errors import KINDS

HELP = "say what an error means and what to do about it"
add_arguments = CommandParser.add_codes


def run(options: argparse.Namespace) -> None:
    """Show cause and cure of the codes."""
    show_advice({code: kind.advice() for code, kind in KINDS.items()}, options)
