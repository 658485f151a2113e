"""The command that says which errors a featurizer sees: its flags, and what it computes."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from mauve_metric.texts.files import read_texts

if TYPE_CHECKING:
    from mauve_metric.results.stress_test import StressTest


def add_stress_flags(parser: argparse.ArgumentParser) -> None:
    """The flags that no other command has."""
    parser.add_argument(
        "--perturbations",
        metavar="NAMES",
        help="errors, joined by commas (unset: all), such as truncated,words_shuffled; a wrong name lists them",
    )
    parser.add_argument(
        "--strengths",
        metavar="NUMBERS",
        type=_numbers,
        help="of the errors, above 0 and up to 1, joined by commas (default: 0.25,0.5,1)",
    )


def _numbers(text: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected numbers joined by commas, got {text!r}") from None


def stressed(options: argparse.Namespace, given: dict[str, object]) -> StressTest:
    """What the command computes; `given`: the options of the score."""
    from mauve_metric.api.stress_test import STRENGTHS, stress_test

    return stress_test(
        read_texts(options.human, options.text_field, filter=options.filter),
        featurizers=options.featurizers,
        perturbations=options.perturbations,
        strengths=STRENGTHS if options.strengths is None else options.strengths,
        **given,  # type: ignore[arg-type]
    )
