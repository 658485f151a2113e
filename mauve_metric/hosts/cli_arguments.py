"""The arguments of the command line: one flag for each knob, files and numbers checked before anything is computed."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from mauve_metric.config import knobs
from mauve_metric.hosts.cli_copies import add_copy_commands
from mauve_metric.hosts.cli_judgement import add_judgement_commands
from mauve_metric.hosts.cli_shards import add_shard_options, shard_usage_error
from mauve_metric.hosts.lm_eval_task import NEW_TOKENS, PROMPT_WORDS, check_task_name
from mauve_metric.options import run_fields
from mauve_metric.results.charts.figure import FIGURE_FILES, check_figure_path
from mauve_metric.texts.files import FEATURE_FILES, READERS
from mauve_metric.version import __version__

_FILES = f"{', '.join([*READERS, *FEATURE_FILES])}, a folder of .txt files, or - for standard input"
_ALONE = "a file with human texts beside the model's, such as lm-evaluation-harness's samples, stands alone"


def parser() -> argparse.ArgumentParser:
    """The parser of the whole command line; the command's name comes out as `command`."""
    parser = argparse.ArgumentParser(prog="mauve-metric", description="How close a model's texts are to human texts.")
    parser.add_argument("--version", action="version", version=f"mauve_metric {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND", dest="command")

    score = commands.add_parser("score", help="score a model's texts against human texts")
    score.add_argument("human", metavar="HUMAN", help=f"human (reference) texts or features: {_FILES}")
    score.add_argument("model", metavar="MODEL", nargs="?", help=f"the model's texts or features, likewise; {_ALONE}")
    _add_field_options(score)
    _add_output_options(score)
    add_shard_options(score)
    _add_run_options(score)
    _add_config_options(score, ("featurize", "quantize", "score"))

    _add_compare(commands)
    _add_describe(commands)

    explaining = commands.add_parser("explain", help="show which buckets of texts keep a model's score from 1")
    explaining.add_argument("human", metavar="HUMAN", help=f"human (reference) texts or features: {_FILES}")
    explaining.add_argument("model", metavar="MODEL", nargs="?", help="the model's texts or features, likewise")
    explaining.add_argument("--buckets", type=_count, default=10, help="how many buckets to show (default: 10)")
    explaining.add_argument("--texts", type=_count, default=3, help="texts of each side to show (default: 3)")
    _add_field_options(explaining)
    _add_output_options(explaining)
    _add_run_options(explaining)
    _add_config_options(explaining, ("featurize", "quantize", "score"))

    demo = commands.add_parser("demo", help="score a small language model's texts that come with the package")
    _add_output_options(demo)
    _add_run_options(demo)
    _add_config_options(demo, ("featurize", "quantize", "score"))

    featurize = commands.add_parser("featurize", help="turn texts into features, to score or ship without the texts")
    featurize.add_argument("texts", metavar="TEXTS", help=f"{', '.join(READERS)}, a folder of .txt files, or -")
    featurize.add_argument(
        "-o", "--output", metavar="FILE", required=True, type=_features_file, help=".npy, .npz or .parquet"
    )
    _add_text_field(featurize)
    _add_filter(featurize)
    _add_run_options(featurize)
    _add_config_options(featurize, ("featurize",))

    _add_lm_eval_task(commands)

    for copying in add_copy_commands(commands):
        _add_log_options(copying)
    for judging in add_judgement_commands(commands):
        _add_log_options(judging)

    cache = commands.add_parser("cache", help="look after the features kept on disk")
    cache.add_argument("action", choices=("info", "prune", "clear"), help="prune deletes what was used longest ago")
    cache.add_argument("--max-bytes", type=int, help="what prune leaves at most; unset: the cache's own limit")
    cache.add_argument("--json", action="store_true", help="print one JSON object")
    _add_log_options(cache)
    return parser


