"""One set of texts in many files: list them, detect changed ones, and read each as a local file."""

from __future__ import annotations

import contextlib
import glob
import logging
import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from mauve_metric.runtime.checks import shown
from mauve_metric.runtime.errors import message_of

logger = logging.getLogger(__name__)

SHARD_FILES = (".jsonl", ".parquet")
_VERSIONS = ("mtime", "LastModified", "last_modified", "updated", "ETag", "etag", "checksum")  # keys of fsspec


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
        """Its name without folders and without a URL's query."""
        path = self.name.partition("?")[0] if "://" in self.name else self.name
        return path.rsplit("/", 1)[-1]


def list_shards(name: str, where: str | Path | Iterable[str | Path]) -> list[Shard]:
    """The files of a set, those of a folder or pattern in the order of their names.

    Args:
        name: of the argument, for errors. where: a .jsonl or .parquet file, a folder of them, a pattern with `*`, or a
            list of such; local, or a URL that fsspec opens (s3://…, hf://…).

    Raises:
        FileNotFoundError: there is none. ValueError: other files, one twice, or a URL within another.
        OSError: a URL's store cannot be asked. ImportError: the package of fsspec for this URL is missing.
    """
    places = [where] if isinstance(where, (str, Path)) else where
    if not isinstance(places, (list, tuple)) or not all(isinstance(place, (str, Path)) for place in places):
        raise TypeError(f"{name} must be a file, a folder, a pattern, or a list of their names, got {shown(where)}")
    shards = [shard for place in places for shard in _list_place(name, str(place))]
    if not shards:
        raise ValueError(f"{name} must name at least one file of texts, got {shown(where)}")
    twice = [file for file, count in Counter(shard.name for shard in shards).items() if count > 1]
    if twice:
        raise ValueError(f"{name} names {twice[0]!r} twice: expected each file once")
    return shards


def _list_place(name: str, place: str) -> list[Shard]:
    if not place.strip():
        raise ValueError(f"{name} must name files of texts, got the empty name {place!r}")
    if "://" in place and "::" in place:
        raise ValueError(f"{name} must name files that can be read alone, got {place!r}, a URL within another")
    with _store_of(f"{name}: {place!r}"):
        found = _find(place)
    if not found:
        raise FileNotFoundError(f"{name}: there are no {' or '.join(SHARD_FILES)} files at {place!r}")
    for shard in found:
        if not shard.file_name.lower().endswith(SHARD_FILES):
            raise ValueError(f"{name} must be {' or '.join(SHARD_FILES)} files, got {shard.name!r}")
    filled = [shard for shard in found if shard.size]
    if len(filled) < len(found):
        logger.info("%d files of no bytes at %s hold no texts", len(found) - len(filled), place)
    return filled


@contextlib.contextmanager
def _store_of(name: str) -> Iterator[None]:
    """Errors of a URL's store, whatever its package raises, as one sentence with the URL."""
    try:
        yield
    except ImportError as error:
        raise ImportError(f"{name} cannot be read: {message_of(error)}") from error
    except Exception as error:
        raise OSError(f"{name} cannot be read: {message_of(error)}") from error


def _find(place: str) -> list[Shard]:
    """The files of a folder, those that a pattern matches, or one file; none if there is nothing."""
    from fsspec.core import url_to_fs
    from fsspec.implementations.local import LocalFileSystem

    remote = "://" in place
    system, path = url_to_fs(place) if remote else (LocalFileSystem(), os.path.abspath(os.path.expanduser(place)))
    if glob.has_magic(path) and (remote or not system.exists(path)):
        files = sorted(system.glob(path))
    elif system.isdir(path):
        files = sorted(file for file in system.ls(path, detail=False) if _is_shard(file.rsplit("/", 1)[-1]))
    else:
        files = [path] if system.exists(path) else []
    if remote:
        return [_shard(system.unstrip_protocol(file), system.info(file)) for file in files]
    return [_shard(file, system.info(os.path.realpath(file))) for file in files]


def _shard(name: str, facts: dict[str, Any]) -> Shard:
    version = next((str(facts[key]) for key in _VERSIONS if facts.get(key) is not None), "")
    size = facts.get("size")
    return Shard(name, -1 if size is None else int(size), version)


def _is_shard(file: str) -> bool:
    return file.lower().endswith(SHARD_FILES) and not file.startswith((".", "_"))


@contextlib.contextmanager
def on_this_machine(shard: Shard) -> Iterator[Path]:
    """A shard as a local file; one behind a URL is copied to a temporary folder, which goes afterwards."""
    if "://" not in shard.name:
        yield Path(shard.name)
        return
    import fsspec

    with tempfile.TemporaryDirectory(prefix="mauve_metric-") as folder:
        copy = Path(folder) / shard.file_name
        with (
            _store_of(repr(shard.name)),
            fsspec.open(shard.name, "rb") as source,
            copy.open("wb") as target,
        ):
            shutil.copyfileobj(source, target, 2**20)
        yield copy
