"""The page's own functions: files and pasted texts in, results out, nothing of a visitor kept or shown to another."""

from __future__ import annotations

import asyncio
import html
import json
import logging
import re
import shlex
import subprocess
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import numpy as np
import pytest
from samples import HOSTILE, HUMAN, LIMITS, MODEL, NASTY, ngrams, write_jsonl
from visitors import give, press, visitor

from mauve_metric import MauveResult, Reference, compute_mauve, explain
from mauve_metric.hosts import cli
from mauve_metric.hosts.space import markup, reading, takeaway, text_handlers
from mauve_metric.hosts.space.controls import panel_names
from mauve_metric.hosts.space.handlers import RESULT, Handlers
from mauve_metric.hosts.space.limits import Limits
from mauve_metric.hosts.space.run import Cancelled, Run
from mauve_metric.hosts.space.scoring import Encoders, Scored, embed, score
from mauve_metric.hosts.space.session import Sessions
from mauve_metric.hosts.space.settings_link import control_values
from mauve_metric.hosts.space.uploads import TextSet, read_paste, read_upload
from mauve_metric.results import words
from mauve_metric.results.digits import digits

gr = pytest.importorskip("gradio")


# --- files --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.txt", b"caf\xe9\n", "model set “a” is not UTF-8: byte 3 on line 1 is 0xe9"),
        ("a.jsonl", b'{"text": "a"}\n{oops\n', "model set “a”, line 2: not JSON"),
        ("a.jsonl", b"[" * 100_000, "model set “a”"),
        ("a.parquet", b"PAR1 not really", "model set “a” is not a parquet file"),
        ("a.csv", f"{NASTY},b\n".encode(), "model set “a” holds no texts"),
        ("a.txt", b"x" * (2**20 + 1), "model set “a”: a file may have at most 1 MB here"),
        ("a.txt", b"x" * 1000_000, "model set “a”: a text may have at most 200 characters here, got 1000000"),
        ("a.txt", b"a\n" * 41, "model set “a”: at most 40 texts are taken here, got 41"),
        ("a.txt", b"", "model set “a” holds no texts"),
    ],
)
def test_bad_files_are_named_without_their_place_and_escaped(
    desk: Handlers, tmp_path: Path, caplog: pytest.LogCaptureFixture, name: str, content: bytes, message: str
) -> None:
    give(desk, tmp_path)
    (tmp_path / name).write_bytes(content)
    shown = desk.add_files([str(tmp_path / name)], visitor())[2]
    assert message in html.unescape(shown)
    assert str(tmp_path) not in shown
    assert list(desk.sessions.get("a").models) == ["a_model"]  # the set before stays, under its own name
    message = message.replace("model set “a”", "the human texts")
    shown = desk.take_file(write_bytes(tmp_path / f"h_{name}", content), visitor())[0]
    assert message in html.unescape(shown) and str(tmp_path) not in shown
    assert desk.sessions.get("a").human is None  # the texts before are not scored in its place
    assert caplog.text == ""  # nothing of a text in the log


def write_bytes(path: Path, content: bytes) -> str:
    path.write_bytes(content)
    return str(path)


