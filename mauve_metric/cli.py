"""The command line, a view of `compute_mauve`: results on stdout, everything else on stderr."""

from __future__ import annotations

import argparse
import contextlib
import json
import logging
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from mauve_metric import __version__
from mauve_metric.compute import compute_mauve
from mauve_metric.config import knobs
from mauve_metric.feature_cache import FeatureCache
from mauve_metric.plot import FIGURE_FILES, check_figure_path, save_chart
from mauve_metric.reference import FEATURE_FILES, Reference, is_feature_parquet
from mauve_metric.result import MauveResult
from mauve_metric.scores import SCORES
from mauve_metric.texts import READERS, read_texts

_FILES = f"{', '.join([*READERS, *FEATURE_FILES])}, a folder of .txt files, or - for standard input"
_RUN_OPTIONS = ("device", "batch_size", "max_batch_tokens", "cache", "compile")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; the exit status: 0, 1 for an input or runtime error, 2 for wrong usage."""
    options = _parser().parse_args(arguments)
    with _logging_to_stderr(options):
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


@contextlib.contextmanager
def _logging_to_stderr(options: argparse.Namespace) -> Iterator[None]:
    """The package's log on stderr: what takes long and what is odd; with --verbose, everything."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("mauve-metric: %(message)s"))
    package = logging.getLogger("mauve_metric")
    package.addHandler(handler)
    package.setLevel(logging.INFO if options.verbose else logging.ERROR if options.quiet else logging.WARNING)
    scores = logging.getLogger("mauve_metric.compute")
    scores.setLevel(logging.ERROR)  # the warnings of a result stand in the result
    try:
        yield
    finally:
        package.removeHandler(handler)
        for logger in (package, scores):
            logger.setLevel(logging.NOTSET)


