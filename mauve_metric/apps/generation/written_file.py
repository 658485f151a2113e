"""A file of JSON lines with the texts that a model wrote, and the unfinished file of a job that may be killed."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from mauve_metric.inputs.bytes_and_encodings import read_bytes
from mauve_metric.inputs.json_rows import loaded
from mauve_metric.results.result import WrittenText
from mauve_metric.runtime.checks import shown
from mauve_metric.runtime.errors import DamagedFile, NotWritten
from mauve_metric.runtime.outputs import check_can_be_written, check_ending, check_replaceable, naming, written_whole

logger = logging.getLogger(__name__)

_MARK = "mauve_metric job"  # the key of the first line of an unfinished file


def check_new(path: str | Path) -> Path:
    """Refuse a name under which no new file of texts can be written.

    Raises:
        ValueError, OSError: it does not end in .jsonl, there is a file already, or its folder takes none.
    """
    target = Path(check_ending("file of texts", path, (".jsonl",)))
    check_can_be_written(target)
    if os.path.lexists(target):
        raise NotWritten(f"{str(target)!r} is there already, and texts are never overwritten: give another name")
    return target


def save_written(path: str | Path, texts: Iterable[WrittenText], decoder: str, seed: int, *, new: bool = True) -> None:
    """Write texts as JSON lines with prompt, text, decoder, seed and tokens, atomically.

    new: never replace a file, else only one of texts.

    Raises:
        OSError: the file cannot be written, must be new and is not, or is a file of something else.
    """
    if not new:
        check_replaceable(path, b'{"prompt": ')
    lines = [json.dumps(record_of(text, decoder, seed), ensure_ascii=False) for text in texts]
    with written_whole(path, new) as temporary:
        temporary.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def record_of(text: WrittenText, decoder: str, seed: int) -> dict[str, Any]:
    """One line of a file of texts."""
    return {"prompt": text.prompt, "text": text.text, "decoder": decoder, "seed": seed, "tokens": text.tokens}


class JobFile:
    """The texts of an unfinished job, in a file beside its output; each batch is there whole or not at all.

    Args:
        output: the file of texts that the job will write. settings: what determines the texts. prompts: of the texts,
            by number.

    Attributes:
        texts: what is there already, by number.

    Raises:
        ValueError: the file is that of a job with other settings, or its first line is damaged; other lines that
            cannot be read, or hold no texts of these prompts, are left out, with a warning. OSError: it cannot be read
            or written, or is a file of something else.
    """

    def __init__(self, output: Path, settings: Mapping[str, object], prompts: Sequence[str]) -> None:
        self.path, self._prompts = unfinished(output), prompts
        self.texts: dict[int, WrittenText] = {}
        check_replaceable(self.path, json.dumps(_MARK).encode())
        raw = read_bytes(self.path) if self.path.exists() else b""
        whole = raw[: raw.rfind(b"\n") + 1]  # a killed job may leave part of a line
        lines = whole.split(b"\n")[:-1]
        wanted = json.loads(json.dumps(settings))
        if lines:
            self._check(lines[0], wanted)
        with naming(self.path), self.path.open("ab") as file:
            file.truncate(len(whole))
            if not lines:
                self._append(file, {_MARK: wanted})
        damaged = [number for number, line in enumerate(lines[1:], 2) if not self._read(line)]
        if damaged:
            logger.warning("%s: lines %s are damaged, and their texts are written again", self.path, damaged)

    def _check(self, line: bytes, wanted: Mapping[str, object]) -> None:
        """Refuse to continue a job of other settings."""
        first = loaded(line.decode(errors="replace"), str(self.path), 1)
        earlier = first.get(_MARK) if isinstance(first, dict) else None
        if not isinstance(earlier, dict):
            raise DamagedFile(f"{str(self.path)!r} is damaged: its first line has no settings; delete it")
        for name in {**wanted, **earlier}:
            if earlier.get(name) != wanted.get(name):
                raise NotWritten(
                    f"{str(self.path)!r} is the beginning of a job with {name} {shown(earlier.get(name))}, not "
                    f"{shown(wanted.get(name))}: delete it, or give the output another name"
                )

    def _read(self, line: bytes) -> bool:
        """Take the texts of one batch; return whether the line could be read."""
        try:
            rows = {number: WrittenText(*fields) for number, *fields in json.loads(line)}
            if not all(self._is_of_job(number, text) for number, text in rows.items()):
                return False
        except (TypeError, ValueError, RecursionError):
            return False
        self.texts |= rows
        return True

    def _is_of_job(self, number: object, text: WrittenText) -> bool:
        """Return whether a text was written for the prompt of this number; `ValueError` for what is no character."""
        if type(number) is not int or not 0 <= number < len(self._prompts) or text.prompt != self._prompts[number]:
            return False
        if not isinstance(text.continuation, str) or not isinstance(text.text, str):
            return False
        (text.continuation + text.text).encode()  # half of a surrogate pair
        return text.tokens is None or type(text.tokens) is int

    def keep(self, texts: Mapping[int, WrittenText]) -> None:
        """Add the texts of a batch, on disk when this returns."""
        self.texts |= texts
        with naming(self.path), self.path.open("ab") as file:
            self._append(file, [(number, *text) for number, text in texts.items()])

    @staticmethod
    def _append(file: Any, value: object) -> None:
        file.write(json.dumps(value, ensure_ascii=False).encode() + b"\n")
        file.flush()
        os.fsync(file.fileno())

    def finish(self, output: Path, decoder: str, seed: int) -> None:
        """Write the output in the order of the numbers, and delete the unfinished file."""
        save_written(output, [self.texts[number] for number in sorted(self.texts)], decoder, seed)
        self.path.unlink(missing_ok=True)


def lock_of(output: str | Path) -> Path:
    """The file that says who writes an output."""
    return Path(f"{output}.lock")


def unfinished(output: str | Path) -> Path:
    """The file of an unfinished job beside its output."""
    return Path(f"{output}.part")
