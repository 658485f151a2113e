"""`score` of texts in many files, on one machine or many: its flags, and what it runs."""

from __future__ import annotations

import argparse
import contextlib
import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mauve_metric.results.result import MauveResult

logger = logging.getLogger(__name__)

_ONLY_WITH_FOLDER = ("ray", "workers", "cpus_per_worker", "gpus_per_worker")
_NOT_FOR_SHARDS = ("reference_field", "prediction_field", "filter", "prompt_field")


def add_shard_options(parser: argparse.ArgumentParser) -> None:
    """The flags of `score` for many files and machines."""
    group = parser.add_argument_group("many files, many machines (no influence on the score; see docs/scale.md)")
    group.add_argument(
        "-o",
        "--output",
        metavar="DIR",
        dest="folder",
        help="HUMAN and MODEL are .jsonl or .parquet files, folders of them, patterns or URLs; keep one file of "
        "features each in DIR, and go on from what is there",
    )
    group.add_argument(
        "--ray",
        metavar="ADDRESS",
        nargs="?",
        const="local",
        type=_address,
        help="share the work out on the Ray cluster at ADDRESS (auto: the one of this machine), or local",
    )
    group.add_argument("--workers", metavar="N", type=int, help="most workers at once (unset: all that have room)")
    group.add_argument("--cpus-per-worker", metavar="N", type=float, help="CPUs that each takes (default: 1)")
    group.add_argument(
        "--gpus-per-worker", metavar="N", type=float, help="GPUs that each takes, such as 1 or 0.25 (default: 0)"
    )


def _address(text: str) -> str:
    """What names a cluster, and not a file that stands behind a bare --ray."""
    if text in ("local", "auto") or ":" in text:
        return text
    raise argparse.ArgumentTypeError(f"expected local, auto or HOST:PORT, got {text!r}; write --ray=local before HUMAN")


def shard_usage_error(options: argparse.Namespace) -> str | None:
    """What is wrong with the flags of a `score`, if anything."""
    given = vars(options)
    if given.get("folder") is None or options.command != "score":
        alone = next((name for name in _ONLY_WITH_FOLDER if given.get(name) is not None), None)
        return None if alone is None else f"--{alone.replace('_', '-')} needs -o DIR, a folder that all workers share"
    if options.model is None:
        return "-o needs HUMAN and MODEL: shards with both sides beside each other are not read"
    if len(given.get("featurizers") or ()) > 1:
        return "--featurize-model-name stands once for shards (-o)"
    other = next((name for name in _NOT_FOR_SHARDS if given.get(name) is not None), None)
    return None if other is None else f"--{other.replace('_', '-')} is not for shards (-o): use --text-field"


def score_in_shards(options: argparse.Namespace, given: Mapping[str, Any]) -> MauveResult:
    """The result of HUMAN and MODEL in shards; `given`: the keywords of a score that stand on the command line."""
    from mauve_metric.runtime.progress import LogLines
    from mauve_metric.sharding.sharded import score_sharded

    if options.text_field is not None:
        given = {**given, "text_field": options.text_field}
    places = {name: value for name in _ONLY_WITH_FOLDER if (value := getattr(options, name)) is not None}
    with contextlib.redirect_stdout(LogLines(logger.info)):  # Ray prints there what becomes of its workers
        return score_sharded(options.human, options.model, options.folder, aligned=options.aligned, **places, **given)
