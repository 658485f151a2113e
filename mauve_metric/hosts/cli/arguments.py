"""The arguments of the command line: one flag for each knob, files and numbers checked before anything is computed."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mauve_metric.hosts.cli.copies import add_copy_commands
from mauve_metric.hosts.cli.flags import (
    add_config_options,
    add_design_options,
    add_field_options,
    add_filter,
    add_log_options,
    add_output_options,
    add_run_options,
    add_text_field,
    count,
    features_file,
)
from mauve_metric.hosts.cli.guides import add_guide_commands
from mauve_metric.hosts.cli.judgements import add_judgement_commands
from mauve_metric.hosts.cli.pages import page
from mauve_metric.hosts.cli.robustness import add_calibrate, add_robustness
from mauve_metric.hosts.cli.shards import add_shard_options, shard_usage_error
from mauve_metric.hosts.cli.stress_test import add_stress_flags
from mauve_metric.hosts.plugins.lm_eval_task import NEW_TOKENS, PROMPT_WORDS, check_task_name
from mauve_metric.options import config_fields, run_fields
from mauve_metric.texts.files import FEATURE_FILES, READERS
from mauve_metric.version import __version__

_FILES = f"{', '.join([*READERS, *FEATURE_FILES])}, a folder of .txt files, or - for standard input"
_ALONE = "a file with human texts beside the model's, such as lm-evaluation-harness's samples, stands alone"


def parser() -> argparse.ArgumentParser:
    """The parser of the whole command line; the command's name comes out as `command`."""
    parser = argparse.ArgumentParser(
        prog="mauve-metric",
        description="How close a model's texts are to human texts.",
        epilog=f"Pages of the repository: {page('start')} for the first steps, {page('measures')} for every measure, "
        f"{page('errors')} for errors and warnings (or `mauve-metric warnings CODE` and `mauve-metric errors CODE`; "
        "the code stands in brackets behind a message).",
    )
    parser.add_argument("--version", action="version", version=f"mauve_metric {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND", dest="command")

    score = commands.add_parser("score", help="score a model's texts against human texts")
    score.add_argument("human", metavar="HUMAN", help=f"human (reference) texts or features: {_FILES}")
    score.add_argument("model", metavar="MODEL", nargs="?", help=f"the model's texts or features, likewise; {_ALONE}")
    add_field_options(score)
    add_design_options(score)
    add_output_options(score, "scores")
    add_shard_options(score)
    add_run_options(score)
    add_config_options(score, featurizers="the first makes the score, all are compared")

    _add_compare(commands)
    _add_describe(commands)
    _add_robustness(commands)
    _add_stress(commands)

    explaining = commands.add_parser("explain", help="show which buckets of texts keep a model's score from 1")
    explaining.add_argument("human", metavar="HUMAN", help=f"human (reference) texts or features: {_FILES}")
    explaining.add_argument("model", metavar="MODEL", nargs="?", help="the model's texts or features, likewise")
    explaining.add_argument("--buckets", type=count, default=10, help="how many buckets to show (default: 10)")
    explaining.add_argument("--texts", type=count, default=3, help="texts of each side to show (default: 3)")
    add_field_options(explaining)
    add_design_options(explaining)
    add_output_options(explaining, "buckets", "texts")
    add_run_options(explaining)
    add_config_options(explaining, "explain")

    demo = commands.add_parser("demo", help="score a small language model's texts that come with the package")
    add_output_options(demo, "scores")
    add_run_options(demo)
    add_config_options(demo)

    featurize = commands.add_parser("featurize", help="turn texts into features, to score or ship without the texts")
    featurize.add_argument("texts", metavar="TEXTS", help=f"{', '.join(READERS)}, a folder of .txt files, or -")
    featurize.add_argument(
        "-o", "--output", metavar="FILE", required=True, type=features_file, help=".npy, .npz or .parquet"
    )
    add_text_field(featurize)
    add_filter(featurize)
    add_run_options(featurize, "featurize")
    add_config_options(featurize, "featurize")

    _add_lm_eval_task(commands)

    for copying in add_copy_commands(commands):
        add_log_options(copying)
    for judging in add_judgement_commands(commands):
        add_log_options(judging)

    cache = commands.add_parser("cache", help="look after the features kept on disk")
    cache.add_argument("action", choices=("info", "prune", "clear"), help="prune deletes what was used longest ago")
    cache.add_argument("--max-bytes", type=int, help="what prune leaves at most; unset: the cache's own limit")
    cache.add_argument("--json", action="store_true", help="print one JSON object")
    add_log_options(cache)
    for guide in add_guide_commands(commands):
        add_log_options(guide)
    return parser


