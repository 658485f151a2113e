"""Files of features: `.npz`, `.npy` with a sidecar of facts, parquet."""

from __future__ import annotations

import hashlib
import json
import logging
import math
import os
import sys
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, BinaryIO, cast

import numpy as np

from mauve_metric.arrays import Array, Features, Floats, Hashes, Integers
from mauve_metric.features.array_files import (
    NOT_A_HEADER,
    NpyRows,
    ParquetFeatures,
    check_no_texts,
    name_among,
    npy_header,
)
from mauve_metric.features.row_blocks import CheckedRows, all_rows, check_features, hash_of_rows
from mauve_metric.inputs.files import FEATURE_FILES
from mauve_metric.inputs.fingerprints import Marks
from mauve_metric.runtime.checks import check_directory, check_file, check_path, check_unpacked, shown
from mauve_metric.runtime.errors import DamagedFile, short_message
from mauve_metric.runtime.optional_imports import import_parquet
from mauve_metric.runtime.outputs import check_replaceable, written_whole

LAZY_BYTES = 2**30  # a larger .npy file is read in blocks
_FORMAT = "mauve_metric features 1"
_MARK = b'"format": "mauve_metric features'
_HASH = "features_sha256"  # in FILE.npy.json, which numpy.save leaves behind when it writes other features to FILE.npy
WHOLE_NUMBERS = {"lengths": np.int64, "text_hashes": np.uint64, "opening_hashes": np.uint64}
EACH_TEXT = (*WHOLE_NUMBERS, "format_numbers", "unseen")  # fields of `StoredFeatures` with an entry for each text
_CHECKSUM = "checksum"  # of all else that is known about the features

logger = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)  # arrays have no equality that is one truth value
class StoredFeatures:
    """Features and what is known about them, as they lie in a file; the fields are explained in `FeatureSet`."""

    features: Features
    identity: Mapping[str, str] | None = None
    lengths: Integers | None = None
    truncated: int = 0
    dropped: int = 0
    text_hashes: Hashes | None = None
    opening_hashes: Hashes | None = None
    marks: Marks | None = None
    stripped: Mapping[str, int] = field(default_factory=dict)
    origin: str | None = None
    format_numbers: Floats | None = field(default=None, repr=False)
    unseen: Floats | None = field(default=None, repr=False)
    unseen_formats: frozenset[str] | None = None


def _meta(stored: StoredFeatures) -> dict[str, Any]:
    """All fields but the features, as JSON values."""
    marks = stored.marks
    return {
        "format": _FORMAT,
        "identity": None if stored.identity is None else dict(stored.identity),
        "truncated": stored.truncated,
        "dropped": stored.dropped,
        "stripped": dict(stored.stripped),
        "marks": None
        if marks is None
        else {"wrapped": dict(marks.wrapped), "texts": marks.texts, "languages": dict(marks.languages)},
        "origin": stored.origin,
        "unseen": None if stored.unseen is None else stored.unseen.tolist(),
        "unseen_formats": None if stored.unseen_formats is None else sorted(stored.unseen_formats),
        **{name: None if (value := getattr(stored, name)) is None else value.tolist() for name in WHOLE_NUMBERS},
    }


def _checksum(facts: Mapping[str, Any]) -> str:
    """A hash of all that is known about features, whatever the order and the layout of its JSON."""
    content = json.dumps({name: value for name, value in facts.items() if name != _CHECKSUM}, sort_keys=True)
    return hashlib.sha256(content.encode()).hexdigest()


def _check_facts(facts: Mapping[str, Any], features: Features, source: Path, path: Path) -> None:
    """Check that what is known about features is what was written, and about these; a warning for older files.

    Args:
        facts: what a file says. source: that file. path: of the features.

    Raises:
        ValueError: it was changed since, or the features were.
    """
    if _CHECKSUM in facts and facts[_CHECKSUM] != _checksum(facts):
        raise DamagedFile(f"{source} is damaged: the facts about the features have another checksum")
    if _HASH in facts and facts[_HASH] != hash_of_rows(features):
        raise ValueError(f"{source} was written for other features than {path} holds: save both again, or delete it")
    if _HASH not in facts:
        logger.warning("%s does not say for which features it was written: it is taken to belong to %s", source, path)
    elif _CHECKSUM not in facts:
        logger.warning("%s has no checksum: its facts about %s are used unchecked", source, path)


