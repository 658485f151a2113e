"""`mauve-metric lm-eval-task`: a task for lm-evaluation-harness from human texts."""

from __future__ import annotations

import argparse
from pathlib import Path

from mauve_metric.hosts.cli.flags import CommandParser, argument_type, count, keywords_of
from mauve_metric.hosts.cli.output import show, tell
from mauve_metric.hosts.plugins.lm_eval_task import (
    NEW_TOKENS,
    PROMPT_WORDS,
    check_task_name,
    task_files,
    task_name,
    write_task,
)
from mauve_metric.texts.files import READERS, read_texts

HELP = "write a task for lm-evaluation-harness from human texts"


def add_arguments(parser: CommandParser) -> None:
    """Add the texts, the folder and the division of the texts."""
    parser.add_argument(
        "texts", metavar="TEXTS", help=f"human texts: {', '.join(READERS)}, a folder of .txt files, or -"
    )
    parser.add_argument(
        "-o", "--output", metavar="DIR", dest="folder", required=True, help="a folder for the task's files"
    )
    parser.add_argument("--name", type=argument_type(check_task_name), help="of the task (default: that of TEXTS)")
    parser.add_number("--prompt-words", PROMPT_WORDS, "words of a text to continue", type=count)
    parser.add_number("--new-tokens", NEW_TOKENS, "most tokens of a continuation", type=count)
    parser.add_text_field()
    parser.add_run_options()
    parser.add_config_options()


def more_outputs(options: argparse.Namespace) -> list[Path]:
    """The files of the task, if its folder is there already."""
    files = task_files(options.folder, options.name or task_name(options.texts))
    return list(files) if Path(options.folder).is_dir() else []


def run(options: argparse.Namespace) -> None:
    """Write the task and show the command that runs it."""
    from mauve_metric.api.compute import compute_mauve
    from mauve_metric.quantize.quantizers import scoring_options

    given = keywords_of(compute_mauve, options)
    scoring_options(given)  # the task stores the options of the score; the others are checked, too
    task = write_task(
        read_texts(options.texts, options.text_field),
        options.folder,
        options.name or task_name(options.texts),
        prompt_words=options.prompt_words,
        new_tokens=options.new_tokens,
        options={name: value for name, value in given.items() if name != "verbose"},
    )
    tell(task.summary())
    show(task.command())
