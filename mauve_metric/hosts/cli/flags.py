"""The parser of a command and the flags that several commands have, checked before anything is computed."""

from __future__ import annotations

import argparse
import contextlib
import inspect
import re
from collections.abc import Callable, Collection
from dataclasses import Field
from typing import Any, TypeVar

from mauve_metric.apps.studies.protocols import PROTOCOLS, with_protocol
from mauve_metric.hosts.flags_and_labels import SHELL, flag_of
from mauve_metric.inputs.file_types import named_endings
from mauve_metric.inputs.files import FEATURE_FILES
from mauve_metric.options import FEATURIZER_SETS, VERBATIM, config_fields, run_fields
from mauve_metric.runtime.checks import shown
from mauve_metric.runtime.outputs import FIGURE_FILES, REPORT_FILES, check_ending

_REPEATED = 40  # characters by which a message's value is known
Value = TypeVar("Value")
# Metavars of arguments that name no file to read. Every other text is taken for the name of one, so that no output
# replaces it: a new argument is safe by default.
_WORDS = (
    *(
        "NAME",
        "NAMES",
        "FIELD",
        "COLUMN",
        "CODE",
        "GROUPS",
        "FACTORS",
        "DEVICE",
        "ADDRESS",
        "URL",
        "TEXT",
        "[MODEL:]DECODER",
    ),
    *("N", "NUMBER"),  # some of which may also be "auto"
    "FOLDER",  # that the package fills for itself
)


def _repeats(message: str, value: str) -> bool:
    """Return whether a message repeats a value: in quotes, maybe cut, as a word that is no number, or as its folder.

    >>> _repeats("there is no file 'a.txt'", "a.txt"), _repeats("got 30 texts", "30"), _repeats("nothing here", "thing")
    (True, False, False)
    >>> _repeats("texts/a.json must hold a list", "texts"), _repeats("texts/a.json must hold a list", "text")
    (True, False)
    """
    if value.strip("/") and message.startswith(value.rstrip("/") + "/"):
        return True
    begin = repr(value) if len(value) < _REPEATED else repr(value)[:_REPEATED]
    word = len(value) > 2 and re.search(rf"(?<![\w./-]){re.escape(value)}(?![\w/-])", message)
    return begin in message or bool(word and not value.isdecimal())


