"""Tables of texts: marks between columns, doubled columns, parquet."""

from __future__ import annotations

import collections
from pathlib import Path

import numpy as np
import pytest

from mauve_metric.runtime.errors import DamagedFile
from mauve_metric.texts.files import read_texts
from mauve_metric.texts.sources import text_source
from mauve_metric.texts.tables import parquet_texts


def write(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_choice_of_the_parquet_column(tmp_path: Path) -> None:
    import pyarrow
    import pyarrow.parquet as parquet

    parquet.write_table(
        pyarrow.table({"a": ["x"], "b": pyarrow.array(["y"]).dictionary_encode()}), tmp_path / "t.parquet"
    )
    assert read_texts(tmp_path / "t.parquet", "b") == ["y"]


@pytest.mark.parametrize("text_field", [None, "text"])
def test_two_columns_of_one_name_are_refused(text_field: str | None, tmp_path: Path) -> None:
    import pandas as pd
    import pyarrow
    import pyarrow.parquet as parquet

    table = pyarrow.Table.from_arrays([pyarrow.array(["a"]), pyarrow.array(["b"])], names=["text", "text"])
    parquet.write_table(table, tmp_path / "twice.parquet")
    write(tmp_path / "twice.csv", "text,text\na,b\n")
    for name in ("twice.csv", "twice.parquet"):
        with pytest.raises(ValueError, match=rf"{name} has 2 fields 'text': expected one"):
            read_texts(tmp_path / name, text_field)
    with pytest.raises(ValueError, match="p_text has 2 fields 'text'"):
        text_source("p_text", pd.DataFrame([["a", "b"]], columns=["text", "text"]), text_field=text_field)


def test_another_doubled_column_does_no_harm(tmp_path: Path) -> None:
    assert read_texts(write(tmp_path / "a.csv", "id,id,text\n1,2,a\n")) == ["a"]


def test_a_flipped_bit_in_a_page_with_a_checksum_is_found(tmp_path: Path) -> None:
    import pyarrow
    import pyarrow.parquet as parquet

    path = tmp_path / "t.parquet"
    table = pyarrow.table({"text": [f"text number {number}" for number in range(200)]})
    parquet.write_table(table, path, write_page_checksum=True, compression="none", use_dictionary=False)
    raw = bytearray(path.read_bytes())
    raw[raw.index(b"text number 100")] ^= 1
    path.write_bytes(raw)
    with pytest.raises(ValueError, match=r"t\.parquet is not a parquet file that can be read: .*CRC") as caught:
        read_texts(path)
    assert isinstance(caught.value, DamagedFile)


def test_parquet_text_that_is_no_utf8_is_said(tmp_path: Path) -> None:
    import pyarrow
    import pyarrow.parquet as parquet

    column = pyarrow.array([b"\xff\xfe"]).view(pyarrow.string())
    parquet.write_table(pyarrow.table({"text": column}), tmp_path / "t.parquet")
    with pytest.raises(ValueError, match=r"t\.parquet is not a parquet file that can be read") as caught:
        read_texts(tmp_path / "t.parquet")
    assert isinstance(caught.value, DamagedFile)


@pytest.mark.parametrize(
    ("content", "texts"),
    [
        ("id;text\n1;One, two.\n2;a, b, c\n", ["One, two.", "a, b, c"]),
        ("id\ttext\n1\tOne, two; three\n", ["One, two; three"]),
        ("id,text\n1,a; b; c\n", ["a; b; c"]),
        ('"id";"text"\n1;"a; b"\n\n2;"c\nd"\n', ["a; b", "c\nd"]),
        ("id;text;a, b\n1;x;y\n2;z;y, y\n", ["x", "z"]),
        ("what; is it\none\ntwo\n", ["one", "two"]),
        ("text\none; two\n", ["one; two"]),
    ],
)
def test_the_mark_between_the_columns_is_found(content: str, texts: list[str], tmp_path: Path) -> None:
    assert read_texts(write(tmp_path / "a.csv", content)) == texts


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a,text;b\n1,2;3\n", "a.csv, line 1: a comma or a semicolon may separate the columns: quote the names"),
        ("a,text;b\n1,2,3;4\nx\n", "a.csv, line 1: a comma or a semicolon may separate the columns"),
        ("id;text\n1;a\n2\n", "a.csv, line 3: no value in column 'text'"),
        ("id;text\n1;a;b\n", "a.csv, line 2: more values than the header has columns; quote a semicolon"),
        ("id,text\n1,a,b\n", "a.csv, line 2: more values than the header has columns; quote a comma"),
    ],
)
def test_a_table_that_may_mean_two_things_is_refused(content: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=message):
        read_texts(write(tmp_path / "a.csv", content))


@pytest.mark.parametrize("text", ["one of a million equal texts " * 40, "x" * 2**20])
def test_a_small_parquet_file_of_far_more_text_is_not_read_to_its_end(tmp_path: Path, text: str) -> None:
    import pyarrow
    import pyarrow.parquet as parquet

    path, times = tmp_path / "packed.parquet", 2**34 // len(text)  # 16 GB
    indices = pyarrow.array(np.zeros(times, dtype=np.int32))
    column = pyarrow.DictionaryArray.from_arrays(indices, pyarrow.array([text]))
    parquet.write_table(pyarrow.table({"text": column}), path, compression="zstd")
    with pytest.raises(ValueError, match="unpacks to more than 200 times its size"):
        collections.deque(parquet_texts(path, None), maxlen=0)


def test_repeated_texts_of_an_ordinary_amount_are_read(tmp_path: Path) -> None:
    import pyarrow
    import pyarrow.parquet as parquet

    path = tmp_path / "repeated.parquet"
    parquet.write_table(pyarrow.table({"text": ["the same " * 100] * 20_000}), path, compression="zstd")
    assert path.stat().st_size * 200 < 900 * 20_000 and len(read_texts(path)) == 20_000
