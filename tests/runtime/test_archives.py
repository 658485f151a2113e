"""Archives with a damaged directory or member are refused."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from mauve_metric.runtime.archives import check_archive, check_directory


def test_a_directory_that_lost_a_member_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("one", "first")
        archive.writestr("two", "second")
    check_archive(path)
    content = path.read_bytes()
    entry = content.index(b"PK\1\2")
    longer = bytearray(content)
    longer[entry + 32] ^= 64  # of the length of its comment, which then holds the second entry
    path.write_bytes(longer)
    with pytest.raises(zipfile.BadZipFile, match="should name 2 members and names 1"):
        check_directory(path)
    path.write_bytes(content.replace(b"two", b"tvo", 1))
    with pytest.raises(zipfile.BadZipFile, match="differ"):
        check_directory(path)
    path.write_bytes(content.replace(b"first", b"fIrst"))
    check_directory(path)
    with pytest.raises(zipfile.BadZipFile, match="'one' in it is damaged"):
        check_archive(path)
