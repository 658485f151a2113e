"""Texts on their way in: files, columns, pasted lines, hostile names."""

from __future__ import annotations

import html
import json
import subprocess
from pathlib import Path

import pytest
from samples import HUMAN, MODEL, NASTY, write_jsonl
from visitors import LIMITS, give, press, visitor

from mauve_metric.hosts.space.session.uploads import TextSet, read_paste, read_upload
from mauve_metric.hosts.space.view import markup, takeaway
from mauve_metric.hosts.space.view.handlers import Handlers
from mauve_metric.hosts.space.view.settings import SETTINGS

gr = pytest.importorskip("gradio")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.txt", b"PK\3\4", "model set “a” is not a zip file that can be read"),
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
    shown = desk.add_files([str(tmp_path / name)], visitor(desk))["model_problem"]
    assert message in html.unescape(shown)
    assert str(tmp_path) not in shown
    assert list(desk.sessions.get("a").models) == ["a_model"]  # the set before stays, under its own name
    message = message.replace("model set “a”", "the human set")
    shown = desk.take_file(write_bytes(tmp_path / f"h_{name}", content), visitor(desk))["human_preview"]
    assert message in html.unescape(shown) and str(tmp_path) not in shown
    assert desk.sessions.get("a").human is None  # the texts before are not scored in its place
    assert caplog.text == ""  # nothing of a text in the log


def write_bytes(path: Path, content: bytes) -> str:
    path.write_bytes(content)
    return str(path)