class CommandParser(argparse.ArgumentParser):
    """A parser whose usage is one line, and whose help lists rare options only on request."""

    def __init__(self, everything: bool = False, **options: Any) -> None:
        self.everything = everything
        self._outputs: list[str] = []
        super().__init__(**options, formatter_class=argparse.RawDescriptionHelpFormatter)
        self.register("action", None, _Once)
        self.usage = "%(prog)s [options]"
        self.add_argument("--help-all", action="help", help="show every option and exit")

    def add_argument(self, *names: str, **options: Any) -> argparse.Action:
        """Add an argument; one without a flag is shown in the usage."""
        action = super().add_argument(*names, **options)
        if not action.option_strings and isinstance(action.metavar, str):
            form = {None: "{0}", "?": "[{0}]", "*": "[{0} ...]", "+": "{0} [{0} ...]"}[action.nargs]  # type: ignore[index]
            self.usage = f"{self.usage} {form.format(action.metavar)}"
        return action

    def add_output(self, *names: str, group: argparse._ArgumentGroup | None = None, **options: Any) -> argparse.Action:
        """Add an argument for a file, or a folder (metavar DIR), to write."""
        action = (self if group is None else group).add_argument(*names, **options)
        self._outputs.append(action.dest)
        return action

    def _get_values(self, action: argparse.Action, arg_strings: list[str]) -> Any:
        """The values of an argument; `--flag=--` has the value "--", which argparse drops before Python 3.13."""
        if action.option_strings and arg_strings == ["--"]:
            value = self._get_value(action, "--")
            self._check_value(action, value)
            return [value] if action.nargs in ("*", "+") else value
        return super()._get_values(action, arg_strings)

    def flags(self) -> dict[str, str]:
        """The long flag of each argument that has one, by its name; not of what a flag turns off."""
        named = (action for action in self._actions if action.option_strings and action.const is not False)
        return {action.dest: _long_flag(action) for action in named}

    def with_flag(self, message: str, options: argparse.Namespace) -> str:
        """An error's message after the flag whose value it repeats, where it is one and the message names none."""
        typed = {}
        for action in self._actions:
            values = [*map(str, _listed(getattr(options, action.dest, None)))]
            if action.option_strings and action.nargs != 0 and values != [*map(str, _listed(action.default))]:
                typed[_long_flag(action)] = values
        if any(re.search(rf"{flag}(?![\w-])", message) for flag in typed):
            return message
        about = [flag for flag, values in typed.items() if any(_repeats(message, value) for value in values)]
        return f"{about[0]}: {message}" if len(about) == 1 else message

    def inputs_of(self, options: argparse.Namespace) -> list[str]:
        """Every text on the command line that may name a file or folder to read; of `NAME=FILE` as well."""
        read = [action.dest for action in self._actions if self._is_read(action)]
        values = [value for dest in dict.fromkeys(read) for value in _listed(getattr(options, dest, None))]
        return [value for value in values if isinstance(value, str)]

    def outputs_of(self, options: argparse.Namespace) -> list[str]:
        """The files to write; what is written in a folder (metavar DIR) only its command knows."""
        files = [action.dest for action in self._actions if action.metavar == "FILE" and action.dest in self._outputs]
        return [path for dest in files if (path := getattr(options, dest)) is not None]

    def _is_read(self, action: argparse.Action) -> bool:
        """Return whether an argument's value may name a file or folder to read."""
        metavar = str(action.metavar)
        is_word = action.nargs == 0 or action.choices is not None or metavar.startswith("{")
        return not is_word and metavar not in _WORDS and action.dest not in self._outputs

    def rare(self, help: str) -> str:
        """The help of a rarely used option, or `SUPPRESS`."""
        return help if self.everything else argparse.SUPPRESS

    def _help_of(self, option: Field[Any]) -> str:
        """The help of an option's flag, without the part for Python alone."""
        text: str = SHELL.respell(option.metadata["help"].split("; in Python")[0]).replace("%", "%%")
        return text if option.metadata["common"] else self.rare(text)

    def add_text_field(self) -> None:
        """Add flags for the options about texts, and for the encoding of their files."""
        for name, option in run_fields().items():
            if option.metadata["stage"] == "texts":
                self.add_argument(flag_of(name), metavar=option.metadata["metavar"], help=self._help_of(option))
        self.add_encoding()

    def add_encoding(self) -> None:
        """Add the flags for files that are not UTF-8, and for tables whose first line is not read as it is meant."""
        text = "encoding of files that are not UTF-8, such as cp1252; the error of such a file guesses it"
        self.add_argument("--encoding", metavar="NAME", help=self.rare(text))
        text = "the first line of a table has the names of its columns, or has not (unset: by its cells)"
        self.add_argument("--header", action=Switch, help=self.rare(text))

    def add_field_options(self, both: bool = True) -> None:
        """Add flags for the fields of a file; a dotted path names one in a field. both: also for the model's side."""
        self.add_text_field()
        text = "field of the human texts, where it has another name than the model's; doc.story is one inside doc"
        self.add_argument("--reference-field", metavar="NAME", help=text)
        if both:
            text = "field of the model's texts, likewise; resps.0.0 is the first of the first"
            self.add_argument("--prediction-field", metavar="NAME", help=text)

    def add_design_options(self) -> None:
        """Add flags for texts that share prompts."""
        group = self.add_argument_group("texts that share prompts (bias, intervals and tests depend on it)")
        text = "row i of every set, HUMAN included, answers prompt i"
        group.add_argument("--aligned", action="store_true", help=text)
        self.add_prompt_field(group)

    def add_prompt_field(self, group: argparse._ArgumentGroup | None = None) -> None:
        """Add the flag for the field of the texts' prompts."""
        text = "field of the prompt, or of anything equal in texts that belong together"
        (group or self).add_argument("--prompt-field", metavar="NAME", help=text)

    def add_by(self, what: str) -> None:
        """Add the flag for the field of the texts' labels. what: that the command shows of each."""
        self.add_argument("--by", metavar="FIELD", help=f"field of a topic, source or language: {what} of each label")

    def add_output_options(self, *tables: str, all_of_it: bool = False) -> None:
        """Add flags for the form of the output and for its files.

        tables: those of --csv, the default first. all_of_it: there is a first screen, and more behind --all.
        """
        group = self.add_argument_group("output")
        form = group.add_mutually_exclusive_group()
        form.add_argument("--json", action="store_true", help="print one JSON object and nothing else on stdout")
        form.add_argument("--markdown", action="store_true", help="print Markdown")
        for number, table in enumerate(tables):
            flag = flag_of(f"csv_{table}") if number else "--csv"
            text = f"print the table of {table.replace('_', ' ')} as CSV"
            form.add_argument(flag, dest="csv", action="store_const", const=table, help=text)
        form.add_argument("--latex", action="store_true", help="print LaTeX tables")
        if all_of_it:
            group.add_argument("--all", action="store_true", help="print everything: all scores, warnings and tables")
        text = "end with the line that `mauve-metric reproduce` takes"
        group.add_argument("--signature", action="store_true", help=text)
        figure = argument_type(lambda path: check_ending("figure", path, FIGURE_FILES))
        text = f"also draw a figure to FILE: {', '.join(FIGURE_FILES)}"
        self.add_output("--plot", group=group, metavar="FILE", type=figure, help=text)
        report = argument_type(lambda path: check_ending("report", path, REPORT_FILES))
        self.add_output("--report", group=group, metavar="FILE", type=report, help="also write an HTML page to FILE")

    def add_number(
        self, flag: str, default: float, text: str, metavar: str | None = None, type: Callable[[str], float] = float
    ) -> None:
        """Add the flag of a number that has a default."""
        text = f"{text} (default: {default:g})"
        self.add_argument(flag, type=type, default=default, metavar=metavar, help=text)

    def add_codes(self) -> None:
        """Add the arguments of a command that explains codes."""
        self.add_argument("codes", metavar="CODE", nargs="*", help="the word in brackets (none: all of them)")
        self.add_argument("--json", action="store_true", help="print one JSON object")

    def add_run_options(self, verb: str = "compute_mauve") -> None:
        """Add one flag for each field of the run options about speed that a public function uses."""
        group = self.add_argument_group("speed (no influence on the score)")
        for name, option in run_fields(verb).items():
            if option.metadata["stage"] != "speed":
                continue
            common: dict[str, Any] = {"default": argparse.SUPPRESS, "help": self._help_of(option)}
            if option.default is False:
                group.add_argument(flag_of(name), action="store_true", **common)
                continue
            kind = int if option.type == "int | None" else str
            group.add_argument(flag_of(name), type=kind, metavar=_metavar(option), **common)
            if option.default is True:
                common["help"] = "keep no features"
                group.add_argument(flag_of(f"no_{name}"), dest=name, action=_Once, nargs=0, const=False, **common)

    def add_score_options(self, verb: str, *tables: str, featurizers: str = "") -> None:
        """Add the flags of a command that scores several sides: those of files, prompts, output, speed and score.

        verb: the public function. tables: see `add_output_options`. featurizers: see `add_config_options`.
        """
        self.add_field_options()
        self.add_design_options()
        self.add_output_options(*tables, all_of_it=verb in ("compute_mauve", "compare", "explain"))
        for name, option in run_fields(verb).items():
            if option.metadata["stage"] == "output":
                text, metavar = self._help_of(option), _metavar(option)
                self.add_argument(flag_of(name), metavar=metavar, default=argparse.SUPPRESS, help=text)
        self.add_run_options(verb)
        self.add_config_options(verb, featurizers)
        if verb in ("compute_mauve", "compare", "explain", "describe"):
            text = "the options of a published evaluation; those that it fixes cannot be set otherwise"
            self.add_argument("--protocol", choices=tuple(PROTOCOLS), help=text)

    def add_config_options(
        self, verb: str = "compute_mauve", featurizers: str = "", names: Collection[str] = ()
    ) -> None:
        """Add one flag for each field of the config that a public function uses.

        featurizers: what is done with several, where there may be several. names: of the only fields that are meant.
        """
        group = self.add_argument_group("options that can change the score (part of the signature)")
        for name, option in config_fields(verb).items():
            if names and name not in names:
                continue
            flag, text = flag_of(name), self._help_of(option)
            common: dict[str, Any] = {"default": argparse.SUPPRESS, "help": text}
            if isinstance(option.default, bool):
                group.add_argument(flag, action=Switch, **common)
                continue
            if text != argparse.SUPPRESS and option.default is not None:
                common["help"] = text = f"{text} (default: {option.default})"
            common |= {"type": _config_value(option), "metavar": _metavar(option)}
            if name == "empty_texts":
                text = "leave out texts that are missing: empty, null, failed, refused, deleted; the same as drop"
                drop: dict[str, Any] = {
                    "action": _Once,
                    "nargs": 0,
                    "const": "drop",
                    "dest": name,
                    "default": argparse.SUPPRESS,
                }
                group.add_argument("--drop-missing", **drop, help=self.rare(text))
            if name != "featurize_model_name":
                group.add_argument(flag, **common)
                continue
            several: dict[str, Any] = {"dest": name}
            if featurizers:
                several = {"action": Featurizers, "dest": "featurizers", "default": None}
                several["help"] = f"{text}; again for each of several: {featurizers}"
            elif verb != "compute_mauve":
                several["help"] = re.sub(r"'standard' \(.*?\), ", "", text)  # a set of two
            group.add_argument(flag, "--featurize-model-name", **common | several)

    def add_human(self) -> None:
        """Add the human texts."""
        files = f"{', '.join([*named_endings(), *FEATURE_FILES])}, a folder of .txt files, or - for standard input"
        text = f"human (reference) texts or features: {files}; FILE:FIELD[column=value] names the field, and the rows"
        self.add_argument("human", metavar="HUMAN", help=text)

    def add_models(self) -> None:
        """Add human texts and those of several models."""
        self.add_human()
        text = "a model's texts or features, likewise; NAME=FILE names it; without HUMAN where every file holds both"
        self.add_argument("models", metavar="MODEL", nargs="*", help=text)
        text = "leave out rows (doc_id) that not all of the models' files have"
        self.add_argument("--common-rows", action="store_true", help=text)

    def add_two_sides(self) -> None:
        """Add human texts and those of one model."""
        alone = "a file with human texts beside the model's, such as lm-evaluation-harness's samples, needs no MODEL"
        self.add_human()
        self.add_argument("model", metavar="MODEL", nargs="?", help=f"the model's texts or features, likewise; {alone}")