def test_an_error_that_quotes_a_text_is_escaped(desk: Handlers, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(json.dumps({NASTY: [NASTY]}), encoding="utf-8")
    shown = desk.add_files([str(tmp_path / "a.jsonl")], visitor())[2]
    assert "<img" not in shown and "&lt;img" in shown
    with pytest.raises(gr.Error) as refused:
        press(desk, human="a\nb", model="c\nd", featurizer=NASTY)
    assert "<img" not in refused.value.message and "&lt;img" in refused.value.message
    assert not refused.value.print_exception


def test_a_parquet_file_that_unpacks_to_more_than_it_may_is_refused(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path = tmp_path / "bomb.parquet"
    parquet.write_table(pyarrow.table({"text": ["x"] * 100_000}), path)
    with pytest.raises(ValueError, match="at most 40 texts are taken here, got 100000"):
        read_upload("it", path, None, LIMITS)
    parquet.write_table(pyarrow.table({"text": ["y" * 2**21]}), path, compression="zstd", use_dictionary=False)
    assert path.stat().st_size < 2**20
    with pytest.raises(ValueError, match="the texts may take at most 1 MB unpacked here"):
        read_upload("it", path, None, LIMITS)
    # one long text that all rows point to: small in the file and by its own account, 36 MB in memory
    parquet.write_table(pyarrow.table({"text": ["z" * 900_000] * 40}), path, compression="zstd")
    assert path.stat().st_size < 2**20
    with pytest.raises(ValueError, match="the texts may take at most 1 MB unpacked here"):
        read_upload("it", path, None, LIMITS)
    parquet.write_table(pyarrow.table({"id": [1, 2], "story": ["a", "b"], "note": ["", "x"]}), path)
    side = read_upload("it", path, None, LIMITS)
    assert (side.texts, side.columns, side.column) == (["a", "b"], ("story", "note"), "story")


def the_human(desk: Handlers) -> TextSet:
    human = desk.sessions.get("a").human
    assert human is not None
    return human


def the_result(desk: Handlers) -> MauveResult:
    shown = desk.sessions.get("a").shown
    assert shown is not None
    (result,) = shown.scored.results.values()
    return result


def test_a_column_is_found_and_can_be_chosen(desk: Handlers, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,story\n1,=cmd() and more\n2,owl\n", encoding="utf-8")
    preview, columns, paste = desk.take_file(str(tmp_path / "a.csv"), visitor())
    assert columns["choices"] == ["id", "story"] and columns["value"] == "story" and columns["visible"]
    assert "2 texts" in preview and "=cmd()" in preview and paste == ""
    assert "<em>id</em>" in desk.take_column("id", visitor())
    assert the_human(desk).texts == ["1", "2"]
    assert "choose a file first" in desk.take_column("id", visitor("b"))
    desk.take_column("../../etc/passwd", visitor())  # not a column: the one that is found
    assert the_human(desk).column == "story"


def test_pasted_lines_are_texts_and_take_the_place_of_a_file(desk: Handlers, tmp_path: Path) -> None:
    give(desk, tmp_path)
    preview, column, file = desk.take_paste("one text\n\nanother\r\n", visitor())
    assert "2 texts" in preview and file is None and column["visible"] is False
    assert the_human(desk).texts == ["one text", "another"]
    with pytest.raises(ValueError, match="at most 1048576 characters can be pasted here"):
        read_paste("it", "a" * (2**20 + 1), LIMITS)


@pytest.mark.parametrize("name", ["../../x.txt", "-rf.txt", "a;rm -rf x.txt", "<b>.txt", "$(x) `y`.txt"])
def test_a_file_name_never_becomes_a_path_html_or_a_command(name: str) -> None:
    sides = TextSet("it", name, ["a"]), {"m": TextSet("it", "b.txt", ["b"])}
    assert "<b>" not in markup.preview(sides[0]) and "${" not in markup.preview(sides[0])
    words = subprocess.run(
        ["sh", "-c", f"printf '%s\\n' {takeaway.shell_code(*sides, {'featurize_model_name': 'minilm'})}"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    base = name.rsplit("/", 1)[-1]
    assert words[2] == (f"./{base}" if base.startswith("-") else base)
    assert f"read_texts({base!r})" in takeaway.python_code(*sides, {"featurize_model_name": "minilm"})


# --- results ------------------------------------------------------------------------------------------------------


def test_button_shows_the_result(desk: Handlers, tmp_path: Path, expected: MauveResult) -> None:
    give(desk, tmp_path)
    shown = press(desk)
    assert f"<strong>{expected.mauve:.4f}</strong>" in shown["score"] and "floor" not in shown["score"]
    assert all(warning.message.split(":")[0] in html.unescape(shown["warnings"]) for warning in expected.warnings)
    assert len(shown["bucket"]["choices"]) == 4 and shown["bucket"]["value"] == shown["bucket"]["choices"][0][1]
    assert "<h4>Human:" in shown["bucket_texts"] and f">{expected.mauve:.4f}<" in shown["table"]
    assert shown["tables"] == "" and shown["picked"]["visible"] is False  # nothing about several models
    assert shown["signature"] == expected.signature
    assert "num_buckets=4" in shown["python"] and "--num-buckets 4" in shown["shell"]


def test_buckets_hold_every_text_once_and_on_its_side(desk: Handlers, tmp_path: Path) -> None:
    give(desk, tmp_path, model=[*MODEL[:15], *HOSTILE])
    shown = press(desk)
    choices = shown["bucket"]["choices"]
    pages = [desk.pick_bucket(bucket, visitor()) for _, bucket in choices]
    counts = [page.split("<h4>Human: ")[1].split(" of")[0] for page in pages]
    assert sum(map(int, counts)) == len(HUMAN)
    assert {"<script", "<img", "\x00", "\u202e", "${", "{{"} & {
        bad for bad in HOSTILE if bad in "".join(pages)
    } == set()
    assert not any(bad in page for page in pages for bad in ("<script", "<img", "\x00", "\u202e", "${", "{{"))
    found = explain(
        p_text=HUMAN, q_text=[*MODEL[:15], *HOSTILE], featurize_model_name=ngrams, num_buckets=4, seed=7, buckets=4
    )
    parts = [found.contributions[bucket] for _, bucket in choices]
    assert parts == sorted(parts, reverse=True)
    for item in found.buckets:  # what is shown of a bucket is what `explain` says of it
        page = html.unescape(pages[[bucket for _, bucket in choices].index(item.bucket)])
        assert words.bucket_title(item) in page
        assert all(value in page for _, value in words.bucket_facts(item))


def test_play_is_the_score_with_those_values_and_fast(desk: Handlers, tmp_path: Path) -> None:
    give(desk, tmp_path)
    press(desk)
    features = desk.sessions.get("a").shown.scored.embedded
    for c, buckets, seed, level in ((2, 4, 7, 0.95), (2, 3, 7, 0.95), (1.5, 0, 3, 0.8)):
        shown = desk.replay([c, buckets, seed, level], visitor())
        wanted = compute_mauve(
            p_text=HUMAN,
            q_text=MODEL,
            featurize_model_name=ngrams,
            mauve_scaling_factor=c,
            num_buckets=buckets or "auto",
            seed=seed,
            confidence_level=level,
        )
        assert the_result(desk).to_dict() == wanted.to_dict()
        assert dict(zip(RESULT, shown, strict=True))["signature"] == wanted.signature
        assert desk.sessions.get("a").shown.scored.embedded is features  # no text was read again


def test_play_clusters_again_only_where_the_buckets_would_change() -> None:
    texts = [[f"{word} {number} {number % 7}" for number in range(100)] for word in ("old", "new")]
    encoders = Encoders({"ngrams": ngrams})
    config = encoders.config({"featurize_model_name": "ngrams"})
    embedded = embed({"p": texts[0], "q": texts[1]}, config, encoders, Run())
    first = score(embedded, {"q": "q"}, config)
    again = score(embedded, {"q": "q"}, replace(config, seed=3), last=first)
    assert again.partition is not first.partition
    assert score(embedded, {"q": "q"}, replace(config, mauve_scaling_factor=2), last=first).partition is first.partition


def test_the_commands_give_the_same_result(
    tmp_path: Path, minilm: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    desk = Handlers(LIMITS, [minilm, "ngrams"], Encoders())
    for which, texts in (("human", HUMAN[:12]), ("model", MODEL[:12])):
        rows = "".join(json.dumps({"story text": text, "n": 1}) + "\n" for text in texts)
        (tmp_path / f"{which} set.jsonl").write_text(rows, encoding="utf-8")
    desk.take_file(str(tmp_path / "human set.jsonl"), visitor())
    desk.add_files([str(tmp_path / "model set.jsonl")], visitor())
    shown = press(desk, (2, 3, 4, 0.9), featurizer=minilm, paired=True, knn=False, others=["ngrams"])
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    exec(shown["python"], names)
    assert names["out"].signature == shown["signature"] and names["out"].joint_verdict in html.unescape(shown["score"])
    assert f"<strong>{names['out'].mauve:.4f}</strong>" in shown["score"]
    capsys.readouterr()
    assert cli.main([*shlex.split(shown["shell"])[1:], "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == names["out"].to_dict()


def letters(texts: list[str]) -> np.ndarray:
    """A second featurizer without a model."""
    return np.array([[text.count(letter) for letter in "aeiorst "] for text in texts], dtype=float)


@pytest.fixture
def offering_two(desk: Handlers) -> Handlers:
    """A page that offers two featurizers."""
    return Handlers(LIMITS, ["ngrams", "letters"], Encoders({"ngrams": ngrams, "letters": letters}))


def test_others_are_asked_too(offering_two: Handlers, tmp_path: Path) -> None:
    desk, told = offering_two, []
    give(desk, tmp_path)
    shown = press(desk, others=["letters", "ngrams"], tell=lambda share, desc: told.append((share, desc)))
    result = the_result(desk)
    assert [*result.by_featurizer] == ["ngrams", "letters"] and result.joint_verdict in html.unescape(shown["score"])
    assert all(f"<td>{name}</td>" in shown["tables"] for name in result.by_featurizer)
    shares = [share for share, _ in told]
    assert shares == sorted(shares) and told[0][1].startswith("ngrams: ") and told[-2][1].startswith("letters: ")
    assert stale(desk, others=["letters"]) == "" and "compare again" in stale(desk)
    scored = desk.sessions.get("a").shown.scored  # type: ignore[union-attr]
    desk.replay([2, 4, 7, 0.95], visitor())
    again = desk.sessions.get("a").shown.scored  # type: ignore[union-attr]
    assert isinstance(scored, Scored) and isinstance(again, Scored)
    for name in ("ngrams", "letters"):
        assert again.each[name].embedded is scored.each[name].embedded  # nothing was read again
        assert again.results["a_model"].by_featurizer[name].mauve != result.by_featurizer[name].mauve
    request = visitor()
    request.query_params = dict(parse_qsl(desk.link(settings(others=["letters"]))))
    assert desk.arrive(request)[len(settings()) - 1] == ["letters"]
    request.query_params = {"featurizers": "letters,gpt9"}
    assert "featurize_model_name must be one of ngrams, letters here" in desk.arrive(request)[len(settings())]
    with pytest.raises(gr.Error, match="must be one of ngrams, letters here, got"):
        press(desk, others=["gpt9"])


def test_files_are_made_and_only_the_report_holds_texts(desk: Handlers, tmp_path: Path) -> None:
    give(desk, tmp_path)
    press(desk)
    files = [Path(path) for path in desk.make_files(visitor())["value"]]
    assert {file.suffix for file in files} == {".svg", ".pdf", ".png", ".json", ".txt", ".html"}
    result = the_result(desk)
    content = {file.name: file.read_bytes() for file in files}
    assert json.loads(content["mauve.json"]) == json.loads(json.dumps(result.to_dict()))
    assert result.signature in content["signature.txt"].decode()
    assert {name for name, data in content.items() if b"slept" in data} == {"report.html"}
    assert f"{digits(result.mauve_debiased, '.3f')} of what two human sets reach".encode() in content["report.html"]
    desk.leave(visitor())
    assert not any(file.exists() for file in files)


def test_what_is_missing_is_asked_for(desk: Handlers) -> None:
    with pytest.raises(gr.Error, match="choose a file, paste texts or take an example first"):
        press(desk)
    for call in (lambda: desk.replay([5, 0, 25, 0.95], visitor()), lambda: desk.make_files(visitor())):
        with pytest.raises(gr.Error, match="compare two sets first"):
            call()
    with pytest.raises(gr.Error, match="featurize_model_name must be one of ngrams here"):
        press(desk, human="a\nb", model="c\nd", featurizer="gpt2-large")


# --- sessions -----------------------------------------------------------------------------------------------------


def test_sessions_do_not_see_each_other(desk: Handlers, tmp_path: Path) -> None:
    give(desk, tmp_path, "a")
    give(desk, tmp_path, "b", ["Secret of b", *MODEL[:10]])
    shown = {who: press(desk, who=who) for who in "ab"}
    assert "Secret" not in "".join(desk.pick_bucket(bucket, visitor("a")) for bucket in range(4))
    assert "Secret" in "".join(desk.pick_bucket(bucket, visitor("b")) for bucket in range(4))
    assert shown["a"]["signature"] != shown["b"]["signature"]
    with pytest.raises(gr.Error, match="compare two sets first"):
        desk.pick_bucket(0, visitor("c"))
    with pytest.raises(ValueError, match="this request has no session"):
        desk.sessions.get(None)


def test_what_a_visitor_gave_is_gone_when_he_leaves(desk: Handlers, tmp_path: Path) -> None:
    give(desk, tmp_path)
    press(desk)
    session = desk.sessions.get("a")
    desk.leave(visitor())
    assert len(desk.sessions) == 0
    assert session.sets() == [] and session.shown is None
    assert list(tmp_path.glob("*.jsonl")) == []
    with pytest.raises(gr.Error, match="choose a file"):
        press(desk)


def test_an_equal_upload_of_another_visitor_stays(desk: Handlers, tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "same.jsonl", HUMAN)
    for who in "ab":
        desk.take_file(path, visitor(who))
    desk.leave(visitor("a"))
    assert Path(path).exists()
    desk.take_file(None, visitor("b"))
    assert not Path(path).exists()


def test_examples_are_taken_and_never_deleted(tmp_path: Path) -> None:
    desk = Handlers(Limits(), ["ngrams"], Encoders({"ngrams": ngrams}))
    for label, paths in text_handlers.example_files().items():
        shown = desk.take_example(label, visitor())
        assert "600 texts" in shown[0] and "".join(map(str, shown)).count("600 texts") == 1 + len(paths)
        assert list(desk.sessions.get("a").models) == list(paths)  # those of the example before are gone
    assert len(paths) == 3
    desk.leave(visitor())
    assert all(path.exists() for path in paths.values())


def test_sessions_end_after_their_time_and_the_oldest_gives_way() -> None:
    now = 0.0
    sessions = Sessions(2, lifetime=10, clock=lambda: now)
    first = sessions.get("a")
    run = first.run = Run()
    sessions.get("b")
    sessions.get("c")
    assert len(sessions) == 2 and run.stopped
    assert sessions.get("c") is sessions.get("c")
    now = 11.0
    sessions.get("b")
    sessions.sweep()
    assert len(sessions) == 1 and sessions.get("a") is not first


def test_a_run_is_stopped_and_a_second_one_refused(desk: Handlers, tmp_path: Path) -> None:
    give(desk, tmp_path)
    inner: list[Any] = []

    def slow(texts: list[str]) -> np.ndarray:
        with pytest.raises(gr.Error, match="is running already"):
            press(desk)
        inner.append(1)
        desk.cancel(visitor())
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
    run = Run(lambda share, words: told.append((share, words)))
    run.begin_reading([100, 50, 50])
    run.begin_set(0)
    run._began -= 10  # ten seconds ago
    run.texts_done("a set", 50, 100)  # five texts a second, and 150 of all are left
    assert told[1][1] == "human texts: 50 of 100, 5 texts a second, about 30 s left"
    assert told[0][0] < told[1][0] < 0.5
    run.texts_done("a set", 100, 100)
    run.begin_set(1)
    run.texts_done("a set", 50, 50)
    run.rough("rough: 0.5")
    run.begin_set(2)
    run.texts_done("a set", 50, 50)
    assert told[-1][0] == pytest.approx(0.85)
    assert told[-1][1].startswith("rough: 0.5; model 2 of 2: 50 of 50, 20 texts a second")
    run.cancel()
    with pytest.raises(Cancelled):
        run.texts_done("a set", 1, 2)


def test_a_mistake_of_the_program_is_not_logged_with_texts(
    desk: Handlers, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    give(desk, tmp_path)

    def broken(texts: list[str]) -> np.ndarray:
        raise KeyError(texts[0])

    desk.encoders.functions["ngrams"] = broken
    with caplog.at_level(logging.DEBUG), pytest.raises(gr.Error, match=r"something went wrong here \(KeyError\)"):
        press(desk)
    assert "KeyError" in caplog.text and "slept" not in caplog.text


def test_nothing_is_logged_of_a_run(desk: Handlers, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    give(desk, tmp_path)
    with caplog.at_level(logging.DEBUG):
        press(desk)
    assert "slept" not in caplog.text and "The bird" not in caplog.text


# --- the flow of the page -----------------------------------------------------------------------------------------


def settings(**more: Any) -> list[object]:
    """Featurizer, `PLAY`, the panel and other featurizers, as `press` gives them."""
    panel = (more.get(name) for name in panel_names())
    return [more.get("featurizer", "ngrams"), *more.get("play", (5, 4, 7, 0.95)), *panel, more.get("others", [])]


def stale(desk: Handlers, shows: str = "own", **more: Any) -> str:
    return desk.stale([more.get("aligned", False), *settings(**more)], shows, visitor())


def test_a_result_is_stale_until_the_inputs_are_its_own_again(desk: Handlers, tmp_path: Path) -> None:
    assert stale(desk) == ""  # no result, nothing to say
    give(desk, tmp_path)
    press(desk)
    assert stale(desk) == ""
    assert "compare again" in stale(desk, knn=False) and "compare again" in stale(desk, play=(5, 4, 8, 0.95))
    desk.replay([5, 4, 8, 0.95], visitor())
    assert stale(desk, play=(5, 4, 8, 0.95)) == "" and "compare again" in stale(desk)
    desk.rename_model(0, "other", visitor())
    assert "compare again" in stale(desk, play=(5, 4, 8, 0.95))
    desk.rename_model(0, "a_model", visitor())
    assert stale(desk, play=(5, 4, 8, 0.95)) == ""
    human = the_human(desk)
    desk.take_paste("one\ntwo", visitor())
    assert "compare again" in stale(desk, play=(5, 4, 8, 0.95))
    desk.sessions.get("a").human = human
    assert stale(desk, play=(5, 4, 8, 0.95)) == ""


def test_a_play_value_out_of_range_is_named_and_put_back(desk: Handlers, tmp_path: Path) -> None:
    give(desk, tmp_path)
    press(desk)
    before = the_result(desk)
    *shown, c, buckets, seed, level = desk.play("[50, 4, 7, 0.95]", visitor())
    values = dict(zip(RESULT, shown, strict=True))
    assert "Scaling factor c must be from 0.5 to 20 here, got 50; the figures are still" in values["play_note"]
    assert (c, buckets, seed, level) == (5, 4, 7, 0.95)
    assert the_result(desk) is before
    with pytest.raises(gr.Error, match=r"Scaling factor c must be from 0\.5 to 20 here, got 50"):
        press(desk, (50, 4, 7, 0.95))


def test_what_is_not_kept_any_more_is_said(desk: Handlers) -> None:
    progress: Any = lambda share, desc: None  # noqa: E731
    with pytest.raises(gr.Error, match="human texts are not here any more: uploads and results are kept for an hour"):
        desk.compare(["", "", False, *settings()], visitor(), progress, held=("<p>24 texts</p>", "a"))
    with pytest.raises(gr.Error, match="texts are not here any more"):
        desk.compare(["a\nb", "", False, *settings()], visitor(), progress, held=("<p>24 texts</p>", "a"))
    with pytest.raises(gr.Error, match="kept for an hour: choose them again"):
        desk.replay([5, 4, 7, 0.95], visitor())


def test_a_stopped_run_says_so_and_the_old_result_stays(desk: Handlers, tmp_path: Path) -> None:
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
        said = [words async for words in desk.stop(5.0, visitor())]
        assert all(value == gr.skip() for value in (await run).values())
        return said

    assert [re.sub("<.*?>", "", said) for said in asyncio.run(stopped_while_reading())] == [
        "Stopping, as soon as the texts at work are read.",
        "Stopped. Nothing was changed.",
    ]
    assert the_result(desk) is before
    waited = desk.compare(["", "", False, *settings()], visitor(), None, asked=4.0)  # it was asked for before the stop
    assert all(value == gr.skip() for value in waited) and desk.sessions.get("a").run is None


def test_a_rough_score_comes_first_and_no_row_is_read_twice(tiny_gpt2: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "ROUGH_TEXTS", 8)
    encoders, told = Encoders(), []
    config = encoders.config({"featurize_model_name": tiny_gpt2, "num_buckets": 3})
    sets = {"p": HUMAN[:20], "q": MODEL[:18]}
    whole = embed(sets, config, encoders, Run())
    run = Run(lambda share, words: told.append(words))
    early = embed(sets, config, encoders, run, names=["m"])
    for one, other in zip(early.sets, whole.sets, strict=True):
        np.testing.assert_allclose(one.features, other.features, atol=1e-5)  # float32, batches of other shapes
        assert one.text_hashes.tolist() == other.text_hashes.tolist() and len(one.lengths) == len(other.lengths)
    assert any(words.startswith("rough, from the first 8 texts of each set: debiased MAUVE") for words in told)
    assert [words for words in told if words.endswith("human texts: 20 of 20")]
    told.clear()
    embed({"p": HUMAN[:8], "q": MODEL[:8]}, config, encoders, Run(lambda share, words: told.append(words)), names=["m"])
    assert told and not any("rough" in words for words in told)  # all of them are read at once


def test_a_link_holds_the_settings_and_names_what_it_cannot_set(desk: Handlers) -> None:
    query = desk.link(settings(play=(2, 0, 3, 0.9), knn=False, match_lengths="truncate"))
    assert dict(parse_qsl(query)) == {
        "mauve_scaling_factor": "2", "seed": "3", "confidence_level": "0.9", "knn": "False", "match_lengths": "truncate"
    }  # fmt: skip
    request = visitor()
    request.query_params = dict(parse_qsl(query)) | {"<b>": "red", "num_buckets": "many", "__theme": "dark"}
    shown = desk.arrive(request)
    assert shown[: len(settings())] == control_values(
        {"mauve_scaling_factor": 2, "seed": 3, "confidence_level": 0.9, "knn": False, "match_lengths": "truncate"},
        ["ngrams"],
    )
    said = html.unescape(shown[len(settings())])
    assert "“<b>”, which is no setting" in said
    assert "num_buckets" in said and "theme" not in said and "<b>" not in shown[len(settings())]


@pytest.mark.parametrize("several", [False, True])
def test_a_result_file_is_opened_again_without_texts(
    offering_two: Handlers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, several: bool
) -> None:
    desk = offering_two
    monkeypatch.setattr(takeaway, "save_chart", lambda chart, path: None)  # other tests draw
    monkeypatch.setattr(takeaway, "save_report", lambda scored, path, description: path)
    give(desk, tmp_path)
    if several:
        desk.add_files([write_jsonl(tmp_path / "loud.jsonl", [text.upper() for text in HUMAN])], visitor())
    made = press(desk, others=["letters"])
    (path,) = [path for path in desk.make_files(visitor())["value"] if path.endswith("mauve.json")]
    copy = tmp_path / "kept.json"
    copy.write_bytes(Path(path).read_bytes())
    shown = dict(zip(RESULT, desk.open_result(str(copy), visitor("b")), strict=True))
    same = ("score", "warnings", "tables", "signature")
    assert {name: shown[name] for name in same} == {name: made[name] for name in same}
    for name in ("divergence_curve", "precision_recall", "score_line"):
        assert shown[name].to_dict() == made[name].to_dict()
    assert "without its texts" in shown["about"] and "texts are not in a result's file" in shown["bucket_texts"]
    assert shown["text_map"] is None and shown["play"]["visible"] is False and not copy.exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"mauve": 0.99}, "its mauve is not that of its own histograms"),
        ({"p_hist": [0.5, 0.5, 0.0, "x"]}, "not a file that “Make files” wrote"),
        ({"n_p": None}, "n_p must be a number"),
        ({"signature": 3}, "not a file that"),
        ({"num_buckets": 10**12}, "p_hist must hold num_buckets numbers"),
        (None, "an object is expected, got list"),
    ],
)
def test_another_json_is_refused_in_one_sentence(
    desk: Handlers, tmp_path: Path, expected: MauveResult, change: dict[str, object] | None, message: str
) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps([1] if change is None else expected.to_dict() | change), encoding="utf-8")
    with pytest.raises(gr.Error, match=message):
        desk.open_result(str(path), visitor())
    assert not path.exists() and desk.sessions.get("a").shown is None


def test_the_example_on_arrival_is_what_its_texts_give(minilm: str) -> None:
    desk = Handlers(Limits(), [minilm], Encoders())
    request = visitor()
    request.query_params = {}
    arrived = dict(zip(RESULT, desk.arrive(request)[-len(RESULT) :], strict=True))
    assert len(desk.sessions) == 0  # who only looks takes nobody's place
    shown = desk.example.shown()
    assert shown is not None
    (result,) = shown.scored.results.values()
    about = html.unescape(arrived["about"])
    assert (
        f"MAUVE is {result.mauve:.2f}, where two human sets of this size would reach {result.mauve_ceiling:.2f}"
        in about
    )
    assert "https://arxiv.org/abs/2102.01454" in about and "https://arxiv.org/abs/2212.14578" in about
    embedded = desk.example.embedded
    for number in (0, 1):  # the stored rows are those of the texts
        fresh = Reference.from_texts(embedded.texts[number][:4], featurize_model_name=minilm, cache=False)
        np.testing.assert_allclose(embedded.sets[number].features[:4], fresh.features, atol=1e-4)
    played = desk.take_up("example", visitor()) or desk.replay([2, 0, 25, 0.95], visitor())
    assert "An example" in dict(zip(RESULT, played, strict=True))["about"]
    assert desk.stale([False, *settings(featurizer=minilm, play=(2, 0, 25, 0.95))], "own", visitor()) == ""
    desk.take_paste("one\ntwo", visitor())
    assert "still the example" in desk.stale(
        [False, *settings(featurizer=minilm, play=(2, 0, 25, 0.95))], "own", visitor()
    )


def test_no_example_where_it_could_not_be_run(desk: Handlers) -> None:
    assert desk.example.shown() is None and Handlers(LIMITS, ["minilm"], Encoders()).example.shown() is None
