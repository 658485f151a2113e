"""The command line, a view of the functions in `mauve_metric`: results on stdout, everything else on stderr.

A command imports what it needs to compute when it runs, so that help and wrong usage are answered at once.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import io
import logging
import os
import re
import shutil
import sys
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from mauve_metric.hosts.cli.exit_status import CLOSED_PIPE, ERROR, INTERRUPTED
from mauve_metric.hosts.cli.flags import CommandParser
from mauve_metric.hosts.cli.inputs_and_outputs import check_output_files, drop_output, named_file, tell
from mauve_metric.hosts.flags_and_labels import SHELL
from mauve_metric.inputs.file_types import type_by_name
from mauve_metric.inputs.records import split_field
from mauve_metric.runtime.checks import did_you_mean
from mauve_metric.runtime.errors import USER_ERRORS, code_of, message_of
from mauve_metric.runtime.plain_text import printable
from mauve_metric.version import __version__

_IN_THE_ORDER_OF_THE_HELP = (
    *("score", "compare", "describe", "robustness", "baseline", "stress-test", "explain", "reproduce", "demo"),
    *("featurize", "generate", "lm-eval-task", "deduplicate", "memorised", "preferences", "boundaries"),
    *("serve", "cache", "warnings", "errors"),
)
_PRINTED = ("--json", "--csv", "--latex", "--markdown")  # flags without a value
COMMANDS = {
    name: importlib.import_module(f"mauve_metric.hosts.cli.commands.{name.replace('-', '_')}")
    for name in _IN_THE_ORDER_OF_THE_HELP
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; the exit status: 0, 1 for an error, 2 for wrong usage, 3 or 4 for a failed gate."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # for pipes and terminals that are not UTF-8
    options = parse(arguments)
    if sys.stdout is None:
        tell("error: standard output is closed, so that nothing can be shown: open it, or send it to a file")
        return ERROR
    with _logging_to_stderr(options):
        try:
            check_output_files(options)
            return COMMANDS[options.command].run(options) or 0
        except KeyboardInterrupt:
            tell("interrupted")
            return INTERRUPTED
        except BrokenPipeError:  # the reader closed the pipe early, as `head` does
            drop_output()
            return CLOSED_PIPE
        except USER_ERRORS as error:
            if options.debug:
                raise
            code = code_of(error)
            spelling = SHELL._replace(names={**SHELL.names, **options.parser.flags()})
            message = spelling.respell(message_of(error), getattr(error, "argument", None))
            message = options.parser.with_flag(message, options)
            tell(f"error: {message}" + ("" if code is None else f"  [{code}]"))
            return ERROR


def parser(everything: bool = False, commands: Iterable[str] = COMMANDS) -> argparse.ArgumentParser:
    """The parser of the command line; the defaults are what other files need of a command.

    everything: include rare options in the help. commands: those whose arguments are added, which takes a millisecond
    for each.
    """
    whole = argparse.ArgumentParser(
        prog="mauve-metric",
        description="How close a model's texts are to human texts.",
        epilog="Pages of the repository: docs/start.md for the first steps, docs/measures.md for every measure, "
        "docs/errors.md for errors and warnings (or `mauve-metric warnings CODE` and `mauve-metric errors CODE`; "
        "a message ends with its code in brackets).",
    )
    whole.add_argument("--version", action="version", version=f"mauve_metric {__version__}")
    added = whole.add_subparsers(required=True, metavar="COMMAND", dest="command", parser_class=CommandParser)
    for name in commands:
        command = COMMANDS[name]
        about, examples = f"{command.HELP[0].upper()}{command.HELP[1:]}.", getattr(command, "EXAMPLES", None)
        about = textwrap.fill(about, shutil.get_terminal_size().columns - 2)
        subparser = added.add_parser(name, help=command.HELP, description=about, epilog=examples, everything=everything)
        command.add_arguments(subparser)
        subparser.add_argument("--verbose", "-v", action="store_true", help="say what is done, on stderr")
        subparser.add_argument("--quiet", "-q", action="store_true", help="errors only, and of a score one line")
        subparser.add_argument("--debug", action="store_true", help="show the whole traceback of an error")
        subparser.set_defaults(parser=subparser, more_outputs=getattr(command, "more_outputs", lambda options: []))
    return whole


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Parse the command line; a lone file that cannot hold both sides is wrong usage.

    Raises:
        SystemExit: with status 2 after a message for wrong usage.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    whole = parser("--help-all" in words, words[:1] if words and words[0] in COMMANDS else COMMANDS)
    if not words:
        whole.print_help()
        whole.exit()
    if words and not words[0].startswith("-") and words[0] not in COMMANDS:
        near = did_you_mean(words[0], [*COMMANDS, "--help", "--version"])
        if os.path.exists(split_field(named_file(words[0])[1])[0]):
            near = ", and there is a file of this name: a command comes first, such as `mauve-metric score HUMAN MODEL`"
        whole.error(f"there is no command {words[0]!r}{near}")
    options, unknown = whole.parse_known_args(words)
    if unknown:
        near = did_you_mean(unknown[0], _flags(options.command), prefix="--")
        if unknown[0].lstrip("-") in ("human", "model", "models", "texts"):
            near = " (files have no flag: write HUMAN MODEL)"
        elif (flag := words[words.index(unknown[0]) - 1]) in _PRINTED:
            near = f" ({flag} prints to standard output: write {flag} > {unknown[0]})"
        elif not unknown[0].startswith("-"):
            several = " (`mauve-metric compare` takes several models)"
            near = several if "model" in options else " (the command takes no more files)"
        options.parser.error(f"unrecognized arguments: {' '.join(unknown)}{near}")
    alone = any(not getattr(options, name, True) for name in ("model", "models"))
    path = named_file(options.human)[1] if alone and "human" in options else "-"
    kind = type_by_name(Path(path))
    if path not in ("", "-") and not os.path.isdir(path) and (kind is None or kind.is_plain):
        options.parser.error(f"{options.human}: expected MODEL after HUMAN, or a file that holds both")
    command = COMMANDS[options.command]
    if hasattr(command, "usage_error") and (wrong := command.usage_error(options)) is not None:
        options.parser.error(wrong)
    return options


def _flags(command: str) -> list[str]:
    """Every flag of a command."""
    with contextlib.redirect_stdout(io.StringIO()) as shown, contextlib.suppress(SystemExit):
        parser(everything=True, commands=[command]).parse_args([command, "--help"])
    return re.findall(r"--[a-z-]+", shown.getvalue())


class _Line(logging.Formatter):
    """Format a record without characters that control a terminal, and a warning with options as they are typed."""

    def format(self, record: logging.LogRecord) -> str:
        message = "\n".join(map(printable, super().format(record).split("\n")))
        return SHELL.respell(message) if record.levelno >= logging.WARNING else message


@contextlib.contextmanager
def _logging_to_stderr(options: argparse.Namespace) -> Iterator[None]:
    """Log to stderr: progress of long work and warnings; with --verbose, everything."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Line("mauve-metric: %(message)s"))
    progress = logging.ERROR if options.quiet else logging.INFO
    levels = {
        "": logging.INFO if options.verbose else logging.ERROR if options.quiet else logging.WARNING,
        ".scoring.score": logging.ERROR,  # the result holds these warnings
        ".scoring.compute": logging.ERROR,  # and these
        ".apps.studies.robustness": progress,  # expected duration
        ".apps.studies.stress_test": progress,
        ".features.sides": progress,  # how a file was read
        ".apps.job_progress": progress,  # the progress of a job of hours
    }
    loggers = {logging.getLogger(f"mauve_metric{name}"): level for name, level in levels.items()}
    before = {logger: logger.level for logger in loggers}
    logging.getLogger("mauve_metric").addHandler(handler)
    for logger, level in loggers.items():
        logger.setLevel(level)
    try:
        yield
    finally:
        logging.getLogger("mauve_metric").removeHandler(handler)
        for logger, level in before.items():
            logger.setLevel(level)
