"""Runs of the page: stopped, refused, their progress, order and forecast, and what is logged of them."""

from __future__ import annotations

import asyncio
import logging
import re
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from samples import HUMAN, MODEL, ngrams
from visitors import LIMITS, give, press, request, visitor

from mauve_metric import MauveResult, compute_mauve
from mauve_metric.hosts.space.session import run as module
from mauve_metric.hosts.space.session.run import Cancelled, Run
from mauve_metric.hosts.space.session.scoring import Encoders, job_of, read, spend_tokens
from mauve_metric.hosts.space.view import handlers
from mauve_metric.hosts.space.view.handlers import Handlers
from mauve_metric.hosts.space.view.settings import panel_names
from mauve_metric.report.first_screen import verdict_line

gr = pytest.importorskip("gradio")


def the_result(desk: Handlers) -> MauveResult:
    shown = desk.sessions.get("a").shown
    assert shown is not None
    (result,) = shown.scored.results.values()
    return result


@pytest.mark.usefixtures("undrawn")
def test_a_run_is_stopped_and_a_second_one_refused(desk: Handlers, tmp_path: Path) -> None:
    give(desk, tmp_path)
    inner: list[Any] = []

    def slow(texts: list[str]) -> np.ndarray:
        with pytest.raises(gr.Error, match="is running already"):
            press(desk)
        inner.append(1)
        desk.sessions.get("a").run.cancel()
        return ngrams(texts)

    desk.encoders.functions["ngrams"] = slow
    told: list[Any] = []
    press(desk, tell=lambda share, desc: told.append((share, desc)))
    assert inner == [1]  # stopped after the first side
    assert desk.sessions.get("a").shown is None
    assert told[0][0] == 0 and "human texts" in told[-1][1]
    desk.encoders.functions["ngrams"] = ngrams
    press(desk)
    assert desk.sessions.get("a").shown is not None


def test_progress_counts_texts_and_time() -> None:
    told: list[tuple[float, str]] = []
    result = compute_mauve(p_text=HUMAN, q_text=MODEL, featurize_model_name=ngrams)
    run = Run(lambda share, words: told.append((share, words)))
    run.begin_reading([100, 50, 50], 200)
    run.begin_set(0)
    run._began -= 10  # ten seconds ago
    run.texts_done("a set", 50, 100)  # five texts a second, and 150 of all are left
    assert told[1][1] == "human texts: 50 of 100, 5 texts a second, about 30 seconds left"
    assert told[0][0] < told[1][0] < 0.5
    run.texts_done("a set", 100, 100)
    run.begin_set(1)
    run.texts_done("a set", 50, 50)
    run.so_far("ngrams", {"m": result})
    run.begin_set(2)
    run.texts_done("a set", 50, 50)
    assert told[-1][0] == pytest.approx(0.85)
    assert told[-1][1].startswith(
        f"so far, by ngrams alone: {verdict_line(result)}. model 2 of 2: 50 of 50, 20 texts a second"
    )
    run.cancel()
    with pytest.raises(Cancelled):
        run.texts_done("a set", 1, 2)


