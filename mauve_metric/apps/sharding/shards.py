"""The files of a set of texts: list them, read each as a local file, and make one file of features of each.

Nothing here depends on how the work is distributed: by Ray (`apps.sharding.ray_tasks`), by a Slurm array, or in a loop.
"""

from __future__ import annotations

import contextlib
import glob
import hashlib
import json
import logging
import os
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from mauve_metric.apps.sharding.function_digest import function_digest
from mauve_metric.arrays import Array
from mauve_metric.features.array_files import NpyRows
from mauve_metric.features.encode_objects import is_encode_object
from mauve_metric.features.feature_files import (
    EACH_TEXT,
    StoredFeatures,
    from_meta,
    json_object,
    read_features,
    write_features,
)
from mauve_metric.features.feature_set import FeatureSet, FeaturizeJob
from mauve_metric.features.row_blocks import BLOCK_ROWS, ConcatenatedRows, as_rows
from mauve_metric.features.text_encoder import TextEncoder
from mauve_metric.features.text_functions import name_of, text_function
from mauve_metric.inputs.fields import Role
from mauve_metric.inputs.files import TextFile
from mauve_metric.inputs.fingerprints import Marks
from mauve_metric.inputs.records import split_field
from mauve_metric.inputs.sources import NoTextsError
from mauve_metric.options import MauveConfig, RunOptions, options_of_stage
from mauve_metric.runtime.checks import first_few, shown
from mauve_metric.runtime.errors import EmptyTexts, UnlikeFeatures, message_of

logger = logging.getLogger(__name__)

SHARD_FILES = (".jsonl", ".parquet")
_VERSIONS = ("mtime", "LastModified", "last_modified", "updated", "ETag", "etag", "checksum")  # keys of fsspec
FEATURES_FOLDER = "features"
_KEY_BYTES = 10  # of the hash that tells shards and settings apart in a file's name
ShardCounts = tuple[int, int, Mapping[str, int]]  # texts; dropped and stripped ones of a shard without any text


class EvenBlocks(ConcatenatedRows):
    """Several sources one after the other, in blocks of `BLOCK_ROWS` rows that do not depend on where a source ends.

    Sums over blocks are then the same to the last bit, however the rows are cut into files.

    >>> from mauve_metric.features.row_blocks import ArrayRows
    >>> parts = EvenBlocks([ArrayRows(np.ones((1500, 2))), ArrayRows(np.ones((700, 2)))])
    >>> [len(block) for block in parts.blocks()]
    [2048, 152]
    """

    def blocks(self) -> Iterator[Array]:
        """All rows in order."""
        waiting: list[Array] = []
        free = BLOCK_ROWS
        for block in super().blocks():
            while len(block) >= free:
                yield np.concatenate([*waiting, block[:free]])
                block, waiting, free = block[free:], [], BLOCK_ROWS
            waiting.append(block)
            free -= len(block)
        if free < BLOCK_ROWS:
            yield np.concatenate(waiting)


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
    sources = [where] if isinstance(where, (str, Path)) else where
    if not isinstance(sources, (list, tuple)) or not all(isinstance(source, (str, Path)) for source in sources):
        raise TypeError(f"{name} must be a file, a folder, a pattern, or a list of their names, got {shown(where)}")
    shards: list[Shard] = []
    for source in map(str, sources):
        if not source.strip():
            raise ValueError(f"{name} must name files of texts, got the empty name {source!r}")
        if "://" in source and "::" in source:
            raise ValueError(f"{name} must name files that can be read alone, got {source!r}, a URL within another")
        with _store_of(f"{name}: {source!r}"):
            listed = _find(source)
        if not listed:
            file, field = split_field(source)
            cure = f": text_field={field!r} names the field" if field and os.path.isfile(file) else ""
            raise FileNotFoundError(
                f"{name}: there are no {' or '.join(SHARD_FILES)} files at {shown(source, most=200)}{cure}"
            )
        for shard in listed:
            if not shard.file_name.lower().endswith(SHARD_FILES):
                raise ValueError(f"{name} must be {' or '.join(SHARD_FILES)} files, got {shard.name!r}")
        filled = [shard for shard in listed if shard.size]
        if len(filled) < len(listed):
            logger.info("%d files of no bytes at %s hold no texts", len(listed) - len(filled), source)
        shards += filled
    if not sources:
        raise ValueError(f"{name} must name at least one file of texts, got {shown(where)}")
    if not shards:
        named = first_few([shown(str(source), most=200) for source in sources], 3)
        raise EmptyTexts.of(name, f"must hold at least one text, got files of no bytes: {named}")
    twice = [file for file, count in Counter(shard.name for shard in shards).items() if count > 1]
    if twice:
        raise ValueError(f"{name} names {twice[0]!r} twice: expected each file once")
    return shards


