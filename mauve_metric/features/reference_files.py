"""Files of features: `.npz`, `.npy` with what is known beside it, parquet."""

from __future__ import annotations

import json
import os
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mauve_metric.arrays import Array, Features, Hashes, Integers
from mauve_metric.features.row_files import NpyRows
from mauve_metric.features.rows import CheckedRows, all_rows
from mauve_metric.runtime.packages import import_parquet

LAZY_BYTES = 2**30  # a larger .npy file is read in blocks
_FORMAT = "mauve_metric features 1"


@dataclass(frozen=True)
class StoredFeatures:
    """Features and what is known about them, as they lie in a file; the fields are explained in `Reference`."""

    features: Features
    identity: Mapping[str, str] | None = None
    lengths: Integers | None = None
    truncated: int = 0
    dropped: int = 0
    text_hashes: Hashes | None = None
    opening_hashes: Hashes | None = None


def _meta(stored: StoredFeatures) -> dict[str, Any]:
    """All but the features, fit for JSON."""
    arrays = {name: getattr(stored, name) for name in ("lengths", "text_hashes", "opening_hashes")}
    return {
        "format": _FORMAT,
        "identity": None if stored.identity is None else dict(stored.identity),
        "truncated": stored.truncated,
        "dropped": stored.dropped,
    } | {name: None if value is None else value.tolist() for name, value in arrays.items()}


def _from_meta(features: Features, meta: Mapping[str, Any], path: Path) -> StoredFeatures:
    if meta.get("format") != _FORMAT:
        raise ValueError(f"{path} was written in the unknown format {meta.get('format')!r}; expected {_FORMAT!r}")
    values: dict[str, Any] = {}
    try:
        values |= {"truncated": int(meta["truncated"]), "dropped": int(meta["dropped"])}
        values["identity"] = None if meta["identity"] is None else {**meta["identity"]}
        for name, kind in (("lengths", np.int64), ("text_hashes", np.uint64), ("opening_hashes", np.uint64)):
            values[name] = None if meta[name] is None else np.array(meta[name], dtype=kind)
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{path} is damaged: what stands beside the features is not complete ({error!r})") from error
    for name in ("lengths", "text_hashes", "opening_hashes"):
        if values[name] is not None and values[name].shape != features.shape[:1]:
            raise ValueError(f"{path} is damaged: {features.shape[0]} features and {values[name].size} {name}")
    return StoredFeatures(features, **values)


def write_features(stored: StoredFeatures, path: str | Path) -> Path:
    """Write an `.npz`, `.npy` or `.parquet` file, which appears whole or not at all.

    Raises:
        ValueError: another suffix.
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix not in (".npz", ".npy", ".parquet"):
        raise ValueError(f"features are written to .npz, .npy or .parquet, got {str(path)!r}")
    meta, features = json.dumps(_meta(stored)), all_rows(stored.features)
    sidecar = path.with_name(path.name + ".json") if suffix == ".npy" else None
    temporary, temporary_sidecar = (path.with_name(f".{path.name}.{os.getpid()}.{part}") for part in ("part", "json"))
    try:
        if suffix == ".parquet":
            _write_parquet(features, meta, temporary)
        else:
            with temporary.open("wb") as file:
                if suffix == ".npy":
                    np.save(file, features)
                else:
                    np.savez(file, features=features, meta=np.array(meta))
        if sidecar is not None:
            temporary_sidecar.write_text(meta, encoding="utf-8")
            temporary_sidecar.replace(sidecar)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
        temporary_sidecar.unlink(missing_ok=True)
    return path


def _write_parquet(features: Array, meta: str, path: Path) -> None:
    parquet = import_parquet()
    import pyarrow

    flat = pyarrow.array(np.ascontiguousarray(features).ravel())
    column = pyarrow.FixedSizeListArray.from_arrays(flat, features.shape[1])
    table = pyarrow.table({"features": column}).replace_schema_metadata({"mauve_metric": meta})
    parquet.write_table(table, path, write_page_checksum=True)


def read_features(path: str | Path) -> StoredFeatures:
    """What `write_features` wrote, or any `.npy`, `.npz` or parquet file of features.

    Raises:
        FileNotFoundError: there is none. ValueError: it holds something else, or is damaged.
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {str(path)!r}")
    if path.suffix.lower() == ".parquet":
        return _read_parquet(path)
    try:
        return _read_numpy(path)
    except (OSError, EOFError, zipfile.BadZipFile, zlib.error, NotImplementedError) as error:
        raise ValueError(f"{path} is not a numpy file of numbers: {error}") from error


