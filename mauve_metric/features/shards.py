"""One file of texts → one file of features, which is found again: the work of one machine among many.

Nothing here knows who gives out the work: Ray (`runtime.ray_pool`), a Slurm array, or a loop.
"""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from mauve_metric.arrays import Array
from mauve_metric.config import MauveConfig, check_count, knobs
from mauve_metric.features.encoder import prefix_entry
from mauve_metric.features.reference import Featurizing, Reference
from mauve_metric.features.reference_files import read_features, write_features
from mauve_metric.features.row_files import NpyRows
from mauve_metric.features.rows import ConcatenatedRows, all_rows, as_rows, hash_of_rows
from mauve_metric.features.text_functions import function_digest, name_of, text_function
from mauve_metric.options import RunOptions
from mauve_metric.runtime.whole_files import written_whole
from mauve_metric.texts.files import Side, TextFile
from mauve_metric.texts.shards import Shard, on_this_machine
from mauve_metric.texts.sources import NoTextsError

logger = logging.getLogger(__name__)

FEATURES_FOLDER = "features"
_KEY_BYTES = 10  # of the hash that tells shards and settings apart in a file's name


class ShardTask(NamedTuple):
    """A shard of texts, whose it is, and where its features go."""

    shard: Shard
    side: Side
    target: Path


@dataclass(frozen=True)
class ShardFeatures:
    """What is known of a shard's features once they are on the disk.

    reference: all but the texts; its features are read from the file, and have no rows for a shard without texts.
    content: their hash. kept: whether they were there before, whole.
    """

    reference: Reference
    content: str
    kept: bool


def shard_tasks(
    shards: Sequence[Shard], side: Side, folder: Path, config: MauveConfig, run: RunOptions
) -> list[ShardTask]:
    """The tasks of one side; a target's name tells shard, version, size and what the featurizer is asked for."""
    return [ShardTask(shard, side, _target(shard, side, folder, config, run)) for shard in shards]


def _target(shard: Shard, side: Side, folder: Path, config: MauveConfig, run: RunOptions) -> Path:
    asked = {name: getattr(config, name) for name, item in knobs().items() if item.metadata["stage"] == "featurize"}
    if callable(config.featurize_model_name):
        model = config.featurize_model_name
        asked["featurize_model_name"] = f"{name_of(model)} {function_digest(model)}"
    prompts = run.prompts if run.prompts is None or isinstance(run.prompts, (str, Path)) else list(run.prompts)
    key = json.dumps([shard, side, asked, run.text_field, prompts], sort_keys=True, default=str)
    name = Path(shard.file_name).stem
    return folder / FEATURES_FOLDER / f"{name}-{hashlib.blake2b(key.encode(), digest_size=_KEY_BYTES).hexdigest()}.npy"


class ShardFeaturizer:
    """Featurizes one shard after the other; the model is loaded once, when it is first needed.

    >>> import numpy, tempfile
    >>> from mauve_metric.texts.shards import list_shards
    >>> lengths = lambda texts: numpy.array([[len(text), 1.0] for text in texts])
    >>> config, folder = MauveConfig(featurize_model_name=lengths), Path(tempfile.mkdtemp())
    >>> _ = (folder / "a.jsonl").write_text('{"text": "one"}\\n{"text": "three"}\\n')
    >>> (folder / "features").mkdir()
    >>> tasks = shard_tasks(list_shards("p", folder), "reference", folder, config, RunOptions())
    >>> ShardFeaturizer(config, RunOptions())(tasks[0]).reference.features.shape
    (2, 2)
    """

    def __init__(self, config: MauveConfig, run: RunOptions) -> None:
        self.job = Featurizing(config, replace(run, cache=False, verbose=False))  # the files are what is kept

    def __call__(self, task: ShardTask) -> ShardFeatures:
        """Write a shard's features, unless they are there: whole, with their checksum, and of this very model.

        Raises:
            ValueError, TypeError, OSError: the texts cannot be read or featurized (with the row), or nothing can be
                written; the message names the shard's file.
        """
        if not task.target.parent.is_dir():
            raise OSError(
                f"there is no folder {str(task.target.parent)!r} on this machine: the output folder must be one that "
                "all workers share"
            )
        stored = self._stored(task.target)
        if stored is not None:
            return stored
        try:
            reference = self._featurized(task)
        except NoTextsError as error:
            return _without_texts(task.target, error)
        write_features(reference, task.target)
        return _on_disk(task.target, reference, hash_of_rows(reference.features), kept=False)

    def _stored(self, target: Path) -> ShardFeatures | None:
        """What lies there already, if it can be believed."""
        if not target.is_file() and not has_no_texts(target):
            return None
        try:
            found = read_shard(target)
        except (ValueError, OSError) as error:
            logger.warning("a file of features is made again: %s", error)
            return None
        if has_no_texts(target):
            return found
        expected = self._identity()
        identity = found.reference.identity or {}
        different = [name for name, value in expected.items() if identity.get(name) != value]
        if different:
            logger.warning("%s is made again: it is of another model (%s)", target, ", ".join(different))
            return None
        return found

    def _identity(self) -> dict[str, str]:
        """What features that this featurizer makes know of it."""
        own = text_function(self.job.config.featurize_model_name)
        if own is not None:
            return {**own.identity, **prefix_entry(self.job.config.text_prefix)}
        return dict(self.job.load().identity)

    def _featurized(self, task: ShardTask) -> Reference:
        with on_this_machine(task.shard) as path:
            file = TextFile(path, self.job.run.text_field).side(task.side)
            if self.job.config.empty_texts == "error":
                file.check_filled()
            try:
                side = self.job.of_texts("texts", file.texts)
            except NoTextsError:
                raise
            except (ValueError, TypeError) as error:
                raise type(error)(f"{task.shard.name}: {error}") from error
        return replace(side, origin=file.origin)


