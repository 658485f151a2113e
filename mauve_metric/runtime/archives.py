"""Checks of zip archives: that their directory is whole, which no checksum covers."""

from __future__ import annotations

import zipfile
from pathlib import Path

_END_BYTES, _MANY = 22, 0xFFFF  # of the record at the end; its value if a larger record holds the number of members


def check_directory(path: Path) -> None:
    """Refuse an archive whose directory names another number of members than it should, or one by another name.

    Raises:
        BadZipFile: the directory is damaged, or the file is no archive.
    """
    with path.open("rb") as file:
        file.seek(max(path.stat().st_size - _END_BYTES, 0))
        end = file.read()
    with zipfile.ZipFile(path) as archive:
        entries = archive.infolist()
        for entry in entries:
            archive.open(entry).close()  # compares the name in the directory with the one before the member
    count = int.from_bytes(end[10:12], "little")
    if end.startswith(b"PK\5\6") and count not in (len(entries), _MANY):
        raise zipfile.BadZipFile(f"its directory should name {count} members and names {len(entries)}")


def check_archive(path: Path) -> None:
    """Refuse an archive with a damaged directory, or a member whose checksum is wrong.

    Raises:
        BadZipFile: it is damaged.
    """
    check_directory(path)
    with zipfile.ZipFile(path) as archive:
        damaged = archive.testzip()
    if damaged is not None:
        raise zipfile.BadZipFile(f"{damaged!r} in it is damaged")
