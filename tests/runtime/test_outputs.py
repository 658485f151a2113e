"""Checks of output paths, and files that appear whole or not at all."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from samples import ROOT

from mauve_metric.runtime.outputs import (
    check_can_be_written,
    check_outputs,
    check_replaceable,
    make_folder,
    written_whole,
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with files, a link, a hard link and a linked folder; it is the current one."""
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "a.txt").write_text("a")
    (tmp_path / "b.txt").write_text("b")
    (tmp_path / "link.txt").symlink_to("b.txt")
    (tmp_path / "hard.txt").hardlink_to(tmp_path / "b.txt")
    (tmp_path / "same").symlink_to("data")
    (tmp_path / "links").mkdir()
    (tmp_path / "links" / "c.txt").symlink_to("../b.txt")
    (tmp_path / "model" / "1_Pooling").mkdir(parents=True)
    (tmp_path / "model" / "config.json").write_text("{}")
    (tmp_path / "model" / "1_Pooling" / "config.json").write_text("{}")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("outputs", "inputs", "folders"),
    [
        (["b.txt"], ["b.txt"], []),
        (["./data/../b.txt"], ["b.txt"], []),
        (["link.txt"], ["b.txt"], []),
        (["b.txt"], ["link.txt"], []),
        (["hard.txt"], ["b.txt"], []),
        (["same/a.txt"], ["data/a.txt"], []),
        (["data/new.txt"], ["data"], []),
        (["same/new.txt"], ["data"], []),
        (["new.txt"], ["."], []),
        (["b.txt"], ["links"], []),
        (["hard.txt"], ["links"], []),
        (["model/1_Pooling/config.json"], ["model"], []),
        (["new.txt", "./new.txt"], [], []),
        (["b.txt", "hard.txt"], [], []),
        ([], ["data/a.txt"], ["data"]),
        ([], ["data/a.txt"], ["."]),
        ([], ["data"], ["same"]),
        ([], ["same/a.txt"], ["data"]),
    ],
)
def test_what_would_change_an_input_is_refused(
    folder: Path, outputs: list[str], inputs: list[str], folders: list[str]
) -> None:
    with pytest.raises(ValueError, match="is to be written"):
        check_outputs(outputs, inputs, folders)


@pytest.mark.parametrize(
    ("outputs", "inputs", "folders"),
    [
        (["new.txt"], ["b.txt", "data"], []),
        (["b.txt"], ["data", "data/a.txt", "missing.txt"], []),
        (["data/new.txt"], ["data/a.txt"], []),
        (["data/a.txt"], ["."], []),
        (["/dev/null"], ["/dev/null"], []),
        ([], ["b.txt", "data/a.txt"], ["data/out", "new"]),
    ],
)
def test_other_places_are_free(folder: Path, outputs: list[str], inputs: list[str], folders: list[str]) -> None:
    check_outputs(outputs, inputs, folders)


def test_a_file_beside_an_output_is_replaced_only_if_it_is_the_packages(tmp_path: Path) -> None:
    path = tmp_path / "beside.json"
    check_replaceable(path, b"mark")
    for content in (b"", b"{ mark }"):
        path.write_bytes(content)
        check_replaceable(path, b"mark")
    path.write_bytes(b"{}")
    with pytest.raises(FileExistsError, match=r"beside.json' is to be written too, and is a file of something else"):
        check_replaceable(path, b"mark")


def test_the_new_content_takes_the_place_of_the_old_one_with_its_permissions(tmp_path: Path) -> None:
    path, link = tmp_path / "page.html", tmp_path / "link.html"
    path.write_text("old")
    path.chmod(0o640)
    link.symlink_to(path)
    with written_whole(link) as temporary:
        temporary.write_text("new")
        assert path.read_text() == "old" and temporary.parent == tmp_path
    assert path.read_text() == "new" and link.is_symlink() and path.stat().st_mode & 0o777 == 0o640
    assert len(list(tmp_path.iterdir())) == 2


def test_a_new_file_has_the_usual_permissions(tmp_path: Path) -> None:
    (tmp_path / "usual").touch()
    with written_whole(tmp_path / ("n" * 250)) as temporary:
        temporary.write_text("new")
    assert (tmp_path / ("n" * 250)).stat().st_mode == (tmp_path / "usual").stat().st_mode


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt(), ValueError("wrong")])
def test_an_error_leaves_what_was_there(tmp_path: Path, error: BaseException) -> None:
    path = tmp_path / "page.html"
    path.write_text("old")
    with pytest.raises(type(error)) as caught, written_whole(path) as temporary:
        temporary.write_text("half")
        raise error
    assert [file.name for file in tmp_path.iterdir()] == ["page.html"] and path.read_text() == "old"
    if isinstance(error, OSError):
        assert str(caught.value) == f"'{path}' cannot be written: No space left on device"
        assert caught.value.errno == 28


