"""`mauve-metric baseline`: the scores of two halves of human texts, and the number of texts that shows a difference."""

from __future__ import annotations

import argparse

from mauve_metric.hosts.cli.files import FILES, human_side
from mauve_metric.hosts.cli.flags import (
    CommandParser,
    add_config_options,
    add_field_options,
    add_number,
    add_output_options,
    add_run_options,
    keywords_of,
)
from mauve_metric.hosts.cli.output import show_result

HELP = "show what two halves of your own human texts score, and how many texts show a difference"


def add_arguments(parser: CommandParser) -> None:
    """Add the human texts, the number of splits and the forms of the tables."""
    add_number(parser, "--splits", 50, "random splits of each size", "N")
    parser.add_argument("human", metavar="HUMAN", help=f"human (reference) texts or features: {FILES}")
    add_output_options(parser, "sizes", "needed")
    add_field_options(parser, both=False)
    add_run_options(parser, "human_baseline")
    add_config_options(parser, "human_baseline")


def run(options: argparse.Namespace) -> None:
    """Score halves of the texts and show the result."""
    from mauve_metric.api.baseline import human_baseline

    show_result(human_baseline(**human_side(options), **keywords_of(human_baseline, options)), options)
