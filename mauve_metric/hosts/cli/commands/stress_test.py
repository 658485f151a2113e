"""`mauve-metric stress-test`: the errors in texts that a featurizer detects."""

from __future__ import annotations

import argparse

from mauve_metric.hosts.cli.flags import CommandParser, keywords_of
from mauve_metric.hosts.cli.inputs_and_outputs import reading, show_result
from mauve_metric.inputs.file_types import named_endings
from mauve_metric.inputs.files import read_texts

HELP = "say which errors in texts a featurizer sees, from what strength on"


def add_arguments(parser: CommandParser) -> None:
    """Add the texts, the errors and their strengths."""
    text = f"human texts: {', '.join(named_endings())}, a folder of .txt, or -"
    parser.add_argument("human", metavar="HUMAN", help=text)
    parser.add_text_field()
    parser.add_output_options("scores")
    parser.add_run_options("stress_test")
    text = "errors, joined by commas (unset: all), such as truncated,words_shuffled; a wrong name lists them"
    parser.add_argument("--perturbations", metavar="NAMES", help=text)
    text = "of the errors, above 0 and up to 1, joined by commas (default: 0.25,0.5,1)"
    parser.add_argument("--strengths", metavar="NUMBERS", type=_numbers, help=text)
    parser.add_config_options("stress_test", "each is tested")


def _numbers(text: str) -> list[float]:
    """Read numbers joined by commas."""
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected numbers joined by commas, got {text!r}") from None


def run(options: argparse.Namespace) -> None:
    """Inject the errors and show those that are detected."""
    from mauve_metric.apps.studies.stress_test import stress_test

    texts = read_texts(options.human, options.text_field, **reading(options))
    show_result(stress_test(texts, **keywords_of(stress_test, options)), options)
