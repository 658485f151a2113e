"""`mauve-metric compare`: the ranking of several models, and the pairs that differ."""

from __future__ import annotations

import argparse

from mauve_metric.hosts.cli.files import add_models, sides_of_models
from mauve_metric.hosts.cli.flags import add_score_options, count, keywords_of
from mauve_metric.hosts.cli.output import show_result_of
from mauve_metric.hosts.cli.parser import CommandParser

HELP = "say which of several models is closest, and which differ"
EXAMPLES = """examples:
  mauve-metric compare human.jsonl a.jsonl b.jsonl --featurizer minilm --report report.html
  mauve-metric compare human.jsonl small=out/1.jsonl large=out/2.jsonl --markdown"""


def add_arguments(parser: CommandParser) -> None:
    """Add the models, the forms of the tables and the report."""
    add_models(parser)
    tables = ("models", "differences", "learned_differences", "together_differences")
    add_score_options(parser, "compare", *tables, featurizers="the first makes the ranking, all are compared")
    parser.add_argument("--buckets", type=count, default=5, help="buckets a model in the report (default: 5)")


def run(options: argparse.Namespace) -> None:
    """Compare the models, show the result and write its files."""
    from mauve_metric.api.compare import compare

    shown = {} if options.report else {"buckets": 0}
    show_result_of(compare, options, keywords_of(compare, options) | sides_of_models(options) | shown)