def from_meta(features: Features, meta: Mapping[str, Any], path: Path) -> StoredFeatures:
    """The features with what a file says of them; `ValueError` with its path where it is damaged."""
    if meta.get("format") != _FORMAT:
        raise ValueError(f"{path} was written in the unknown format {meta.get('format')!r}; expected {_FORMAT!r}")
    values: dict[str, Any] = {}
    try:
        values |= {"truncated": int(meta["truncated"]), "dropped": int(meta["dropped"])}
        values["identity"] = None if meta["identity"] is None else check_identity(str(path), meta["identity"])
        values["origin"] = None if meta.get("origin") is None else str(meta["origin"])
        for name, kind in WHOLE_NUMBERS.items():
            values[name] = None if meta[name] is None else np.array(meta[name], dtype=kind)
        values["stripped"] = _counts(meta.get("stripped") or {})  # missing from files of older versions
        if (marks := meta.get("marks")) is not None:
            openings = marks.get("openings")
            words = None if openings is None else {tuple(map(sys.intern, some)): int(count) for some, count in openings}
            languages = _counts(marks.get("languages") or {})
            values["marks"] = Marks(_counts(marks["wrapped"]), words, int(marks["texts"]), languages)
        for name in ("format_numbers", "unseen"):
            values[name] = None if meta.get(name) is None else np.array(meta[name], dtype=np.float64)
        names = meta.get("unseen_formats")
        values["unseen_formats"] = None if names is None else frozenset(map(str, names))
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise DamagedFile(f"{path} is damaged: the facts about the features are not complete ({error!r})") from error
    for name in EACH_TEXT:
        dimensions = 2 if name == "format_numbers" else 1
        if (of_each := values[name]) is None:
            continue
        if of_each.ndim != dimensions or len(of_each) != features.shape[0]:
            raise DamagedFile(f"{path} is damaged: {features.shape[0]} features and {of_each.size} {name}")
        if name == "lengths" and (of_each < 0).any():
            raise DamagedFile(f"{path} is damaged: lengths are below 0")
    if not 0 <= values["truncated"] <= features.shape[0] or values["dropped"] < 0:
        said = f"{values['truncated']} of {features.shape[0]} texts were cut, and {values['dropped']} dropped"
        raise DamagedFile(f"{path} is damaged: {said}")
    return StoredFeatures(features, **values)


def _counts(values: object) -> dict[str, int]:
    if not isinstance(values, Mapping):
        raise TypeError(f"counts by name expected, got {shown(values)}")
    return {str(name): int(count) for name, count in values.items()}


def check_identity(name: str, identity: object) -> dict[str, str]:
    """The identity of an encoder as it was given: texts by name, one of them the model's.

    Raises:
        ValueError: something else.
    """
    if not isinstance(identity, Mapping) or not all(
        isinstance(text, str) for pair in identity.items() for text in pair
    ):
        raise ValueError(f"the identity of {name} must map names to texts, got {shown(identity)}")
    if not identity.get("model"):
        raise ValueError(f"the identity of {name} must name its model, got {shown(dict(identity))}")
    length = identity.get("max_text_length", "1")
    if not (length.isascii() and length.isdigit() and len(length) < 10 and int(length)):
        raise ValueError(f"the identity of {name} must have a number as max_text_length, got {shown(length)}")
    return dict(identity)


def write_features(stored: StoredFeatures, path: str | Path, of_texts: bool = False) -> Path:
    """Write an `.npz`, `.npy` or `.parquet` file, which appears whole or not at all.

    Args:
        stored: features and what is known about them. path: of the file.
        of_texts: write also, to an `.npy` file's neighbour, the first words of the texts and the numbers of their
            format, for warnings about them; all else tells nothing of a text.

    Raises:
        TypeError, ValueError: another suffix, or features that are none.
        OSError: the file cannot be written, or `FILE.npy.json` is a file of something else.
    """
    path = check_path("path", path)
    suffix = path.suffix.lower()
    if suffix not in (".npz", ".npy", ".parquet"):
        raise ValueError(f"features are written to .npz, .npy or .parquet, got {str(path)!r}")
    whole = all_rows(stored.features) if hasattr(stored.features, "blocks") else stored.features
    features, facts = check_features("features", whole), _meta(stored)
    if of_texts and stored.marks is not None and stored.marks.openings is not None:
        facts["marks"]["openings"] = [[*pair] for pair in stored.marks.openings.items()]
    if of_texts and stored.format_numbers is not None:
        facts["format_numbers"] = stored.format_numbers.tolist()
    if suffix != ".npz":  # a zip file has a checksum
        facts |= {_HASH: hash_of_rows(features)}
        facts |= {_CHECKSUM: _checksum(facts)}
    meta = json.dumps(facts)
    sidecar = check_sidecar(path)
    with written_whole(path) as temporary:
        if suffix == ".parquet":
            _write_parquet(features, meta, temporary)
        else:
            with temporary.open("wb") as file:
                if suffix == ".npy":  # to a file without a descriptor, to which numpy writes by itself and loses errors
                    np.save(cast("BinaryIO", SimpleNamespace(write=file.write)), features)
                else:
                    np.savez(file, features=features, meta=np.array(meta))
        if sidecar is not None:
            with written_whole(sidecar) as temporary_sidecar:
                temporary_sidecar.write_text(meta, encoding="utf-8")
    return path


