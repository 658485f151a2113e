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
from mauve_metric.compare import Comparison, compare
from mauve_metric.compute import compute_mauve
from mauve_metric.config import knobs
from mauve_metric.explain import explain
from mauve_metric.feature_cache import FeatureCache
from mauve_metric.plot import FIGURE_FILES, check_figure_path, save_chart
from mauve_metric.reference import FEATURE_FILES, Reference, is_feature_parquet
from mauve_metric.report import check_report_path, save_report
from mauve_metric.tables import score_table
from mauve_metric.texts import READERS, read_texts

_FILES = f"{', '.join([*READERS, *FEATURE_FILES])}, a folder of .txt files, or - for standard input"
_RUN_OPTIONS = ("device", "batch_size", "max_batch_tokens", "cache", "compile", "checkpoint")


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

    comparing = commands.add_parser("compare", help="say which of several models is closest, and which differ")
    comparing.add_argument("human", metavar="HUMAN", help=f"human (reference) texts or features: {_FILES}")
    comparing.add_argument("models", metavar="MODEL", nargs="+", help="a model's texts or features, likewise")
    comparing.add_argument(
        "--aligned", action="store_true", help="row i of every model answers prompt i: truer intervals of differences"
    )
    _add_text_field(comparing)
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
    comparing.set_defaults(command=_compare)

    explaining = commands.add_parser("explain", help="show which buckets of texts keep a model's score from 1")
    explaining.add_argument("human", metavar="HUMAN", help=f"human (reference) texts or features: {_FILES}")
    explaining.add_argument("model", metavar="MODEL", help="the model's texts or features, likewise")
    explaining.add_argument("--buckets", type=_count, default=10, help="how many buckets to show (default: 10)")
    explaining.add_argument("--texts", type=_count, default=3, help="texts of each side to show (default: 3)")
    _add_text_field(explaining)
    _add_output_options(explaining)
    _add_run_options(explaining)
    _add_config_options(explaining, ("featurize", "quantize", "score"))
    explaining.set_defaults(command=_explain)

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


def _add_output_options(parser: argparse.ArgumentParser) -> Any:
    group = parser.add_argument_group("output")
    group.add_argument("--json", action="store_true", help="print one JSON object and nothing else on stdout")
    group.add_argument(
        "--plot", metavar="FILE", type=_figure_file, help=f"also draw the curves to FILE: {', '.join(FIGURE_FILES)}"
    )
    return group


def _add_run_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("speed (no influence on the score)")
    group.add_argument("--device", default=argparse.SUPPRESS, help="auto, cpu, cuda:0, mps, …")
    group.add_argument("--batch-size", type=int, default=argparse.SUPPRESS, help="most texts of a batch")
    group.add_argument("--max-batch-tokens", type=int, default=argparse.SUPPRESS, help="tokens of a batch")
    group.add_argument("--cache", metavar="FOLDER", default=argparse.SUPPRESS, help="keep features in this folder")
    group.add_argument(
        "--no-cache", dest="cache", action="store_false", default=argparse.SUPPRESS, help="keep no features"
    )
    group.add_argument(
        "--checkpoint",
        metavar="FOLDER",
        default=argparse.SUPPRESS,
        help="keep the clustering of large feature files here",
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


def _report_file(path: str) -> str:
    """The name of a report, refused before anything is computed if its ending is not known."""
    try:
        check_report_path(path)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
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
    title = f"{options.model} (model) against {options.human} (human)"
    return _compute_and_show(_two_sides(options), options, title)


def _two_sides(options: argparse.Namespace) -> dict[str, Any]:
    """HUMAN and MODEL as keywords of `compute_mauve`."""
    if options.human == options.model == "-":
        raise ValueError("standard input can stand for one of HUMAN and MODEL, not for both")
    sides: dict[str, Any] = {}
    for side, path in (("p", options.human), ("q", options.model)):
        data = _read_side(path, options.text_field)
        sides[side if isinstance(data, Reference) else f"{side}_text"] = data
    return sides


def _read_side(path: str, text_field: str | None) -> Any:
    """A file as a `Reference` if it holds features, else its texts."""
    if Path(path).suffix.lower() in FEATURE_FILES or is_feature_parquet(path):
        return Reference.load(path)
    return read_texts(path, text_field)


def _explain(options: argparse.Namespace) -> int:
    sides = _two_sides(options)
    with _processes() as rank:
        explanation = explain(
            **sides,
            **_given_options(options),
            buckets=options.buckets,
            texts=options.texts,
            distributed=rank is not None,
        )
    if rank in (None, 0):
        print(json.dumps(explanation.to_dict(), allow_nan=False) if options.json else explanation)
        if options.plot is not None:
            save_chart(explanation.plot(), options.plot)
    return 0


def _compare(options: argparse.Namespace) -> int:
    if options.json and (options.markdown or options.csv or options.csv_differences or options.latex):
        raise ValueError("--json prints JSON alone: leave out --markdown, --csv, --csv-differences or --latex")
    if [options.human, *options.models].count("-") > 1:
        raise ValueError("standard input can stand for one of HUMAN and the models, not for several")
    human = _read_side(options.human, options.text_field)
    names = model_names(options.models)
    models = {name: _read_side(path, options.text_field) for name, path in zip(names, options.models, strict=True)}
    with _processes() as rank:
        comparison = compare(
            models=models,
            **{"p" if isinstance(human, Reference) else "p_text": human},
            **_given_options(options),
            aligned=options.aligned,
            buckets=options.buckets if options.report else 0,
            distributed=rank is not None,
        )
    if rank in (None, 0):
        print(_comparison_text(comparison, options).rstrip("\n"))
        if options.plot is not None:
            save_chart(comparison.plot(), options.plot)
        if options.report is not None:
            save_report(comparison, options.report)
    return 0


def _comparison_text(comparison: Comparison, options: argparse.Namespace) -> str:
    """What `compare` prints."""
    if options.json:
        return json.dumps(comparison.to_dict(), allow_nan=False)
    if options.markdown:
        return comparison.to_markdown()
    if options.csv or options.csv_differences:
        return comparison.to_csv("models" if options.csv else "differences")
    return comparison.to_latex() if options.latex else str(comparison)


def model_names(paths: Sequence[str]) -> list[str]:
    """A name for each file: its stem, with as many folders before it as it takes to be unique, else a number after it.

    >>> model_names(["a/xl.jsonl", "b/xl.jsonl", "small.txt", "-"])
    ['a/xl', 'b/xl', 'small', 'stdin']
    """
    parts = [("stdin",) if path == "-" else (*Path(path).parent.parts, Path(path).stem or path) for path in paths]
    names = []
    for own in parts:
        depth = next(
            (depth for depth in range(1, len(own) + 1) if sum(own[-depth:] == other[-depth:] for other in parts) == 1),
            1,
        )
        name, number = "/".join(own[-depth:]), 2
        while name in names:
            name, number = f"{'/'.join(own[-depth:])}-{number}", number + 1
        names.append(name)
    return names


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
