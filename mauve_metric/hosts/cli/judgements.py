"""Commands for people's judgements: `preferences`, and `boundaries` for guesses where a machine took over."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, get_args

from mauve_metric.hosts.cli.flags import add_output_options
from mauve_metric.measures.judgements.judgement_options import FULL_POINTS, SENTENCES, Errors, Ties

if TYPE_CHECKING:
    from mauve_metric.results.judgement import BoundaryGame, Judgement


def add_judgement_commands(
    commands: argparse._SubParsersAction[argparse.ArgumentParser],
) -> list[argparse.ArgumentParser]:
    """The parsers of both commands, but for the flags that all commands have."""
    rank_by_preferences = commands.add_parser(
        "preferences", help="rank models by people's preferences, and measures by those ranks"
    )
    rank_by_preferences.add_argument(
        "preferences", metavar="PREFERENCES", help="a .csv or .tsv with winner and loser, or model_a, model_b, winner"
    )
    rank_by_preferences.add_argument(
        "--with",
        dest="measures",
        metavar="FILE",
        action="append",
        help="measures to correlate: the JSON of describe or compare, or a .csv with a column model; may be repeated",
    )
    rank_by_preferences.add_argument(
        "--answer", dest="answers", metavar="COLUMN", action="append", help="column of answers; may be repeated"
    )
    rank_by_preferences.add_argument(
        "--human", metavar="NAME", default="human", help="what people's own texts are called"
    )
    rank_by_preferences.add_argument(
        "--ties", choices=get_args(Ties), default="half", help="what a tie counts (default: half)"
    )
    rank_by_preferences.add_argument(
        "--errors",
        choices=get_args(Errors),
        default="robust",
        help="of the intervals: judgements of one annotator may depend on each other, or by Fisher information alone",
    )
    rank_by_preferences.add_argument(
        "--pseudo-wins", type=float, default=0.0, metavar="WINS", help="of every model against every other (default: 0)"
    )
    rank_by_preferences.add_argument(
        "--min-seconds", type=float, metavar="SECONDS", help="leave out judgements made in less"
    )
    rank_by_preferences.add_argument(
        "--common-models", action="store_true", help="correlate over the models that are both judged and measured"
    )
    rank_by_preferences.add_argument(
        "--seed", type=int, default=25, help="of the coins for --ties random (default: 25)"
    )
    _add_output(rank_by_preferences, "models", "correlations")

    roft = commands.add_parser(
        "boundaries", help="score guesses at which sentence a machine took over (Real or Fake Text)"
    )
    roft.add_argument("guesses", metavar="GUESSES", help="a .csv or .tsv with boundary and guess on each row")
    roft.add_argument(
        "--sentences", type=int, default=SENTENCES, metavar="N", help=f"of each text (default: {SENTENCES})"
    )
    roft.add_argument(
        "--all-human-points",
        type=float,
        default=FULL_POINTS,
        metavar="POINTS",
        help=f"for the right guess that no machine wrote (default: {FULL_POINTS:g})",
    )
    roft.add_argument(
        "--keep-runs", action="store_true", help="keep runs of five or more equal guesses by one annotator"
    )
    _add_output(roft, "models")
    return [rank_by_preferences, roft]


def _add_output(parser: argparse.ArgumentParser, *tables: str) -> None:
    parser.add_argument("--confidence-level", type=float, default=0.95, help="of the intervals (default: 0.95)")
    add_output_options(parser, *tables)


def judged(options: argparse.Namespace) -> Judgement:
    """The result of `preferences`."""
    from mauve_metric.api.preferences import rank_by_preferences

    return rank_by_preferences(
        options.preferences,
        options.measures,
        answers=options.answers,
        human=options.human,
        ties=options.ties,
        errors=options.errors,
        pseudo_wins=options.pseudo_wins,
        min_seconds=options.min_seconds,
        common_models=options.common_models,
        confidence_level=options.confidence_level,
        seed=options.seed,
    )


def boundaries_scored(options: argparse.Namespace) -> BoundaryGame:
    """The result of `boundaries`."""
    from mauve_metric.api.boundaries import score_boundary_guesses

    return score_boundary_guesses(
        options.guesses,
        sentences=options.sentences,
        all_human_points=options.all_human_points,
        keep_runs=options.keep_runs,
        confidence_level=options.confidence_level,
    )
