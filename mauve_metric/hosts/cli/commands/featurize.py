"""`mauve-metric featurize`: texts as features in a file."""

from __future__ import annotations

import argparse
from pathlib import Path

from mauve_metric.hosts.cli.flags import CommandParser, keywords_of
from mauve_metric.hosts.cli.inputs_and_outputs import reading, tell
from mauve_metric.inputs.file_types import named_endings
from mauve_metric.inputs.files import FEATURE_FILES, read_texts

HELP = "turn texts into features, to score or ship without the texts"


def add_arguments(parser: CommandParser) -> None:
    """Add the texts and the file of features."""
    parser.add_argument("texts", metavar="TEXTS", help=f"{', '.join(named_endings())}, a folder of .txt files, or -")
    text = ".npy, .npz or .parquet"
    parser.add_output("-o", "--output", metavar="FILE", required=True, type=_features_file, help=text)
    parser.add_text_field()
    parser.add_run_options("featurize")
    parser.add_config_options("featurize")


def _features_file(path: str) -> str:
    """Check the name of the file before anything is computed."""
    if Path(path).suffix.lower() not in (*FEATURE_FILES, ".parquet"):
        raise argparse.ArgumentTypeError(f"features are written to .npy, .npz or .parquet, got {path!r}")
    return path


def more_outputs(options: argparse.Namespace) -> list[Path]:
    """The additional file written next to a .npy file."""
    from mauve_metric.features.feature_files import check_sidecar

    sidecar = check_sidecar(options.output)
    return [] if sidecar is None else [sidecar]


def run(options: argparse.Namespace) -> None:
    """Featurize the texts and save the features."""
    from mauve_metric.features.feature_set import featurize
    from mauve_metric.runtime.processes import process_group

    texts = read_texts(options.texts, options.text_field, **reading(options))
    with process_group() as rank:
        inputs = {"texts": texts, "distributed": rank is not None}
        features = featurize(**keywords_of(featurize, options) | inputs)
    if not rank:
        features.save(options.output)
        n, d = features.features.shape
        tell(f"{n} features of {d} numbers in {options.output}")