def test_a_bug_is_logged_without_texts(desk: Handlers, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    give(desk, tmp_path)

    def broken(texts: list[str]) -> np.ndarray:
        raise KeyError(texts[0])

    desk.encoders.functions["ngrams"] = broken
    with caplog.at_level(logging.DEBUG), pytest.raises(gr.Error, match=r"something went wrong here \(KeyError\)"):
        press(desk)
    assert "KeyError" in caplog.text and "slept" not in caplog.text


@pytest.mark.more
def test_nothing_is_logged_of_a_run(desk: Handlers, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    give(desk, tmp_path)
    with caplog.at_level(logging.DEBUG):
        press(desk)
    assert "slept" not in caplog.text and "The bird" not in caplog.text


@pytest.mark.usefixtures("undrawn")
def test_a_stopped_run_is_reported_and_the_old_result_stays(desk: Handlers, tmp_path: Path) -> None:
    give(desk, tmp_path)
    press(desk)
    before = the_result(desk)

    async def stopped_while_reading() -> list[str]:
        begun = threading.Event()

        def slow(texts: list[str]) -> np.ndarray:
            begun.set()
            while not desk.sessions.get("a").run.stopped:
                time.sleep(0.01)
            return ngrams(texts)

        desk.encoders.functions["ngrams"] = slow
        run = asyncio.get_running_loop().run_in_executor(None, press, desk)
        await asyncio.to_thread(begun.wait)
        said = [words async for words in desk.stop(request())]
        assert await run == {}
        return said

    assert [re.sub("<.*?>", "", said) for said in asyncio.run(stopped_while_reading())] == [
        "Stopping, as soon as the texts at work are read.",
        "Stopped. Nothing was changed.",
    ]
    assert the_result(desk) is before


def test_a_run_that_begins_just_after_stop_is_stopped(desk: Handlers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handlers, "_TRIES", 10**6)
    session = visitor(desk)

    def run() -> None:
        session.run = Run()
        while not session.run.stopped:
            time.sleep(0.01)
        session.run.was_stopped, session.run = True, None

    async def pressed() -> list[str]:
        async def stop() -> list[str]:
            return [words async for words in desk.stop(request())]

        stopping = asyncio.create_task(stop())
        await asyncio.sleep(0.1)
        assert not stopping.done()  # nothing runs yet
        await asyncio.to_thread(run)
        return await stopping

    assert "Stopped" in asyncio.run(pressed())[-1]


def test_a_mistake_is_told_before_the_run_waits(desk: Handlers) -> None:
    told: list[str] = []

    def tell(share: float, desc: str) -> None:
        told.append(desc)
        raise Cancelled

    with desk.turns.turn("another visitor", Run()), pytest.raises(gr.Error, match="choose a file, paste texts or"):
        press(desk, tell=tell)
    assert told == []


# --- budgets ------------------------------------------------------------------------------------------------------


def test_a_run_has_a_time_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr("mauve_metric.hosts.space.session.run.time.monotonic", lambda: now[0])
    run = Run(seconds=5)
    run.begin()
    run.stage(0.1, "reading")
    now[0] = 5.5
    with pytest.raises(ValueError, match="this run was stopped after 5 seconds, the most that one may take here"):
        run.texts_done("texts", 1, 9)


def test_a_run_has_a_token_limit(tiny_gpt2: str) -> None:
    from mauve_metric.features.encoder import load_encoder

    encoder = load_encoder(tiny_gpt2, max_text_length=10)
    spend_tokens(encoder, [["ships " * 50] * 4, ["", 3, "\ud800"]], Run(tokens=43))
    with pytest.raises(ValueError, match="more than 39 tokens together, the most that one run may read here"):
        spend_tokens(encoder, [["ships " * 50] * 2, ["ships " * 50] * 2], Run(tokens=39))
    encoders = Encoders()
    config = encoders.config({"featurize_model_name": tiny_gpt2})
    with pytest.raises(ValueError, match="more than 100 tokens together"):
        sets = {"the human texts": HUMAN, "the model's": MODEL}
        read(sets, ["model"], job_of(config, encoders), Run(tokens=100))


def test_a_run_that_cannot_end_in_time_is_refused_early(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr("mauve_metric.hosts.space.session.run.time.monotonic", lambda: now[0])
    told: list[str] = []
    run = Run(lambda share, words: told.append(words), seconds=300)
    run.begin()
    run.begin_reading([1000, 1000], 2000)
    run.begin_set(0)
    now[0] = 8.0
    run.texts_done("a set", 10, 1000)  # too early to judge
    assert told[-1].endswith("about 27 minutes left")
    now[0] = 20.0
    run.texts_done("a set", 120, 1000)  # six a second: 333 seconds, and it may become faster
    now[0] = 40.0
    with pytest.raises(ValueError, match="about 11 minutes, and a run may take at most 5 minutes here: give about 90"):
        run.texts_done("a set", 121, 1000)


class Clock:
    """Time that passes when a test says so."""

    now = 0.0

    def monotonic(self) -> float:
        return self.now


def test_the_time_of_a_run_is_that_of_the_last_ones_by_characters_and_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, measured = Clock(), module.Speeds()
    monkeypatch.setattr(module, "time", clock)
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


@pytest.mark.usefixtures("undrawn")
def test_a_forecast_comes_once_a_run_was_measured_and_the_sample_keeps_rows_together(
    desk: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = ["ngrams", 5, 4, 7, 0.95, *[None] * len(panel_names()), []]
    said, sample, quick = desk.forecast(values, visitor(desk)).values()
    assert "A run may take at most 5 minutes here." in said and not sample["visible"] and not quick["visible"]
    give(desk, tmp_path)
    assert "A run may take" in desk.forecast(values, visitor(desk))["run_limit"]  # nothing was measured yet
    press(desk)
    assert re.search("About [0-9]+ seconds?; a run may take", desk.forecast(values, visitor(desk))["run_limit"])

    monkeypatch.setattr(module, "FEWEST", 5)
    monkeypatch.setattr(desk.encoders.speeds, "seconds", lambda new, texts: LIMITS.seconds * texts / 20)
    said, sample, quick = desk.forecast(values, visitor(desk)).values()
    step = -(-len(desk.sessions.get("a").human.texts + MODEL) // 16)
    assert re.search(r"would take about \d+ minutes", said) and sample["value"] == f"Compare every {step}th text"
    desk.take_sample(values, visitor(desk))
    session = desk.sessions.get("a")
    assert session.models["a_model"].texts == MODEL[::step] and session.human.every == step