def _read_numpy(path: Path) -> StoredFeatures:
    """`read_features` for `.npy` and `.npz`."""
    try:
        loaded = _load_array(path)
        if isinstance(loaded, (np.ndarray, CheckedRows)):
            arrays: dict[str, Any] = {"features": loaded}
        else:
            with loaded:
                arrays = {name: loaded[name] for name in loaded.files}
    except ValueError as error:
        raise ValueError(f"{path} is not a numpy file of numbers: {error}") from error
    sidecar = path.with_name(path.name + ".json")
    meta = None
    if "meta" in arrays:
        meta = _json_object(str(arrays.pop("meta")), path)
    elif path.suffix.lower() == ".npy" and sidecar.is_file():
        meta = _json_object(sidecar.read_text(encoding="utf-8"), sidecar)
    features = arrays[_array_name(list(arrays), path)]
    if not isinstance(features, (np.ndarray, CheckedRows)):
        raise ValueError(f"{path} is not a numpy file of numbers: it holds {type(features).__name__}")
    return StoredFeatures(features) if meta is None else _from_meta(features, meta, path)


def _load_array(path: Path) -> Array | CheckedRows | np.lib.npyio.NpzFile:
    """What numpy reads from a file; a large `.npy` file as rows to be read in blocks."""
    if path.suffix.lower() == ".npy" and path.stat().st_size > LAZY_BYTES:
        return CheckedRows(str(path), NpyRows.of_file(path))
    loaded: Array | np.lib.npyio.NpzFile = np.load(path, allow_pickle=False)
    return loaded


def _array_name(names: Sequence[str], path: Path) -> str:
    if "features" in names:
        return "features"
    if len(names) != 1:
        raise ValueError(f"{path} must hold one array or one called 'features', it holds {', '.join(names)}")
    return names[0]


def _json_object(content: str, path: Path) -> dict[str, Any]:
    try:
        value = json.loads(content)
    except json.JSONDecodeError as error:
        raise ValueError(f"{path} is damaged: {error}") from error
    if not isinstance(value, dict):
        raise ValueError(f"{path} is damaged: expected a JSON object, got {type(value).__name__}")
    return value


def is_feature_parquet(path: str | Path) -> bool:
    """Whether a parquet file holds features written by `Reference.save` (and not texts)."""
    path = Path(path)
    if path.suffix.lower() != ".parquet" or not path.is_file():
        return False
    parquet = import_parquet()
    import pyarrow

    try:
        metadata = parquet.read_schema(path).metadata or {}
    except (OSError, pyarrow.ArrowException):
        return False
    return b"mauve_metric" in metadata


def _read_parquet(path: Path) -> StoredFeatures:
    parquet = import_parquet()
    import pyarrow

    try:
        table = parquet.read_table(path, page_checksum_verification=True)
    except (OSError, pyarrow.ArrowException) as error:
        raise ValueError(f"{path} is not a parquet file: {error}") from error
    if "features" not in table.column_names:
        raise ValueError(f"{path} has no column 'features', it has {', '.join(table.column_names)}")
    features = _rows_of_column(table["features"].combine_chunks(), path)
    meta = (table.schema.metadata or {}).get(b"mauve_metric")
    if meta is None:
        return StoredFeatures(features)
    return _from_meta(features, _json_object(meta.decode(errors="replace"), path), path)


def _rows_of_column(column: Any, path: Path) -> Array:
    """A column of lists of numbers, all of one length, as an array (n, d)."""
    import pyarrow

    kind = column.type
    is_list = any(getattr(pyarrow.types, f"is_{name}")(kind) for name in ("fixed_size_list", "list", "large_list"))
    numbers = is_list and (pyarrow.types.is_floating(kind.value_type) or pyarrow.types.is_integer(kind.value_type))
    if not numbers or column.null_count:
        raise ValueError(
            f"{path}: the column 'features' must hold lists of numbers, got {kind}, {column.null_count} missing"
        )
    lengths = set(column.value_lengths().to_pylist())
    if len(lengths) != 1:
        raise ValueError(f"{path}: the rows of 'features' must have one length, got {sorted(lengths)[:5]}")
    features: Array = column.flatten().to_numpy(zero_copy_only=False).reshape(len(column), lengths.pop())
    return features