def _add_compare(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """The command that ranks models."""
    comparing = commands.add_parser("compare", help="say which of several models is closest, and which differ")
    _add_models(comparing)
    comparing.add_argument(
        "--aligned", action="store_true", help="row i of every model answers prompt i: truer intervals of differences"
    )
    _add_field_options(comparing)
    form = _add_output_options(comparing).add_mutually_exclusive_group()
    for flag, text in (
        ("--markdown", "print Markdown"),
        ("--csv", "print the table of models as CSV"),
        ("--csv-differences", "print the table of differences as CSV"),
        ("--latex", "print LaTeX tables"),
    ):
        form.add_argument(flag, action="store_true", help=text)
    comparing.add_argument(
        "--report", metavar="FILE", type=_report_file, help="also write a page with tables, figures, buckets and texts"
    )
    comparing.add_argument("--buckets", type=_count, default=5, help="buckets a model in the report (default: 5)")
    _add_run_options(comparing)
    _add_config_options(comparing, ("featurize", "quantize", "score"))


def _add_describe(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """The command that shows every measure."""
    describing = commands.add_parser("describe", help="show MAUVE and every other measure of models in one table")
    _add_models(describing)
    describing.add_argument(
        "--measures",
        metavar="GROUPS",
        type=_measures,
        help="groups, names of measures, or all, joined by commas (unset: what is cheap): score, lexical, distance, "
        "buckets, language-model, discriminator, duplication",
    )
    for flag, metavar, text in (
        ("--language-model", "MODEL", "for the group language-model: a name or folder of transformers (default: gpt2)"),
        ("--tokenizer", "NAME", "count the tokens of this tokenizer (unset: words and punctuation marks)"),
        ("--training", "FILE", "texts or features that the models were trained on, to find copies of"),
        ("--prompt-field", "NAME", "field of the prompt, where a model wrote several texts for each"),
    ):
        describing.add_argument(flag, metavar=metavar, help=text)
    _add_field_options(describing)
    form = _add_output_options(describing, figure=False).add_mutually_exclusive_group()
    for flag in ("markdown", "csv", "latex"):
        form.add_argument(f"--{flag}", action="store_true", help=f"print {_FORM_NAMES[flag]}")
    describing.add_argument(
        "--report", metavar="FILE", type=_report_file, help="also write the page of compare --report, with the table"
    )
    _add_run_options(describing)
    _add_config_options(describing, ("featurize", "quantize", "score"))


_FORM_NAMES = {"markdown": "Markdown", "csv": "CSV, one line a measure and model", "latex": "a LaTeX table"}


def _measures(text: str) -> str:
    """Names of measures, refused before anything is computed."""
    from mauve_metric.describe_sets import chosen_measures

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
        type=_count,
        default=PROMPT_WORDS,
        help=f"words of a text to continue (default: {PROMPT_WORDS})",
    )
    task.add_argument(
        "--new-tokens", type=_count, default=NEW_TOKENS, help=f"most tokens of a continuation (default: {NEW_TOKENS})"
    )
    _add_text_field(task)
    _add_run_options(task)
    _add_config_options(task, ("featurize", "quantize", "score"))


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


def _add_text_field(parser: argparse.ArgumentParser) -> None:
    for name, item in run_fields().items():
        if item.metadata["stage"] == "texts":
            parser.add_argument(_flag(name), metavar=item.metadata["metavar"], help=item.metadata["help"])


def _add_field_options(parser: argparse.ArgumentParser) -> None:
    """Flags for the fields of a file; a dotted path names one in a field."""
    _add_text_field(parser)
    for flag, text in (
        ("--reference-field", "field of the human texts, where a file holds both sides; doc.story is one inside doc"),
        ("--prediction-field", "field of the model's texts, likewise; resps.0.0 is the first of the first"),
    ):
        parser.add_argument(flag, metavar="NAME", help=text)
    _add_filter(parser)


def _add_filter(parser: argparse.ArgumentParser) -> None:
    text = "the filter of lm-evaluation-harness, or the epoch of Inspect, whose texts are read"
    parser.add_argument("--filter", metavar="NAME", help=text)


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _add_output_options(parser: argparse.ArgumentParser, figure: bool = True) -> argparse._ArgumentGroup:
    group = parser.add_argument_group("output")
    group.add_argument("--json", action="store_true", help="print one JSON object and nothing else on stdout")
    if figure:
        group.add_argument(
            "--plot", metavar="FILE", type=_figure_file, help=f"also draw the curves to FILE: {', '.join(FIGURE_FILES)}"
        )
    return group


def _add_run_options(parser: argparse.ArgumentParser) -> None:
    """One flag for each field of the run options that is about speed."""
    group = parser.add_argument_group("speed (no influence on the score)")
    for name, item in run_fields().items():
        if item.metadata["stage"] != "speed":
            continue
        common = {"default": argparse.SUPPRESS, "help": item.metadata["help"]}
        if item.default is False:
            group.add_argument(_flag(name), action="store_true", **common)
            continue
        kind = int if item.type == "int | None" else str
        group.add_argument(_flag(name), type=kind, metavar=item.metadata["metavar"], **common)
        if item.default is True:
            off = f"--no-{name.replace('_', '-')}"
            group.add_argument(off, dest=name, action="store_false", default=argparse.SUPPRESS, help="keep no features")
    _add_log_options(group)


def _add_log_options(parser: argparse._ActionsContainer) -> None:
    parser.add_argument("--verbose", "-v", action="store_true", help="say what is done, on stderr")
    parser.add_argument("--quiet", "-q", action="store_true", help="no progress bar, errors only")
    parser.add_argument("--debug", action="store_true", help="show the whole traceback of an error")


def _figure_file(path: str) -> str:
    """The name of a figure file, refused before anything is computed if its ending is not known."""
    try:
        check_figure_path(path)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
    return path


def _report_file(path: str) -> str:
    """The name of a report, refused before anything is computed if its ending is not known."""
    from mauve_metric.results.report import check_report_path

    try:
        check_report_path(path)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
    return path


def _features_file(path: str) -> str:
    """The name of a file of features, refused before anything is computed if its ending is not known."""
    if Path(path).suffix.lower() not in (*FEATURE_FILES, ".parquet"):
        raise argparse.ArgumentTypeError(f"features are written to .npy, .npz or .parquet, got {path!r}")
    return path


def _count(text: str) -> int:
    """A whole number of at least 1."""
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"expected a whole number of at least 1, got {text!r}")
    return number


