"""The one reader of parquet files of features."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from mauve_metric.arrays import Array
from mauve_metric.features.rows import BLOCK_ROWS
from mauve_metric.runtime.errors import DamagedFile, NoSuchField, one_line
from mauve_metric.runtime.optional_imports import import_parquet

if TYPE_CHECKING:
    import pyarrow


class ParquetFeatures:
    """A parquet file with one column of lists of numbers, all of one length.

    The column is "features", or the only one that there is. What the file says of its pages' checksums is verified.

    Attributes:
        shape: (n, d). metadata: what `FeatureSet.save` wrote beside the features, None in files from elsewhere.

    Raises:
        ValueError: the file is damaged or holds something else; here, or where the rows are read.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        with self._open() as file:
            schema, count = file.schema_arrow, int(file.metadata.num_rows)
            written_twice = [(facts or {}).get(b"mauve_metric") for facts in (schema.metadata, file.metadata.metadata)]
        if written_twice[0] != written_twice[1]:
            raise DamagedFile(f"{path} is damaged: the two copies of what it says of its features differ")
        self.column = self._column(schema.names)
        self._check_kind(schema.field(self.column).type)
        self.metadata: bytes | None = written_twice[0]
        width = next((block.shape[1] for block in self._blocks(1)), 0)
        if not count or not width:
            raise ValueError(f"{path} must hold features (n, d) with n and d at least 1, got {(count, width)}")
        self.shape: tuple[int, int] = (count, width)

    def blocks(self) -> Iterator[Array]:
        """All rows in order."""
        count = 0
        for block in self._blocks(BLOCK_ROWS):
            if block.shape[1] != self.shape[1]:
                raise self._unequal(count, self.shape[1], block.shape[1])
            count += len(block)
            yield block
        if count != self.shape[0]:
            raise DamagedFile(f"{self.path} is damaged: it should hold {self.shape[0]} rows and holds {count}")

    @contextmanager
    def _open(self) -> Iterator[pyarrow.parquet.ParquetFile]:
        parquet = import_parquet()
        import pyarrow

        try:
            with parquet.ParquetFile(self.path, page_checksum_verification=True) as file:
                yield file
        except (OSError, pyarrow.ArrowException, MemoryError, OverflowError, UnicodeDecodeError) as error:
            raise DamagedFile(f"{self.path} is not a parquet file, or is damaged: {one_line(error)}") from error

    def _column(self, names: list[str]) -> str:
        column = "features" if "features" in names else names[0] if len(names) == 1 else None
        if column is None:
            raise NoSuchField(f"{self.path} has no column 'features', it has {one_line(', '.join(names))}")
        if names.count(column) > 1:
            raise ValueError(f"{self.path} must have one column {column!r}, it has {names.count(column)}")
        return column

    def _check_kind(self, kind: pyarrow.DataType) -> None:
        from pyarrow import types

        is_list = types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)
        if not is_list or not (types.is_floating(kind.value_type) or types.is_integer(kind.value_type)):
            raise ValueError(
                f"{self.path}: the column {self.column!r} must hold lists of numbers, got {one_line(kind)}"
            )

    def _blocks(self, rows: int) -> Iterator[Array]:
        """All rows in order, at most so many at once, each block checked in itself."""
        start = 0
        with self._open() as file:
            for batch in file.iter_batches(rows, columns=[self.column]):
                if len(batch):
                    yield self._rows(batch.column(0), start)
                start += len(batch)

    def _rows(self, column: pyarrow.Array, start: int) -> Array:
        """A part of the column as an array; `start`: the number of its first row."""
        if column.null_count:
            missing = start + int(np.argmax(column.is_null().to_numpy(zero_copy_only=False)))
            raise ValueError(f"{self.path}, row {missing}: expected a list of numbers in {self.column!r}, got none")
        lengths = column.value_lengths().to_numpy(zero_copy_only=False)
        width = int(lengths[0])
        if (lengths != width).any():
            other = int(np.argmax(lengths != width))
            raise self._unequal(start + other, width, int(lengths[other]))
        numbers = column.flatten()
        if numbers.null_count:
            missing = int(np.argmax(numbers.is_null().to_numpy(zero_copy_only=False))) // width
            raise ValueError(f"{self.path}, row {start + missing}: a number is missing in {self.column!r}")
        rows: Array = numbers.to_numpy(zero_copy_only=False).reshape(len(column), width)
        return rows

    def _unequal(self, row: int, expected: int, found: int) -> ValueError:
        return ValueError(
            f"{self.path}, row {row}: the rows of {self.column!r} must have one length, got {found} numbers after rows "
            f"of {expected}"
        )
