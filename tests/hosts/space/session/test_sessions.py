"""Sessions of visitors: apart from each other, and gone after their time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from samples import HUMAN, MODEL, ngrams, write_jsonl
from visitors import give, press, request, visitor, wait_until

from mauve_metric.hosts.space.limits import Limits
from mauve_metric.hosts.space.session.examples import example_files
from mauve_metric.hosts.space.session.run import Run
from mauve_metric.hosts.space.session.scoring import Encoders
from mauve_metric.hosts.space.session.sessions import Sessions
from mauve_metric.hosts.space.view.handlers import Handlers
from mauve_metric.hosts.space.view.settings import panel_names

gr = pytest.importorskip("gradio")


def test_sessions_do_not_see_each_other(desk: Handlers, tmp_path: Path) -> None:
    give(desk, tmp_path, "a")
    give(desk, tmp_path, "b", ["Secret of b", *MODEL[:10]])
    shown = {who: press(desk, who=who) for who in "ab"}
    a, b = visitor(desk, "a"), visitor(desk, "b")
    assert "Secret" not in "".join(desk.click_bucket(str(bucket), a)["bucket_texts"] for bucket in range(4))
    assert "Secret" in "".join(desk.click_bucket(str(bucket), b)["bucket_texts"] for bucket in range(4))
    assert shown["a"]["signature"] != shown["b"]["signature"]
    with pytest.raises(gr.Error, match="compare two sets first"):
        desk.pick_bucket(0, visitor(desk, "c"))
    with pytest.raises(ValueError, match="this request has no session"):
        desk.sessions.get(None)


@pytest.mark.usefixtures("undrawn")
def test_the_data_of_a_visitor_is_deleted_when_the_page_closes(desk: Handlers, tmp_path: Path) -> None:
    give(desk, tmp_path)
    press(desk)
    session = desk.sessions.get("a")
    desk.leave(request())
    assert len(desk.sessions) == 0
    assert session.sets() == [] and session.shown is None
    assert list(tmp_path.glob("*.jsonl")) == []
    with pytest.raises(gr.Error, match="choose a file"):
        press(desk)


def test_an_equal_upload_of_another_visitor_stays(desk: Handlers, tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "same.jsonl", HUMAN)
    for who in "ab":
        desk.take_file(path, visitor(desk, who))
    desk.leave(request("a"))
    assert Path(path).exists()
    desk.take_file(None, visitor(desk, "b"))
    assert not Path(path).exists()


def test_examples_are_taken_and_never_deleted(tmp_path: Path) -> None:
    desk = Handlers(Limits(), ["ngrams"], Encoders({"ngrams": ngrams}))
    for label, paths in example_files().items():
        shown = desk.take_example(label, visitor(desk))
        assert "600 texts" in shown["human_preview"] and "".join(map(str, shown.values())).count(
            "600 texts"
        ) == 1 + len(paths)
        assert list(desk.sessions.get("a").models) == list(paths)  # those of the example before are gone
    assert len(paths) == 3
    desk.leave(request())
    assert all(path.exists() for path in paths.values())


def test_sessions_expire_and_the_least_recently_used_is_dropped() -> None:
    sessions = Sessions(2)
    first = sessions.get("a")
    run = first.run = Run()
    sessions.get("b")
    sessions.get("c")
    assert len(sessions) == 2 and run.stopped
    assert sessions.get("c") is sessions.get("c")
    assert sessions.get("a") is not first
    short = Sessions(2, lifetime=0.05)
    run = short.get("a").run = Run()
    wait_until(lambda: len(short) == 0 and run.stopped)


def settings(**more: Any) -> list[object]:
    """Featurizer, `PLAY`, the panel and other featurizers, as `press` gives them."""
    panel = (more.get(name) for name in panel_names())
    return [more.get("featurizer", "ngrams"), *more.get("play", (5, 4, 7, 0.95)), *panel, more.get("others", [])]


def test_expired_sets_are_reported(desk: Handlers) -> None:
    progress: Any = lambda share, desc: None  # noqa: E731
    with pytest.raises(gr.Error, match="the human set is not here any more: uploads and results are kept for an hour"):
        desk.compare(["", "", False, *settings()], ("<p>24 texts</p>", "a"), visitor(desk), progress)
    with pytest.raises(gr.Error, match="texts are not here any more"):
        desk.compare(["a\nb", "", False, *settings()], ("<p>24 texts</p>", "a"), visitor(desk), progress)
    with pytest.raises(gr.Error, match="kept for an hour: choose them again"):
        desk.replay([5, 4, 7, 0.95], visitor(desk))
