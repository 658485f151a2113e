"""The forecast duration of a run follows the durations of the last ones."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from samples import LIMITS, MODEL
from visitors import give, press, visitor

from mauve_metric.hosts.space.session import speeds
from mauve_metric.hosts.space.session.run import Run
from mauve_metric.hosts.space.view.controls import panel_names


class Clock:
    """Time that passes when a test says so."""

    now = 0.0

    def monotonic(self) -> float:
        return self.now


def test_the_time_of_a_run_is_that_of_the_last_ones_by_characters_and_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, measured = Clock(), speeds.Speeds()
    monkeypatch.setattr(speeds, "time", clock)
    assert measured.seconds({"a": [["text"]]}, 1) is None
    with measured.reading("a", [["x" * 50, "y" * 10]], 4, Run()):  # 20 and 10 characters are read
        clock.now += 60
    with measured.scoring(10):
        clock.now += 5
    assert measured.seconds({"a": [["z" * 1000]]}, 10) == 20 * 2 + 5
    assert measured.seconds({"a": [["z" * 5, ""]]}, 30) == 5 * 2 + 15  # scoring takes the longer, the more texts
    assert measured.seconds({"a": [["z"]], "b": []}, 5) == 2 + 2 * 5  # b has read these texts before
    run = Run()
    run.share_read = 0.5
    with pytest.raises(ValueError, match="too long"), measured.reading("a", [["x" * 40]], 100, run):
        clock.now += 100
        raise ValueError("too long")
    assert measured.seconds({"a": [["z"]]}, 0) == 5 + 5


def test_a_forecast_comes_once_a_run_was_measured_and_the_sample_keeps_rows_together(
    desk: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = ["ngrams", 5, 4, 7, 0.95, *[None] * len(panel_names()), []]
    said, sample, quick = desk.forecast(values, visitor(desk))
    assert "A run may take 5 minutes here." in said and not sample["visible"] and not quick["visible"]
    give(desk, tmp_path)
    assert "A run may take" in desk.forecast(values, visitor(desk))[0]  # nothing was measured yet
    press(desk)
    assert re.search("About [0-9]+ seconds?; a run may take", desk.forecast(values, visitor(desk))[0])

    monkeypatch.setattr(speeds, "FEWEST", 5)
    monkeypatch.setattr(desk.encoders.speeds, "seconds", lambda new, texts: LIMITS.seconds * texts / 20)
    said, sample, quick = desk.forecast(values, visitor(desk))
    step = -(-len(desk.sessions.get("a").human.texts + MODEL) // 16)
    assert re.search(r"would take about \d+ minutes", said) and sample["value"] == f"Compare every {step}th text"
    desk.take_sample(values, visitor(desk))
    session = desk.sessions.get("a")
    assert session.models["a_model"].texts == MODEL[::step] and session.human.every == step
