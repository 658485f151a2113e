"""`mauve-metric demo`: the score of a small language model's texts that come with the package."""

from __future__ import annotations

import argparse
import collections
from dataclasses import replace
from typing import Any

from mauve_metric.hosts.cli.flags import CommandParser, Once, keywords_of
from mauve_metric.hosts.cli.inputs_and_outputs import show_result_of
from mauve_metric.inputs.files import examples_folder, read_texts

HELP = "score a small language model's texts that come with the package"


def add_arguments(parser: CommandParser) -> None:
    """Add the form of the output and the options that are worth a try."""
    parser.add_output_options("scores")
    parser.add_argument(
        "--featurizer",
        dest="featurize_model_name",
        action=Once,
        choices=("minilm", "ngrams"),
        default=argparse.SUPPRESS,
        help="one of the two that need no download (default: minilm, whose features are in the package)",
    )
    parser.add_config_options(names=("quantizer", "num_buckets", "seed"))


def run(options: argparse.Namespace) -> None:
    """Score the texts and show the result."""
    from mauve_metric.features.feature_set import FeatureSet
    from mauve_metric.inputs.fingerprints import TextHashes
    from mauve_metric.scoring.compute import compute_mauve

    keywords = {"featurize_model_name": "minilm"} | keywords_of(compute_mauve, options)
    sides: dict[str, Any] = {}
    for side, name in (("p", "human"), ("q", "nucleus")):
        file = examples_folder() / f"{name}.jsonl"
        texts = read_texts(file)
        if keywords["featurize_model_name"] == "minilm":
            hashes = TextHashes()  # the file of features is older than some of them
            collections.deque(hashes.watch(texts), maxlen=0)
            fields = hashes.fields() | {"format_numbers": None}  # `score` reads the texts without layout: no difference
            sides[side] = replace(FeatureSet.load(file.with_suffix(".npz")), **fields)
        else:
            sides[f"{side}_text"] = texts
    title = "examples/nucleus.jsonl (model) against examples/human.jsonl (human)"
    show_result_of(compute_mauve, options, keywords | sides, title)
