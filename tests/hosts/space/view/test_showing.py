"""Figures as the page's values."""

from __future__ import annotations

import json

import pytest

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
