"""Input files of a command and the names of its models, results on stdout and in files, messages on stderr."""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from mauve_metric.hosts.flags_and_labels import SHELL, flag_of
from mauve_metric.inputs.files import TextFile
from mauve_metric.inputs.records import split_field, split_where
from mauve_metric.runtime.checks import did_you_mean
from mauve_metric.runtime.errors import NotOneSet, NotWritten
from mauve_metric.runtime.optional_imports import import_altair
from mauve_metric.runtime.outputs import check_can_be_written, check_outputs
from mauve_metric.runtime.plain_text import free_name, printable

if TYPE_CHECKING:
    from mauve_metric.features.feature_set import FeatureSet
    from mauve_metric.report.document import Document
    from mauve_metric.results.methods import Result

ResultT = TypeVar("ResultT", bound="Result")
COLOURS = {"LIKE": 32, "DIFFERENT": 31, "UNDECIDED": 33, "NO VERDICT": 33}  # of ANSI terminals
_HUMAN = re.compile(r"(?<![a-z])(?:human|reference)s?(?![a-z])")  # in the name of a file of human texts
_TOOL_FILE = re.compile(r"samples_.+_\d{4}-\d\d-\d\dT.+\.jsonl|generated_predictions\.jsonl")  # same for all models


def check_output_files(options: argparse.Namespace) -> None:
    """Refuse files that cannot be written, or that would replace an input or each other, before anything is computed.

    Of several processes only the first writes, and therefore checks. The folder of `score -o` is checked by
    `score_sharded`, which knows the files that patterns and URLs stand for.

    Raises:
        OSError: a file cannot be written. ValueError: it would replace another one, or lie in a folder that is read.
        ImportError: the package for figures is missing.
    """
    if os.environ.get("RANK", "0") != "0":
        return
    outputs: list[str | Path] = [*options.parser.outputs_of(options), *options.more_outputs(options)]
    if getattr(options, "checkpoint", None) is not None:
        from mauve_metric.clustering.checkpoint import CHECKPOINT_FILE

        folder = Path(options.checkpoint).expanduser()
        outputs += [folder / CHECKPOINT_FILE] if folder.is_dir() else []
    for path in outputs:
        check_can_be_written(path)
    named = [split_field(named_file(text)[1])[0] for text in options.parser.inputs_of(options)]
    inputs = [path for path in named if path not in ("", "-")]
    check_outputs(outputs, [*inputs, *(f"{path}.json" for path in inputs if path.lower().endswith(".npy"))])
    if any(getattr(options, name, None) is not None for name in ("plot", "report")):
        import_altair()


def two_sides(options: argparse.Namespace) -> dict[str, Any]:
    """HUMAN and MODEL, or the one file that holds both, as keywords of `compute_mauve`."""
    if options.human == options.model == "-":
        raise ValueError("standard input can stand for one of HUMAN and MODEL, not for both")
    human, *models = _read_sides([file for file in (options.human, options.model) if file is not None], options)
    if not models:
        if not isinstance(human, TextFile) or not human.has_two_fields:
            raise NotOneSet(
                f"{options.human!r} does not hold human texts and a model's beside each other: give MODEL as a second "
                "file, or name the fields with --reference-field and --prediction-field"
            )
        return {"q_text": human}
    _tell_of_order(options, [options.model])
    sides = ("p", human), ("q", models[0])
    return {f"{side}_text" if isinstance(data, TextFile) else side: data for side, data in sides}


def _tell_of_order(options: argparse.Namespace, models: Sequence[str]) -> None:
    """Tell of a file of a model whose name says that its texts are human, where the name of HUMAN does not."""
    human, *others = [_HUMAN.search(Path(named_file(file)[1]).name.lower()) for file in (options.human, *models)]
    swapped = next((file for file, is_human in zip(models, others, strict=True) if is_human), None)
    if swapped is not None and human is None and not options.quiet:
        tell(f"{options.human} is read as human texts and {swapped} as a model's: the human file comes first")


def human_side(options: argparse.Namespace) -> dict[str, Any]:
    """HUMAN alone, as a keyword of `human_baseline`."""
    (human,) = _read_sides([options.human], options)
    return {"p_text" if isinstance(human, TextFile) else "p": human}


