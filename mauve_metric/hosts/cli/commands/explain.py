"""`mauve-metric explain`: the texts, words and kinds of texts that give a model away."""

from __future__ import annotations

import argparse

from mauve_metric.hosts.cli.flags import CommandParser, count, keywords_of
from mauve_metric.hosts.cli.inputs_and_outputs import show_result_of, two_sides

HELP = "show which texts and words give a model away, and which kinds of texts it misses"
EXAMPLES = """example:
  mauve-metric explain human.jsonl model.jsonl --featurizer minilm --texts 5"""


def add_arguments(parser: CommandParser) -> None:
    """Add the two sides and how much is shown."""
    parser.add_two_sides()
    parser.add_number("--buckets", 10, "kinds of texts (buckets) to look at", type=count)
    parser.add_number("--texts", 3, "texts of each side to show of a kind", type=count)
    parser.add_by("how many texts each bucket has")
    parser.add_score_options("explain", "buckets", "texts", "subgroups")


def run(options: argparse.Namespace) -> None:
    """Explain the score and show the result."""
    from mauve_metric.scoring.explain import explain

    show_result_of(explain, options, keywords_of(explain, options) | two_sides(options))
