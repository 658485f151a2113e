"""`mauve-metric demo`: the score of a small language model's texts that come with the package."""

from __future__ import annotations

import argparse
import collections
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mauve_metric.hosts.cli.flags import CommandParser, keywords_of
from mauve_metric.hosts.cli.inputs_and_outputs import show_result_of
from mauve_metric.inputs.files import examples_folder, read_texts
from mauve_metric.options import config_fields, split_options

if TYPE_CHECKING:
    from mauve_metric.features.feature_set import FeatureSet
    from mauve_metric.results.result import MauveResult

HELP = "score a small language model's texts that come with the package"


def add_arguments(parser: CommandParser) -> None:
    """Add the form of the output and the options that are worth a try."""
    parser.add_output_options("scores")
    parser.add_argument(
        "--featurizer",
        dest="featurize_model_name",
        choices=("standard", "minilm", "ngrams"),
        default=argparse.SUPPRESS,
        help="standard: minilm, whose features are in the package, and ngrams (default); or one of them",
    )
    parser.add_config_options(names=("quantizer", "num_buckets", "seed"))


def run(options: argparse.Namespace) -> None:
    """Score the texts and show the result."""
    from mauve_metric.features.text_functions import named_featurizers
    from mauve_metric.scoring.compute import compute_mauve
    from mauve_metric.scoring.featurizers import add_pooled_score, join_featurizers

    names = [*named_featurizers(getattr(options, "featurize_model_name", "standard"))]
    files = {side: examples_folder() / f"{name}.jsonl" for side, name in (("p", "human"), ("q", "nucleus"))}
    title = "examples/nucleus.jsonl (model) against examples/human.jsonl (human)"

    def score(**keywords: Any) -> MauveResult:
        keywords.pop("featurize_model_name", None)
        each = {name: _scored(name, files, keywords) for name in names}
        config = split_options({name: value for name, value in keywords.items() if name in config_fields()})[0]
        return join_featurizers(each, add_pooled_score, config) if len(each) > 1 else each[names[0]][0]

    show_result_of(score, options, keywords_of(compute_mauve, options), title)


def _scored(
    name: str, files: Mapping[str, Path], keywords: Mapping[str, Any]
) -> tuple[MauveResult, tuple[FeatureSet, FeatureSet]]:
    """The result by one featurizer, and the features of both sides; no model runs for minilm."""
    from mauve_metric.features.feature_set import FeatureSet, featurize
    from mauve_metric.scoring.compute import compute_mauve

    texts = {side: read_texts(file) for side, file in files.items()}
    if name == "minilm":
        p, q = (_with_hashes(FeatureSet.load(file.with_suffix(".npz")), texts[side]) for side, file in files.items())
        return compute_mauve(p=p, q=q, **keywords), (p, q)
    p, q = (featurize(texts[side], name, cache=False) for side in files)
    result = compute_mauve(p_text=texts["p"], q_text=texts["q"], featurize_model_name=name, cache=False, **keywords)
    return result, (p, q)


def _with_hashes(features: FeatureSet, texts: list[str]) -> FeatureSet:
    """Stored features with the hashes of their texts, as they are read; the file is older than some of them."""
    from mauve_metric.inputs.fingerprints import TextHashes

    hashes = TextHashes()
    collections.deque(hashes.watch(texts), maxlen=0)
    # these numbers would bring a warning of layout, which `score` drops, as it reads the texts without layout too
    return replace(features, **hashes.fields() | {"format_numbers": None})