def test_two_writers_have_names_of_their_own(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    with written_whole(path) as one, written_whole(path) as two:
        assert one != two
        one.write_text("one")
        two.write_text("two")
    assert path.read_text() == "one" and len(list(tmp_path.iterdir())) == 1


def test_a_pipe_is_written_to_as_it_is(tmp_path: Path) -> None:
    check_can_be_written(os.devnull)
    with written_whole(os.devnull) as same:
        assert same == Path(os.path.realpath(os.devnull))


def test_names_that_cannot_be_written_are_refused_and_nothing_is_left(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    check_can_be_written(tmp_path / "file")
    check_can_be_written(tmp_path / "new")
    assert not (tmp_path / "new").exists()
    for name, kind, said in (
        ("nowhere/new", FileNotFoundError, "there is no folder '.*nowhere'"),
        ("folder", IsADirectoryError, "it is a folder"),
        ("file/new", FileNotFoundError, "there is no folder '.*file'"),
        ("n" * 300, OSError, "File name too long"),
        ("a\0b", ValueError, "null character"),
    ):
        with pytest.raises(kind, match=f"cannot be written: .*{said}"):
            check_can_be_written(tmp_path / name)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "folder"]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="everything is allowed to root")
def test_what_must_not_be_changed_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch(mode=0o444)
    (tmp_path / "folder").mkdir(mode=0o500)
    for name in ("file", "folder/new"):
        with pytest.raises(PermissionError, match=f"{name}' cannot be written"):
            check_can_be_written(tmp_path / name)


KILLED = """
import os, signal, sys
from mauve_metric.runtime import outputs
kind, number = getattr(outputs, sys.argv[2]), getattr(signal, sys.argv[3])
with kind(sys.argv[1]) as temporary, kind(sys.argv[1] + "2") as other:
    if os.fork() == 0:
        os.kill(os.getpid(), signal.SIGTERM)  # of a child, which must not delete what its parent writes
    os.wait()
    assert temporary.exists() and other.exists()
    print(flush=True)
    os.kill(os.getpid(), number) if number != signal.SIGCONT else sys.stdin.read()
"""
forked = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes that fork, and locks of files")


def left(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir() if path.name.startswith(".mauve_metric-")}


@forked
@pytest.mark.parametrize("kind", ["written_whole", "folder_written_whole"])
def test_a_kill_leaves_what_was_there(tmp_path: Path, kind: str) -> None:
    """A temporary file is deleted on SIGTERM, and after SIGKILL by the next write; one that is being written stays."""
    path = tmp_path / "page.html"
    if kind == "written_whole":
        path.write_text("old")
    command = [sys.executable, "-c", KILLED, str(path), kind]
    with subprocess.Popen([*command, "SIGCONT"], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as alive:
        assert alive.stdout is not None and alive.stdin is not None and alive.stdout.readline()
        held = left(tmp_path)
        assert len(held) == 2
        for name, remains in (("SIGTERM", 0), ("SIGKILL", 2)):
            done = subprocess.run([*command, name], cwd=ROOT, timeout=300, check=False, stdout=subprocess.DEVNULL)
            assert done.returncode == -getattr(signal, name) and len(left(tmp_path) - held) == remains
        with written_whole(tmp_path / "a"):
            pass
        assert left(tmp_path) == held
        alive.kill()
    with written_whole(tmp_path / "a"):
        pass
    assert left(tmp_path) == set() and (kind != "written_whole" or path.read_text() == "old")


BORN = """
import os, signal, sys
from mauve_metric.runtime import outputs
close = os.close
os.close = lambda descriptor: (close(descriptor), os.kill(os.getpid(), signal.SIGTERM))
with outputs.written_whole(sys.argv[1]):
    pass
"""


@forked
def test_a_signal_in_the_moment_of_its_birth_leaves_no_temporary_file(tmp_path: Path) -> None:
    command = [sys.executable, "-c", BORN, str(tmp_path / "new")]
    done = subprocess.run(command, cwd=ROOT, timeout=300, check=False)
    assert done.returncode == -signal.SIGTERM and left(tmp_path) == set()


def test_a_program_keeps_its_own_answer_to_sigterm(tmp_path: Path) -> None:
    before = signal.getsignal(signal.SIGTERM)
    own = signal.signal(signal.SIGTERM, lambda number, frame: None)
    try:
        mine = signal.getsignal(signal.SIGTERM)
        with written_whole(tmp_path / "a"):
            assert signal.getsignal(signal.SIGTERM) is mine
    finally:
        signal.signal(signal.SIGTERM, own)
    with written_whole(tmp_path / "a"), written_whole(tmp_path / "b"):
        pass
    assert signal.getsignal(signal.SIGTERM) == before


def test_what_a_killed_process_left_is_swept(tmp_path: Path) -> None:
    """A day later, when the next file is written there."""
    names = {".mauve_metric-old.part": 90_000, ".mauve_metric-new.part": 60, "notes.part": 90_000}
    for name, age in names.items():
        (tmp_path / name).write_text("half")
        os.utime(tmp_path / name, (time.time() - age,) * 2)
    folder = tmp_path / ".mauve_metric-folder.part"
    folder.mkdir()
    os.utime(folder, (1, 1))
    with written_whole(tmp_path / "a") as temporary:
        temporary.write_text("whole")
    assert {path.name for path in tmp_path.iterdir()} == {".mauve_metric-new.part", "notes.part", "a"}


def test_a_folder_is_made_where_no_file_is(tmp_path: Path) -> None:
    make_folder(tmp_path / "a" / "b")
    make_folder(tmp_path / "a" / "b")
    assert (tmp_path / "a" / "b").is_dir()
    file = tmp_path / "texts.jsonl"
    file.write_text("mine", encoding="utf-8")
    with pytest.raises(NotADirectoryError, match=r"texts\.jsonl' cannot be written: it is a file, expected a folder"):
        make_folder(file)
    with pytest.raises(OSError, match=r"texts\.jsonl/a' cannot be written: Not a directory"):
        make_folder(file / "a")
