"""Every measure that stands beside MAUVE, by name, in the order in which tables show them."""

from __future__ import annotations

from mauve_metric.results.companions.buckets import BUCKETS
from mauve_metric.results.companions.discriminator import DISCRIMINATOR
from mauve_metric.results.companions.distance import DISTANCE
from mauve_metric.results.companions.duplication import DUPLICATION
from mauve_metric.results.companions.estimators import ESTIMATORS
from mauve_metric.results.companions.language_model import LANGUAGE_MODEL
from mauve_metric.results.companions.lexical import LEXICAL
from mauve_metric.results.companions.row import Companion

COMPANIONS: dict[str, Companion] = {
    **LEXICAL,
    **DISTANCE,
    **BUCKETS,
    **ESTIMATORS,
    **LANGUAGE_MODEL,
    **DISCRIMINATOR,
    **DUPLICATION,
}
