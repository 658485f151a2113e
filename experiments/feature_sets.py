"""The human texts and the models of an experiment that generates nothing, as features."""

from __future__ import annotations

import argparse
from pathlib import Path

from common import EXAMPLES, progress

from mauve_metric import FeatureSet
from mauve_metric.arrays import Array
from mauve_metric.inputs.files import read_texts

# Human text first, as a control, then what a small model wrote under five decoding rules.
DECODERS = ("human_other", "nucleus", "top_k", "temperature", "sampling", "greedy")


def named_file(text: str) -> tuple[str, Path]:
    """A name and a file from NAME=FILE.

    Raises:
        argparse.ArgumentTypeError: it is not of that form, or there is no such file.
    """
    name, equals, path = text.partition("=")
    if not (name and equals and Path(path).is_file()):
        raise argparse.ArgumentTypeError(f"expected NAME=FILE with a file that exists, got {text!r}")
    return name, Path(path)


def add_texts(parser: argparse.ArgumentParser) -> None:
    """`--human`, `--models`, `--featurizer`; without them the example texts, by the packaged featurizer."""
    models = [(name, EXAMPLES / f"{name}.jsonl") for name in DECODERS]
    parser.add_argument("--human", type=Path, default=EXAMPLES / "human.jsonl", help="file of human texts")
    parser.add_argument("--models", type=named_file, nargs="+", default=models, metavar="NAME=FILE", help="of texts")
    parser.add_argument("--featurizer", default="minilm", help="as featurize_model_name (default: %(default)s)")


def feature_sets(options: argparse.Namespace) -> tuple[Array, dict[str, Array]]:
    """The features of the human texts, (n, d), and of each model's; from the cache if they are there."""
    paths = {"human": options.human} | dict(options.models)
    found: dict[str, Array] = {}
    for name, path in progress(paths.items(), "featurizing"):
        found[name] = FeatureSet.from_texts(read_texts(path), featurize_model_name=options.featurizer).features
    return found.pop("human"), found
