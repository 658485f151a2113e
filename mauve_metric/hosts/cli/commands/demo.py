"""`mauve-metric demo`: the score of a small language model's texts that come with the package."""

from __future__ import annotations

import argparse

from mauve_metric.hosts.cli.flags import Once, add_config_options, add_output_options, keywords_of
from mauve_metric.hosts.cli.output import show_result_of
from mauve_metric.hosts.cli.parser import CommandParser
from mauve_metric.texts.examples import examples_folder
from mauve_metric.texts.files import read_texts

HELP = "score a small language model's texts that come with the package"


def add_arguments(parser: CommandParser) -> None:
    """Add the form of the output and the options that are worth a try."""
    add_output_options(parser, "scores")
    parser.add_argument(
        "--featurizer",
        dest="featurize_model_name",
        action=Once,
        choices=("minilm", "ngrams"),
        default=argparse.SUPPRESS,
        help="one of the two that need no download (default: minilm)",
    )
    add_config_options(parser, names=("quantizer", "num_buckets", "seed"))


def run(options: argparse.Namespace) -> None:
    """Score the texts and show the result."""
    from mauve_metric.api.compute import compute_mauve

    folder = examples_folder()
    human, model = folder / "human.jsonl", folder / "nucleus.jsonl"
    given = {"featurize_model_name": "minilm"} | keywords_of(compute_mauve, options)
    title = f"examples/{model.name} (model) against examples/{human.name} (human)"
    sides = {"p_text": read_texts(human), "q_text": read_texts(model)}
    show_result_of(compute_mauve, options, given | sides, title)
