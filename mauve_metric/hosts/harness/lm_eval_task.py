"""A task for lm-evaluation-harness from human texts: a model continues each, MAUVE scores the continuations."""

from __future__ import annotations

import json
import os
import pprint
import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from mauve_metric.runtime.checks import check_path
from mauve_metric.runtime.outputs import check_can_be_written, check_replaceable, make_folder, written_whole

PROMPT_WORDS = 20
NEW_TOKENS = 256  # as the harness itself

_INCLUDE = Path(__file__).with_name("lm_eval_mauve.yaml")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_MARK = b"a task of lm-evaluation-harness, written by `mauve-metric lm-eval-task`"


def task_name(path: str) -> str:
    """A name for the task of a file.

    >>> task_name("texts/my stories-2.jsonl"), task_name("-"), task_name("2024.txt")
    ('my_stories_2', 'stdin', '_2024')
    """
    name = re.sub(r"\W", "_", "stdin" if path == "-" else Path(path).stem, flags=re.ASCII)
    return name if _NAME.fullmatch(name) else f"_{name}"


def run_command(name: str, folder: Path) -> str:
    """The shell command that runs a task."""
    return (
        f"lm_eval --model hf --model_args pretrained=MODEL --include_path {shlex.quote(str(folder))} --tasks {name} "
        "--log_samples --output_path results"
    )


def cut(text: str, words: int) -> dict[str, str] | None:
    """Cut a text after a number of words, without the whitespace there; None if nothing is left to continue.

    >>> cut("One  day it rained. ", 2), cut("One day", 2)
    ({'prompt': 'One  day', 'target': 'it rained.'}, None)
    """
    match = re.match(rf"\s*((?:\S+\s+){{{words - 1}}}\S+)\s+(\S.*)", text, flags=re.DOTALL)
    return None if match is None else {"prompt": match[1], "target": match[2].rstrip()}


def write_task(
    texts: Sequence[str],
    folder: str | Path,
    name: str,
    *,
    prompt_words: int = PROMPT_WORDS,
    new_tokens: int = NEW_TOKENS,
    options: Mapping[str, Any] | None = None,
) -> int:
    """Write `NAME.yaml`, `NAME_documents.jsonl` and `NAME_mauve.py`; return the number of documents.

    Args:
        texts: human texts, whole ones.
        folder: made if it is not there, and may be moved; the harness gets it as `--include_path`.
        name: of the task.
        prompt_words: of each text are the prompt. new_tokens: of a model's text, at most.
        options: of `compute_mauve`.

    Raises:
        TypeError, ValueError: an option is wrong, the name is none, or all texts are too short. OSError: a file cannot
        be written, or one of its name is there that is of no such task.
    """
    import jinja2

    from mauve_metric.hosts.harness.pair_scores import PairScores

    here = {name: value for name, value in (options or {}).items() if name not in ("device", "score_device")}
    PairScores(**here)  # the task makes them when the harness loads it, perhaps on a machine with other devices
    data, functions, task = task_files(folder, name)
    documents = [document for text in texts if (document := cut(text, prompt_words)) is not None]
    if not documents:
        raise ValueError(f"none of {len(texts)} texts has more than prompt_words={prompt_words} words: ask for fewer")
    make_folder(task.parent)
    templates = jinja2.Environment(  # of files in which nothing is escaped
        loader=jinja2.PackageLoader("mauve_metric.hosts", "harness"),
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
    )
    metrics = _INCLUDE.read_text(encoding="utf-8").split("\n", 1)[1]
    metrics = metrics.replace("!function mauve_metric.hosts.harness.lm_eval.", f"!function {functions.stem}.")
    words = {"name": name, "data": data.name, "module": functions.stem, "command": run_command(name, Path("."))}
    words |= {"new_tokens": str(new_tokens), "options": pprint.pformat(dict(options or {}), width=100)}
    contents = {
        data: "".join(json.dumps(document, ensure_ascii=False) + "\n" for document in documents),
        functions: templates.get_template("lm_eval_functions.py.jinja").render(words),
        task: templates.get_template("lm_eval_task.yaml.jinja").render(words) + metrics,
    }
    for path in contents:
        check_can_be_written(path)
    for path, content in contents.items():
        with written_whole(path) as file:
            file.write_text(content, encoding="utf-8")
    return len(documents)


def task_files(folder: str | Path, name: str) -> list[Path]:
    """The files of a task that `write_task` will write.

    Raises:
        ValueError: the name is none. FileExistsError: one of them is there, and belongs to no task of that name.
    """
    check_task_name(name)
    folder = check_path("folder", folder).resolve()
    task = folder / f"{name}.yaml"
    check_replaceable(task, _MARK)
    files = [folder / f"{name}_documents.jsonl", folder / f"{name}_mauve.py"]
    if not os.path.isfile(task):
        for path in files:
            check_replaceable(path, _MARK)
    return [*files, task]


def check_task_name(name: str) -> str:
    """`ValueError` unless the name is valid for a task and for a file."""
    if not _NAME.fullmatch(name):
        raise ValueError(f"name must be letters, digits, _ and -, and begin with a letter or _, got {name!r}")
    return name
