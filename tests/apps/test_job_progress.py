"""The progress of a job of many shards in the log."""

from __future__ import annotations

import logging
import re

import pytest

from mauve_metric.apps import job_progress as module
from mauve_metric.apps.job_progress import job_progress


def test_lines_in_the_log_have_a_forecast(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LINE_SECONDS", 0.0)
    with (
        caplog.at_level(logging.INFO, "mauve_metric.apps.job_progress"),
        job_progress("buckets", [10, 30], True) as done,
    ):
        done(1, 300)
        done(0, 100)
    first, last = caplog.messages[-2:]
    assert re.fullmatch(r"buckets: 75 %, 1 of 2 shards, 300 texts, \d+:\d\d elapsed, \d+:\d\d left", first)
    assert last.startswith("buckets: 100 %, 2 of 2 shards, 400 texts, ")