def _add_compare(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """The command that ranks models."""
    comparing = commands.add_parser("compare", help="say which of several models is closest, and which differ")
    _add_models(comparing)
    add_field_options(comparing)
    add_design_options(comparing)
    add_output_options(comparing, "models", "differences", "learned_differences")
    comparing.add_argument("--buckets", type=count, default=5, help="buckets a model in the report (default: 5)")
    add_run_options(comparing)
    add_config_options(comparing, "compare", "the first makes the ranking, all are compared")


def _add_describe(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """The command that shows every measure."""
    describing = commands.add_parser("describe", help="show MAUVE and every other measure of models in one table")
    _add_models(describing)
    describing.add_argument(
        "--measures",
        metavar="GROUPS",
        type=_measures,
        help="groups, names of measures, or all, joined by commas (unset: what is cheap): score, lexical, distance, "
        "buckets, estimators, language-model, discriminator, duplication",
    )
    for flag, metavar, text in (
        ("--language-model", "MODEL", "for the group language-model: a name or folder of transformers (default: gpt2)"),
        ("--tokenizer", "NAME", "count the tokens of this tokenizer (unset: words and punctuation marks)"),
        ("--training", "FILE", "texts or features that the models were trained on, to find copies of"),
    ):
        describing.add_argument(flag, metavar=metavar, help=text)
    add_field_options(describing)
    add_design_options(describing)
    add_output_options(describing, "measures")
    add_run_options(describing)
    add_config_options(describing, "describe")


def _add_robustness(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """The commands about settings and about the human texts alone."""
    varying = add_robustness(commands)
    _add_models(varying)
    add_design_options(varying)
    add_output_options(varying, "settings", "pairs", "factors")
    calibrating = add_calibrate(commands)
    calibrating.add_argument("human", metavar="HUMAN", help=f"human (reference) texts or features: {_FILES}")
    add_output_options(calibrating, "sizes", "needed")
    several = "the first is the default, the others are tried"
    for parser, verb, featurizers in ((varying, "robustness", several), (calibrating, "human_baseline", "")):
        add_field_options(parser, both=parser is varying)
        add_run_options(parser, verb)
        add_config_options(parser, verb, featurizers)


def _add_stress(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """The command that says which errors a featurizer sees."""
    stressing = commands.add_parser(
        "stress-test", help="say which errors in texts a featurizer sees, from what strength on"
    )
    stressing.add_argument("human", metavar="HUMAN", help=f"human texts: {', '.join(READERS)}, a folder of .txt, or -")
    add_text_field(stressing)
    add_filter(stressing)
    add_output_options(stressing, "scores")
    add_run_options(stressing)
    add_stress_flags(stressing)
    add_config_options(stressing, "stress_test", "each is tested")


def _measures(text: str) -> str:
    """Names of measures, refused before anything is computed."""
    from mauve_metric.api.describe import chosen_measures

    try:
        chosen_measures(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
    return text


def _add_models(parser: argparse.ArgumentParser) -> None:
    """Human texts and those of several models."""
    parser.add_argument("human", metavar="HUMAN", help=f"human (reference) texts or features: {_FILES}")
    parser.add_argument(
        "models",
        metavar="MODEL",
        nargs="*",
        help="a model's texts or features, likewise; NAME=FILE names it; without HUMAN where every file holds both",
    )
    parser.add_argument(
        "--common-rows", action="store_true", help="leave out rows (doc_id) that not all of the models' files have"
    )


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    """What the command line says; a lone file that cannot hold both sides is wrong usage.

    `SystemExit` with status 2 after a message for wrong usage.
    """
    whole = parser()
    options = whole.parse_args(arguments)
    alone = any(not getattr(options, name, True) for name in ("model", "models"))
    if alone and not _may_hold_both(named_file(options.human)[1]):
        whole.error(f"{options.command} {options.human}: expected MODEL after HUMAN, or a file that holds both")
    wrong = shard_usage_error(options)
    if wrong is not None:
        whole.error(wrong)
    return options


def _may_hold_both(path: str) -> bool:
    return path == "-" or Path(path).is_dir() or Path(path).suffix.lower() in set(READERS) - {".txt"}


def _add_lm_eval_task(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """The command that writes a task for lm-evaluation-harness."""
    task = commands.add_parser("lm-eval-task", help="write a task for lm-evaluation-harness from human texts")
    task.add_argument("texts", metavar="TEXTS", help=f"human texts: {', '.join(READERS)}, a folder of .txt files, or -")
    task.add_argument(
        "-o", "--output", metavar="DIR", dest="folder", required=True, help="a folder for the task's files"
    )
    task.add_argument("--name", type=_task_name, help="of the task (default: that of TEXTS)")
    task.add_argument(
        "--prompt-words",
        type=count,
        default=PROMPT_WORDS,
        help=f"words of a text to continue (default: {PROMPT_WORDS})",
    )
    task.add_argument(
        "--new-tokens", type=count, default=NEW_TOKENS, help=f"most tokens of a continuation (default: {NEW_TOKENS})"
    )
    add_text_field(task)
    add_run_options(task)
    add_config_options(task)


def _task_name(text: str) -> str:
    """The name of a task of lm-evaluation-harness."""
    try:
        return check_task_name(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def named_file(argument: str) -> tuple[str | None, str]:
    """The name and the path in `NAME=FILE`; no name where there is none, or a file is called so as a whole.

    >>> named_file("greedy=-"), named_file("out/greedy.jsonl")
    (('greedy', '-'), (None, 'out/greedy.jsonl'))
    """
    parts = argument.split("=")
    splits = [("=".join(parts[:place]), "=".join(parts[place:])) for place in range(1, len(parts))]
    if not splits or Path(argument).exists():
        return None, argument
    name, path = next((split for split in splits if split[1] == "-" or Path(split[1]).exists()), splits[0])
    return (name.strip() or None), path


def given_options(options: argparse.Namespace) -> dict[str, Any]:
    """The keywords of `compute_mauve` that were given on the command line."""
    names = [*config_fields(), *(name for name, item in run_fields().items() if item.metadata["stage"] == "speed")]
    given = {name: getattr(options, name) for name in names if hasattr(options, name)}
    if getattr(options, "prompts", None) is not None:
        given["prompts"] = options.prompts
    return given | {"verbose": not options.quiet}
