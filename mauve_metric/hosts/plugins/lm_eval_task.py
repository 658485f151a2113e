"""A task for lm-evaluation-harness from human texts: a model continues each, MAUVE scores the continuations."""

from __future__ import annotations

import json
import os
import pprint
import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from mauve_metric.options import Featurizer
from mauve_metric.runtime.outputs import check_can_be_written, check_replaceable, naming, written_whole

PROMPT_WORDS = 20
NEW_TOKENS = 256  # as the harness itself

_INCLUDE = Path(__file__).with_name("lm_eval_mauve.yaml")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_MARK = b"a task of lm-evaluation-harness, written by `mauve-metric lm-eval-task`"


class WrittenTask(NamedTuple):
    """A task, the folder of its files, and the numbers of documents and of texts that were too short."""

    name: str
    folder: Path
    documents: int
    short: int

    def summary(self) -> str:
        """The number of documents, the file of the task, and the number of omitted texts."""
        short = f", {self.short} texts are left out: they have no word beyond the prompt's" if self.short else ""
        return f"{self.documents} documents in {self.folder / self.name}.yaml{short}"


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
    options: Mapping[str, Featurizer | float | bool | None] | None = None,
) -> WrittenTask:
    """Write `NAME.yaml`, its `NAME_documents.jsonl` and `NAME_mauve.py` to a folder, which may be moved.

    Args:
        texts: human texts, whole ones.
        folder: made if it is not there; the harness gets it as `--include_path`.
        name: of the task.
        prompt_words: of each text are the prompt. new_tokens: of a model's text, at most.
        options: of `compute_mauve`.

    Raises:
        ValueError: the name is none, or all texts are too short. OSError: a file cannot be written, or one of its
        name is there that is of no such task.
    """
    import jinja2

    task_files(folder, name)
    documents = [found for text in texts if (found := cut(text, prompt_words)) is not None]
    if not documents:
        raise ValueError(f"none of {len(texts)} texts has more than prompt_words={prompt_words} words: ask for fewer")
    folder = Path(folder).resolve()
    with naming(folder):
        folder.mkdir(parents=True, exist_ok=True)
    templates = jinja2.Environment(  # of files in which nothing is escaped
        loader=jinja2.PackageLoader("mauve_metric.hosts", "plugins"),
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
    )
    data, module = f"{name}_documents.jsonl", f"{name}_mauve"
    metrics = _INCLUDE.read_text(encoding="utf-8").split("\n", 1)[1]
    metrics = metrics.replace("!function mauve_metric.hosts.plugins.lm_eval.", f"!function {module}.")
    task, functions = map(templates.get_template, ("lm_eval_task.yaml.jinja", "lm_eval_functions.py.jinja"))
    words = {"command": run_command(name, Path(".")), "name": name, "module": module, "new_tokens": new_tokens}
    chosen = pprint.pformat(dict(options or {}), width=100)
    contents = {
        folder / data: "".join(json.dumps(document, ensure_ascii=False) + "\n" for document in documents),
        folder / f"{module}.py": functions.render(name=name, data=data, options=chosen),
        folder / f"{name}.yaml": task.render(words) + metrics,
    }
    for path in contents:
        check_can_be_written(path)
    for path, content in contents.items():
        with written_whole(path) as file:
            file.write_text(content, encoding="utf-8")
    return WrittenTask(name, folder, len(documents), len(texts) - len(documents))


def task_files(folder: str | Path, name: str) -> list[Path]:
    """The files of a task that `write_task` will write.

    Raises:
        ValueError: the name is none. FileExistsError: one of them is there, and belongs to no task of that name.
    """
    check_task_name(name)
    folder = Path(folder).resolve()
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
