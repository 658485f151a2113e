"""Outputs that would change an input are refused, through links of both kinds and folders."""

from __future__ import annotations

from pathlib import Path

import pytest

from mauve_metric.runtime.outputs import check_outputs, check_replaceable


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with files, a link, a hard link and a linked folder; it is the current one."""
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "a.txt").write_text("a")
    (tmp_path / "b.txt").write_text("b")
    (tmp_path / "link.txt").symlink_to("b.txt")
    (tmp_path / "hard.txt").hardlink_to(tmp_path / "b.txt")
    (tmp_path / "same").symlink_to("data")
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