def check_sidecar(path: str | Path) -> Path | None:
    """The file beside features in `.npy` that describes them; None beside other files.

    Raises:
        FileExistsError: a file of that name exists, and was not written by `write_features`.
    """
    path = Path(path)
    if path.suffix.lower() != ".npy":
        return None
    sidecar = path.with_name(path.name + ".json")
    check_replaceable(sidecar, _MARK)
    return sidecar


def _write_parquet(features: Array, meta: str, path: Path) -> None:
    parquet = import_parquet()
    import pyarrow

    flat = pyarrow.array(np.ascontiguousarray(features).ravel())
    column = pyarrow.FixedSizeListArray.from_arrays(flat, features.shape[1])
    table = pyarrow.table({"features": column}).replace_schema_metadata({"mauve_metric": meta})
    parquet.write_table(table, path, write_page_checksum=True)


def read_features(path: str | Path) -> StoredFeatures:
    """Read a file of `write_features`, or any `.npy`, `.npz` or parquet file of features.

    Raises:
        FileNotFoundError: there is none. ValueError: it holds something else, or is damaged.
    """
    path = check_path("path", path)
    check_file(path)
    check_no_texts(path)
    features: Features
    if path.suffix.lower() == ".parquet":
        source, file = path, ParquetFeatures(path)
        check_unpacked(path, 4 * math.prod(file.shape))
        features, content = np.concatenate(list(file.blocks())), file.metadata
    else:
        with path.open("rb") as opened:
            zipped = opened.read(2) == b"PK"
        if zipped:
            return _read_npz(path)
        rows, lazily = NpyRows.of_file(path), path.stat().st_size > LAZY_BYTES
        features = CheckedRows(str(path), rows) if lazily else np.load(path, allow_pickle=False)
        source = path.with_name(path.name + ".json")
        content = source.read_bytes() if path.suffix.lower() == ".npy" and source.is_file() else None
    if content is None:
        return StoredFeatures(features)
    meta = json_object(content, source)
    stored = from_meta(features, meta, source)
    _check_facts(meta, features, source, path)
    return stored


def _read_npz(path: Path) -> StoredFeatures:
    """`read_features` for `.npz`, of which only the features and what is known about them are unpacked."""
    try:
        check_directory(path)
        with zipfile.ZipFile(path) as file:
            names = [name.removesuffix(".npy") for name in file.namelist()]
            arrays = [name for name in names if name != "meta"]
            wanted = name_among(arrays)
            if wanted is None:
                expected = "must hold one array or one called 'features'"
                raise ValueError(f"{path} {expected}, it holds {short_message(', '.join(arrays))}")
            member = file.getinfo(f"{wanted}.npy")
            check_unpacked(path, member.file_size)
            with file.open(member) as opened:
                npy_header(str(path), cast("BinaryIO", opened), member.file_size)
        with np.load(path, allow_pickle=False) as loaded:
            features, meta = loaded[wanted], str(loaded["meta"]) if "meta" in names else None
    except (OSError, KeyError, RuntimeError, zipfile.BadZipFile, zlib.error, *NOT_A_HEADER) as error:
        if isinstance(error, ValueError) and str(path) in str(error):
            raise
        raise DamagedFile(f"{path} is not a numpy file of numbers: {short_message(error)}") from error
    return StoredFeatures(features) if meta is None else from_meta(features, json_object(meta, path), path)


def json_object(content: str | bytes, path: str | Path) -> dict[str, Any]:
    """A JSON object; `ValueError`, with the file's name, for anything else."""
    try:
        value = json.loads(content)
    except UnicodeDecodeError as error:
        raise DamagedFile(f"{path} is damaged: it is not UTF-8") from error
    except (ValueError, RecursionError) as error:  # not JSON, integers of 5000 digits, or too deep
        raise DamagedFile(f"{path} is damaged: {short_message(error)}") from error
    if not isinstance(value, dict):
        raise DamagedFile(f"{path} is damaged: expected a JSON object, got {type(value).__name__}")
    return value


def is_feature_file(path: str | Path) -> bool:
    """Return whether a file holds features, by its ending or as parquet written by `FeatureSet.save` (not texts)."""
    path = Path(path)
    if path.suffix.lower() != ".parquet" or not os.path.isfile(path):
        return path.suffix.lower() in FEATURE_FILES
    parquet = import_parquet()
    import pyarrow

    try:
        metadata = parquet.read_schema(path).metadata or {}
    except (OSError, pyarrow.ArrowException):
        return False
    return b"mauve_metric" in metadata