def _add_config_options(parser: argparse.ArgumentParser, stages: Sequence[str]) -> None:
    """One flag for each field of the config."""
    group = parser.add_argument_group("options that can change the score (they stand in the signature)")
    for name, knob in knobs().items():
        if knob.metadata["stage"] not in stages:
            continue
        flag, text = _flag(name), knob.metadata["help"].replace("%", "%%")
        if isinstance(knob.default, bool):
            group.add_argument(flag, action=argparse.BooleanOptionalAction, default=argparse.SUPPRESS, help=text)
            continue
        choices = knob.metadata["choices"]
        group.add_argument(
            flag,
            type=_config_value(name),
            default=argparse.SUPPRESS,
            metavar="{" + ",".join(str(choice).lower() for choice in choices) + "}" if choices else "VALUE",
            help=text + ("" if knob.default is None else f" (default: {knob.default})"),
        )


def _config_value(name: str) -> Callable[[str], object]:
    """The parser of one config flag: a number or a truth value where it is one, checked by the field's own check."""

    def parse(text: str) -> object:
        try:
            checked: object = knobs()[name].metadata["check"](name, _literal(name, text))
        except (TypeError, ValueError) as error:
            raise argparse.ArgumentTypeError(str(error)) from error
        return checked

    return parse


def _literal(name: str, text: str) -> str | int | float | bool:
    """A flag's text as a number or truth value, where the field can be one."""
    knob = knobs()[name]
    if knob.metadata["choices"]:
        return {"true": True, "false": False}.get(text.lower(), text)
    if isinstance(knob.default, str) and name == "featurize_model_name":
        return text
    for number in (int, float):
        with contextlib.suppress(ValueError):
            return number(text)
    return text


def given_options(options: argparse.Namespace) -> dict[str, Any]:
    """The keywords of `compute_mauve` that were given on the command line."""
    names = [*knobs(), *(name for name, item in run_fields().items() if item.metadata["stage"] == "speed")]
    given = {name: getattr(options, name) for name in names if hasattr(options, name)}
    if getattr(options, "prompts", None) is not None:
        given["prompts"] = options.prompts
    return given | {"verbose": not options.quiet}
