"""`mauve-metric boundaries`: scores of guesses at the sentence where a machine took over."""

from __future__ import annotations

import argparse

from mauve_metric.apps.judging.statistics.judgement_options import FULL_POINTS, SENTENCES
from mauve_metric.hosts.cli.flags import CommandParser, keywords_of
from mauve_metric.hosts.cli.inputs_and_outputs import show_result

HELP = "score guesses at which sentence a machine took over (Real or Fake Text)"


def add_arguments(parser: CommandParser) -> None:
    """Add the table of guesses and the rules of the game."""
    parser.add_argument("guesses", metavar="GUESSES", help="a .csv, .tsv or .xlsx with boundary and guess on each row")
    text = "also group the rounds: reason, words, …; round: by the player's experience"
    parser.add_argument("--by", metavar="COLUMN", help=text)
    parser.add_number("--sentences", SENTENCES, "of each text", "N", int)
    text = "points for correctly guessing that people wrote the whole text"
    parser.add_number("--all-human-points", FULL_POINTS, text, "POINTS")
    text = "keep runs of five or more equal guesses by one annotator"
    parser.add_argument("--keep-runs", action="store_true", help=text)
    parser.add_number("--confidence-level", 0.95, "of the intervals")
    parser.add_output_options("models", "groups", "pairs")


def run(options: argparse.Namespace) -> None:
    """Score the guesses and show the result."""
    from mauve_metric.apps.judging.boundaries import score_boundary_guesses

    show_result(score_boundary_guesses(**keywords_of(score_boundary_guesses, options)), options)