def read_shard(target: Path) -> ShardFeatures:
    """The features of a shard that lie on the disk, all of which are read to see that they are whole.

    Raises:
        FileNotFoundError: there are none. ValueError: they are damaged, or belong to something else.
    """
    if has_no_texts(target):
        return _noted(target)
    stored = read_features(target)
    if stored.identity is None:
        raise ValueError(f"{target} does not say which model its features are of")
    return _on_disk(target, Reference(**vars(stored), from_file=True), hash_of_rows(stored.features), kept=True)


def has_no_texts(target: Path) -> bool:
    """Whether a shard is known to hold no texts, so that there is a note in the place of its features."""
    return _note_of(target).is_file()


def _note_of(target: Path) -> Path:
    return target.with_name(f"{target.stem}.none.json")


def _without_texts(target: Path, error: NoTextsError) -> ShardFeatures:
    """Write down that a shard holds no texts, and how many empty ones were dropped."""
    with written_whole(_note_of(target)) as temporary:
        temporary.write_text(json.dumps({"dropped": error.dropped, "stripped": error.stripped}), encoding="utf-8")
    return replace(_noted(target), kept=False)


def _noted(target: Path) -> ShardFeatures:
    """What is known of a shard without texts; `ValueError` for a damaged note."""
    note = _note_of(target)
    try:
        facts = json.loads(note.read_text(encoding="utf-8"))
        dropped = check_count("dropped", facts["dropped"], low=0)
        stripped = {str(name): check_count(str(name), count, low=0) for name, count in facts["stripped"].items()}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"{note} is damaged: delete it") from error
    return ShardFeatures(Reference(np.zeros((0, 0)), dropped=dropped, stripped=stripped), "", kept=True)


def _on_disk(target: Path, reference: Reference, content: str, kept: bool) -> ShardFeatures:
    """What is known of features, which are read from their file when they are needed."""
    return ShardFeatures(replace(reference, features=NpyRows.of_file(target)), content, kept)


def joined_shards(name: str, shards: Sequence[Reference]) -> Reference:
    """The shards of one side, in their order, as one set.

    Args:
        name: of the side, for errors.
        shards: what is known of each; those without texts only add to what was dropped and stripped.

    Raises:
        ValueError: they are of different models, or none holds a text.
    """
    parts = [part for part in shards if len(part)]
    if not parts:
        raise ValueError(f"{name} must hold at least one non-empty text, got {len(shards)} files of which none does")
    first = parts[0]
    for part in parts[1:]:
        if part.identity != first.identity or part.features.shape[1] != first.features.shape[1]:
            raise ValueError(
                "all shards must be featurized by one model, got "
                f"{dict(first.identity or {})} with {first.features.shape[1]} columns and "
                f"{dict(part.identity or {})} with {part.features.shape[1]}"
            )
    marks = [part.marks for part in parts if part.marks is not None]
    rules = dict.fromkeys(rule for part in shards for rule in part.stripped)
    return replace(
        first,
        features=ConcatenatedRows([as_rows(part.features) for part in parts]),
        lengths=_concatenated([part.lengths for part in parts]),
        truncated=sum(part.truncated for part in parts),
        dropped=sum(part.dropped for part in shards),
        text_hashes=_concatenated([part.text_hashes for part in parts]),
        opening_hashes=_concatenated([part.opening_hashes for part in parts]),
        format_numbers=_concatenated([part.format_numbers for part in parts]),
        marks=sum(marks[1:], marks[0]) if len(marks) == len(parts) else None,
        stripped={rule: sum(part.stripped.get(rule, 0) for part in shards) for rule in rules},
        from_file=False,
    )


def _concatenated(arrays: Sequence[Array | None]) -> Array | None:
    known = [array for array in arrays if array is not None]
    return np.concatenate(known) if len(known) == len(arrays) else None


def in_memory(side: Reference) -> Reference:
    """A side whose features are read into one array."""
    return replace(side, features=all_rows(as_rows(side.features)))
