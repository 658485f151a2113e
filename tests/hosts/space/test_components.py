"""Components with methods of our own keep them when Gradio makes them anew."""

from __future__ import annotations

from pathlib import Path

import pytest

gr = pytest.importorskip("gradio")


def test_methods_outlive_an_update_and_leave_no_file() -> None:
    from mauve_metric.hosts.space import components
    from mauve_metric.hosts.space.figures import figure
    from mauve_metric.results.charts.figure import equal_line

    place = figure("curve", "Curve", "mm-square")
    again = place.__class__(**place.constructor_args)  # as after every `gr.update` and `gr.skip`
    for component in (place, again):
        assert component.get_block_name() == "plot"
        assert '"renderer": "svg"' in component.postprocess(equal_line()).plot
    assert list(Path(components.__file__).parent.glob("*.pyi")) == []
