"""Test of two sets by format alone: AUC of length, line breaks and similar numbers of each text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from mauve_metric.arrays import Floats, Integers
from mauve_metric.measures.cross_fitting import cross_fit
from mauve_metric.texts.fingerprints import FORMATS
from mauve_metric.uncertainty.score_warnings import ScoreWarning, warn

TELLING = 0.6  # AUC above which a verdict begins with the format
_SURE = 0.01  # p-value above which it may be chance
_PERMUTATIONS = 19


class FormatCheck(NamedTuple):
    """AUCs of cross-fitted classifiers of the format of texts.

    auc: of all numbers together. p_value: of equal sets. each: AUC of each number alone, by its name in `FORMATS`.
    """

    auc: float
    p_value: float
    each: dict[str, float]

    @property
    def strongest(self) -> str:
        """The number that separates the sets best."""
        return max(self.each, key=lambda name: self.each[name])

    @property
    def tells(self) -> bool:
        """True if format alone separates the sets, significantly and with an AUC above 0.6."""
        return self.auc > TELLING and self.p_value <= _SURE


def check_format(
    p: Floats | None, q: Floats | None, groups: tuple[Integers, Integers] | None, seed: int
) -> FormatCheck | None:
    """Cross-fit a classifier of all numbers, and one of each.

    Args:
        p, q: numbers of `format_numbers`, (n_p, f) and (n_q, f); None: not known. groups: of texts that are not
            independent, equal on both sides for one group. seed: of the folds.

    Returns:
        None where the numbers of a side are not known, or it has fewer than ten texts.

    >>> numbers = np.random.default_rng(0).normal(size=(40, len(FORMATS)))
    >>> found = check_format(numbers, numbers + np.eye(len(FORMATS))[1] * 9, None, 0)
    >>> found.strongest, found.tells
    ('line_breaks', True)
    """
    if p is None or q is None or min(len(p), len(q)) < 10:
        return None
    rows, is_model = np.concatenate([p, q]), np.arange(len(p) + len(q)) >= len(p)
    together = None if groups is None else np.concatenate(groups)
    if together is not None and min(len(np.unique(side)) for side in groups or ()) < 10:
        return None
    fitted = cross_fit(rows, is_model, together, seed=seed, permutations=_PERMUTATIONS)
    columns = enumerate(FORMATS)
    each = {name: cross_fit(rows[:, [column]], is_model, together, seed=seed).auc for column, name in columns}
    return FormatCheck(fitted.auc, 1.0 if fitted.p_value is None else fitted.p_value, each)


def format_warnings(check: FormatCheck | None) -> Iterator[ScoreWarning]:
    """Warn if format alone separates the sets, with the strongest number and a remedy."""
    if check is None or not check.tells:
        return
    name = check.strongest
    alone = f"{FORMATS[name].what} alone with AUC {check.each[name]:.2f}, " if check.each[name] > TELLING else ""
    numbers = {"auc": check.auc, f"auc_{name}": check.each[name]}
    yield warn("format_differs", numbers, alone=alone, cure=FORMATS[name].cure)
