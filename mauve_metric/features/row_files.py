"""Features that lie in files, data sets and streams, as rows that are read block by block."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from io import FileIO
from pathlib import Path
from typing import Protocol, TypeGuard

import numpy as np
from numpy.typing import ArrayLike

from mauve_metric.arrays import Array, FeatureRows, Integers
from mauve_metric.features.rows import BLOCK_ROWS, ConcatenatedRows


class TableOfFeatures(Protocol):
    """A `datasets.Dataset`: columns by name, rows by slices."""

    column_names: list[str]

    def __len__(self) -> int: ...
    def __getitem__(self, rows: slice) -> Mapping[str, ArrayLike]: ...


class NpyRows:
    """Rows of a file of numbers in C order, read and not mapped, so that the file's pages do not count as memory.

    Args:
        path: the file. shape: (n, d). dtype: of the numbers. offset: bytes before the first of them.
        folder: a temporary folder of the file, which goes when the rows are no longer used.
    """

    def __init__(
        self,
        path: Path,
        shape: tuple[int, int],
        dtype: np.dtype[np.generic],
        offset: int = 0,
        folder: tempfile.TemporaryDirectory[str] | None = None,
    ) -> None:
        self.path, self.shape, self.dtype, self.offset, self.folder = path, shape, dtype, offset, folder

    @classmethod
    def of_file(cls, path: Path) -> NpyRows:
        """The rows of an `.npy` file.

        Raises:
            ValueError: not a two-dimensional array of numbers in C order.
        """
        with path.open("rb") as file:
            try:
                version = np.lib.format.read_magic(file)
                read = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
                shape, fortran, dtype = read[version](file)
            except (ValueError, KeyError, EOFError) as error:
                raise ValueError(f"{path} is not a numpy file of numbers: {error}") from error
            offset = file.tell()
        if len(shape) != 2 or fortran or dtype.kind not in "fiu":
            raise ValueError(f"{path} must hold numbers of shape (n, d) in C order, got {dtype} {shape}")
        expected = offset + int(np.prod(shape)) * dtype.itemsize
        if path.stat().st_size < expected:
            raise ValueError(f"{path} is not a numpy file of numbers: {expected} bytes expected, it ends before")
        return cls(path, (int(shape[0]), int(shape[1])), dtype, offset)

    def _read(self, file: FileIO, start: int, count: int) -> Array:
        rows = np.empty((count, self.shape[1]), dtype=self.dtype)
        file.seek(self.offset + start * self.shape[1] * self.dtype.itemsize)
        if file.readinto(rows.view(np.uint8).reshape(-1).data) != rows.nbytes:
            raise OSError(f"{self.path} became shorter while it was read")
        return rows

    def blocks(self) -> Iterator[Array]:
        """All rows in order."""
        with self.path.open("rb", buffering=0) as file:
            for start in range(0, self.shape[0], BLOCK_ROWS):
                yield self._read(file, start, min(BLOCK_ROWS, self.shape[0] - start))

    def take(self, numbers: Integers) -> Array:
        """The rows with these numbers; read in the file's order."""
        taken = np.empty((len(numbers), self.shape[1]), dtype=self.dtype)
        with self.path.open("rb", buffering=0) as file:
            for place in np.argsort(numbers, kind="stable"):
                taken[place] = self._read(file, int(numbers[place]), 1)[0]
        return taken


class BlockwiseRows:
    """Rows that can only be read from the front: parquet files and data sets, by a function that opens them anew."""

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
        return take_from_blocks(self.blocks(), numbers)


def take_from_blocks(blocks: Iterable[Array], numbers: Integers) -> Array:
    """The rows with these numbers of consecutive blocks, in the numbers' order."""
    order = np.argsort(numbers, kind="stable")
    wanted = numbers[order]
    parts, start = [], 0
    for block in blocks:
        low, high = np.searchsorted(wanted, [start, start + len(block)])
        parts.append(block[wanted[low:high] - start])
        start += len(block)
    taken = np.concatenate(parts)
    result = np.empty_like(taken)
    result[order] = taken
    return result


