"""The parser of a command and the flags that several commands have, checked before anything is computed."""

from __future__ import annotations

import argparse
import contextlib
import inspect
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any, TypeVar

from mauve_metric.options import VERBATIM, config_fields, run_fields
from mauve_metric.results.wording.spelling import SHELL, flag_of
from mauve_metric.runtime.checks import shown
from mauve_metric.runtime.outputs import FIGURE_FILES, REPORT_FILES, check_ending
from mauve_metric.texts.files import FEATURE_FILES

Value = TypeVar("Value")


class CommandParser(argparse.ArgumentParser):
    """A parser whose usage is one line, and whose help lists rare options only on request."""

    def __init__(self, everything: bool = False, **options: Any) -> None:
        self.everything = everything
        super().__init__(**options, formatter_class=argparse.RawDescriptionHelpFormatter)
        self.usage = "%(prog)s [options]"
        self.add_argument("--help-all", action="help", help="show every option and exit")

    def add_argument(self, *names: str, **options: Any) -> argparse.Action:
        """Add an argument; one without a flag is shown in the usage."""
        action = super().add_argument(*names, **options)
        if not action.option_strings and isinstance(action.metavar, str):
            form = {None: "{0}", "?": "[{0}]", "*": "[{0} ...]", "+": "{0} [{0} ...]"}[action.nargs]  # type: ignore[index]
            self.usage = f"{self.usage} {form.format(action.metavar)}"
        return action

    def rare(self, help: str) -> str:
        """The help of a rarely used option, or `SUPPRESS`."""
        return help if self.everything else argparse.SUPPRESS


def add_text_field(parser: CommandParser) -> None:
    """Add flags for the options about texts."""
    for name, item in run_fields().items():
        if item.metadata["stage"] == "texts":
            parser.add_argument(flag_of(name), metavar=item.metadata["metavar"], help=_help_of(item, parser))


def add_field_options(parser: CommandParser, both: bool = True) -> None:
    """Add flags for the fields of a file; a dotted path names one in a field. both: the model's side is read, too."""
    add_text_field(parser)
    text = "field of the human texts, where a file holds both sides; doc.story is one inside doc"
    parser.add_argument("--reference-field", metavar="NAME", help=parser.rare(text))
    if both:
        text = "field of the model's texts, likewise; resps.0.0 is the first of the first"
        parser.add_argument("--prediction-field", metavar="NAME", help=parser.rare(text))
    add_filter(parser)


def add_design_options(parser: CommandParser) -> None:
    """Add flags for texts that share prompts."""
    group = parser.add_argument_group("texts that share prompts (bias, intervals and tests depend on it)")
    group.add_argument("--aligned", action="store_true", help="row i of every set, HUMAN included, answers prompt i")
    group.add_argument(
        "--prompt-field", metavar="NAME", help="field of the prompt, or of anything equal in texts that belong together"
    )


def add_by(parser: CommandParser, what: str) -> None:
    """Add the flag for the field of the texts' labels. what: that the command shows of each."""
    parser.add_argument("--by", metavar="FIELD", help=f"field of a topic, source or language: {what} of each label")


def add_filter(parser: CommandParser) -> None:
    """Add the flag that selects the texts to read from a harness's file."""
    text = "the filter of lm-evaluation-harness, or the epoch of Inspect, whose texts are read"
    parser.add_argument("--filter", metavar="NAME", help=parser.rare(text))


def add_output_options(parser: CommandParser, *tables: str) -> None:
    """Add flags for the form of the output and for its files; tables: those of --csv, the default first."""
    group = parser.add_argument_group("output")
    form = group.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print one JSON object and nothing else on stdout")
    form.add_argument("--markdown", action="store_true", help="print Markdown")
    for number, table in enumerate(tables):
        flag = flag_of(f"csv_{table}") if number else "--csv"
        text = f"print the table of {table.replace('_', ' ')} as CSV"
        form.add_argument(flag, dest="csv", action="store_const", const=table, help=text)
    form.add_argument("--latex", action="store_true", help="print LaTeX tables")
    group.add_argument("--signature", action="store_true", help="end with the line that `mauve-metric reproduce` takes")
    figure = argument_type(lambda path: check_ending("figure", path, FIGURE_FILES))
    group.add_argument(
        "--plot", metavar="FILE", type=figure, help=f"also draw a figure to FILE: {', '.join(FIGURE_FILES)}"
    )
    report = argument_type(lambda path: check_ending("report", path, REPORT_FILES))
    group.add_argument("--report", metavar="FILE", type=report, help="also write an HTML page to FILE")


def add_number(parser: CommandParser, flag: str, default: float, text: str, metavar: str | None = None) -> None:
    """Add the flag of a number that has a default, a whole one if the default is."""
    text = f"{text} (default: {default:g})"
    parser.add_argument(flag, type=type(default), default=default, metavar=metavar, help=text)


def add_confidence_level(parser: CommandParser) -> None:
    """Add the flag for the confidence level to a command that has no other option of a score."""
    add_number(parser, "--confidence-level", 0.95, "of the intervals")