def _read_sides(paths: Sequence[str], options: argparse.Namespace) -> list[FeatureSet | TextFile]:
    """The files of all sides; options of how texts are read need one of texts."""
    sides = [_read_side(path, options) for path in paths]
    if not any(isinstance(side, TextFile) for side in sides):
        useless = next((name for name, value in _of_texts(options).items() if value is not None), None)
        if useless is not None:
            raise ValueError(f"{flag_of(useless)} says how texts are read, got features in {paths[0]!r}: leave it out")
    return sides


def _read_side(path: str, options: argparse.Namespace) -> FeatureSet | TextFile:
    """A file as a `FeatureSet` if it holds features, else as one of texts."""
    from mauve_metric.features.feature_files import is_feature_file
    from mauve_metric.features.feature_set import FeatureSet

    if is_feature_file(split_field(path)[0]):
        if getattr(options, "prompt_field", None) is not None:
            raise ValueError(f"--prompt-field needs texts with fields, got features in {path!r}: use --aligned")
        return FeatureSet.load(path)
    return TextFile(path, **_of_texts(options))


def _of_texts(options: argparse.Namespace) -> dict[str, Any]:
    """The options of a side of texts, as keywords of `TextFile`."""
    names = ("text_field", "reference_field", "prediction_field", "prompt_field")
    return {name: getattr(options, name, None) for name in names} | reading(options)


def reading(options: argparse.Namespace) -> dict[str, Any]:
    """The options of how files of texts are read, as keywords of `read_texts`."""
    return {"encoding": options.encoding, "header": options.header}


def sides_of_models(options: argparse.Namespace, runs: bool = False) -> dict[str, Any]:
    """HUMAN and the models, or only the models where every file holds both sides, as keywords of `compare`.

    runs: see `names_of_models`.
    """
    files = [options.human, *options.models]
    if [named_file(file)[1] for file in files].count("-") > 1:
        raise ValueError("standard input can stand for one of HUMAN and the models, not for several")
    first_name, first = named_file(options.human)
    if twice := next((file for file in options.models if options.models.count(file) > 1), None):
        raise ValueError(f"{twice!r} is given twice: expected a file of its own for each model")
    paths = [first if first_name else options.human, *(named_file(file)[1] for file in options.models)]
    human, *of_models = _read_sides(paths, options)
    models = dict(zip(options.models, of_models, strict=True))
    both = [isinstance(file, TextFile) and file.holds_both for file in (human, *models.values())]
    if both[0] and (first_name or all(both)):
        names = names_of_models(files, runs)
        return {"models": dict(zip(names, (human, *models.values()), strict=True))}
    if both[0] and models:
        raise NotOneSet(
            f"{options.human!r} holds human texts and a model's, and not every other file does: write it as "
            f"NAME={options.human} to compare its model too, or give the human texts as a file of their own first"
        )
    if not models:
        raise NotOneSet(f"{options.human!r} is the only file: expected MODEL after HUMAN, or a file that holds both")
    _tell_of_order(options, options.models)
    names = names_of_models(options.models, runs)
    side = {"p_text" if isinstance(human, TextFile) else "p": human}
    return {"models": dict(zip(names, models.values(), strict=True)), **side}


def names_of_models(arguments: Sequence[str], runs: bool = False) -> list[str]:
    """The name of each model: the one given as NAME=FILE, else one of its file among those without (see `model_names`).

    runs: whether a name may be given to several files, which are runs of one model: see `names_of_runs`.

    Raises:
        ValueError: an empty name, two models have one name, or another tool wrote two of the files for one model.
    """
    given_names, paths = [named_file(model)[0] for model in arguments], [named_file(model)[1] for model in arguments]
    for argument, name in zip(arguments, given_names, strict=True):
        if name == "":
            raise ValueError(f"{argument!r} names its file with an empty name: expected FILE or NAME=FILE")
    folders: dict[Path, str] = {}
    for name, path in zip(given_names, paths, strict=True):
        folder = _folder_of_model(path)
        if folder is not None and name is None and folders.setdefault(folder, path) != path:
            raise ValueError(
                f"{folders[folder]!r} and {path!r} are two files of one model, {folder.name!r}: give one of them, or "
                "NAME=FILE for each"
            )
    of_files = iter(model_names([path for name, path in zip(given_names, paths, strict=True) if name is None]))
    names = [next(of_files) if name is None else name for name in given_names]
    if runs and all(name in given_names for name in names if names.count(name) > 1):
        from mauve_metric.results.runs import names_of_runs  # numpy is not needed for an error

        return names_of_runs(names)[0]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"two models are called {name!r}: expected a name of its own for each")
    return names


