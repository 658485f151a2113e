"""The table of all measures, by name, in the order in which tables show them."""

from __future__ import annotations

from mauve_metric.catalogue.buckets import BUCKETS
from mauve_metric.catalogue.discriminator import DISCRIMINATOR
from mauve_metric.catalogue.distance import DISTANCE
from mauve_metric.catalogue.duplication import DUPLICATION
from mauve_metric.catalogue.estimators import ESTIMATORS
from mauve_metric.catalogue.language_model import LANGUAGE_MODEL
from mauve_metric.catalogue.lexical import LEXICAL
from mauve_metric.catalogue.row import Measure
from mauve_metric.catalogue.scores import SCORE

MEASURES: dict[str, Measure] = {
    **SCORE,
    **LEXICAL,
    **DISTANCE,
    **BUCKETS,
    **ESTIMATORS,
    **LANGUAGE_MODEL,
    **DISCRIMINATOR,
    **DUPLICATION,
}
SCORES = {name: row for name, row in MEASURES.items() if row.in_result}
