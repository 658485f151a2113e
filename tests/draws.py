"""Few random draws, in tests and in the processes that they start, where only a score's way is tested."""

from __future__ import annotations

import pytest

from mauve_metric.clustering import partition
from mauve_metric.scoring import evaluation
from mauve_metric.uncertainty import ceilings, learned_score, precision_recall_intervals


def draw_few(patch: pytest.MonkeyPatch) -> None:
    """Cluster texts twice, divide them once, and draw few splits and permutations."""
    patch.setattr(learned_score, "MOST_DIVISIONS", 1)
    patch.setattr(learned_score, "PERMUTATIONS", 19)
    patch.setattr(evaluation, "RUNS_OF_FEW_TEXTS", 2)
    patch.setattr(partition, "FINER_RUNS", 1)
    patch.setattr(ceilings, "CEILING_DRAWS", 8)
    patch.setattr(precision_recall_intervals, "SPLITS", 4)