def _folder_of_model(path: str) -> Path | None:
    """The folder that names the model of a file to which other tools give the same name for every model."""
    file = Path(path)
    return file.parent if file.parent.name and _TOOL_FILE.fullmatch(file.name) else None


def model_names(paths: Sequence[str]) -> list[str]:
    """A name for each file: its stem, with as many folders before it as it takes to be unique, else a number after it.

    The name is the folder's if another tool gives the file the same name for every model, and the value in
    `FILE[column=value]`.

    >>> model_names(["a/xl.jsonl", "b/xl.jsonl", "small.txt", "-"])
    ['a/xl', 'b/xl', 'small', 'stdin']
    >>> model_names(["out/gpt2-1.5/generated_predictions.jsonl", "out/phi/generated_predictions.jsonl"])
    ['gpt2-1.5', 'phi']
    >>> model_names(["-[model=gpt2]", "-[model=mpt]"])
    ['gpt2', 'mpt']
    """
    parts: list[tuple[str, ...]] = []
    for path, field in map(split_field, paths):
        source = Path("stdin" if path == "-" else path)
        named = _folder_of_model(path) or (source if os.path.isdir(path) else source.parent / source.stem)
        _, where = split_where(field or "")
        parts.append((*named.parts, *where.values()))
    names: list[str] = []
    for file in parts:
        depths = range(1, len(file) + 1)
        depth = next((depth for depth in depths if sum(file[-depth:] == other[-depth:] for other in parts) == 1), 1)
        names.append(free_name("/".join(file[-depth:]), names))
    return names


def named_file(argument: str) -> tuple[str | None, str]:
    """The name and the path in `NAME=FILE`; None for the name if there is no `=`, or if the whole argument is a file.

    >>> named_file("greedy=-"), named_file("out/greedy.jsonl")
    (('greedy', '-'), (None, 'out/greedy.jsonl'))
    """
    parts = argument.split("=")
    splits = [("=".join(parts[:index]), "=".join(parts[index:])) for index in range(1, len(parts))]
    if not splits or os.path.exists(split_field(argument)[0]):
        return None, argument
    exists = (split for split in splits if split[1] == "-" or os.path.exists(split_field(split[1])[0]))
    name, path = next(exists, splits[0])
    return name.strip(), path


def tell(message: str) -> None:
    """Print a line on stderr, if there is one."""
    if sys.stderr is not None:
        print(f"mauve-metric: {printable(message)}", file=sys.stderr)


def show(text: object) -> None:
    """Print a result on stdout, and flush it.

    Raises:
        OSError: there is no room for it.
    """
    try:
        print(text, flush=True)
    except BrokenPipeError:
        raise
    except OSError as error:
        drop_output()
        raise NotWritten(f"standard output cannot be written: {error.strerror}") from error


