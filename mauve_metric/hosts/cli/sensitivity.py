"""The commands `sensitivity` and `calibrate`: the flags of their own, and the forms in which they print."""

from __future__ import annotations

import argparse
from functools import partial
from typing import TYPE_CHECKING, Any

from mauve_metric.hosts.cli.flags import check_form, featurizers_given, in_form

if TYPE_CHECKING:
    from mauve_metric.results.calibration import Calibration
    from mauve_metric.results.sensitivity import Sensitivity

SENSITIVITY_IS_WITHOUT = ("permutations", "knn", "knn_k", "frechet_distance")  # of which it computes nothing
CALIBRATE_IS_WITHOUT = (*SENSITIVITY_IS_WITHOUT, "num_runs")


def add_sensitivity(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> argparse.ArgumentParser:
    """The parser of `sensitivity`, but for the files and flags that other commands have too."""
    parser = commands.add_parser(
        "sensitivity", help="say whether the ranking of models holds under other settings, and what moves it"
    )
    parser.add_argument(
        "--vary",
        metavar="FACTORS",
        type=_factors,
        help="what to vary, joined by commas (unset: all): featurize_model_name, pooling, max_text_length, quantizer, "
        "num_buckets, mauve_scaling_factor, seed, n, row_order",
    )
    parser.add_argument("--no-design", action="store_true", help="change one thing at a time, and never several")
    return parser


def add_calibrate(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> argparse.ArgumentParser:
    """The parser of `calibrate`, likewise."""
    parser = commands.add_parser(
        "calibrate", help="show what two halves of your own human texts score, and how many texts show a difference"
    )
    parser.add_argument("--splits", type=int, default=50, metavar="N", help="random splits of each size (default: 50)")
    return parser


def add_forms(group: argparse._ArgumentGroup, tables: tuple[str, ...]) -> None:
    """The flags of the forms; `tables` are those of --csv, the first without a name."""
    form = group.add_mutually_exclusive_group()
    form.add_argument("--markdown", action="store_true", help="print Markdown")
    form.add_argument("--csv", action="store_const", const=tables[0], help=f"print the table of {tables[0]} as CSV")
    for table in tables[1:]:
        form.add_argument(
            f"--csv-{table}", dest="csv", action="store_const", const=table, help=f"print the table of {table} as CSV"
        )
    form.add_argument("--latex", action="store_true", help="print LaTeX tables")


def _factors(text: str) -> tuple[str, ...]:
    """Names of factors, refused before anything is computed."""
    from mauve_metric.api.robustness_settings import chosen_factors

    try:
        return chosen_factors(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def sensitivity_of(sides: dict[str, Any], given: dict[str, Any], options: argparse.Namespace) -> Sensitivity:
    """What `sensitivity` computes of these sides with these keywords."""
    from mauve_metric.api.robustness import sensitivity

    check_form(options)
    return sensitivity(
        **sides,
        **given,
        **featurizers_given(options),
        vary=options.vary,
        design=not options.no_design,
        aligned=options.aligned,
        common_rows=options.common_rows,
    )


def calibration_of(side: dict[str, Any], given: dict[str, Any], options: argparse.Namespace) -> Calibration:
    """What `calibrate` computes."""
    from mauve_metric.api.baseline import calibrate

    check_form(options)
    return calibrate(**side, **given, splits=options.splits)


def printed(result: Sensitivity | Calibration, options: argparse.Namespace) -> str:
    """A result in the form that was asked for."""
    return in_form(result, options, partial(result.to_csv, options.csv) if options.csv else None)