def add_codes(parser: CommandParser) -> None:
    """Add the arguments of a command that explains codes."""
    parser.add_argument("codes", metavar="CODE", nargs="*", help="the word in brackets (none: all of them)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def argument_type(check: Callable[[str], Value]) -> Callable[[str], Value]:
    """Make the `type` of an argument from a check; its `ValueError` or `TypeError` becomes wrong usage."""

    def parse(text: str) -> Value:
        try:
            return check(text)
        except (TypeError, ValueError) as error:
            reason = str(error).removeprefix(f"{getattr(error, 'argument', None)} ")  # argparse names the flag
            raise argparse.ArgumentTypeError(SHELL.respell(reason)) from error

    return parse


def add_run_options(parser: CommandParser, verb: str = "compute_mauve") -> None:
    """Add one flag for each field of the run options about speed that a public function uses."""
    group = parser.add_argument_group("speed (no influence on the score)")
    for name, item in run_fields(verb).items():
        if item.metadata["stage"] != "speed":
            continue
        common: dict[str, Any] = {"default": argparse.SUPPRESS, "help": _help_of(item, parser)}
        if item.default is False:
            group.add_argument(flag_of(name), action="store_true", **common)
            continue
        kind = int if item.type == "int | None" else str
        group.add_argument(flag_of(name), type=kind, metavar=_metavar(item), **common)
        if item.default is True:
            common["help"] = "keep no features"
            group.add_argument(flag_of(f"no_{name}"), dest=name, action="store_false", **common)


def add_log_options(parser: argparse._ActionsContainer) -> None:
    """Add flags for the messages on stderr."""
    parser.add_argument("--verbose", "-v", action="store_true", help="say what is done, on stderr")
    parser.add_argument("--quiet", "-q", action="store_true", help="no progress bar, errors only")
    parser.add_argument("--debug", action="store_true", help="show the whole traceback of an error")


def add_score_options(parser: CommandParser, verb: str, *tables: str, featurizers: str = "") -> None:
    """Add the flags of a command that scores several sides: those of files, prompts, output, speed and score.

    verb: the public function. tables: see `add_output_options`. featurizers: see `add_config_options`.
    """
    add_field_options(parser)
    add_design_options(parser)
    add_output_options(parser, *tables)
    add_run_options(parser, verb)
    add_config_options(parser, verb, featurizers)


def features_file(path: str) -> str:
    """The name of a file of features, refused before anything is computed if its suffix is not known."""
    if Path(path).suffix.lower() not in (*FEATURE_FILES, ".parquet"):
        raise argparse.ArgumentTypeError(f"features are written to .npy, .npz or .parquet, got {path!r}")
    return path


def count(text: str) -> int:
    """A whole number of at least 1, for which 32 bits suffice."""
    try:
        number = int(text)
    except ValueError:
        number = 0
    if not 0 < number < 2**31:
        raise argparse.ArgumentTypeError(f"expected a whole number of at least 1 and below 2**31, got {shown(text)}")
    return number


def add_config_options(
    parser: CommandParser, verb: str = "compute_mauve", featurizers: str = "", names: Collection[str] = ()
) -> None:
    """Add one flag for each field of the config that a public function uses.

    featurizers: what is done with several, where there may be several. names: of the only fields that are meant.
    """
    group = parser.add_argument_group("options that can change the score (part of the signature)")
    for name, item in config_fields(verb).items():
        if names and name not in names:
            continue
        flag, text = flag_of(name), _help_of(item, parser)
        common: dict[str, Any] = {"default": argparse.SUPPRESS, "help": text}
        if isinstance(item.default, bool):
            group.add_argument(flag, action=argparse.BooleanOptionalAction, **common)
            continue
        if text != argparse.SUPPRESS and item.default is not None:
            common["help"] = text = f"{text} (default: {item.default})"
        if name == "featurize_model_name":
            several: dict[str, Any] = {"action": Once}
            if featurizers:
                several = {"action": "append", "dest": "featurizers", "default": None}
                several["help"] = f"{text}; again for each of several: {featurizers}"
            group.add_argument(flag, "--featurizer", type=_config_value(name), metavar="MODEL", **common | several)
        else:
            group.add_argument(flag, type=_config_value(name), metavar=_metavar(item), **common)


def _metavar(item: Any) -> str:
    """The value of a field's flag, for the help."""
    choices = item.metadata["choices"]
    if choices:
        return "{" + ",".join(str(choice).lower() for choice in choices) + "}"
    kind = "N" if item.type.startswith("int") else "NUMBER" if item.type.startswith("float") else "TEXT"
    return item.metadata["metavar"] or kind


def _help_of(item: Any, parser: CommandParser) -> str:
    """The help of a field's flag, without the part for Python alone."""
    text = item.metadata["help"].split("; in Python")[0].replace("%", "%%")
    return text if item.metadata["common"] else parser.rare(text)


class Once(argparse.Action):
    """A flag that may be given once; with two values one would be lost."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: object, option: str | None = None
    ) -> None:
        """Store the value; a second one is wrong usage."""
        if hasattr(namespace, self.dest):
            parser.error(f"argument {option}: this command takes one, got {getattr(namespace, self.dest)} and {values}")
        setattr(namespace, self.dest, values)


def _config_value(name: str) -> Callable[[str], object]:
    """The parser of one config flag: a number or a truth value where it is one, checked by the field's own check."""
    check = config_fields()[name].metadata["check"]
    return argument_type(lambda text: check(name, _literal(name, text)))


def _literal(name: str, text: str) -> str | int | float | bool:
    """A flag's text as a number or truth value, where the field can be one."""
    knob = config_fields()[name]
    if knob.metadata["choices"]:
        return {"true": True, "false": False}.get(text.lower(), text)
    if name in VERBATIM:
        return text
    for number in (int, float):
        with contextlib.suppress(ValueError):
            return number(text)
    return text


def keywords_of(function: Callable[..., object], options: argparse.Namespace) -> dict[str, Any]:
    """The arguments of a command line that a public function takes, by name; the files' fields are read with the files.

    One featurizer of several has its own keyword, so that the function takes it as that of its options.
    """
    given = vars(options) | {"verbose": not options.quiet, "text_field": None}
    if len(given.get("featurizers") or ()) == 1:
        given |= {"featurizers": None, "featurize_model_name": options.featurizers[0]}
    taken = inspect.signature(function).parameters
    return {name: value for name, value in given.items() if name in taken and value is not None}
