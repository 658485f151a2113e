"""What a job says of itself."""

from __future__ import annotations

import logging

import pytest

from mauve_metric.runtime.whole_job import JobProgress


def test_failures_and_what_was_there_are_told_and_do_not_count_as_work(caplog: pytest.LogCaptureFixture) -> None:
    times = [0.0]
    shown: list[tuple[int, int | None]] = []
    job = JobProgress("featurize", [10, 10, 20, 40], lambda *given: shown.append(given), lambda: times[0])
    with caplog.at_level(logging.INFO, "mauve_metric.runtime.whole_job"):
        job.done(3, 400, found=True)
        times[0] = 50.0  # the model is loaded
        job.done(0, 100)
        times[0] = 55.0
        job.done(1, 100)
        job.fail(2)
    expected = "featurize: 4 of 4 shards, 600 texts, 20 texts/s, 1 were there, 1 failed"
    assert caplog.messages[-1] == job.line() == expected
    assert shown == [(400, 800), (500, 800), (600, 800), (600, 600)]


def test_lines_come_now_and_then(caplog: pytest.LogCaptureFixture) -> None:
    times = [0.0]
    job = JobProgress("buckets", [1] * 5, clock=lambda: times[0])
    with caplog.at_level(logging.INFO, "mauve_metric.runtime.whole_job"):
        for number, second in enumerate((1.0, 11.0, 12.0, 13.0, 14.0)):
            times[0] = second
            job.done(number, 10)
    assert [message.split(",")[0] for message in caplog.messages] == [
        "buckets: 2 of 5 shards",
        "buckets: 5 of 5 shards",
    ]
    assert "10 texts/s" not in caplog.messages[0] and caplog.messages[0].endswith("0:00:30 left")
