"""Sessions of visitors: apart from each other, and gone after their time."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from samples import HUMAN, MODEL, ngrams, write_jsonl
from visitors import close, give, press, request, visitor, wait_until

from mauve_metric.hosts.space.limits import Limits
from mauve_metric.hosts.space.session.examples import example_files
from mauve_metric.hosts.space.session.run import Run
from mauve_metric.hosts.space.session.scoring import Encoders
from mauve_metric.hosts.space.session.sessions import InTurn, Sessions, bytes_in
from mauve_metric.hosts.space.session.uploads import TextSet
from mauve_metric.hosts.space.view.handlers import Handlers
from mauve_metric.hosts.space.view.settings import panel_names

gr = pytest.importorskip("gradio")


def test_changes_come_in_the_order_in_which_they_were_asked_for() -> None:
    lock, order = InTurn(), []

    def change(number: int) -> None:
        with lock, lock:
            order.append(number)

    threads = [threading.Thread(target=change, args=[number], daemon=True) for number in range(20)]
    with lock:
        change(-1)
        for number, thread in enumerate(threads):
            thread.start()
            wait_until(lambda waiting=number + 1: len(lock._waiting) == waiting)
        assert order == [-1]
    for thread in threads:
        thread.join(120)
    change(20)
    assert order == [*range(-1, 21)]


@pytest.mark.slow
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
    close(desk)
    assert len(desk.sessions) == 0
    assert session.sets() == [] and session.shown is None
    assert list(tmp_path.glob("*.jsonl")) == []
    with pytest.raises(gr.Error, match="choose a file"):
        press(desk)


@pytest.mark.slow
def test_a_page_that_is_opened_again_finds_its_texts_and_its_result(desk: Handlers, tmp_path: Path) -> None:
    give(desk, tmp_path)
    desk.add_files([write_jsonl(tmp_path / "loud.jsonl", [text.upper() for text in HUMAN])], visitor(desk))
    made = press(desk, play=(3, 4, 7, 0.9))
    made |= desk.pick_model("1", visitor(desk))
    key, human = visitor(desk).key, visitor(desk).human
    desk.leave(request())
    for stranger in ("", "wrong", key[:-1]):
        assert "score" not in desk.arrive({}, stranger, "", f"c{stranger}")
    shown = desk.arrive({}, key, "", "b")
    again = visitor(desk, "b")
    assert again.human == human and again.key == shown["key"] != key and visitor(desk).human is None
    same = ("score", "divergence_curve", "pair", "table", "signature")
    assert {name: shown[name] for name in same} == {name: made[name] for name in same}
    assert "30 texts" in str(shown["human_preview"]) and shown["model_2_name"] == "loud"
    assert shown["mauve_scaling_factor"] == 3 and shown["confidence_level"] == 0.9 and shown["aligned"] is False
    assert human is not None and human.path is not None and human.path.exists()
    # a page that is still open, of which this one is a copy, keeps what it holds
    desk.arrive({}, again.key, "", "d")
    assert visitor(desk, "b").human == visitor(desk, "d").human == human
    desk.pick_model("0", visitor(desk, "d"))
    first, copy = again.shown, visitor(desk, "d").shown
    assert first is not None and copy is not None and first.picked != copy.picked


def test_what_is_pasted_after_a_reload_replaces_no_set(desk: Handlers) -> None:
    desk.add_paste("one\ntwo", visitor(desk))
    desk.arrive({}, visitor(desk).key, "yes", "b")
    desk.add_paste("three", visitor(desk, "b"))
    assert {name: side.texts for name, side in visitor(desk, "b").models.items()} == {
        "pasted": ["one", "two"],
        "pasted-2": ["three"],
    }


def test_a_page_that_is_opened_again_says_why_its_texts_are_gone(desk: Handlers, tmp_path: Path) -> None:
    desk.sessions = Sessions(1)
    give(desk, tmp_path, "a")
    key = visitor(desk, "a").key
    assert desk.arrive({}, key, "yes", "b")["link_problems"] == ""  # they are here
    desk.sessions.drop("b")
    give(desk, tmp_path, "c")  # in the place of a
    for reopened, old, reason in (
        ("d", key, "keeps the texts of 1 visitors"),
        ("e", "x", "until the server is started"),
    ):
        assert reason in str(desk.arrive({}, old, "yes", reopened)["link_problems"])
        assert reason in visitor(desk, reopened).lost
    assert desk.arrive({}, "x", "", "f")["link_problems"] == ""  # it held nothing
    close(desk, "c")


@pytest.mark.parametrize("is_noticed", [True, False])
def test_a_page_that_is_opened_again_says_that_its_run_was_stopped(
    desk: Handlers, tmp_path: Path, is_noticed: bool
) -> None:
    give(desk, tmp_path)
    run = visitor(desk).run = Run()
    key = visitor(desk).key
    if is_noticed:  # that the page was closed; a reload may be faster
        desk.leave(request())
        visitor(desk).run = None
        assert run.stopped
    shown = desk.arrive({}, key, "yes", "b")
    assert "A run was stopped" in str(shown["status"]) and "30 texts" in str(shown["human_preview"])
    assert "status" not in desk.arrive({}, str(shown["key"]), "yes", "c")  # it was said


def test_an_equal_upload_of_another_visitor_stays(desk: Handlers, tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "same.jsonl", HUMAN)
    for who in "ab":
        desk.take_file(path, visitor(desk, who))
    close(desk)
    assert Path(path).exists()
    desk.take_file(None, visitor(desk, "b"))
    assert not Path(path).exists()


def arrive(sessions: Sessions, path: str | Path) -> None:
    with sessions.arriving() as files:
        files[Path(path)] += 1


def test_an_equal_upload_that_is_about_to_arrive_stays(desk: Handlers, tmp_path: Path) -> None:
    path, other = (Path(write_jsonl(tmp_path / f"{name}.jsonl", HUMAN)) for name in ("same", "other"))
    for read in (path, other):
        arrive(desk.sessions, read)
    with desk.sessions.arriving() as files:  # the file has its name already
        for read in (path, other):
            desk.take_file(str(read), visitor(desk))
        desk.take_file(None, visitor(desk))
        with desk.sessions.arriving():
            pass
        assert path.exists() and other.exists()
        files[path] += 1
    assert path.exists() and not other.exists()
    desk.take_file(str(path), visitor(desk))
    assert visitor(desk).human.texts == HUMAN
    desk.take_file(None, visitor(desk))
    assert not path.exists()


def test_an_equal_upload_that_is_not_read_yet_stays(desk: Handlers, tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "same.jsonl", HUMAN)
    for _ in ("human box", "model box"):
        arrive(desk.sessions, path)
    desk.take_file(path, visitor(desk))
    desk.take_file(None, visitor(desk))  # before the other handler reads it
    assert "mm-problem" not in str(desk.add_files([path], visitor(desk))["model_problem"])
    assert visitor(desk).models["same"].texts == HUMAN
    desk.remove_model(0, visitor(desk))
    assert not Path(path).exists()


@pytest.mark.more
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
    sessions.get("b")
    sessions.get("c")
    assert len(sessions) == 2
    assert sessions.get("c") is sessions.get("c")
    assert sessions.get("a") is not first
    assert sessions.get("a").lost.startswith("uploads and results are kept for an hour without use")
    short = Sessions(2, lifetime=0.05)
    run = short.get("a").run = Run()
    wait_until(lambda: len(short) == 0 and run.stopped)


def test_sessions_without_texts_take_no_place_and_the_reason_of_a_loss_is_told() -> None:
    sessions = Sessions(2)
    for name in ("a", "b"):
        sessions.get(name).human = TextSet("people", "human.txt", ["one"])
    for number in range(40):  # visitors who press Stop
        sessions.get(f"empty {number}")
    assert sessions.get("a").human and sessions.get("b").human and len(sessions) == 4
    sessions.get("c").human = TextSet("people", "human.txt", ["one"])
    sessions.get("d")
    assert sessions.get("b").human and sessions.get("c").human and not sessions.get("a").human
    assert sessions.get("a").lost.startswith("this server keeps the texts of 2 visitors at a time")


def test_a_session_whose_run_waits_or_works_is_not_pushed_out() -> None:
    sessions = Sessions(2)
    texts, empty = sessions.get("texts"), sessions.get("empty")
    texts.human = TextSet("people", "human.txt", ["one"])
    texts.run, empty.run = Run(), Run()
    for number in range(9):
        sessions.get(f"none {number}")
        sessions.get(f"some {number}").human = TextSet("people", "human.txt", ["one"])
    assert sessions.get("texts") is texts and sessions.get("empty") is empty
    assert not texts.run.stopped and not empty.run.stopped


@pytest.mark.parametrize("key", ["", "schlüssel", "\ud800", "🙂" * 40])
def test_a_key_that_no_session_has_finds_none(key: str) -> None:
    sessions = Sessions(2)
    sessions.get("a").human = TextSet("people", "human.txt", ["one"])
    assert sessions.resume("b", key).human is None


def test_what_is_chosen_before_the_page_has_its_texts_of_before_stays() -> None:
    sessions = Sessions(2)
    texts, old = [TextSet(name, "a.txt", [name]) for name in ("before", "now")], sessions.get("a")
    old.human, old.models = texts[0], {"m": texts[0]}
    sessions.get("b").models = {"n": texts[1]}
    resumed = sessions.resume("b", old.key)
    assert resumed.human is texts[0] and resumed.models == {"n": texts[1]}


def test_one_client_pushes_out_its_own_sessions_and_no_others() -> None:
    sessions = Sessions(3)
    for name, client in [("a", "192.0.2.1"), ("b", "192.0.2.2"), *((f"c{number}", "192.0.2.3") for number in range(9))]:
        sessions.get(name, client).human = TextSet("it", "a.txt", ["a"])
    assert sessions.get("a").holds() and sessions.get("b").holds() and len(sessions) == 3
    assert [sessions.get(f"c{number}").holds() for number in range(9)] == [False] * 8 + [True]


def test_a_file_that_another_page_uses_stays(desk: Handlers, tmp_path: Path) -> None:
    path = tmp_path / "gradio" / "1" / "a.txt"
    path.parent.mkdir(parents=True)
    path.write_text("one\n")
    for _ in ("judge", "other judge"):
        arrive(desk.sessions, path)
    visitor(desk).human = TextSet("people", "a.txt", ["one"], path=path)
    desk.sessions.release_read(path)
    close(desk)
    assert path.exists()
    desk.sessions.release_read(path)
    assert not path.parent.exists()


def test_what_nobody_uses_is_swept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path))
    sessions, files = Sessions(2), {}
    for name, age in {
        "partial": 130,
        "arriving": 5,
        "old/a": 3700,
        "chosen/a": 3500,
        "used/a": 9999,
        "new/a": 9,
    }.items():
        files[name] = tmp_path / name
        files[name].parent.mkdir(exist_ok=True)
        files[name].write_bytes(b"1234")
        for path in (files[name], *([files[name].parent] if "/" in name else [])):
            os.utime(path, (time.time() - age,) * 2)
    arrive(sessions, files["chosen/a"])  # by a judge
    arrive(sessions, files["old/a"])  # by one who left
    sessions.get("a").human = TextSet("people", "a", ["one"], path=files["used/a"])
    mine = sessions.get("a").new_folder()
    os.utime(mine, (1, 1))
    assert bytes_in(tmp_path) >= 24
    sessions.sweep()
    assert {name for name, path in files.items() if path.exists()} == {"arriving", "chosen/a", "used/a", "new/a"}
    assert mine.exists() and not (tmp_path / "old").exists()


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
    with pytest.raises(gr.Error, match="until the server is started again: choose them again"):
        desk.replay([5, 4, 7, 0.95], visitor(desk))