@contextlib.contextmanager
def _store_of(name: str) -> Iterator[None]:
    """Errors of a URL's store, whatever its package raises, as one sentence with the URL."""
    try:
        yield
    except ImportError as error:
        raise ImportError(f"{name} cannot be read: {message_of(error)}") from error
    except Exception as error:
        raise OSError(f"{name} cannot be read: {message_of(error)}") from error


def _find(source: str) -> list[Shard]:
    """The files of a folder, those that a pattern matches, or one file; none if there is nothing."""
    from fsspec.core import url_to_fs
    from fsspec.implementations.local import LocalFileSystem

    remote = "://" in source
    system, path = url_to_fs(source) if remote else (LocalFileSystem(), os.path.abspath(os.path.expanduser(source)))
    if glob.has_magic(path) and (remote or not system.exists(path)):
        files = sorted(system.glob(path))
    elif system.isdir(path):
        listed = [(file, file.rsplit("/", 1)[-1]) for file in system.ls(path, detail=False)]
        files = sorted(file for file, name in listed if name.lower().endswith(SHARD_FILES) and name[0] not in "._")
    else:
        files = [path] if system.exists(path) else []
    shards = []
    for file in files:
        facts = system.info(file if remote else os.path.realpath(file))
        version = next((str(facts[key]) for key in _VERSIONS if facts.get(key) is not None), "")
        size = -1 if facts.get("size") is None else int(facts["size"])
        shards.append(Shard(system.unstrip_protocol(file) if remote else file, size, version))
    return shards


@contextlib.contextmanager
def on_this_machine(shard: Shard) -> Iterator[Path]:
    """A shard as a local file; one behind a URL is copied to a temporary folder, which goes afterwards."""
    if "://" not in shard.name:
        yield Path(shard.name)
        return
    from fsspec.core import url_to_fs

    with tempfile.TemporaryDirectory(prefix="mauve_metric-") as folder:
        copy = Path(folder) / shard.file_name
        with _store_of(repr(shard.name)):
            system, path = url_to_fs(shard.name)
            system.get_file(path, str(copy))
        yield copy


class ShardFile(TextFile):
    """A file of texts whose field is named for all shards."""

    _path_to_name = None


class ShardTask(NamedTuple):
    """A shard of texts, its side, the file for its features, and its encoding if that is not UTF-8."""

    shard: Shard
    side: Role
    target: Path
    encoding: str | None = None

    def __str__(self) -> str:
        return self.shard.name


def shard_tasks(
    shards: Sequence[Shard],
    side: Role,
    folder: Path,
    config: MauveConfig,
    run: RunOptions,
    encoding: str | None = None,
) -> list[ShardTask]:
    """List the tasks of one side; a target's name tells shard, version, size and the options of the featurizer."""
    asked = options_of_stage(config, "featurize")
    model = config.featurize_model_name
    function = text_function(model, run.server)
    if function is not None and (isinstance(function.function, TextEncoder) or is_encode_object(model)):
        asked["featurize_model_name"] = dict(function.identity)
    elif callable(model):
        asked["featurize_model_name"] = f"{name_of(model)} {function_digest(model)}"
    prompts = run.prompts if run.prompts is None or isinstance(run.prompts, (str, Path)) else list(run.prompts)
    tasks = []
    for shard in shards:
        facts = [shard, side, asked, run.text_field, prompts, *([] if encoding is None else [encoding])]
        key = json.dumps(facts, sort_keys=True, default=str)
        digest = hashlib.blake2b(key.encode(), digest_size=_KEY_BYTES).hexdigest()
        target = folder / FEATURES_FOLDER / f"{Path(shard.file_name).stem}-{digest}.npy"
        tasks.append(ShardTask(shard, side, target, encoding))
    return tasks


