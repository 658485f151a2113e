"""`mauve-metric explain`: the buckets of texts that keep a model's score from 1."""

from __future__ import annotations

import argparse

from mauve_metric.hosts.cli.files import FILES, two_sides
from mauve_metric.hosts.cli.flags import (
    add_config_options,
    add_design_options,
    add_field_options,
    add_output_options,
    add_run_options,
    count,
    given_options,
)
from mauve_metric.hosts.cli.output import show_result
from mauve_metric.hosts.cli.parser import CommandParser

HELP = "show which buckets of texts keep a model's score from 1"
EXAMPLES = """example:
  mauve-metric explain human.jsonl model.jsonl --featurizer minilm --texts 5"""


def add_arguments(parser: CommandParser) -> None:
    """Add the two sides and how much is shown."""
    parser.add_argument("human", metavar="HUMAN", help=f"human (reference) texts or features: {FILES}")
    parser.add_argument("model", metavar="MODEL", nargs="?", help="the model's texts or features, likewise")
    parser.add_argument("--buckets", type=count, default=10, help="how many buckets to show (default: 10)")
    parser.add_argument("--texts", type=count, default=3, help="texts of each side to show (default: 3)")
    add_field_options(parser)
    add_design_options(parser)
    add_output_options(parser, "buckets", "texts")
    add_run_options(parser, "explain")
    add_config_options(parser, "explain")


def run(options: argparse.Namespace) -> None:
    """Explain the score and show the result."""
    from mauve_metric.api.explain import explain
    from mauve_metric.runtime.processes import launched_rank

    sides = two_sides(options)
    with launched_rank() as rank:
        explanation = explain(
            **sides,
            **given_options(options),
            aligned=options.aligned,
            buckets=options.buckets,
            texts=options.texts,
            distributed=rank is not None,
        )
    if not rank:
        show_result(explanation, options)
