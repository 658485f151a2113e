"""`mauve-metric compare`: the ranking of several models, and the pairs that differ."""

from __future__ import annotations

import argparse

from mauve_metric.hosts.cli.files import add_models, sides_of_models
from mauve_metric.hosts.cli.flags import (
    add_config_options,
    add_design_options,
    add_field_options,
    add_output_options,
    add_run_options,
    count,
    featurizers_given,
    given_options,
)
from mauve_metric.hosts.cli.output import show_result
from mauve_metric.hosts.cli.parser import CommandParser

HELP = "say which of several models is closest, and which differ"
EXAMPLES = """examples:
  mauve-metric compare human.jsonl a.jsonl b.jsonl --featurizer minilm --report report.html
  mauve-metric compare human.jsonl small=out/1.jsonl large=out/2.jsonl --markdown"""


def add_arguments(parser: CommandParser) -> None:
    """Add the models, the forms of the tables and the report."""
    add_models(parser)
    add_field_options(parser)
    add_design_options(parser)
    add_output_options(parser, "models", "differences", "learned_differences", "together_differences")
    parser.add_argument("--buckets", type=count, default=5, help="buckets a model in the report (default: 5)")
    add_run_options(parser, "compare")
    add_config_options(parser, "compare", featurizers="the first makes the ranking, all are compared")


def run(options: argparse.Namespace) -> None:
    """Compare the models, show the result and write its files."""
    from mauve_metric.api.compare import compare
    from mauve_metric.runtime.processes import launched_rank

    sides = sides_of_models(options)
    with launched_rank() as rank:
        comparison = compare(
            **sides,
            **given_options(options),
            **featurizers_given(options),
            aligned=options.aligned,
            common_rows=options.common_rows,
            buckets=options.buckets if options.report else 0,
            distributed=rank is not None,
        )
    if not rank:
        show_result(comparison, options)
