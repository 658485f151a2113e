"""`mauve-metric explain`: the buckets of texts that keep a model's score from 1."""

from __future__ import annotations

import argparse

from mauve_metric.hosts.cli.files import add_two_sides, two_sides
from mauve_metric.hosts.cli.flags import CommandParser, add_by, add_score_options, count, keywords_of
from mauve_metric.hosts.cli.output import show_result_of

HELP = "show which buckets of texts keep a model's score from 1"
EXAMPLES = """example:
  mauve-metric explain human.jsonl model.jsonl --featurizer minilm --texts 5"""


def add_arguments(parser: CommandParser) -> None:
    """Add the two sides and how much is shown."""
    add_two_sides(parser)
    parser.add_argument("--buckets", type=count, default=10, help="how many buckets to show (default: 10)")
    parser.add_argument("--texts", type=count, default=3, help="texts of each side to show (default: 3)")
    add_by(parser, "how many texts each bucket has")
    add_score_options(parser, "explain", "buckets", "texts", "subgroups")


def run(options: argparse.Namespace) -> None:
    """Explain the score and show the result."""
    from mauve_metric.api.explain import explain

    show_result_of(explain, options, keywords_of(explain, options) | two_sides(options))
