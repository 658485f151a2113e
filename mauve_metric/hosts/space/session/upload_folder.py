"""The folder of uploads: how much is in it, and what is swept from it.

gradio (6.31) leaves in it an empty file for each file that is chosen, and what came of an upload that was interrupted.
"""

from __future__ import annotations

import contextlib
import shutil
import time
from collections.abc import Container
from pathlib import Path

UNFINISHED = 120  # seconds without a new byte, until what came of an upload is deleted


def bytes_in(folder: Path) -> int:
    """The bytes of all files in a folder, 0 if it is not there."""
    total = 0
    for path in folder.rglob("*"):
        with contextlib.suppress(OSError):  # it was deleted meanwhile
            total += path.stat().st_size
    return total


def sweep(folder: Path, needed: Container[Path], seconds: float, unfinished: float = UNFINISHED) -> None:
    """Delete the files of interrupted uploads, and the folders of which nothing is needed and nothing is new.

    Args:
        folder: of uploads, each whole one in a folder of its own.
        needed: files and folders to keep. seconds: for which any folder is kept.
        unfinished: seconds for which a file outside of the folders is kept after its last byte.
    """
    now = time.time()
    for path in [*folder.iterdir()] if folder.is_dir() else []:
        with contextlib.suppress(OSError):
            if path.is_file():
                if now - path.stat().st_mtime >= unfinished:
                    path.unlink()
                continue
            inside = [path, *path.rglob("*")]
            is_old = now - max(file.stat().st_mtime for file in inside) >= seconds
            if is_old and not any(file in needed for file in inside):
                shutil.rmtree(path)
