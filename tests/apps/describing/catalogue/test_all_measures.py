"""One table of all measures: every row is in it once, and says what it is computed from."""

from __future__ import annotations

from mauve_metric.apps.describing.catalogue.all_measures import GROUPS, MEASURES
from mauve_metric.measures.measure import RESULT
from mauve_metric.results.scores import SCORES


def test_no_name_means_two_measures() -> None:
    names = [name for part in GROUPS for name in part]
    assert sorted(names) == sorted(MEASURES)


def test_rows_say_what_they_are_computed_from() -> None:
    for name, row in MEASURES.items():
        assert row.inputs.given and (row.inputs.forms or row.inputs == RESULT), name
    alone = {name for name, row in MEASURES.items() if row.inputs == RESULT}
    assert {"mauve", "precision"} <= alone <= {*SCORES}
