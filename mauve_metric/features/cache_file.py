"""The SQLite file of a feature cache: its identification, damaged or not, and its permissions."""

from __future__ import annotations

import contextlib
import sqlite3
from difflib import SequenceMatcher
from pathlib import Path

APPLICATION_ID = 0x4D417645  # "MAuE": in the file's header; identifies the file as ours, whatever else is damaged
TABLE = """
CREATE TABLE features (
    key BLOB PRIMARY KEY, dtype TEXT NOT NULL, value BLOB NOT NULL, checksum INTEGER NOT NULL, used INTEGER NOT NULL
)
"""
DAMAGE = (sqlite3.DatabaseError, UnicodeDecodeError)  # the second: SQLite quotes a damaged definition in its message
_ALIKE = 0.9  # share of a definition's characters that make it ours, if damaged: a file of before had no such number
_PASSING = {  # the circumstances of a file that may be sound: all other errors mean that its content is not
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_NOMEM,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_INTERRUPT,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_PROTOCOL,
}
_SECONDS = 1.0  # how long to wait for another process before a damaged file is looked at


def is_empty(connection: sqlite3.Connection) -> bool:
    """Return whether the file has no content yet; if so, create our table.

    Raises:
        DatabaseError: another content, damaged or another program's.
    """
    found = [row[0] for row in connection.execute("SELECT sql FROM sqlite_master WHERE sql NOT NULL")]
    number = connection.execute("PRAGMA application_id").fetchone()[0]
    if not found and number in (0, APPLICATION_ID):
        return True
    if [" ".join(str(sql).split()) for sql in found] != [" ".join(TABLE.split())]:
        raise sqlite3.DatabaseError("its table is not defined as that of a feature cache is")
    return False


def is_ours(path: Path) -> bool:
    """Return whether a file with another content was a feature cache or no database; False for another program's.

    Raises:
        DatabaseError: it cannot be looked at now.
    """
    with contextlib.closing(sqlite3.connect(path, timeout=_SECONDS)) as connection:
        connection.text_factory = bytes
        try:
            connection.execute("PRAGMA writable_schema=ON")  # an unreadable schema can be queried then
            number = connection.execute("PRAGMA application_id").fetchone()[0]
            if number == APPLICATION_ID:
                return True
            found = [row[0] for row in connection.execute("SELECT sql FROM sqlite_master WHERE sql NOT NULL")]
        except DAMAGE as error:
            if is_passing(error):
                raise
            return getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_NOTADB
    wanted = TABLE.strip().encode()
    alike = (isinstance(sql, bytes) and SequenceMatcher(None, wanted, sql, False).ratio() > _ALIKE for sql in found)
    return any(alike) or (number == 0 and not found)


def is_passing(error: Exception) -> bool:
    """Return whether an error is due to circumstances (locked, full, forbidden), not to the file's content."""
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF in _PASSING


def make_private_folder(folder: Path) -> None:
    """Make a folder that only its user can enter, and the ones above it as usual; one that is there stays as it is."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.mkdir(mode=0o700, exist_ok=True)


def make_private(file: Path) -> None:
    """Make the file readable by its user alone; SQLite gives its journals the same permissions."""
    for suffix in ("", "-wal", "-shm"):
        with contextlib.suppress(OSError):  # there is none, or another user owns it
            path = file.with_name(file.name + suffix)
            if path.stat().st_mode & 0o077:
                path.chmod(0o600)
