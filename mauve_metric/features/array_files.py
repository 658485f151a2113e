"""Features that lie in files, data sets and streams, as rows that are read block by block."""

from __future__ import annotations

import math
import mmap
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tokenize import TokenError
from typing import TYPE_CHECKING, Any, BinaryIO, Literal

import numpy as np
from numpy.typing import ArrayLike

from mauve_metric.arrays import Array, FeatureRows, Features, Integers
from mauve_metric.features.row_blocks import (
    BLOCK_ROWS,
    CheckedRows,
    ConcatenatedRows,
    MappedRows,
    OrderedRows,
    numbers_of,
)
from mauve_metric.inputs.file_types import natural_order, type_by_name
from mauve_metric.runtime.checks import check_file, shown
from mauve_metric.runtime.errors import DamagedFile, NoSuchField, NotFeatures, NotWritten, UnknownEnding, short_message
from mauve_metric.runtime.optional_imports import import_parquet
from mauve_metric.runtime.tensors import check_kind

if TYPE_CHECKING:
    import pyarrow

# What numpy raises over damaged headers, which it reads as Python.
NOT_A_HEADER = (
    ValueError,
    TypeError,
    EOFError,
    SyntaxError,
    TokenError,
    RecursionError,
    MemoryError,
    OverflowError,
)


def npy_header(name: str, file: BinaryIO, size: int) -> tuple[tuple[int, int], bool, np.dtype[np.generic]]:
    """Read shape, Fortran order and number format from the header of an `.npy` file.

    Args:
        name: of the file, for messages. file: at its beginning; afterwards at the first number. size: in bytes.

    Raises:
        ValueError: damaged, of other things than rows of numbers, or of another number of bytes than the file has.
    """
    try:
        version = np.lib.format.read_magic(file)
        read = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
        if version not in read:
            raise ValueError(f"unknown version {version}")
        shape, fortran, dtype = read[version](file)
    except NOT_A_HEADER as error:
        raise DamagedFile(f"{name} is not a numpy file of numbers: {short_message(error)}") from error
    if dtype.kind not in "fiu":
        raise DamagedFile(f"{name} is not a numpy file of numbers: it holds {short_message(dtype)}")
    if len(shape) != 2 or min(shape) < 1 or any(isinstance(length, bool) for length in shape):
        got = f"{short_message(dtype)} {shown(tuple(shape))}"
        raise NotFeatures.of(name, f"must hold numbers of shape (n, d) with n and d at least 1, got {got}")
    expected = file.tell() + math.prod(shape) * dtype.itemsize
    if size != expected:
        ends = "ends before, at" if size < expected else "goes on, to"
        raise DamagedFile(f"{name} is not a numpy file of numbers: {shown(expected)} bytes expected, it {ends} {size}")
    return (int(shape[0]), int(shape[1])), bool(fortran), dtype


def _version(path: Path) -> tuple[int, int]:
    """The size of a file in bytes, and the time of its last change."""
    state = path.stat()
    return state.st_size, state.st_mtime_ns


def _check_unchanged(path: Path, version: tuple[int, int]) -> None:
    if _version(path) != version:
        raise OSError(f"{path} was changed while it was read: wait until it is whole, and read it again")