def feature_rows(name: str, data: object) -> FeatureRows | None:
    """A source of rows for what is not a plain array in memory, None for all else.

    Takes a path of an `.npy` or `.parquet` file, a folder of such shards (by name), a memory-mapped array, a
    `datasets.Dataset` with one column of arrays, and an iterator of blocks (b, d), which goes to a temporary file.

    Raises:
        FileNotFoundError, ValueError: the file or folder is not there, or not what it should be.
    """
    if isinstance(data, np.memmap) and data.ndim == 2 and (mapped := _whole_npy(data)) is not None:
        return mapped
    if isinstance(data, (str, Path)):
        return _of_path(Path(data))
    if _is_table(data):
        return _of_dataset(name, data)
    if isinstance(data, Iterator):
        return _of_iterator(name, data)
    return None


def _is_table(data: object) -> TypeGuard[TableOfFeatures]:
    return hasattr(data, "column_names") and hasattr(data, "features") and hasattr(data, "__len__")


def _whole_npy(data: np.memmap[tuple[int, ...], np.dtype[np.generic]]) -> NpyRows | None:
    """The rows of an `.npy` file of which a memory map shows all, and which can therefore be read instead."""
    if not getattr(data, "filename", None):
        return None
    try:
        rows = NpyRows.of_file(Path(str(data.filename)))
    except (ValueError, OSError):
        return None
    return rows if (rows.shape, rows.dtype, rows.offset) == (data.shape, data.dtype, data.offset) else None


def _of_path(path: Path) -> FeatureRows:
    if path.is_dir():
        shards = sorted(file for file in path.iterdir() if file.suffix in (".npy", ".parquet"))
        if not shards:
            raise ValueError(f"the folder {path} holds no .npy or .parquet files of features")
        return ConcatenatedRows([_of_path(shard) for shard in shards])
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {str(path)!r}")
    if path.suffix == ".parquet":
        return _of_parquet(path)
    return NpyRows.of_file(path)


def _of_parquet(path: Path) -> FeatureRows:
    import pyarrow.parquet as parquet

    names = parquet.ParquetFile(path).schema_arrow.names
    column = "features" if "features" in names else names[0] if len(names) == 1 else None
    if column is None:
        raise ValueError(f"{path} has no column 'features', it has {', '.join(names)}")

    def opened() -> Iterator[Array]:
        for batch in parquet.ParquetFile(path).iter_batches(BLOCK_ROWS, columns=[column]):
            values = batch.column(0)
            flat = values.flatten().to_numpy(zero_copy_only=False)
            if len(values) and (len(flat) % len(values) or values.null_count):
                raise ValueError(f"{path}: the rows of {column!r} must all have one length")
            yield flat.reshape(len(values), -1)

    count = parquet.ParquetFile(path).metadata.num_rows
    return BlockwiseRows((int(count), _width(opened(), str(path))), opened)


def _of_dataset(name: str, data: TableOfFeatures) -> FeatureRows:
    columns = data.column_names
    column = "features" if "features" in columns else columns[0] if len(columns) == 1 else None
    if column is None:
        raise ValueError(f"{name} has no column 'features', it has {', '.join(columns)}")

    def opened() -> Iterator[Array]:
        for start in range(0, len(data), BLOCK_ROWS):
            yield np.asarray(data[start : start + BLOCK_ROWS][column])

    return BlockwiseRows((len(data), _width(opened(), name)), opened)


def _width(blocks: Iterator[Array], name: str) -> int:
    first = next(blocks, None)
    if first is None or first.ndim != 2:
        raise ValueError(f"{name} must hold rows of numbers of one length")
    return int(first.shape[1])


def _of_iterator(name: str, data: Iterator[ArrayLike]) -> FeatureRows:
    """Blocks written to a temporary file, which goes when the rows are no longer used."""
    folder = tempfile.TemporaryDirectory(prefix="mauve_metric-")
    path = Path(folder.name) / "rows"
    count, width, dtype = 0, 0, np.dtype(np.float32)
    with path.open("wb") as file:
        for index, block in enumerate(data):
            rows = np.ascontiguousarray(block)
            if rows.ndim != 2 or rows.dtype.kind not in "fiu" or (count and rows.shape[1] != width):
                raise ValueError(
                    f"{name}: block {index} must be numbers (b, d) with one d, got {rows.dtype} {rows.shape}"
                )
            if not count:
                width, dtype = rows.shape[1], rows.dtype
            file.write(rows.astype(dtype, copy=False).tobytes())
            count += len(rows)
    if not count:
        raise ValueError(f"{name} must hold at least one row, got none")
    return NpyRows(path, (count, width), dtype, folder=folder)
