"""Figures of a comparison."""

from __future__ import annotations

from typing import Any

import pytest

from mauve_metric import Comparison
from mauve_metric.report.charts import of_comparison


def rows_of(chart: Any) -> list[dict[str, Any]]:
    spec = chart.to_dict()
    data = spec["layer"][0].get("data", spec.get("data"))
    rows: list[dict[str, Any]] = data["values"] if "values" in data else spec["datasets"][data["name"]]
    return rows


@pytest.mark.more
def test_charts_hold_the_numbers(comparison: Comparison) -> None:
    rows = rows_of(of_comparison.forest_chart(comparison))
    assert [row["model"] for row in rows] == list(comparison.ranking)
    assert [row["mauve"] for row in rows] == [comparison.own[name].mauve for name in comparison.ranking]
    assert "vconcat" in comparison.plot().to_dict()
