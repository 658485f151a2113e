"""The folder in which features and unpacked models are kept."""

from __future__ import annotations

import os
from pathlib import Path

from mauve_metric.runtime.errors import NoFile


def cache_folder() -> Path:
    """`$MAUVE_METRIC_CACHE`, else `$XDG_CACHE_HOME/mauve_metric`, else `~/.cache/mauve_metric`."""
    if chosen := os.environ.get("MAUVE_METRIC_CACHE"):
        return without_tilde(chosen)
    return without_tilde(os.environ.get("XDG_CACHE_HOME") or "~/.cache") / "mauve_metric"


def without_tilde(folder: str | Path) -> Path:
    """A folder without `~`; `OSError` where there is no such user."""
    try:
        return Path(folder).expanduser()
    except RuntimeError as error:
        raise NoFile(f"there is no folder {str(folder)!r}: {error}") from error