@dataclass(frozen=True)
class NpyRows:
    """Rows of an `.npy` file, which is open only while they are read.

    Args:
        path: the file. shape: (n, d). fortran: whether columns are stored one after the other. dtype: of the numbers.
        offset: bytes before the first of them. version: of the file when its header was read, see `_version`.

    Raises:
        OSError: the file was changed since, so that no number would belong to one content.
    """

    path: Path
    shape: tuple[int, int]
    fortran: bool
    dtype: np.dtype[np.generic]
    offset: int
    version: tuple[int, int]

    @classmethod
    def of_file(cls, path: Path) -> NpyRows:
        """The rows of an `.npy` file.

        Raises:
            ValueError: not a two-dimensional array of numbers, or damaged.
        """
        with path.open("rb") as file:
            version = _version(path)
            return cls(path, *npy_header(str(path), file, version[0]), file.tell(), version)

    def _mapped(self) -> MappedRows:
        order: Literal["F", "C"] = "F" if self.fortran else "C"
        return MappedRows(np.memmap(self.path, self.dtype, "r", self.offset, self.shape, order))

    def blocks(self) -> Iterator[Array]:
        """All rows in order. They are read: where a mapped file becomes shorter, the system kills the process."""
        _check_unchanged(self.path, self.version)
        if self.fortran:
            yield from self._mapped().blocks()
            _check_unchanged(self.path, self.version)
            return
        n, d = self.shape
        with self.path.open("rb") as file:
            file.seek(self.offset)
            for start in range(0, n, BLOCK_ROWS):
                rows = np.fromfile(file, self.dtype, min(BLOCK_ROWS, n - start) * d)
                if rows.size < min(BLOCK_ROWS, n - start) * d:
                    raise OSError(f"{self.path} became shorter while it was read")
                yield rows.reshape(-1, d)
        _check_unchanged(self.path, self.version)

    def take(self, numbers: Integers) -> Array:
        """The rows with these numbers, read one by one in the order of the file."""
        _check_unchanged(self.path, self.version)
        if self.fortran:
            return self._mapped().take(numbers)
        taken = np.empty((len(numbers), self.shape[1]), dtype=self.dtype)
        size = self.shape[1] * self.dtype.itemsize
        with self.path.open("rb", buffering=0) as file:
            for row in np.argsort(numbers, kind="stable").tolist():
                file.seek(self.offset + int(numbers[row]) * size)
                if file.readinto(taken[row].view(np.uint8).data) < size:
                    raise OSError(f"{self.path} became shorter while it was read")
        _check_unchanged(self.path, self.version)
        return taken


class BlockwiseRows:
    """Rows that can only be read sequentially: parquet files and data sets, by a function that reopens them."""

    def __init__(self, shape: tuple[int, int], opened: Callable[[], Iterator[Array]]) -> None:
        self.shape = shape
        self.opened = opened

    def blocks(self) -> Iterator[Array]:
        """All rows in order."""
        for rows in self.opened():
            for start in range(0, len(rows), BLOCK_ROWS):
                yield rows[start : start + BLOCK_ROWS]

    def take(self, numbers: Integers) -> Array:
        """The rows with these numbers, picked up in one pass over all."""
        order = np.argsort(numbers, kind="stable")
        wanted = numbers[order]
        parts, start = [], 0
        for block in self.blocks():
            low, high = np.searchsorted(wanted, [start, start + len(block)])
            parts.append(block[wanted[low:high] - start])
            start += len(block)
        return np.concatenate(parts)[np.argsort(order)]


def is_sequential(features: Features) -> bool:
    """Return whether a few rows cost a pass over all."""
    if isinstance(features, CheckedRows | OrderedRows):
        return is_sequential(features.rows)
    if isinstance(features, ConcatenatedRows):
        return any(map(is_sequential, features.sources))
    return isinstance(features, BlockwiseRows)


def feature_rows(name: str, data: object) -> FeatureRows | None:
    """A source of rows for what is not a plain array in memory, None for all else.

    Takes a path of an `.npy` or `.parquet` file, a folder of such shards (by name), a memory-mapped array, a
    `datasets.Dataset` with one column of arrays, and an iterator of blocks (b, d), which goes to a temporary file.

    Raises:
        FileNotFoundError, ValueError: the file or folder is not there, or not what it should be.
    """
    if isinstance(data, np.memmap) and isinstance(data.base, mmap.mmap):  # the map, not a view of some of it
        check_kind(name, data.shape, data.dtype, data.dtype.kind in "fiu")
        return MappedRows(data)
    if isinstance(data, (str, Path)):
        if not str(data):
            raise ValueError(f"{name} must name a file or folder of features, got ''")
        return _of_path(name, Path(data))
    if hasattr(data, "column_names") and hasattr(data, "features") and hasattr(data, "__len__"):
        return _of_dataset(name, data)
    if isinstance(data, Iterator):
        return _of_iterator(name, data)
    return None


