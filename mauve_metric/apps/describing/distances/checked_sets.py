"""Checks of sets of features before they are compared."""

from __future__ import annotations

from collections.abc import Mapping

from mauve_metric.arrays import Array
from mauve_metric.runtime.checks import listed


def check_sets(sets: Mapping[str, Array], least: int = 1) -> None:
    """`ValueError` unless sets of features, by their names, are rows (n, d) with one d, at least so many each."""
    for name, rows in sets.items():
        if rows.ndim != 2 or len(rows) < least:
            needed = f"{least} row{'s' if least > 1 else ''} of features"
            raise ValueError(f"{name} must have at least {needed}, got an array of shape {rows.shape}")
    widths = [str(rows.shape[1]) for rows in sets.values()]
    if len(set(widths)) > 1:
        raise ValueError(f"{listed([*sets])} must have rows of one length, got {listed(widths)}")
