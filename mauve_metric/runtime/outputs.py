"""Checks of output paths: no output replaces an input, and none is put into a folder that is read."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from mauve_metric.runtime.errors import NotWritten

_HEAD_BYTES = 1000  # of a file, in which its mark is looked for


def check_outputs(
    outputs: Sequence[str | Path], inputs: Iterable[str | Path], folders: Iterable[str | Path] = ()
) -> None:
    """Refuse outputs that would replace an input or each other, before anything is computed.

    Files are compared by the place that links lead to, and by device and inode, so that hard links count as one file.

    Args:
        outputs: every file that will be written, those beside the named ones too. inputs: files and folders that are
            read; those that do not exist are left out. folders: those that many files will be written to.

    Raises:
        ValueError: an output is an input or another output, lies in a folder that is read, or a folder of outputs holds
            an input; the message names both.
    """
    read = [Path(path) for path in inputs if os.path.exists(path)]
    for number, output in enumerate(map(Path, outputs)):
        if os.path.exists(output) and not output.is_file():
            continue  # a pipe or a device, which nothing replaces; a folder, which cannot be written
        for other in (*read, *map(Path, outputs[:number])):
            if _is_same(output, other):
                raise NotWritten(f"{str(output)!r} is to be written, and would replace {str(other)!r}: {_CURE}")
        for source in read:
            if source.is_dir() and _is_same(output.parent, source):
                raise ValueError(f"{str(output)!r} is to be written, and {str(source)!r}, its folder, is read: {_CURE}")
    for folder in map(Path, folders):
        for source in read:
            if any(_is_same(folder, place) for place in (source.absolute(), *Path(os.path.realpath(source)).parents)):
                raise ValueError(f"{str(folder)!r} is to be written to, and {str(source)!r} in it is read: {_CURE}")


_CURE = "give it another name"


def check_replaceable(path: str | Path, mark: bytes) -> None:
    """Refuse to replace a file whose name the user did not give, unless its beginning shows that the package wrote it.

    Args:
        path: of a file whose name follows from that of another. mark: what such a file has in its first bytes.

    Raises:
        FileExistsError: another file has that name.
    """
    if not os.path.isfile(path):
        return
    with open(path, "rb") as file:
        head = file.read(_HEAD_BYTES)
    if head and mark not in head:
        raise FileExistsError(f"{str(path)!r} is to be written too, and is a file of something else: move it away")


def _is_same(one: Path, two: Path) -> bool:
    """Return whether two paths are one file or folder, through links of both kinds."""
    try:
        return os.path.samefile(one, two)
    except OSError:  # one of them is not there
        return os.path.realpath(one) == os.path.realpath(two)