def _of_path(name: str, path: Path) -> FeatureRows:
    if os.path.isdir(path):
        seen = (file for file in path.iterdir() if file.name[0] != ".")  # without `._1.npy`, which macOS writes
        files = (file for file in seen if file.suffix.lower() in (".npy", ".parquet"))
        shards = sorted(files, key=natural_order)
        if not shards:
            raise UnknownEnding(f"the folder {path} holds no .npy or .parquet files of features")
        return ConcatenatedRows([_of_path(name, shard) for shard in shards])
    check_file(path, f"{name}: ")
    check_no_texts(path)
    with path.open("rb") as file:
        if file.read(2) == b"PK":
            came = f"an .npz: give FeatureSet.load({str(path)!r}), which reads it"
            if path.suffix.lower() != ".npz":
                came = f"a zip archive, {str(path)!r}: load what torch has saved, and give the tensor"
            raise NotFeatures.of(name, f"must be an .npy or .parquet file, got {came}")
    return ParquetFeatures(path) if path.suffix.lower() == ".parquet" else NpyRows.of_file(path)


def check_no_texts(path: Path) -> None:
    """Refuse a file whose ending is that of texts alone."""
    if path.suffix.lower() != ".parquet" and type_by_name(path) is not None:
        expected = ".npy, .npz or .parquet; p_text and q_text take texts, featurize makes features of them"
        raise UnknownEnding(f"{path} holds texts, and features are needed here: {expected}")


def _of_dataset(name: str, data: Any) -> FeatureRows:
    """Rows of a `datasets.Dataset`: columns by name, rows by slices."""
    column = name_among(data.column_names)
    if column is None:
        raise NoSuchField.of(name, f"has no column 'features', it has {', '.join(data.column_names)}")

    def opened() -> Iterator[Array]:
        width = None
        for start in range(0, len(data), BLOCK_ROWS):
            rows = numbers_of(f"{name}, from row {start} on,", data[start : start + BLOCK_ROWS][column])
            width = width or rows.shape[1]
            if rows.shape[1] != width:
                raise NotFeatures.of(
                    name, f"must have rows of one length, got {rows.shape[1]} numbers after rows of {width}"
                )
            yield rows

    first = next(opened(), None)
    if first is None:
        raise NotFeatures.of(name, "must hold at least one row, got none")
    return BlockwiseRows((len(data), first.shape[1]), opened)


def name_among(names: Sequence[str]) -> str | None:
    """The name of the features among several arrays or columns: "features", or that of the only one."""
    return "features" if "features" in names else names[0] if len(names) == 1 else None


def _of_iterator(name: str, data: Iterator[ArrayLike]) -> FeatureRows:
    """Blocks written to a temporary file, each in its own number format; it goes when the rows are no longer used."""
    parts: list[tuple[np.dtype[Any], int, int]] = []  # number format, offset and rows of blocks of one format
    width = 0
    with tempfile.TemporaryFile() as file:
        for index, block in enumerate(data):
            rows = np.ascontiguousarray(numbers_of(f"{name}, block {index},", block))
            width = width or rows.shape[1]
            if rows.shape[1] != width:
                raise ValueError(
                    f"{name}: block {index} must be numbers (b, d) with one d, got shape {rows.shape} after "
                    f"{width} columns"
                )
            dtype, offset, count = parts.pop() if parts and parts[-1][0] == rows.dtype else (rows.dtype, file.tell(), 0)
            parts.append((dtype, offset, count + len(rows)))
            try:
                file.write(rows.tobytes())
                file.flush()
            except OSError as error:
                folder = tempfile.gettempdir()
                raise NotWritten(f"the blocks of {name} cannot be kept in {folder!r}: {error.strerror}") from error
        mapped = [MappedRows(np.memmap(file, kind, "r", start, (n, width))) for kind, start, n in parts]
    if not mapped:
        raise NotFeatures.of(name, "must hold at least one row, got none")
    return ConcatenatedRows(mapped)


