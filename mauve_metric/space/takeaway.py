"""What a visitor takes away: files of the result and the commands that make it again."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mauve_metric.config import knobs
from mauve_metric.plot import result_chart, save_chart
from mauve_metric.result import MauveResult
from mauve_metric.space.uploads import TextSet

FIGURES = (".svg", ".pdf", ".png")


def write_files(result: MauveResult, folder: Path) -> list[str]:
    """The result as JSON, its figures and its signature; none of them holds a text.

    Raises:
        ImportError: Altair or vl-convert-python is not installed.
    """
    chart = result_chart(result)
    paths = [folder / f"mauve{ending}" for ending in FIGURES]
    for path in paths:
        save_chart(chart, path)
    content = {"mauve.json": json.dumps(result.to_dict(), allow_nan=False, indent=1), "signature.txt": str(result)}
    for name, text in content.items():
        (folder / name).write_text(text + "\n", encoding="utf-8")
        paths.append(folder / name)
    return [str(path) for path in paths]


def python_code(sides: tuple[TextSet, TextSet], options: Mapping[str, Any]) -> str:
    """Python lines that give the same result, if the files lie in the working directory."""
    names = _file_names(sides)
    lines = ["from mauve_metric import compute_mauve", "from mauve_metric.texts import read_texts", ""]
    lines += ["out = compute_mauve("]
    for argument, side, name in zip(("p_text", "q_text"), sides, names, strict=True):
        column = "" if _is_found(side) else f", {side.column!r}"
        lines.append(f"    {argument}=read_texts({name!r}{column}),")
    lines += [f"    {key}={value!r}," for key, value in _given(options).items()]
    return "\n".join([*lines, ")", "print(out)"])


def shell_code(sides: tuple[TextSet, TextSet], options: Mapping[str, Any]) -> str:
    """The shell command that gives the same result; a comment where the shell cannot."""
    columns = {side.column for side in sides if not _is_found(side)}
    if len(columns) > 1 or (columns and any(_is_found(side) and side.column is not None for side in sides)):
        return "# the two files keep their texts in columns of different names: use Python"
    words = ["mauve-metric", "score", *(_path_word(name) for name in _file_names(sides))]
    if columns:
        words += ["--text-field", str(columns.pop())]
    for key, value in _given(options).items():
        flag = key.replace("_", "-")
        if isinstance(knobs()[key].default, bool):
            words.append(f"--{flag}" if value else f"--no-{flag}")
        else:
            words += [f"--{flag}", str(value).lower() if isinstance(value, bool) else str(value)]
    return shlex.join(words)


def _given(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options that are not at their default."""
    return {name: value for name, value in options.items() if value != knobs()[name].default}


def _is_found(side: TextSet) -> bool:
    """Whether the library finds the column by itself."""
    return side.column in (None, "text")


def _file_names(sides: tuple[TextSet, TextSet]) -> list[str]:
    """The names of both files, told apart where they are the same."""
    names = [Path(side.name).name or "texts.txt" for side in sides]
    return names if names[0] != names[1] else [f"human_{names[0]}", f"model_{names[1]}"]


def _path_word(name: str) -> str:
    """A file name that no program takes for an option."""
    return f"./{name}" if name.startswith("-") else name