def _listed(value: object) -> list[object]:
    """The values of an argument that may have several."""
    return value if isinstance(value, list) else [value]


def argument_type(
    check: Callable[[str], Value], respell: Callable[[str], str] = SHELL.respell
) -> Callable[[str], Value]:
    """Make the `type` of an argument from a check; its `ValueError` or `TypeError` becomes wrong usage.

    respell: of the message; `str` where it holds names of options that are no flags there.
    """

    def parse(text: str) -> Value:
        try:
            return check(text)
        except (TypeError, ValueError) as error:
            reason = str(error).removeprefix(f"{getattr(error, 'argument', None)} ")  # argparse names the flag
            raise argparse.ArgumentTypeError(respell(reason)) from error

    return parse


def count(text: str) -> int:
    """Parse an integer from 1 to 2**31 - 1."""
    try:
        number = int(text)
    except ValueError:
        number = 0
    if not 0 < number < 2**31:
        raise argparse.ArgumentTypeError(f"expected a whole number of at least 1 and below 2**31, got {shown(text)}")
    return number


def _metavar(option: Any) -> str:
    """The value of an option's flag, for the help."""
    choices = option.metadata["choices"]
    if choices:
        return "{" + ",".join(str(choice).lower() for choice in choices) + "}"
    kind = "N" if option.type.startswith("int") else "NUMBER" if option.type.startswith("float") else "TEXT"
    return option.metadata["metavar"] or kind


