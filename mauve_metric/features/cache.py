"""Features that were already computed, on disk, by content: hashes and features, never texts.

One SQLite file in write-ahead mode: a batch is stored in one transaction, several processes may read and write at
once, and a process that is killed leaves nothing half-written. A key is a hash of the encoder's identity (weights,
tokenizer, pooling, length, dtype) and of the text's tokens, so that a changed model never meets old features.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import os
import sqlite3
import time
import zlib
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from mauve_metric.arrays import Array, Floats
from mauve_metric.features.feature_files import StoredFeatures
from mauve_metric.features.model_hashes import file_sha256, identity_digest
from mauve_metric.features.pretrained import MODEL_FOLDERS, folder_of
from mauve_metric.options import MauveConfig, encoder_options
from mauve_metric.runtime.cache_folder import cache_folder, without_tilde
from mauve_metric.runtime.checks import check_count, shown

logger = logging.getLogger(__name__)
FILE_NAME = "features.sqlite"
_KEY_BYTES = 20  # of the hash that is a feature's key
_FILES = ("", "-wal", "-shm")  # what follows the name of the file, and of its journals
_DAY = 86_400
_KEYS_A_QUERY = 500  # SQLite takes a bounded number of parameters
LOCK_SECONDS = 60.0  # how long to wait for another process, which may be giving back the space of a large file
_RETRY_SECONDS = 0.01  # between two tries to open the file while another process does
APPLICATION_ID = 0x4D417645  # "MAuE": in the file's header; identifies the file as ours, whatever else is damaged
TABLE = """
CREATE TABLE features (
    key BLOB PRIMARY KEY, dtype TEXT NOT NULL, value BLOB NOT NULL, checksum INTEGER NOT NULL, used INTEGER NOT NULL
)
"""
_DELETE_OLDEST = """
DELETE FROM features WHERE key IN
    (SELECT key FROM features ORDER BY used, rowid LIMIT MAX(1, (SELECT COUNT(*) FROM features) / 8))
"""
DAMAGE = (sqlite3.DatabaseError, UnicodeDecodeError)  # the second: SQLite quotes a damaged definition in its message
_DAMAGED = (sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)  # others: locked, full, forbidden
_FORM = "3"  # of the notes; another one finds nothing of the old
# Of a text; stored as its bytes.
_NOTE = np.dtype([("key", f"V{_KEY_BYTES}"), ("length", "<u4"), ("cut", "u1"), ("unseen", "<f8")])
Answer = TypeVar("Answer")


def max_cache_bytes() -> int:
    """`$MAUVE_METRIC_CACHE_BYTES`, else 10 GiB."""
    value = os.environ.get("MAUVE_METRIC_CACHE_BYTES", str(10 * 2**30))
    if not (value.isascii() and value.isdecimal() and len(value) < 20):
        raise ValueError(f"MAUVE_METRIC_CACHE_BYTES must be a number of bytes, got {shown(value)}")
    return int(value)


def open_cache(cache: bool | str | Path) -> FeatureCache | None:
    """The cache in a folder, or in the usual place for True; None where it is off or cannot be used, with a warning."""
    if cache is False:
        return None
    try:
        return FeatureCache(None if cache is True else cache)
    except OSError as error:
        logger.warning("the feature cache cannot be used, features are not kept: %s", error)
        return None


def _check_own(path: Path) -> None:
    """Refuse a cache that another user can have written: its features would be believed.

    Raises:
        PermissionError: another user owns its folder or one of its files, or may write to it.
    """
    if not hasattr(os, "getuid"):
        return  # Windows keeps a user's folders from others
    reached = path.parent.stat().st_mode & 0o011  # whether anybody else comes to the files
    for entry in (path.parent, *(path.with_name(FILE_NAME + suffix) for suffix in _FILES)):
        try:
            facts = entry.stat()
        except FileNotFoundError:
            continue
        if facts.st_uid != os.getuid():
            raise PermissionError(f"{str(entry)!r} belongs to another user, who decides what is in it: {_OWN_FOLDER}")
        by_group = facts.st_mode & 0o020 and not _is_private_group(facts.st_gid)
        if (facts.st_mode & 0o002 or by_group) and (entry == path.parent or reached):
            raise PermissionError(f"other users may write to {str(entry)!r}: run `chmod go-w` on it, or {_OWN_FOLDER}")


def _is_private_group(number: int) -> bool:
    """Return whether a group is that of this user alone, which many systems give the user's name."""
    import grp
    import pwd

    try:
        return grp.getgrgid(number).gr_name == pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return False


