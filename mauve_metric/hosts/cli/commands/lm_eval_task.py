"""`mauve-metric lm-eval-task`: a task for lm-evaluation-harness from human texts."""

from __future__ import annotations

import argparse
from pathlib import Path

from mauve_metric.hosts.cli.flags import CommandParser, argument_type, count, keywords_of
from mauve_metric.hosts.cli.inputs_and_outputs import reading, show, tell
from mauve_metric.hosts.harness import lm_eval_task as task
from mauve_metric.inputs.file_types import named_endings
from mauve_metric.inputs.files import read_texts
from mauve_metric.runtime.plain_text import counted

HELP = "write a task for lm-evaluation-harness from human texts"


def add_arguments(parser: CommandParser) -> None:
    """Add the texts, the folder and the division of the texts."""
    text = f"human texts: {', '.join(named_endings())}, a folder of .txt files, or -"
    parser.add_argument("texts", metavar="TEXTS", help=text)
    text = "a folder for the task's files"
    parser.add_output("-o", "--output", metavar="DIR", dest="folder", required=True, help=text)
    parser.add_argument(
        "--name", metavar="NAME", type=argument_type(task.check_task_name), help="of the task (default: that of TEXTS)"
    )
    parser.add_number("--prompt-words", task.PROMPT_WORDS, "words of a text to continue", type=count)
    parser.add_number("--new-tokens", task.NEW_TOKENS, "most tokens of a continuation", type=count)
    parser.add_text_field()
    parser.add_run_options()
    parser.add_config_options()


def more_outputs(options: argparse.Namespace) -> list[Path]:
    """The files of the task, if its folder is there already."""
    files = task.task_files(options.folder, options.name or task.task_name(options.texts))
    return list(files) if Path(options.folder).is_dir() else []


def run(options: argparse.Namespace) -> None:
    """Write the task and show the command that runs it."""
    from mauve_metric.clustering.quantizers import scoring_options
    from mauve_metric.scoring.compute import compute_mauve

    keywords = keywords_of(compute_mauve, options)
    scoring_options(keywords)  # the task stores the options of the score; the others are checked, too
    name, folder = options.name or task.task_name(options.texts), Path(options.folder).resolve()
    texts = read_texts(options.texts, options.text_field, side="reference", **reading(options))
    words, tokens = options.prompt_words, options.new_tokens
    del keywords["verbose"]
    documents = task.write_task(texts, folder, name, prompt_words=words, new_tokens=tokens, options=keywords)
    short = len(texts) - documents
    left_out = f", {counted(short, 'text is', 'texts are')} left out: no word beyond the prompt's" if short else ""
    tell(f"{documents} documents in {folder / name}.yaml{left_out}")
    show(task.run_command(name, folder))