class ShardFeaturizer:
    """Featurizes shards; the model is loaded once, when it is first needed.

    >>> import numpy, tempfile
    >>> from mauve_metric.apps.sharding.shards import list_shards
    >>> lengths = lambda texts: numpy.array([[len(text), 1.0] for text in texts])
    >>> config, folder = MauveConfig(featurize_model_name=lengths), Path(tempfile.mkdtemp())
    >>> _ = (folder / "a.jsonl").write_text('{"text": "one"}\\n{"text": "three"}\\n')
    >>> (folder / "features").mkdir()
    >>> tasks = shard_tasks(list_shards("p", folder), "reference", folder, config, RunOptions())
    >>> ShardFeaturizer(config, RunOptions())(tasks[0]), numpy.load(tasks[0].target).shape
    ((2, 0, {}), (2, 2))
    """

    def __init__(self, config: MauveConfig, run: RunOptions) -> None:
        self.job = FeaturizeJob(config, replace(run, cache=False, verbose=False))  # the files are what is kept

    def __call__(self, task: ShardTask) -> ShardCounts:
        """Write a shard's features, unless they are there: whole, with their checksum, and of this model.

        Raises:
            ValueError: the texts cannot be read or featurized. OSError: nothing can be written, or the model cannot be
                loaded or run here. The message names the shard's file.
        """
        try:
            return self._stored_texts(task.target) or self._written_texts(task), 0, {}
        except NoTextsError as error:
            return 0, error.dropped, error.stripped
        except Exception as error:
            kind = (
                ValueError if isinstance(error, (ValueError, TypeError)) and not isinstance(error, OSError) else OSError
            )
            message = message_of(error)
            raise kind(message if task.shard.name in message else f"{task}: {message}") from error

    def _stored_texts(self, target: Path) -> int:
        """Return the number of texts in the file of features; 0 if it is missing, damaged or of another model."""
        if not target.is_file():
            return 0
        try:
            stored = read_features(target)
        except (ValueError, OSError) as error:
            logger.warning("a file of features is made again: %s", error)
            return 0
        config, identity = self.job.config, stored.identity or {}
        function = text_function(config.featurize_model_name, self.job.run.server)
        expected = self.job.load().identity if function is None else function.with_prefix(config.text_prefix)[1]
        different = [name for name, value in expected.items() if identity.get(name) != value]
        if different:
            logger.warning("%s is made again: it is not known to be of this model (%s)", target, ", ".join(different))
            return 0
        return int(stored.features.shape[0])

    def _written_texts(self, task: ShardTask) -> int:
        """Featurize a shard, write its features, and return the number of texts."""
        with on_this_machine(task.shard) as path:
            file = ShardFile(path, self.job.run.text_field, encoding=task.encoding).side(task.side)
            if self.job.config.empty_texts == "error":
                file.check_filled()
            made = replace(self.job.of_texts("texts", file.texts), origin=file.origin)
        write_features(made, task.target, of_texts=True)
        return len(made)


def _read_lazily(path: Path) -> StoredFeatures:
    """Return what `write_features` wrote to an `.npy` file, with rows that are read when needed and not checked.

    Raises:
        FileNotFoundError: a file is missing. ValueError: a file is damaged.
    """
    sidecar = path.with_name(path.name + ".json")
    return from_meta(NpyRows.of_file(path), json_object(sidecar.read_bytes(), sidecar), sidecar)


def _joined(parts: Sequence[StoredFeatures]) -> FeatureSet:
    """The features of several sets of one encoder, one after the other, with what is known of all of them."""
    fields: dict[str, Any] = {}
    for name in EACH_TEXT:
        values = [getattr(part, name) for part in parts]
        fields[name] = None if any(value is None for value in values) else np.concatenate(values)
    marks = [part.marks for part in parts if part.marks is not None]
    fields["marks"] = Marks.of_all(marks) if len(marks) == len(parts) else None
    for name in ("truncated", "dropped"):
        fields[name] = sum(getattr(part, name) for part in parts)
    rules = dict.fromkeys(rule for part in parts for rule in part.stripped)
    fields["stripped"] = {rule: sum(part.stripped.get(rule, 0) for part in parts) for rule in rules}
    features = EvenBlocks([as_rows(part.features) for part in parts])
    return FeatureSet(**vars(parts[0]) | fields | {"features": features})


def joined_shards(name: str, tasks: Sequence[ShardTask], done: Sequence[ShardCounts]) -> FeatureSet:
    """Return the featurized shards of one side as one set, with rows that are read when they are needed.

    Args:
        name: of the side, for errors. tasks, done: of each shard.

    Raises:
        FileNotFoundError: a shard has no features. ValueError: they are damaged, or of different models; or no shard
            holds a text.
    """
    files = [task.target for task, (texts, *_) in zip(tasks, done, strict=True) if texts]
    parts = [*map(_read_lazily, files)]
    if not parts:
        raise EmptyTexts.of(name, f"must hold at least one non-empty text, got {len(tasks)} files of which none does")
    first = parts[0]
    for file, part in zip(files, parts, strict=True):
        if part.identity != first.identity or part.features.shape[1] != first.features.shape[1]:
            raise UnlikeFeatures(
                "all shards must be featurized by one model, got "
                f"{dict(first.identity or {})} with {first.features.shape[1]} columns in {files[0]} and "
                f"{dict(part.identity or {})} with {part.features.shape[1]} in {file}"
            )
    joined = _joined(parts)
    stripped = Counter(joined.stripped)
    for texts, _, of_rules in done:
        stripped.update({} if texts else of_rules)
    dropped = sum(0 if texts else dropped for texts, dropped, _ in done)
    return replace(joined, dropped=joined.dropped + dropped, stripped=dict(stripped))
