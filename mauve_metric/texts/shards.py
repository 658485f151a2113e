"""One set of texts in many files: which they are, how a changed one is noticed, and each as a file on this machine."""

from __future__ import annotations

import contextlib
import glob
import logging
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from mauve_metric.config import shown
from mauve_metric.runtime.attempts import said
from mauve_metric.runtime.packages import import_fsspec

logger = logging.getLogger(__name__)

SHARD_FILES = (".jsonl", ".parquet")
_VERSIONS = ("mtime", "LastModified", "last_modified", "updated", "ETag", "etag", "checksum")  # as file systems say it


class Shard(NamedTuple):
    """A file of texts.

    name: its path or URL. size: in bytes, -1 if its store does not say. version: what changes when the file does (its
    time, or what its store says).
    """

    name: str
    size: int
    version: str

    @property
    def file_name(self) -> str:
        """Its name without folders, and without what stands behind a URL's `?`."""
        path = self.name.partition("?")[0] if "://" in self.name else self.name
        return path.rsplit("/", 1)[-1]


def list_shards(name: str, where: str | Path | Iterable[str | Path]) -> list[Shard]:
    """The files of a set, those of a folder or pattern in the order of their names.

    Args:
        name: of the argument, for errors. where: a .jsonl or .parquet file, a folder of them, a pattern with `*`, or a
            list of such; local, or a URL that fsspec opens (s3://…, hf://…).

    Raises:
        FileNotFoundError: there is none. ValueError: other files, one twice, or a URL within another.
        OSError: a URL's store cannot be asked. ImportError: no fsspec, or none of its packages for this URL.
    """
    places = [where] if isinstance(where, (str, Path)) else where
    if not isinstance(places, (list, tuple)) or not all(isinstance(place, (str, Path)) for place in places):
        raise TypeError(f"{name} must be a file, a folder, a pattern, or a list of their names, got {shown(where)}")
    shards = [shard for place in places for shard in _listed(name, str(place))]
    if not shards:
        raise ValueError(f"{name} must name at least one file of texts, got {shown(where)}")
    names = [shard.name for shard in shards]
    twice = next((one for one in names if names.count(one) > 1), None) if len(set(names)) < len(names) else None
    if twice is not None:
        raise ValueError(f"{name} names {twice!r} twice: expected each file once")
    return shards


def _listed(name: str, place: str) -> list[Shard]:
    if not place.strip():
        raise ValueError(f"{name} must name files of texts, got the empty name {place!r}")
    if "://" not in place:
        found = _local(name, place)
    elif "::" in place:
        raise ValueError(f"{name} must name files that can be read alone, got {place!r}, a URL within another")
    else:
        with _store_of(f"{name}: {place!r}"):
            found = _remote(place)
    if not found:
        raise FileNotFoundError(f"{name}: there are no {' or '.join(SHARD_FILES)} files at {place!r}")
    for shard in found:
        if not shard.file_name.lower().endswith(SHARD_FILES):
            raise ValueError(f"{name} must be {' or '.join(SHARD_FILES)} files, got {shard.name!r}")
    filled = [shard for shard in found if shard.size]
    if len(filled) < len(found):
        logger.info("%d files of no bytes at %s hold no texts", len(found) - len(filled), place)
    return filled


def _local(name: str, place: str) -> list[Shard]:
    try:
        path = Path(place).expanduser()
        path.stat()
    except FileNotFoundError:
        pass
    except (OSError, ValueError, RuntimeError) as error:  # too long, a null character, no such user
        reason = getattr(error, "strerror", None) or error
        raise OSError(f"{name}: {place!r:.100} cannot be read: {reason}") from error
    if path.is_dir():
        files = sorted(file for file in path.iterdir() if _is_shard(file.name) and file.is_file())
    else:
        files = [path] if path.is_file() else sorted(Path(file) for file in glob.glob(str(path)))
    return [_local_shard(file) for file in files]


def _local_shard(file: Path) -> Shard:
    facts = file.stat()
    return Shard(os.path.abspath(file), facts.st_size, str(facts.st_mtime_ns))


@contextlib.contextmanager
def _store_of(name: str) -> Iterator[None]:
    """Errors of a URL's store, whatever its package raises, as one sentence with the URL."""
    try:
        yield
    except ImportError as error:
        raise ImportError(f"{name} cannot be read: {said(error)}") from error
    except Exception as error:
        raise OSError(f"{name} cannot be read: {said(error)}") from error


def _remote(place: str) -> list[Shard]:
    system, path = import_fsspec().url_to_fs(place)
    if glob.has_magic(path):
        found: list[str] = sorted(system.glob(path))
    elif system.isdir(path):
        found = sorted(file for file in system.ls(path, detail=False) if _is_shard(file.rsplit("/", 1)[-1]))
    else:
        found = [path] if system.exists(path) else []
    return [_remote_shard(system.unstrip_protocol(file), system.info(file)) for file in found]


def _remote_shard(url: str, facts: dict[str, Any]) -> Shard:
    version = next((str(facts[key]) for key in _VERSIONS if facts.get(key) is not None), "")
    size = facts.get("size")
    return Shard(url, -1 if size is None else int(size), version)


def _is_shard(file: str) -> bool:
    return file.lower().endswith(SHARD_FILES) and not file.startswith((".", "_"))


@contextlib.contextmanager
def on_this_machine(shard: Shard) -> Iterator[Path]:
    """A shard as a local file; one behind a URL is copied to a temporary folder, which goes afterwards."""
    if "://" not in shard.name:
        yield Path(shard.name)
        return
    with tempfile.TemporaryDirectory(prefix="mauve_metric-") as folder:
        copy = Path(folder) / shard.file_name
        with (
            _store_of(repr(shard.name)),
            import_fsspec().open(shard.name, "rb") as source,
            copy.open("wb") as target,
        ):
            shutil.copyfileobj(source, target, 2**20)
        yield copy
