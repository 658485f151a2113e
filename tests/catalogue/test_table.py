"""One table of all measures: every row is in it once, and says what it is computed from."""

from __future__ import annotations

from mauve_metric.catalogue.buckets import BUCKETS
from mauve_metric.catalogue.discriminator import DISCRIMINATOR
from mauve_metric.catalogue.distance import DISTANCE
from mauve_metric.catalogue.duplication import DUPLICATION
from mauve_metric.catalogue.estimators import ESTIMATORS
from mauve_metric.catalogue.language_model import LANGUAGE_MODEL
from mauve_metric.catalogue.lexical import LEXICAL
from mauve_metric.catalogue.scores import SCORE
from mauve_metric.catalogue.table import MEASURES, SCORES

PARTS = (SCORE, LEXICAL, DISTANCE, BUCKETS, ESTIMATORS, LANGUAGE_MODEL, DISCRIMINATOR, DUPLICATION)


def test_no_name_stands_for_two_measures() -> None:
    names = [name for part in PARTS for name in part]
    assert sorted(names) == sorted(MEASURES)


def test_rows_say_what_they_are_computed_from() -> None:
    for name, row in MEASURES.items():
        assert row.inputs.given and (row.inputs.forms or row.needs == "result"), name
    alone = {name for name, row in MEASURES.items() if row.needs == "result"}
    assert {"mauve", "precision"} <= alone <= {*SCORES}
