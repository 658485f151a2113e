"""`mauve-metric preferences`: a ranking of models by people's preferences."""

from __future__ import annotations

import argparse
from typing import get_args

from mauve_metric.apps.judging.statistics.judgement_options import Errors, Ties
from mauve_metric.hosts.cli.flags import CommandParser, keywords_of
from mauve_metric.hosts.cli.inputs_and_outputs import show_result

HELP = "rank models by people's preferences, and measures by those ranks"


def add_arguments(parser: CommandParser) -> None:
    """Add the table of preferences and what to do with it."""
    text = "a .csv, .tsv or .xlsx with winner and loser, or model_a, model_b, winner"
    parser.add_argument("preferences", metavar="PREFERENCES", help=text)
    text = "measures to correlate: the JSON of describe or compare, or a .csv with a column model; may be repeated"
    parser.add_argument("--with", dest="measures", metavar="FILE", action="append", help=text)
    text = "column of answers; may be repeated"
    parser.add_argument("--answer", dest="answers", metavar="COLUMN", action="append", help=text)
    parser.add_argument("--human", metavar="NAME", default="human", help="what people's own texts are called")
    parser.add_argument("--ties", choices=get_args(Ties), default="half", help="what a tie counts (default: half)")
    text = "method of the intervals: robust (judgements of one annotator may depend on each other) or fisher"
    parser.add_argument("--errors", choices=get_args(Errors), default="robust", help=text)
    parser.add_number("--pseudo-wins", 0.0, "wins added for every model of a pair", "WINS")
    parser.add_argument("--min-seconds", type=float, metavar="SECONDS", help="leave out judgements made in less")
    text = "correlate over the models that are both judged and measured"
    parser.add_argument("--common-models", action="store_true", help=text)
    parser.add_number("--seed", 25, "of the coins for --ties random", type=int)
    parser.add_number("--confidence-level", 0.95, "of the intervals")
    parser.add_output_options("models", "correlations")


def run(options: argparse.Namespace) -> None:
    """Rank the models and show the result."""
    from mauve_metric import rank_by_preferences  # with the rows of the measures of `describe`

    show_result(rank_by_preferences(**keywords_of(rank_by_preferences, options)), options)
