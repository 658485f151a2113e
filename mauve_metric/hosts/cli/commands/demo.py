"""`mauve-metric demo`: the score of a small language model's texts that come with the package."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mauve_metric.hosts.cli.flags import CommandParser, Once, keywords_of
from mauve_metric.hosts.cli.inputs_and_outputs import show_result_of
from mauve_metric.texts.files import examples_folder, read_texts

if TYPE_CHECKING:
    from mauve_metric.features.feature_set import FeatureSet

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
    from mauve_metric.api.compute import compute_mauve

    human, model = (examples_folder() / f"{name}.jsonl" for name in ("human", "nucleus"))
    given = {"featurize_model_name": "minilm"} | keywords_of(compute_mauve, options)
    if given["featurize_model_name"] == "minilm":
        sides: dict[str, Any] = {"p": _stored(human), "q": _stored(model)}
    else:
        sides = {"p_text": read_texts(human), "q_text": read_texts(model)}
    title = f"examples/{model.name} (model) against examples/{human.name} (human)"
    show_result_of(compute_mauve, options, given | sides, title)


def _stored(file: Path) -> FeatureSet:
    """The features in the package of an example's texts, with the texts' format."""
    from mauve_metric.features.feature_set import FeatureSet
    from mauve_metric.texts.fingerprints import TextHashes

    hashes = TextHashes()
    for _ in hashes.watch(read_texts(file)):
        pass
    return replace(FeatureSet.load(file.with_suffix(".npz")), **hashes.fields())