def drop_output() -> None:
    """Discard what stdout still holds, so that Python does not write it again at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def json_of(value: object) -> str:
    """Format a value as one line of JSON, without NaN."""
    return json.dumps(value, allow_nan=False)


def show_result(result: Result, options: argparse.Namespace, title: str = "") -> None:
    """Print a result in the requested format, and write its figure and its report.

    Args:
        title: of the text, in place of the result's own.
    """
    try:
        if options.json:
            show(json_of(result.to_dict()))
        elif _wants_first_screen(result, options):
            show(_first_screen(result, options, title))
        else:
            document = result.document()
            show(_format_document(document, options, title).rstrip("\n"))
            if not options.quiet and (options.csv or (options.latex and document.paper is None)):
                for note in document.left_out():
                    tell(SHELL.respell(note))
    finally:  # the files are written even if the reader closes the pipe after the first lines
        if options.plot is not None:
            from mauve_metric.report.html_and_images import save_chart

            save_chart(result.plot(), options.plot)
        if options.report is not None:
            result.save_report(options.report)


def _wants_first_screen(result: Result, options: argparse.Namespace) -> bool:
    """Return whether a result has a first screen, and no other form is asked for."""
    other = options.csv or options.markdown or options.latex or getattr(options, "all", False)
    return hasattr(result, "first_screen") and not other


def _first_screen(result: Any, options: argparse.Namespace, title: str) -> str:
    """The first screen, its verdict in colour on a terminal; with --quiet one line, with --signature that as well."""
    others = "" if options.command == "explain" else " · mauve-metric explain"
    more = f"more: --all · --report FILE · --latex{others}"
    text = printable_lines(result.summary()) if options.quiet else _with_flags(result.first_screen(title, more))
    if sys.stdout.isatty() and not os.environ.get("NO_COLOR"):
        for word, colour in COLOURS.items():
            text = re.sub(rf"^({word}\b[^\n]*)", rf"\033[1;{colour}m\1\033[0m", text, flags=re.MULTILINE)
    return f"{text}\n\nsignature: {result.signature}" if options.signature else text


def _with_flags(screen: str) -> str:
    """A first screen whose notes and reasons name options as flags."""
    said = re.compile("! |DIFFERENT|NO RANKING|.*NO VERDICT")
    return "\n".join(SHELL.respell(line) if said.match(line) else line for line in screen.split("\n"))


def printable_lines(text: str) -> str:
    """Lines without characters that control a terminal."""
    return "\n".join(map(printable, text.split("\n")))


def show_result_of(
    function: Callable[..., ResultT], options: argparse.Namespace, keywords: Mapping[str, Any], title: str = ""
) -> ResultT:
    """Call a function that several processes of a launcher share, and show its result in the first of them."""
    from mauve_metric.runtime.processes import process_group

    with process_group() as rank:
        result = function(**keywords, distributed=rank is not None)
    if not rank:
        show_result(result, options, title)
    return result


def _format_document(document: Document, options: argparse.Namespace, title: str) -> str:
    """Format a document as asked for; advice names flags."""
    from mauve_metric.report.document import Preformatted, Prose

    parts = list(document.parts)
    for index, part in enumerate(parts):
        if isinstance(part, Preformatted):
            text = re.sub(r"\n\n! [^\n]*(\n! [^\n]*)*", "", part.text) if options.markdown else part.text
            parts[index] = Preformatted(_with_flags(text))  # Markdown has the warnings below, all and once
        elif isinstance(part, Prose) and part.advice:
            parts[index] = part._replace(lines=[line._replace(text=SHELL.respell(line.text)) for line in part.texts])
    paper = document.paper and document.paper._replace(caveats=[*map(SHELL.respell, document.paper.caveats)])
    document = replace(document, title=title or document.title, parts=parts, paper=paper)
    if options.csv:
        return document.csv(options.csv)
    if options.markdown:
        return document.markdown()
    return document.latex(getattr(options, "all", False)) if options.latex else document.terminal(options.signature)


def show_advice(advice_of: Mapping[str, tuple[str, str]], options: argparse.Namespace) -> None:
    """Print cause and cure of the requested codes, by default of all.

    Raises:
        SystemExit: with status 2 for an unknown code.
    """
    unknown = [code for code in options.codes if code not in advice_of]
    if unknown:
        near = did_you_mean(unknown[0], advice_of)
        options.parser.error(f"there is no code {unknown[0]!r}{near}; without CODE the command shows all")
    asked = {code: advice_of[code] for code in options.codes or advice_of}
    if options.json:
        named = {code: {"cause": cause, "cure": cure} for code, (cause, cure) in asked.items()}
        show(json.dumps(named, ensure_ascii=False))
    else:
        from mauve_metric.report.document import wrapped

        spelled = {code: map(SHELL.respell, advice) for code, advice in asked.items()}
        advice = ([code, *wrapped(cause), *wrapped(cure, "  → ", "    ")] for code, (cause, cure) in spelled.items())
        show("\n\n".join(map("\n".join, advice)))
