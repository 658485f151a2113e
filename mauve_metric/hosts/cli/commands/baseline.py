"""`mauve-metric baseline`: the scores of two halves of human texts, and the number of texts that shows a difference."""

from __future__ import annotations

import argparse

from mauve_metric.hosts.cli.flags import CommandParser, keywords_of
from mauve_metric.hosts.cli.inputs_and_outputs import human_side, show_result

HELP = "show what two halves of your own human texts score, and how many texts show a difference"


def add_arguments(parser: CommandParser) -> None:
    """Add the human texts, the number of splits and the forms of the tables."""
    parser.add_number("--splits", 50, "random splits of each size", "N", int)
    parser.add_human()
    parser.add_output_options("sizes", "needed")
    parser.add_field_options(both=False)
    parser.add_prompt_field()
    parser.add_run_options("human_baseline")
    parser.add_config_options("human_baseline")


def run(options: argparse.Namespace) -> None:
    """Score halves of the texts and show the result."""
    from mauve_metric.apps.studies.baseline import human_baseline

    show_result(human_baseline(**human_side(options), **keywords_of(human_baseline, options)), options)
