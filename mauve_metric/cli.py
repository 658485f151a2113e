"""The command line, a view of `compute_mauve`: results on stdout, everything else on stderr."""

from __future__ import annotations

import argparse
import json
import logging
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from mauve_metric import __version__
from mauve_metric.compute import compute_mauve
from mauve_metric.config import knobs
from mauve_metric.result import MauveResult
from mauve_metric.scores import SCORES
from mauve_metric.texts import FEATURE_FILES, READERS, read_features, read_texts

_FILES = f"{', '.join([*READERS, *FEATURE_FILES])}, a folder of .txt files, or - for standard input"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; the exit status: 0, 1 for an input or runtime error, 2 for wrong usage."""
    options = _parser().parse_args(arguments)
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("mauve-metric: %(message)s"))
    package = logging.getLogger("mauve_metric")
    package.addHandler(handler)
    package.setLevel(logging.INFO if options.verbose else logging.ERROR)  # warnings stand in the result
    try:
        command: Callable[[argparse.Namespace], int] = options.command
        return command(options)
    except KeyboardInterrupt:
        print("mauve-metric: interrupted", file=sys.stderr)
        return 130
    except (ValueError, TypeError, OSError, ImportError, RuntimeError, MemoryError) as error:
        if options.debug:
            raise
        message = " ".join(str(error).split()) or type(error).__name__
        print(f"mauve-metric: error: {message}", file=sys.stderr)
        return 1
    finally:
        package.removeHandler(handler)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="mauve-metric", description="How close a model's texts are to human texts.")
    parser.add_argument("--version", action="version", version=f"mauve_metric {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    score = commands.add_parser("score", help="score a model's texts against human texts")
    score.add_argument("human", metavar="HUMAN", help=f"human (reference) texts or features: {_FILES}")
    score.add_argument("model", metavar="MODEL", help="the model's texts or features, likewise")
    score.add_argument(
        "--text-field", metavar="NAME", help="field or column of the texts; unset: 'text' or the only one"
    )
    _add_run_options(score)
    _add_config_options(score)
    score.set_defaults(command=_score)

    demo = commands.add_parser("demo", help="score a small language model's texts that come with the package")
    _add_run_options(demo)
    _add_config_options(demo)
    demo.set_defaults(command=_demo)
    return parser


def _add_run_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("output and speed (no influence on the score)")
    group.add_argument("--json", action="store_true", help="print one JSON object and nothing else on stdout")
    group.add_argument("--device", default=argparse.SUPPRESS, help="auto, cpu, cuda:0, mps, …")
    group.add_argument("--batch-size", type=int, default=argparse.SUPPRESS, help="most texts of a batch")
    group.add_argument("--max-batch-tokens", type=int, default=argparse.SUPPRESS, help="tokens of a batch")
    group.add_argument("--verbose", "-v", action="store_true", help="say what is done, on stderr")
    group.add_argument("--quiet", "-q", action="store_true", help="no progress bar")
    group.add_argument("--debug", action="store_true", help="show the whole traceback of an error")


_RUN_OPTIONS = ("device", "batch_size", "max_batch_tokens")


def _add_config_options(parser: argparse.ArgumentParser) -> None:
    """One flag for each field of the config."""
    group = parser.add_argument_group("options that can change the score (they stand in the signature)")
    for name, knob in knobs().items():
        default = "" if knob.default is None else f" (default: {knob.default})"
        group.add_argument(
            f"--{name.replace('_', '-')}",
            type=_config_value(name),
            default=argparse.SUPPRESS,
            metavar="{" + ",".join(knob.metadata["choices"]) + "}" if knob.metadata["choices"] else "VALUE",
            help=knob.metadata["help"].replace("%", "%%") + default,
        )


def _config_value(name: str) -> Callable[[str], Any]:
    """The parser of one config flag: a number where it is one, checked by the field's own check."""

    def parse(text: str) -> Any:
        value: Any = text
        if not isinstance(knobs()[name].default, str) or name == "num_buckets":
            for number in (int, float):
                try:
                    value = number(text)
                    break
                except ValueError:
                    continue
        try:
            return knobs()[name].metadata["check"](name, value)
        except (TypeError, ValueError) as error:
            raise argparse.ArgumentTypeError(str(error)) from error

    return parse


def _compute_options(options: argparse.Namespace) -> dict[str, Any]:
    """The keywords of `compute_mauve` that were given on the command line."""
    names = [*knobs(), *_RUN_OPTIONS]
    return {name: getattr(options, name) for name in names if hasattr(options, name)} | {"verbose": not options.quiet}


def _score(options: argparse.Namespace) -> int:
    if options.human == options.model == "-":
        raise ValueError("standard input can stand for one of HUMAN and MODEL, not for both")
    sides: dict[str, Any] = {}
    for side, path in (("p", options.human), ("q", options.model)):
        if Path(path).suffix.lower() in FEATURE_FILES:
            sides[f"{side}_features"] = read_features(path)
        else:
            sides[f"{side}_text"] = read_texts(path, options.text_field)
    result = compute_mauve(**sides, **_compute_options(options))
    _show(result, options, f"{options.model} (model) against {options.human} (human)")
    return 0


def _demo(options: argparse.Namespace) -> int:
    folder = examples_folder()
    human, model = folder / "human.jsonl", folder / "nucleus.jsonl"
    settings = {"featurize_model_name": "minilm"} | _compute_options(options)
    result = compute_mauve(p_text=read_texts(human), q_text=read_texts(model), **settings)
    _show(result, options, f"examples/{model.name} (model) against examples/{human.name} (human)")
    return 0


def examples_folder() -> Path:
    """Where the example texts lie: in the package when it was installed, beside it in a checkout."""
    here = Path(__file__).resolve().parent
    for folder in (here / "examples", here.parent / "examples"):
        if (folder / "human.jsonl").is_file():
            return folder
    raise FileNotFoundError("the example texts are not there: install the package, or run from a checkout")


def _show(result: MauveResult, options: argparse.Namespace, title: str) -> None:
    if options.json:
        print(json.dumps(result.to_dict(), allow_nan=False))
    else:
        print(score_table(result, title))


def score_table(result: MauveResult, title: str) -> str:
    """The result for people: warnings first, then the scores, what they rest on, and the signature."""
    lines = [title, ""]
    for warning in result.warnings:
        lines.append(f"  ! {warning.message}  [{warning.code}]")
    if result.warnings:
        lines.append("")
    for name, score in SCORES.items():
        lines.append(f"  {score.title:<22} {getattr(result, name):7.4f}   {score.better} is better; {score.meaning}")
    lines += [
        "",
        f"  {'texts':<22} {result.n_p} human, {result.n_q} model",
        f"  {'buckets':<22} {result.num_buckets}",
        f"  {'floor':<22} {result.mauve_floor:7.4f}   MAUVE of sets with nothing in common",
        "",
        f"signature: {result.signature}",
    ]
    return "\n".join(lines)
