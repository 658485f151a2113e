"""Files that visitors upload: what is read of them, and that none outlives its use."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from samples import HUMAN, MODEL
from tools import harness_file, harness_rows
from visitors import LIMITS, close, press, visitor

from mauve_metric.hosts.space.session.uploads import TextSet, read_paste, read_upload
from mauve_metric.hosts.space.view import markup, takeaway
from mauve_metric.results.comparison import Comparison

if TYPE_CHECKING:
    from mauve_metric.hosts.space.view.handlers import Handlers

gr = pytest.importorskip("gradio")
pytestmark = pytest.mark.usefixtures("undrawn")

Upload = Callable[[str, list[str]], str]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "gradio"  # where `desk` has it


@pytest.fixture
def upload(desk: Handlers, folder: Path) -> Upload:
    """Puts a file where gradio puts an upload: into a folder of its own that is named after the content."""

    def upload(name: str, lines: list[str]) -> str:
        content = "".join(f"{line}\n" for line in lines)
        path = folder / f"{hash(content):x}" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
        return str(path)

    return upload


def left(folder: Path) -> list[str]:
    """The content of the folder of uploads, folders too."""
    return sorted(path.name for path in folder.rglob("*")) if folder.exists() else []


@pytest.mark.parametrize("lines", [["a" * 201], ["a"] * 41, [" "], ["", " "], []])
def test_a_rejected_human_upload_is_deleted(desk: Handlers, folder: Path, upload: Upload, lines: list[str]) -> None:
    desk.take_file(upload("good.txt", HUMAN), visitor(desk))
    name = "bad.jsonl" if lines == [" "] else "bad.txt"
    shown = desk.take_file(upload(name, lines), visitor(desk))
    assert "mm-problem" in shown["human_preview"] and left(folder) == []  # the one before it was replaced
    desk.take_file(None, visitor(desk))
    close(desk)
    assert left(folder) == []


def test_no_human_upload_outlives_its_use(desk: Handlers, folder: Path, upload: Upload) -> None:
    first = upload("first.txt", HUMAN)
    desk.take_file(first, visitor(desk))
    assert left(folder) == sorted([Path(first).name, Path(first).parent.name])
    assert (
        "30 texts" in desk.take_file(first, visitor(desk))["human_preview"]
    )  # the same file chosen again is still there
    second = upload("second.txt", MODEL)
    desk.take_file(second, visitor(desk))
    assert left(folder) == sorted([Path(second).name, Path(second).parent.name])
    desk.take_file(None, visitor(desk))
    assert left(folder) == []
    desk.take_file(upload("third.txt", HUMAN), visitor(desk))
    desk.take_paste("\n".join(MODEL), visitor(desk))
    assert left(folder) == []
    desk.take_file(upload("fourth.txt", HUMAN), visitor(desk))
    close(desk)
    assert left(folder) == []


@pytest.mark.more
def test_no_model_upload_outlives_its_use(
    desk: Handlers, folder: Path, upload: Upload, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(takeaway, "save_chart", lambda chart, path: path.write_text("drawn"))  # other tests draw
    monkeypatch.setattr(Comparison, "save_report", lambda scored, path, measures: path.write_text("a report") and path)
    desk.add_files([upload("good.txt", MODEL), upload("bad.txt", ["a" * 201])], visitor(desk))
    assert [name for name in left(folder) if name.endswith(".txt")] == ["good.txt"] and len(left(folder)) == 2
    desk.remove_model(0, visitor(desk))
    assert left(folder) == []
    desk.add_files([upload("good.txt", MODEL)], visitor(desk))
    desk.take_file(upload("human.txt", HUMAN), visitor(desk))
    press(desk)
    desk.make_files(visitor(desk))
    assert "mauve.zip" in left(folder)
    close(desk)
    assert left(folder) == []


def test_the_page_states_where_texts_are_stored() -> None:
    from mauve_metric.hosts.space.view import layout

    assert "temporary files" in layout.PRIVACY and "deleted at once" in layout.PRIVACY


# --- what is read -------------------------------------------------------------------------------------------------


def test_blank_lines_are_left_out_of_a_file_as_of_a_paste(tmp_path: Path) -> None:
    content = "one\n\n  \ntwo\n\n"
    (tmp_path / "a.txt").write_text(content, encoding="utf-8")
    file, paste = read_upload("it", tmp_path / "a.txt", None, LIMITS), read_paste("it", content.rstrip("\n"), LIMITS)
    assert file.texts == paste.texts == ["one", "two"]
    assert (file.blank, paste.blank) == (3, 2)  # the file's last line is a blank one too
    assert "3 blank lines left out" in markup.preview(file) and "2 blank lines left out" in markup.preview(paste)
    assert "blank" not in markup.preview(TextSet("it", "a.txt", ["one"]))


def test_the_commands_leave_out_the_same_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("h.txt").write_text("one\n\ntwo\n", encoding="utf-8")
    Path("m.txt").write_text("one\n", encoding="utf-8")
    human, model = (read_upload("it", Path(name), None, LIMITS) for name in ("h.txt", "m.txt"))
    code = takeaway.python_code(human, {"m": model}, {})
    assert (
        "p_text=[text for text in read_texts('h.txt') if text.strip()]" in code and "q_text=read_texts('m.txt')" in code
    )
    assert takeaway.shell_code(human, {"m": model}, {}) == "mauve-metric score h.txt m.txt --empty-texts drop"


def test_the_shell_command_has_the_new_name_of_a_renamed_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from mauve_metric.hosts.cli.inputs_and_outputs import named_file

    human = TextSet("it", "h.txt", HUMAN)
    kept = {"a": TextSet("it", "a.txt", MODEL), "b": TextSet("it", "b.txt", MODEL)}
    assert takeaway.shell_code(human, kept, {}) == "mauve-metric compare h.txt a.txt b.txt"
    renamed: dict[str, Any] = {"my = model": kept["a"], "-b": kept["b"]}
    words = shlex.split(takeaway.shell_code(human, renamed, {}))
    assert words == ["mauve-metric", "compare", "h.txt", "my = model=a.txt", " -b=b.txt"]
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).touch()
    monkeypatch.chdir(tmp_path)
    assert [named_file(word) for word in words[3:]] == [("my = model", "a.txt"), ("-b", "b.txt")]


def test_a_table_with_semicolons_has_its_columns(tmp_path: Path) -> None:
    rows = "".join(f"{number};{text}, again\n" for number, text in enumerate(MODEL))
    (tmp_path / "m.csv").write_text("id;story\n" + rows, encoding="utf-8")
    side = read_upload("it", tmp_path / "m.csv", None, LIMITS)
    assert side.columns == ("story",) and side.column == "story"
    assert side.texts == [f"{text}, again" for text in MODEL]


def test_a_file_of_another_tool_has_the_columns_of_its_texts(tmp_path: Path) -> None:
    rows = harness_rows(HUMAN[: len(MODEL)], MODEL)
    path = harness_file(tmp_path, "gpt2", rows)
    model = read_upload("it", path, None, LIMITS)
    assert model.columns[:2] == ("filtered_resps", "target") and "doc.story" in model.columns
    assert (model.column, model.texts) == ("filtered_resps", MODEL)
    human = read_upload("it", path, None, LIMITS, side="reference")
    assert (human.column, human.texts) == ("target", HUMAN[: len(MODEL)])
    assert read_upload("it", path, "target", LIMITS).texts == human.texts
    choices = harness_file(tmp_path, "mc", [row | {"filtered_resps": [["-1.5", "False"]]} for row in rows])
    with pytest.raises(ValueError, match=r"^it, line 1: 'filtered_resps' holds likelihoods of choices"):
        read_upload("it", choices, None, LIMITS)


def test_a_file_that_could_be_of_several_tools_has_all_its_columns(tmp_path: Path) -> None:
    rows = [{"messages": [], "prompt": "Why?", "completion": f"{text} {text}"} for text in MODEL]
    (tmp_path / "a.json").write_text(json.dumps(rows), encoding="utf-8")
    side = read_upload("it", tmp_path / "a.json", None, LIMITS)
    assert set(side.columns) == {"prompt", "completion"} and side.column == "completion"
    assert side.texts == [f"{text} {text}" for text in MODEL]


def test_two_kinds_in_one_file_are_columns_to_choose_from(tmp_path: Path) -> None:
    rows = [{"text": text, "label": "machine"} for text in MODEL[:9]] + [
        {"text": text, "label": "human"} for text in HUMAN[:9]
    ]
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    human, model = (read_upload("it", path, None, LIMITS, side=side) for side in ("reference", "prediction"))
    assert human.columns == ("text[label=machine]", "text[label=human]", "text[label=*]")
    assert (human.column, human.texts) == ("text[label=human]", HUMAN[:9]) and "several kinds" in human.ask
    assert (model.column, model.texts) == ("text[label=machine]", MODEL[:9])
    assert read_upload("it", path, "text[label=*]", LIMITS).texts == [*MODEL[:9], *HUMAN[:9]]
    assert shlex.split(takeaway.shell_code(human, {"m": model}, {}))[2] == "a.jsonl:text[label=human]"
