"""A type of file is one row: as a file, as a shard of a folder, on the page, in help and messages."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mauve_metric.hosts.space.view.layout import upload_endings as endings_of_page
from mauve_metric.inputs import file_types
from mauve_metric.inputs.file_types import (
    FILE_TYPES,
    FileType,
    ReadOptions,
    RecordSource,
    named_endings,
    upload_endings,
)
from mauve_metric.inputs.files import read_texts
from mauve_metric.inputs.records import Rows
from mauve_metric.runtime.errors import UnknownEnding


def _bars(path: Path, reading: ReadOptions) -> RecordSource:
    return RecordSource.of(Rows(str(path), [{"text": text} for text in path.read_text().strip().split("|")]))


NEW = FileType((".bars", ".bar"), _bars, recognise=lambda path: path.read_bytes().startswith(b"|BARS|"))


@pytest.mark.parametrize("first", [True, False])
def test_a_new_row_is_read_as_file_and_as_shards_and_is_uploaded(
    first: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_types, "FILE_TYPES", (NEW, *FILE_TYPES) if first else (*FILE_TYPES, NEW))
    for number in range(2):
        (tmp_path / f"part-{number}.bars").write_text(f"One of {number}.|Two of {number}.")
    assert read_texts(tmp_path / "part-1.bars") == ["One of 1.", "Two of 1."]
    assert read_texts(tmp_path) == ["One of 0.", "Two of 0.", "One of 1.", "Two of 1."]
    assert {".bars", ".bar"} <= {*upload_endings()} and endings_of_page is upload_endings
    assert ".bars" in named_endings() and ".bars" in named_endings(with_fields=True)
    with pytest.raises(UnknownEnding, match=r"expected .*\.bars"):
        (tmp_path / "texts.unknown").write_text("One.")
        read_texts(tmp_path / "texts.unknown")


def test_what_must_not_be_a_shard_or_an_upload_says_so_in_its_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = NEW._replace(is_shard=False, is_upload=False, is_named=False)
    monkeypatch.setattr(file_types, "FILE_TYPES", (*FILE_TYPES, alone))
    (tmp_path / "part.bars").write_text("One.|Two.")
    assert read_texts(tmp_path / "part.bars") == ["One.", "Two."]
    with pytest.raises(UnknownEnding, match=r"holds no \.txt files"):
        read_texts(tmp_path)
    assert not {".bars", ".bar"} & {*upload_endings(), *named_endings()}


def test_content_counts_more_than_the_ending(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_types, "FILE_TYPES", (*FILE_TYPES, NEW))
    (tmp_path / "texts.txt").write_text("|BARS|One.")
    assert read_texts(tmp_path / "texts.txt")[-1] == "One."


@pytest.mark.parametrize(
    "ending", [ending for kind in FILE_TYPES if kind.content == "lines" for ending in kind.endings]
)
def test_every_ending_of_json_lines_is_that_of_a_shard(ending: str, tmp_path: Path) -> None:
    for number in range(2):
        rows = [json.dumps({"text": f"Text {number} {row}."}) for row in range(2)]
        (tmp_path / f"part-{number}{ending}").write_text("\n".join(rows))
    assert len(read_texts(tmp_path)) == 4


def test_no_ending_is_of_two_types() -> None:
    endings = [ending for kind in FILE_TYPES for ending in kind.endings]
    assert len({*endings}) == len(endings) and all(ending == ending.lower() for ending in endings)
