"""`mauve-metric preferences`: a ranking of models by people's preferences or ratings."""

from __future__ import annotations

import argparse
from typing import get_args

from mauve_metric.apps.judging.statistics.judgement_options import Errors, Ties
from mauve_metric.hosts.cli.flags import CommandParser, keywords_of
from mauve_metric.hosts.cli.inputs_and_outputs import show_result

HELP = "rank models by people's preferences or ratings, and measures by those ranks"


def add_arguments(parser: CommandParser) -> None:
    """Add the table of preferences and what to do with it."""
    text = (
        "a .csv, .tsv, .xlsx, .json or .jsonl with winner and loser, or model_a, model_b, winner, or model and ratings"
    )
    parser.add_argument("preferences", metavar="PREFERENCES", help=text)
    text = "to correlate: the JSON of describe, compare or preferences, or a .csv with a column model; may be repeated"
    parser.add_argument("--with", dest="measures", metavar="FILE", action="append", help=text)
    text = "column of answers or ratings; may be repeated"
    parser.add_argument("--answer", dest="answers", metavar="COLUMN", action="append", help=text)
    parser.add_argument("--human", metavar="NAME", default="human", help="what people's own texts are called")
    parser.add_argument("--ties", choices=get_args(Ties), default="half", help="what a tie counts (default: half)")
    text = "method of the intervals: robust (judgements of one annotator may depend on each other) or fisher"
    parser.add_argument("--errors", choices=get_args(Errors), default="robust", help=text)
    parser.add_number("--pseudo-wins", 0.0, "wins added for every model of a pair", "WINS")
    parser.add_argument("--min-seconds", type=float, metavar="SECONDS", help="leave out judgements made in less")
    parser.add_argument("--by", metavar="COLUMN", help="also score the judgements of each value of a column: domain")
    text = "better direction of a rating or measure: higher, lower or human (close to people's texts); may be repeated"
    parser.add_argument("--better", metavar="NAME=DIRECTION", type=_direction, action="append", help=text)
    text = "correlate over the models that are both judged and measured"
    parser.add_argument("--common-models", action="store_true", help=text)
    parser.add_number("--seed", 25, "of the coins for --ties random", type=int)
    parser.add_number("--confidence-level", 0.95, "of the intervals")
    parser.add_output_options("models", "correlations")


def run(options: argparse.Namespace) -> None:
    """Rank the models and show the result."""
    from mauve_metric import rank_by_preferences  # with the rows of the measures of `describe`

    options.better = dict(options.better or ()) or None
    show_result(rank_by_preferences(**keywords_of(rank_by_preferences, options)), options)


def _direction(text: str) -> tuple[str, str]:
    """NAME=DIRECTION."""
    name, mark, direction = text.rpartition("=")
    if not mark:
        raise argparse.ArgumentTypeError(f"expected NAME=DIRECTION, such as errors=lower, got {text!r}")
    return name, direction
