"""`mauve-metric score`: a model's texts against human texts, in two files or in many."""

from __future__ import annotations

import argparse
import contextlib
import logging
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mauve_metric.hosts.cli.exit_status import failed_gate
from mauve_metric.hosts.cli.flags import CommandParser, keywords_of
from mauve_metric.hosts.cli.inputs_and_outputs import show_result, show_result_of, tell, two_sides
from mauve_metric.hosts.flags_and_labels import flag_of
from mauve_metric.options import config_fields, run_fields
from mauve_metric.runtime.checks import listed
from mauve_metric.runtime.outputs import REPORT_FILES

if TYPE_CHECKING:
    from mauve_metric.results.result import MauveResult

logger = logging.getLogger(__name__)

HELP = "score a model's texts against human texts"
EXAMPLES = """examples:
  mauve-metric score human.jsonl model.jsonl --featurizer standard
  mauve-metric score human.jsonl model.jsonl --prompt-field prompt
  mauve-metric score human.jsonl model.jsonl --json --report report.html"""
_ONLY_WITH_FOLDER = ("ray", "workers", "cpus_per_worker", "gpus_per_worker")
_FIELDS_OF_SIDES = ("reference_field", "prediction_field")


def add_arguments(parser: CommandParser) -> None:
    """Add the two sides and every option of a score."""
    parser.add_two_sides()
    parser.add_score_options(
        "compute_mauve", "scores", featurizers="the lowest closeness decides, MAUVE is by the first"
    )
    text = "exit status 3 for a closeness, where layout differs that without it, below NUMBER; 4 without a verdict"
    parser.add_argument("--fail-under", metavar="NUMBER", type=float, help=text)
    text = "also say whether this model is as close to its human texts as that of `score --json > FILE` to its own"
    parser.add_argument("--other-pair", metavar="FILE", help=text)
    group = parser.add_argument_group("many files, many machines (no influence on the score; see docs/scale.md)")
    text = (
        "HUMAN and MODEL are .jsonl or .parquet files, folders of them, patterns or URLs; keep one file of features "
        "each in DIR, and go on from what is there"
    )
    parser.add_output("-o", "--output", group=group, metavar="DIR", dest="folder", help=text)
    text = parser.rare("share the work out on the Ray cluster at ADDRESS (auto: the one of this machine), or local")
    group.add_argument("--ray", metavar="ADDRESS", nargs="?", const="local", type=_address, help=text)
    text = parser.rare("most workers at once (unset: all that have room)")
    group.add_argument("--workers", metavar="N", type=int, help=text)
    text = parser.rare("CPUs that each takes (default: 1)")
    group.add_argument("--cpus-per-worker", metavar="N", type=float, help=text)
    text = parser.rare("GPUs that each takes, such as 1 or 0.25 (default: 0)")
    group.add_argument("--gpus-per-worker", metavar="N", type=float, help=text)


def _address(text: str) -> str:
    """Check the address of a cluster; a --ray without a value would read the file that follows as one."""
    if text in ("local", "auto") or ":" in text:
        return text
    raise argparse.ArgumentTypeError(f"expected local, auto or HOST:PORT, got {text!r}; write --ray=local before HUMAN")


def usage_error(options: argparse.Namespace) -> str | None:
    """The reason why --fail-under or the flags for shards are wrong, if they are."""
    flags = vars(options)
    if options.fail_under is not None and not 0 <= options.fail_under <= 1:
        return f"--fail-under must be a number in [0, 1], got {options.fail_under}"
    if options.folder is None:
        alone = next((name for name in _ONLY_WITH_FOLDER if flags[name] is not None), None)
        return None if alone is None else f"{flag_of(alone)} needs -o DIR, a folder that all workers share"
    if Path(options.folder).suffix.lower() in (*REPORT_FILES, ".json", ".csv", ".md", ".tex"):
        return "-o names the folder of a job over many files: write a result by --json > FILE or --report FILE"
    if options.model is None:
        return "-o needs HUMAN and MODEL: shards with both sides beside each other are not read"
    if len(options.featurizers or ()) > 1:
        return f"-o takes one --featurizer, got {listed([*options.featurizers])}"
    used = config_fields("score_sharded") | run_fields("score_sharded")
    unused = (config_fields() | run_fields()).keys() - used.keys()
    other = next((name for name in (*_FIELDS_OF_SIDES, "header", *sorted(unused)) if flags.get(name) is not None), None)
    if other is None:
        return None
    flag = flag_of(other) if flags[other] is not False else flag_of(f"no_{other}")
    return f"{flag} is not for shards (-o): {'use --text-field' if other in _FIELDS_OF_SIDES else 'leave it out'}"


def run(options: argparse.Namespace) -> int:
    """Score and show the result; the exit status, 3 for a closeness below --fail-under, 4 without a verdict."""
    from mauve_metric.hosts.cli.gate import closeness_below, without_verdict
    from mauve_metric.scoring.compute import compute_mauve

    other = None if options.other_pair is None else _read_pair(options.other_pair)
    title = f"{options.model} (model) against {options.human} (human)"
    if options.model is None:
        title = f"{options.human} (model and human)"
    keywords = keywords_of(compute_mauve, options)
    if options.folder is None:
        result = show_result_of(compute_mauve, options, keywords | two_sides(options), title)
    else:
        from mauve_metric.apps.sharding.score_sharded import score_sharded
        from mauve_metric.runtime.progress import LogLines

        keywords |= keywords_of(score_sharded, options)
        if options.text_field is not None:
            keywords["text_field"] = options.text_field
        with contextlib.redirect_stdout(LogLines(logger.info)):  # Ray prints the state of its workers to stderr
            result = score_sharded(options.human, options.model, **keywords)
        show_result(result, options, title)
    if other is not None:
        _tell_difference(result, other, options.other_pair)
    if options.fail_under is None:
        return 0
    return failed_gate([closeness_below(result, options.fail_under)], [without_verdict(result)])


def _read_pair(path: str) -> dict[str, Any]:
    """The result that `score --json` printed of another pair; `ValueError` for a file of something else."""
    from mauve_metric.hosts.stored_results import check_stored
    from mauve_metric.inputs.json_rows import read_json

    content: Any = read_json(path)
    try:
        check_stored(content)
    except ValueError as error:
        raise ValueError(f"--other-pair must be what `score --json` printed, got {path!r} ({error})") from error
    return dict(content)


def _tell_difference(result: MauveResult, other: Mapping[str, Any], path: str) -> None:
    """Say how much closer one model is than another, each to its own human texts."""
    from mauve_metric.runtime.plain_text import digits, p_words
    from mauve_metric.scoring.pairs import compare_pairs

    difference = compare_pairs(result, other)
    low, high = (digits(end, "+.3f") for end in difference.ci or (0.0, 0.0))
    value, p_value = digits(difference.difference, "+.3f"), p_words(difference.p_value or 1.0)
    verdict = "a real difference" if difference.real else "no difference is shown"
    numbers = f"closeness {digits(result.closeness or 0.0)} here, {digits(other['closeness'])} in {path}"
    tell(f"{numbers}: difference {value} ({low} to {high}, {p_value}), {verdict}")