class ParquetFeatures(BlockwiseRows):
    """A parquet file with one column of lists of numbers, all of one length.

    The column is "features", or the only one that there is. What the file says of its pages' checksums is verified.

    Attributes:
        shape: (n, d). metadata: what `FeatureSet.save` wrote beside the features, None in files from elsewhere.

    Raises:
        ValueError: the file is damaged or holds something else; here, or where the rows are read.
        OSError: the file was changed since, so that no number would belong to one content.
    """

    def __init__(self, path: Path) -> None:
        self.path, self._version = path, _version(path)
        with self._open() as file:
            schema, count = file.schema_arrow, int(file.metadata.num_rows)
            written_twice = [(facts or {}).get(b"mauve_metric") for facts in (schema.metadata, file.metadata.metadata)]
        if written_twice[0] != written_twice[1]:
            raise DamagedFile(f"{path} is damaged: the two copies of what it says of its features differ")
        from pyarrow import types

        column = name_among(schema.names)
        if column is None:
            raise NoSuchField(f"{path} has no column 'features', it has {short_message(', '.join(schema.names))}")
        if schema.names.count(column) > 1:
            raise ValueError(f"{path} must have one column {column!r}, it has {schema.names.count(column)}")
        kind = schema.field(column).type
        is_list = types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)
        if not is_list or not (types.is_floating(kind.value_type) or types.is_integer(kind.value_type)):
            texts = "; p_text and q_text take texts" if types.is_string(kind) or types.is_large_string(kind) else ""
            kind_of = short_message(kind)
            raise ValueError(f"{path}: the column {column!r} must hold lists of numbers, got {kind_of}{texts}")
        self.column = column
        self.metadata: bytes | None = written_twice[0]
        width = next((block.shape[1] for block in self._blocks(1)), 0)
        if not count or not width:
            raise ValueError(f"{path} must hold features (n, d) with n and d at least 1, got {(count, width)}")
        super().__init__((count, width), partial(self._blocks, BLOCK_ROWS, width))

    @contextmanager
    def _open(self) -> Iterator[pyarrow.parquet.ParquetFile]:
        parquet = import_parquet()
        import pyarrow

        try:
            with parquet.ParquetFile(self.path, page_checksum_verification=True) as file:
                yield file
        except (OSError, pyarrow.ArrowException, MemoryError, OverflowError, UnicodeDecodeError) as error:
            raise DamagedFile(f"{self.path} is not a parquet file, or is damaged: {short_message(error)}") from error

    def _blocks(self, rows: int, width: int = 0) -> Iterator[Array]:
        """All rows in order, at most so many at once, each of this width, or as wide as the first one."""
        _check_unchanged(self.path, self._version)
        start = 0
        with self._open() as file:
            for batch in file.iter_batches(rows, columns=[self.column]):
                column = batch.column(0)
                lengths, numbers = column.value_lengths().fill_null(-1).to_numpy(), column.flatten()
                width = width or int(lengths[:1].clip(0).sum())
                wrong = lengths != width
                if numbers.null_count and not wrong.any():
                    wrong = numbers.is_null().to_numpy(zero_copy_only=False).reshape(-1, width).any(axis=1)
                if wrong.any():
                    row = int(wrong.argmax())
                    expected = f"the rows of {self.column!r} must be lists of numbers, all of one length"
                    raise ValueError(f"{self.path}, row {start + row}: {expected}, got {shown(column[row].as_py())}")
                if len(batch):
                    yield numbers.to_numpy(zero_copy_only=False).reshape(len(batch), width)
                start += len(batch)
            if start != file.metadata.num_rows:
                raise DamagedFile(f"{self.path} is damaged: it should hold {file.metadata.num_rows} rows, got {start}")
        _check_unchanged(self.path, self._version)