# --- arguments ----------------------------------------------------------------------------------------------------


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="mauve-metric", description="How close a model's texts are to human texts.")
    parser.add_argument("--version", action="version", version=f"mauve_metric {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    score = commands.add_parser("score", help="score a model's texts against human texts")
    score.add_argument("human", metavar="HUMAN", help=f"human (reference) texts or features: {_FILES}")
    score.add_argument("model", metavar="MODEL", help="the model's texts or features, likewise")
    _add_text_field(score)
    _add_output_options(score)
    _add_run_options(score)
    _add_config_options(score, ("featurize", "quantize", "score"))
    score.set_defaults(command=_score)

    demo = commands.add_parser("demo", help="score a small language model's texts that come with the package")
    _add_output_options(demo)
    _add_run_options(demo)
    _add_config_options(demo, ("featurize", "quantize", "score"))
    demo.set_defaults(command=_demo)

    featurize = commands.add_parser("featurize", help="turn texts into features, to score or ship without the texts")
    featurize.add_argument("texts", metavar="TEXTS", help=f"{', '.join(READERS)}, a folder of .txt files, or -")
    featurize.add_argument("-o", "--output", metavar="FILE", required=True, help=".npy, .npz or .parquet")
    _add_text_field(featurize)
    _add_run_options(featurize)
    _add_config_options(featurize, ("featurize",))
    featurize.set_defaults(command=_featurize)

    cache = commands.add_parser("cache", help="look after the features kept on disk")
    cache.add_argument("action", choices=("info", "prune", "clear"), help="prune deletes what was used longest ago")
    cache.add_argument("--max-bytes", type=int, help="what prune leaves at most; unset: the cache's own limit")
    cache.add_argument("--json", action="store_true", help="print one JSON object")
    _add_log_options(cache)
    cache.set_defaults(command=_cache)
    return parser


def _add_text_field(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--text-field", metavar="NAME", help="field or column of the texts; unset: 'text' or the only one"
    )


def _add_output_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("output")
    group.add_argument("--json", action="store_true", help="print one JSON object and nothing else on stdout")
    group.add_argument(
        "--plot", metavar="FILE", type=_figure_file, help=f"also draw the curves to FILE: {', '.join(FIGURE_FILES)}"
    )


def _add_run_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("speed (no influence on the score)")
    group.add_argument("--device", default=argparse.SUPPRESS, help="auto, cpu, cuda:0, mps, …")
    group.add_argument("--batch-size", type=int, default=argparse.SUPPRESS, help="most texts of a batch")
    group.add_argument("--max-batch-tokens", type=int, default=argparse.SUPPRESS, help="tokens of a batch")
    group.add_argument("--cache", metavar="FOLDER", default=argparse.SUPPRESS, help="keep features in this folder")
    group.add_argument(
        "--no-cache", dest="cache", action="store_false", default=argparse.SUPPRESS, help="keep no features"
    )
    group.add_argument("--compile", action="store_true", default=argparse.SUPPRESS, help="use torch.compile")
    _add_log_options(group)


def _add_log_options(parser: Any) -> None:
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


def _add_config_options(parser: argparse.ArgumentParser, stages: Sequence[str]) -> None:
    """One flag for each field of the config."""
    group = parser.add_argument_group("options that can change the score (they stand in the signature)")
    for name, knob in knobs().items():
        if knob.metadata["stage"] not in stages:
            continue
        flag, text = f"--{name.replace('_', '-')}", knob.metadata["help"].replace("%", "%%")
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


def _config_value(name: str) -> Callable[[str], Any]:
    """The parser of one config flag: a number or a truth value where it is one, checked by the field's own check."""

    def parse(text: str) -> Any:
        try:
            return knobs()[name].metadata["check"](name, _literal(name, text))
        except (TypeError, ValueError) as error:
            raise argparse.ArgumentTypeError(str(error)) from error

    return parse


def _literal(name: str, text: str) -> Any:
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


def _given_options(options: argparse.Namespace) -> dict[str, Any]:
    """The keywords of `compute_mauve` that were given on the command line."""
    names = [*knobs(), *_RUN_OPTIONS]
    return {name: getattr(options, name) for name in names if hasattr(options, name)} | {"verbose": not options.quiet}


# --- commands -----------------------------------------------------------------------------------------------------


def _score(options: argparse.Namespace) -> int:
    if options.human == options.model == "-":
        raise ValueError("standard input can stand for one of HUMAN and MODEL, not for both")
    sides: dict[str, Any] = {}
    for side, path in (("p", options.human), ("q", options.model)):
        if Path(path).suffix.lower() in FEATURE_FILES or is_feature_parquet(path):
            sides[side] = Reference.load(path)
        else:
            sides[f"{side}_text"] = read_texts(path, options.text_field)
    return _compute_and_show(sides, options, f"{options.model} (model) against {options.human} (human)")


def _demo(options: argparse.Namespace) -> int:
    folder = examples_folder()
    human, model = folder / "human.jsonl", folder / "nucleus.jsonl"
    if not hasattr(options, "featurize_model_name"):
        options.featurize_model_name = "minilm"
    sides = {"p_text": read_texts(human), "q_text": read_texts(model)}
    return _compute_and_show(sides, options, f"examples/{model.name} (model) against examples/{human.name} (human)")


def _compute_and_show(sides: dict[str, Any], options: argparse.Namespace, title: str) -> int:
    with _processes() as rank:
        result = compute_mauve(**sides, **_given_options(options), distributed=rank is not None)
    if rank in (None, 0):
        print(json.dumps(result.to_dict(), allow_nan=False) if options.json else score_table(result, title))
        if options.plot is not None:
            save_chart(result.plot(), options.plot)
    return 0


@contextlib.contextmanager
def _processes() -> Iterator[int | None]:
    """This process's rank when torchrun or accelerate launch started several, else None (and torch not imported)."""
    from mauve_metric import distributed

    if distributed.launched_processes() == 1:
        yield None
    else:
        with distributed.process_group() as rank:
            yield rank


def _featurize(options: argparse.Namespace) -> int:
    if Path(options.output).suffix.lower() not in (*FEATURE_FILES, ".parquet"):
        raise ValueError(f"features are written to .npy, .npz or .parquet, got {options.output!r}")
    texts = read_texts(options.texts, options.text_field)
    with _processes() as rank:
        reference = Reference.from_texts(texts, **_given_options(options), distributed=rank is not None)
    if rank in (None, 0):
        reference.save(options.output)
        shape = reference.features.shape
        print(f"mauve-metric: {shape[0]} features of {shape[1]} numbers in {options.output}", file=sys.stderr)
    return 0


def _cache(options: argparse.Namespace) -> int:
    with FeatureCache() as cache:
        deleted = None
        if options.action == "clear":
            deleted = cache.clear()
        elif options.action == "prune":
            deleted = cache.prune(cache.max_bytes if options.max_bytes is None else options.max_bytes)
            cache.compact()
        info = cache.info()
    facts = {"path": str(info.path), "features": info.features, "bytes": info.bytes, "max_bytes": info.max_bytes}
    if deleted is not None:
        facts["deleted"] = deleted
    print(json.dumps(facts) if options.json else "\n".join(f"{key:<10} {value}" for key, value in facts.items()))
    return 0


def examples_folder() -> Path:
    """Where the example texts lie: in the package when it was installed, beside it in a checkout."""
    here = Path(__file__).resolve().parent
    for folder in (here / "examples", here.parent / "examples"):
        if (folder / "human.jsonl").is_file():
            return folder
    raise FileNotFoundError("the example texts are not there: install the package, or run from a checkout")


# --- table --------------------------------------------------------------------------------------------------------


def score_table(result: MauveResult, title: str) -> str:
    """The result for people: warnings first, then the scores, what they rest on, and the signature."""
    lines = [title, ""]
    for warning in result.warnings:
        lines.append(f"  ! {warning.message}  [{warning.code}]")
    if result.warnings:
        lines.append("")
    for name, score in SCORES.items():
        value = getattr(result, name)
        if value is not None:
            lines.append(
                f"  {score.title:<24} {value:7.4f}  {_interval(result, name):<17}  {score.better}; {score.meaning}"
            )
    lines += [
        "",
        f"  {'floor … ceiling':<24} {result.mauve_floor:7.4f} … {result.mauve_ceiling:.4f}  MAUVE of sets with ",
    ]
    lines[-1] += "nothing in common … of two samples of one distribution"
    if result.mauve_std is not None:
        runs = f"{result.mauve_mean:7.4f} ± {result.mauve_std:.4f}"
        lines.append(
            f"  {'MAUVE over seeds':<24} {runs}  mean and standard deviation of {len(result.mauve_runs)} clusterings"
        )
    if result.p_value is not None:
        lines.append(f"  {'p-value':<24} {result.p_value:7.4f}  that both sets come from one distribution")
    lines.append(f"  {'texts':<24} {result.n_p} human, {result.n_q} model{_lengths(result)}")
    lines.append(f"  {'buckets':<24} {result.num_buckets}")
    if result.mauve_ci is not None:
        lines.append(f"  {'intervals':<24} {_level(result)} {result.ci_scope}")
    return "\n".join([*lines, "", f"signature: {result.signature}"])


def _interval(result: MauveResult, name: str) -> str:
    interval = {
        "mauve_debiased": result.mauve_ci,
        "frontier_integral_debiased": result.frontier_integral_ci,
    }.get(name)
    return "" if interval is None else f"[{interval[0]:.4f}, {interval[1]:.4f}]"


def _level(result: MauveResult) -> str:
    level = dict(entry.split(":", 1) for entry in result.signature.split("|"))["confidence_level"]
    return f"{100 * float(level):g} %"


def _lengths(result: MauveResult) -> str:
    if result.p_median_length is None or result.q_median_length is None:
        return ""
    return f"; median length {result.p_median_length:.0f} and {result.q_median_length:.0f} tokens"