def _long_flag(action: argparse.Action) -> str:
    """The flag of an argument in messages: that of its name, else its first long one, such as --output of -o."""
    strings = action.option_strings
    return next(
        (flag for flag in (flag_of(action.dest), *strings) if flag in strings and flag[:2] == "--"), strings[-1]
    )


class Featurizers(argparse.Action):
    """A flag that may be repeated; a short name stands for its featurizers."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, option: str | None = None
    ) -> None:
        """Add the featurizers, each once; another repetition is left to the function, which refuses it."""
        earlier = getattr(namespace, self.dest) or []
        named = FEATURIZER_SETS.get(values)
        more = [values] if named is None else [name for name in named if name not in earlier]
        setattr(namespace, self.dest, [*earlier, *more])


def _store_once(
    parser: argparse.ArgumentParser, namespace: argparse.Namespace, name: str, value: object, option: str | None
) -> None:
    """Store the value of an argument; a second value of a flag is wrong usage, since one would be lost."""
    earlier = vars(namespace).setdefault("stored", {}).setdefault(name, value)
    if option is not None and earlier is not value and earlier != value:  # nan is not equal to itself
        parser.error(f"argument {option}: this command takes one, got {earlier} and {value}")
    setattr(namespace, name, value)


class _Once(argparse.Action):
    """An argument with one value, as argparse has it if no other action is named."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: object, option: str | None = None
    ) -> None:
        """Store the value once, or that of a flag without one."""
        _store_once(parser, namespace, self.dest, self.const if self.nargs == 0 else values, option)