def test_an_error_that_quotes_a_text_is_escaped(desk: Handlers, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(json.dumps({NASTY: [NASTY, NASTY]}), encoding="utf-8")
    shown = desk.add_files([str(tmp_path / "a.jsonl")], visitor(desk))["model_problem"]
    assert "<img" not in shown and "&lt;img" in shown
    with pytest.raises(gr.Error) as refused:
        press(desk, human="a\nb", model="c\nd", featurizer=NASTY)
    assert "<img" not in refused.value.message and "&lt;img" in refused.value.message
    assert not refused.value.print_exception


@pytest.mark.more
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


def test_a_column_is_found_and_can_be_chosen(desk: Handlers, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,note,story\n1,a,=cmd() and more\n2,b,an owl\n", encoding="utf-8")
    preview, columns, paste = desk.take_file(str(tmp_path / "a.csv"), visitor(desk)).values()
    assert columns["choices"] == [("note: 'a', 'b'", "note"), ("story: '=cmd() and more', 'an owl'", "story")]
    assert columns["value"] == "story" and columns["visible"]
    assert "2 texts" in preview and "=cmd()" in preview and paste == ""
    assert "<em>note</em>" in desk.take_column("note", visitor(desk))["human_preview"]
    assert the_human(desk).texts == ["a", "b"]
    assert "choose a file first" in desk.take_column("note", visitor(desk, "b"))["human_preview"]
    desk.take_column("../../etc/passwd", visitor(desk))  # not a column: the one that is found
    assert the_human(desk).column == "story"


def test_pasted_lines_are_texts_and_take_the_place_of_a_file(desk: Handlers, tmp_path: Path) -> None:
    give(desk, tmp_path)
    preview, column, file = desk.take_paste("one text\n\nanother\r\n", visitor(desk)).values()
    assert "2 texts" in preview and file is None and column["visible"] is False
    assert the_human(desk).texts == ["one text", "another"]
    assert "2 texts" in str(desk.arrive({}, visitor(desk).key, "yes", "b")["human_preview"])
    assert "2 texts" in str(desk.take_paste("", visitor(desk, "b"))["human_preview"])  # the box was empty already
    assert desk.take_paste(" ", visitor(desk))["human_preview"] == "" and visitor(desk).human is None
    give(desk, tmp_path)
    assert "30 texts" in str(desk.take_paste("", visitor(desk))["human_preview"])  # of a file
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


def test_one_file_in_both_boxes_is_two_columns(desk: Handlers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [{"id": "no. 1", "gpt4": m, "human": h, "beam": f"{m}!"} for h, m in zip(HUMAN, MODEL, strict=False)]
    path = tmp_path / "both.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    desk.add_files([str(path)], visitor(desk))  # in either order
    desk.take_file(str(path), visitor(desk))
    shown = desk.add_files([str(path)], visitor(desk))
    session = desk.sessions.get("a")
    assert [side.column for side in session.sets()] == ["human", "gpt4", "beam"]
    assert list(session.models) == ["both", "beam"] and shown["aligned"] is True
    desk.remove_model(1, visitor(desk))
    code = press(desk, aligned=True)
    monkeypatch.chdir(tmp_path)
    assert (
        "read_texts('both.jsonl', 'human')" in code["python"] and "read_texts('both.jsonl', 'gpt4')" in code["python"]
    )
    assert "score both.jsonl --aligned --reference-field human --prediction-field gpt4" in code["shell"]
    lines = tmp_path / "lines.txt"
    lines.write_text("one\ntwo\n", encoding="utf-8")
    desk.take_file(str(lines), visitor(desk))
    assert "this file is the other side&#39;s already" in desk.add_files([str(lines)], visitor(desk))["model_problem"]


def test_a_refused_human_file_leaves_its_box_and_the_error_uses_the_words_of_the_page(
    desk: Handlers, tmp_path: Path
) -> None:
    (tmp_path / "a.txt").write_bytes(b"un caf\xe9\n")
    shown = desk.take_file(str(tmp_path / "a.txt"), visitor(desk))
    assert "un café" in shown["human_preview"] and "Read as cp1252" in shown["human_preview"]
    (tmp_path / "a.txt").write_bytes(b"%PDF-1.7")
    shown = desk.take_file(str(tmp_path / "a.txt"), visitor(desk))
    assert shown["human_file"] is None and "is a PDF" in shown["human_preview"]
    (tmp_path / "a.jsonl").write_text('{"text": "one"}\n{"text": " "}\n', encoding="utf-8")
    shown = desk.take_file(str(tmp_path / "a.jsonl"), visitor(desk))
    assert "human_file" not in shown and "2 texts" in shown["human_preview"]
    with pytest.raises(gr.Error, match=r"the human set holds .* or set “Empty texts” to “drop”"):
        press(desk, model="a\nb")
    (tmp_path / "b.txt").write_text("one\n", encoding="utf-8")
    assert "<strong>1 text</strong>" in desk.take_file(str(tmp_path / "b.txt"), visitor(desk))["human_preview"]


def test_a_refused_column_or_paste_leaves_what_is_held_in_sight(desk: Handlers, tmp_path: Path) -> None:
    path = tmp_path / "two.jsonl"
    path.write_text(json.dumps({"text": "one", "note": "x" * 201}) + "\n", encoding="utf-8")
    desk.take_file(str(path), visitor(desk))
    refused = desk.take_column("note", visitor(desk))
    assert refused["human_column"]["value"] == "text" and "got 201" in refused["human_preview"]
    assert "<em>text</em>" in refused["human_preview"]
    refused = desk.take_paste("x" * 201, visitor(desk))
    assert "human_file" not in refused and "<em>text</em>" in refused["human_preview"]
    assert "got 201" not in desk.take_paste(" ", visitor(desk))["human_preview"]
    path.write_bytes(b"")
    shown = desk.take_file(str(path), visitor(desk))["human_preview"]
    with pytest.raises(gr.Error, match="the human set: choose a file"):
        press(desk, held=(shown, ""))


def test_a_page_behind_its_session_is_shown_the_texts_again(desk: Handlers, tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "human.jsonl", HUMAN)
    first, last = (desk.edit(desk.take_file, file, visitor(desk)) for file in (path, None))
    assert (first["edition"], last["edition"]) == ("1", "2") and "30 texts" in str(first["human_preview"])
    values = [False, *[None] * len(SETTINGS)]
    for edition in ("", "2"):  # before the first answer, and after the last
        assert "human_preview" not in desk.checks(edition, values, None, visitor(desk))
    shown = desk.checks("1", values, None, visitor(desk))  # whose answer came last
    assert {name: shown[name] for name in ("human_preview", "edition")} == {"human_preview": "", "edition": "2"}
    assert "model_problem" not in shown  # what is said meanwhile stays
