"""The table of all measures, by name, in the order in which tables show them."""

from __future__ import annotations

from mauve_metric.catalogue.of_features import DISCRIMINATOR, DISTANCE, ESTIMATORS
from mauve_metric.catalogue.of_texts import DUPLICATION, LANGUAGE_MODEL, LEXICAL
from mauve_metric.catalogue.row import Measure
from mauve_metric.catalogue.scores import BUCKETS, SCORE

GROUPS = (SCORE, LEXICAL, DISTANCE, BUCKETS, ESTIMATORS, LANGUAGE_MODEL, DISCRIMINATOR, DUPLICATION)
MEASURES: dict[str, Measure] = {name: row for group in GROUPS for name, row in group.items()}
SCORES = {name: row for name, row in MEASURES.items() if row.in_result}