class Switch(argparse.BooleanOptionalAction):
    """A flag with another one that says no."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: object, option: str | None = None
    ) -> None:
        """Store the truth value once."""
        _store_once(parser, namespace, self.dest, not str(option).startswith("--no-"), option)


def _config_value(option: Field[Any]) -> Callable[[str], object]:
    """The parser of one config flag: a number or truth value where it can be one, checked by the field's own check."""

    def parse(text: str) -> object:
        value: object = text
        if option.metadata["choices"]:
            value = {"true": True, "false": False}.get(text.lower(), text)
        elif option.name not in VERBATIM:
            for number in (float, int):  # an integer where it is one
                with contextlib.suppress(ValueError):
                    value = number(text)
        return option.metadata["check"](option.name, value)

    return argument_type(parse)


def keywords_of(function: Callable[..., object], options: argparse.Namespace) -> dict[str, Any]:
    """The arguments of a command line that a public function takes, by name; the files' fields are read with the files.

    One featurizer of several has its own keyword, so that the function takes it as that of its options.
    """
    values = vars(options) | {"verbose": not options.quiet, "text_field": None}
    if len(values.get("featurizers") or ()) == 1:
        values |= {"featurizers": None, "featurize_model_name": options.featurizers[0]}
    if values.get("protocol") is not None:
        if values.get("featurizers"):
            raise ValueError(f"--protocol {values['protocol']} fixes the featurizer: leave --featurizer out")
        values = with_protocol(values["protocol"], values)
    taken = inspect.signature(function).parameters
    return {name: value for name, value in values.items() if name in taken and value is not None}
