"""The commands `robustness` and `human_baseline`: the flags of their own, and what they compute."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from mauve_metric.hosts.cli.flags import featurizers_given

if TYPE_CHECKING:
    from mauve_metric.results.baseline import HumanBaseline
    from mauve_metric.results.robustness import Robustness


def add_robustness(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> argparse.ArgumentParser:
    """The parser of `robustness`, but for the files and flags that other commands have too."""
    parser = commands.add_parser(
        "robustness", help="say whether the ranking of models holds under other settings, and what moves it"
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
    """The parser of `human_baseline`, likewise."""
    parser = commands.add_parser(
        "baseline",
        help="show what two halves of your own human texts score, and how many texts show a difference",
    )
    parser.add_argument("--splits", type=int, default=50, metavar="N", help="random splits of each size (default: 50)")
    return parser


def _factors(text: str) -> tuple[str, ...]:
    """Names of factors, refused before anything is computed."""
    from mauve_metric.api.robustness_settings import chosen_factors

    try:
        return chosen_factors(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def robustness_of(sides: dict[str, Any], given: dict[str, Any], options: argparse.Namespace) -> Robustness:
    """What `robustness` computes of these sides with these keywords."""
    from mauve_metric.api.robustness import robustness

    return robustness(
        **sides,
        **given,
        **featurizers_given(options),
        vary=options.vary,
        design=not options.no_design,
        aligned=options.aligned,
        common_rows=options.common_rows,
    )


def baseline_of(side: dict[str, Any], given: dict[str, Any], options: argparse.Namespace) -> HumanBaseline:
    """What `human_baseline` computes."""
    from mauve_metric.api.baseline import human_baseline

    return human_baseline(**side, **given, splits=options.splits)