_OWN_FOLDER = "name a folder of your own by cache= or MAUVE_METRIC_CACHE"


class FeatureCache:
    """A store of features by key; use it as a context, so that its file is closed.

    Args:
        folder: where the file lies; None: `cache_folder()`.
        max_bytes: when the file grows beyond this, the features used longest ago go; None: `max_cache_bytes()`.

    A damaged file is set aside under another name and a new one begun; a feature whose checksum is wrong is computed
    again; while the file is locked or its disk full, `get` finds nothing and `put` keeps nothing. All of these are
    logged as warnings, the last ones once. Folders that are made and the files in them are for their user alone.

    Raises:
        OSError: the file cannot be opened, or looked after, at all, or it is a database of another program; another
            user owns file or folder, or may write to them.
    """

    def __init__(self, folder: str | Path | None = None, max_bytes: int | None = None) -> None:
        self.path = (cache_folder() if folder is None else without_tilde(folder)) / FILE_NAME
        self.max_bytes = max_cache_bytes() if max_bytes is None else max_bytes
        self.path.parent.parent.mkdir(parents=True, exist_ok=True)
        self.path.parent.mkdir(mode=0o700, exist_ok=True)  # a folder that is there stays as it is
        _check_own(self.path)
        self._connection: sqlite3.Connection | None = None
        self._patience = LOCK_SECONDS
        self._told: set[str] = set()  # operations with a logged failure
        self._run(lambda connection: None)

    def __enter__(self) -> FeatureCache:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _connect(self) -> sqlite3.Connection:
        """Return the connection, opened with retries: SQLite fails at once while another process opens the file."""
        deadline = time.monotonic() + self._patience
        while self._connection is None:
            try:
                self._connection = self._open()
            except sqlite3.DatabaseError as error:
                busy = getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_PROTOCOL)
                if not busy or time.monotonic() >= deadline:
                    raise
                time.sleep(_RETRY_SECONDS)
        return self._connection

    def _open(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self.path, timeout=self._patience, isolation_level=None, check_same_thread=False)
        try:
            tables = [str(row[0]) for row in connection.execute("SELECT sql FROM sqlite_master WHERE sql NOT NULL")]
            number = connection.execute("PRAGMA application_id").fetchone()[0]
            new = not tables and number in (0, APPLICATION_ID)
            if not new and [sql.split() for sql in tables] != [TABLE.split()]:
                raise sqlite3.DatabaseError("its table is not defined as that of a feature cache is")
            for suffix in _FILES:  # SQLite gives new journals the permissions of the file
                with contextlib.suppress(OSError):  # there is none, or another user owns it
                    file = self.path.with_name(FILE_NAME + suffix)
                    if file.stat().st_mode & 0o077:
                        file.chmod(0o600)
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=NORMAL")
            if new:
                connection.execute(f"PRAGMA application_id={APPLICATION_ID}")
                connection.execute(TABLE.replace("TABLE", "TABLE IF NOT EXISTS"))
        except BaseException:
            connection.close()
            raise
        return connection

    def _run(self, action: Callable[[sqlite3.Connection], Answer]) -> Answer:
        """Run an operation on the file; if the file is corrupt, repeat it with a new one.

        Raises:
            OSError: the file is locked, its disk full, and the like.
        """
        try:
            try:
                return action(self._connect())
            except DAMAGE as error:
                if getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF not in _DAMAGED:
                    raise
                self._set_aside(error)
                return action(self._connect())
        except DAMAGE as error:
            raise OSError(f"{self.path}: {error}") from error

    def _set_aside(self, error: Exception) -> None:
        """Rename an unreadable file, with its journal, and log a warning.

        Raises:
            OSError: it is not ours.
        """
        self.close()
        if not _is_ours(self.path):
            raise OSError(f"{self.path} is no feature cache but a database of another program: it is left as it is")
        target = self.path.with_name(f"{FILE_NAME}.corrupt-{time.time_ns()}")
        logger.warning("the feature cache %s is corrupt (%s): it is set aside as %s", self.path, error, target.name)
        for suffix in _FILES:
            with contextlib.suppress(FileNotFoundError):  # or another process was quicker
                self.path.with_name(FILE_NAME + suffix).replace(target.with_name(target.name + suffix))

    def _go_without(self, what: str, error: OSError) -> None:
        """Warn once that the cache is unreachable; time out after 1 s from then on."""
        if what not in self._told:
            self._told.add(what)
            logger.warning("the feature cache cannot be %s now, features are not kept: %s", what, error)
        self.close()
        self._patience = min(self._patience, 1.0)

    def get(self, keys: Sequence[bytes]) -> list[Array | None]:
        """The stored feature (d,) of each key, None where there is none or its checksum is wrong."""
        features: dict[bytes, Array | None] = {}
        try:
            for start in range(0, len(keys), _KEYS_A_QUERY):
                features |= self._run(partial(_select, keys=keys[start : start + _KEYS_A_QUERY]))
            wrong = [(key,) for key, vector in features.items() if vector is None]
            if wrong:
                message = "%d features in %s have a wrong checksum: they are computed again"
                logger.warning(message, len(wrong), self.path)
                self._run(partial(_write, statement="DELETE FROM features WHERE key = ?", records=wrong))
        except OSError as error:
            self._go_without("read", error)
            return [None] * len(keys)
        return [features.get(key) for key in keys]

    def put(self, keys: Sequence[bytes], features: Array) -> None:
        """Store features (n, d), one row a key, in one transaction; what is stored already stays."""
        now = int(time.time())
        records = []
        for key, row in zip(keys, np.ascontiguousarray(features), strict=True):
            value = row.tobytes()
            records.append((key, row.dtype.str, value, _checksum(key, row.dtype.str, value), now))
        try:
            statement = "INSERT OR IGNORE INTO features VALUES (?, ?, ?, ?, ?)"
            self._run(partial(_write, statement=statement, records=records))
            if self._bytes() > self.max_bytes:
                self.prune(self.max_bytes * 4 // 5)
        except OSError as error:
            self._go_without("written", error)

    def prune(self, max_bytes: int) -> int:
        """Delete the features used longest ago until the rest fits in `max_bytes`; how many went."""
        deleted, max_bytes = 0, check_count("max_bytes", max_bytes, low=0)
        while self._bytes() > max_bytes and (count := self._execute(_DELETE_OLDEST).rowcount):
            deleted += count
        self._execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return deleted

    def clear(self) -> int:
        """Delete everything, files that were set aside too, and give the space back; how many features went."""
        for corrupt in self.path.parent.glob(f"{FILE_NAME}.corrupt-*"):
            corrupt.unlink(missing_ok=True)
        count = self._execute("DELETE FROM features").rowcount
        self.compact()
        self._execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return count

    def compact(self) -> None:
        """Give the space of deleted features back to the file system."""
        self._execute("VACUUM")

    def info(self) -> dict[str, Any]:
        """The state of the cache: its file, its number of features, its bytes on disk, the most that it may take."""
        (count,) = self._execute("SELECT COUNT(*) FROM features WHERE dtype != '|u1'").fetchone()
        return {"path": str(self.path), "features": count, "bytes": self._bytes(), "max_bytes": self.max_bytes}

    def _bytes(self) -> int:
        """Bytes in use: pages of the file without the free ones."""
        (used,) = self._execute(
            "SELECT (page_count - freelist_count) * page_size "
            "FROM pragma_page_count, pragma_freelist_count, pragma_page_size"
        ).fetchone()
        return int(used)

    def _execute(self, statement: str) -> sqlite3.Cursor:
        return self._run(lambda connection: connection.execute(statement))


def _checksum(key: bytes, dtype: str, value: bytes) -> int:
    return zlib.crc32(value, zlib.crc32(key + dtype.encode()))


def _select(connection: sqlite3.Connection, keys: Sequence[bytes]) -> dict[bytes, Array | None]:
    """Stored features by key, None for a damaged one; their day of use is brought up to date."""
    marks = ",".join("?" * len(keys))
    cursor = connection.execute(f"SELECT key, dtype, value, checksum, used FROM features WHERE key IN ({marks})", keys)
    rows = cursor.fetchall()
    now = int(time.time())
    stale = [(now, row[0]) for row in rows if isinstance(row[4], int) and row[4] < now - _DAY]
    if stale:
        _write(connection, "UPDATE features SET used = ? WHERE key = ?", stale)
    features: dict[bytes, Array | None] = {}
    for key, dtype, value, checksum, _ in rows:  # in a damaged file they may be of any type
        typed = isinstance(dtype, str) and isinstance(value, bytes)
        is_sound = typed and _checksum(key, dtype, value) == checksum
        features[key] = np.frombuffer(value, dtype=dtype) if is_sound else None
    return features


def _write(connection: sqlite3.Connection, statement: str, records: Sequence[tuple[Any, ...]]) -> None:
    """Execute a statement for each record, in one transaction."""
    with connection:  # commits, or rolls back what a full disk has not ended already
        connection.execute("BEGIN IMMEDIATE")
        connection.executemany(statement, records)


def _is_ours(path: Path) -> bool:
    """Return whether a damaged file is a feature cache or no database at all, by its header."""
    with path.open("rb") as file:
        header = file.read(100)
    return not header.startswith(b"SQLite format 3") or header[68:72] == APPLICATION_ID.to_bytes(4, "big")


def token_key(digest: str, ids: Sequence[int]) -> bytes:
    """The cache key of one text under one encoder: a hash of the encoder's identity and the token ids."""
    content = digest.encode() + np.asarray(ids, dtype=np.int64).tobytes()
    return hashlib.blake2b(content, digest_size=_KEY_BYTES).digest()


class KnownTexts:
    """The notes of one featurizer in a cache: texts whose features are there are found without their model.

    The keys of features are made of token ids, so that it takes a tokenizer to find one. The notes keep that key for
    each text: a score of texts that were read before needs no torch and no transformers.

    Args:
        store: the cache.
        source: a hash of all that decides which key a text has, see `source_of`.
        model: the featurizer's name, which is not written down.
    """

    def __init__(self, store: FeatureCache, source: str, model: str) -> None:
        self._store, self._source, self._model = store, source, model

    def find(self, texts: Sequence[str]) -> StoredFeatures | None:
        """Look up what is known of texts; None unless all of them are known."""
        stored = [note for note in self._store.get([self._key(text) for text in (None, *texts)]) if note is not None]
        if len(stored) <= len(texts):
            return None
        common, *notes = stored
        rows = np.stack(notes).view(_NOTE)[:, 0]
        vectors = self._store.get([key.tobytes() for key in rows["key"]])
        features = [feature for feature in vectors if feature is not None]
        if len(features) < len(texts):
            return None
        facts = json.loads(common.tobytes())
        return StoredFeatures(
            np.stack(features),
            {"model": self._model, **facts["identity"]},
            rows["length"].astype(np.int64),
            int(rows["cut"].sum()),
            unseen=rows["unseen"].astype(np.float64),
            unseen_formats=frozenset(facts["unseen_formats"]),
        )

    def remember(
        self,
        identity: dict[str, str],
        unseen_formats: Iterable[str],
        texts: Sequence[str],
        ids: Sequence[Sequence[int]],
        cut: Sequence[bool],
        unseen: Floats,
    ) -> None:
        """Note texts whose features are in the cache.

        Args:
            identity: of the encoder. unseen_formats: see `FeatureSet`. texts, ids, cut: the texts, their token ids, and
                whether these were cut. unseen: share of each text's characters without a token, (n,).
        """
        digest = identity_digest(identity)
        notes = np.array(
            [
                (token_key(digest, row), len(row), is_cut, share)
                for row, is_cut, share in zip(ids, cut, unseen, strict=True)
            ],
            _NOTE,
        )
        self._store.put([self._key(text) for text in texts], notes.view(np.uint8).reshape(len(texts), -1))
        nameless = {key: value for key, value in identity.items() if key != "model"}
        facts = {"identity": nameless, "unseen_formats": sorted(unseen_formats)}
        content = np.frombuffer(json.dumps(facts).encode(), dtype=np.uint8)
        self._store.put([self._key(None)], content[None])

    def _key(self, text: str | None) -> bytes:
        """The key of a text's note, or of the encoder's identity."""
        content = f"{self._source}identity" if text is None else f"{self._source}text{text}"
        return hashlib.blake2b(content.encode("utf-8", "surrogatepass"), digest_size=20).digest()


def source_of(config: MauveConfig) -> str | None:
    """A hash of all that decides which features a text has; None for a model that is not in a local folder.

    Raises:
        OSError: the folder cannot be read. ImportError, ValueError: the packaged model is not there, or not itself.
    """
    name = config.featurize_model_name
    if not isinstance(name, str) or (name not in MODEL_FOLDERS and not os.path.isdir(name)):
        return None
    folder = Path(folder_of(name))
    paths = [*sorted(folder.iterdir()), folder / "1_Pooling" / "config.json"]
    parts = [f"{path.relative_to(folder)}:{file_sha256(path)}" for path in paths if path.is_file()]
    parts += [f"{package}:{metadata.version(package)}" for package in ("transformers", "tokenizers")]
    parts += [_FORM, name, json.dumps(encoder_options(config))]
    return hashlib.sha256("\n".join(parts).encode("utf-8", "surrogateescape")).hexdigest()  # a folder of any name
