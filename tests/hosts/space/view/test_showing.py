"""Figures as the page's values."""

from __future__ import annotations

import json

import numpy as np
import pytest

from mauve_metric import compare

pytest.importorskip("gradio")


def test_a_chart_is_drawn_as_svg_in_the_width_that_there_is() -> None:
    from mauve_metric.hosts.space.view.layout import figure
    from mauve_metric.hosts.space.view.showing import plot_value
    from mauve_metric.report.charts.figure import equal_line

    wide, square = plot_value(equal_line()), plot_value(equal_line(), square=True)
    assert plot_value(None) is None and wide is not None and square is not None
    assert figure("curve", "Curve").postprocess(wide) is wide
    assert json.loads(wide.plot)["width"] == "container" != json.loads(square.plot).get("width")
    assert '"renderer": "svg"' in wide.plot and '"renderer": "svg"' in square.plot


def test_a_page_gets_svg_without_a_menu_in_its_width_and_the_whole_names() -> None:
    from mauve_metric.hosts.space.view.showing import page_spec
    from mauve_metric.report.charts import figure, of_comparison

    rng = np.random.default_rng(5)
    models = {name: rng.normal(size=(20, 2)) for name in ("a", "b")}
    comparison = compare(p_features=rng.normal(size=(20, 2)), models=models, num_buckets=3, num_runs=1, buckets=1)
    chart = of_comparison.curves_chart(comparison)
    spec = page_spec(chart, square=True)
    assert spec["usermeta"]["embedOptions"] == {"renderer": "svg", "actions": False}
    assert spec["width"] == spec["height"] == figure.SIDE and spec["config"]["aria"] is False
    assert "datum.value" in json.dumps(spec["layer"][1]["encoding"]["color"]["legend"])
    assert page_spec(of_comparison.forest_chart(comparison))["width"] == "container"
    assert chart.to_dict()["width"] == figure.SIDE and "usermeta" not in chart.to_dict()
