"""Location of the packaged example texts."""

from __future__ import annotations

from pathlib import Path


def examples_folder() -> Path:
    """Folder of the example texts: in the package when it was installed, beside it in a checkout."""
    here = Path(__file__).resolve().parent.parent
    for folder in (here / "examples", here.parent / "examples"):
        if (folder / "human.jsonl").is_file():
            return folder
    raise FileNotFoundError("the example texts are not there: install the package, or run from a checkout")
