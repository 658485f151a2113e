"""Tables of texts: marks between columns, doubled columns, parquet."""

from __future__ import annotations

import collections
import contextlib
import gc
import re
import tracemalloc
import warnings
import zipfile
from pathlib import Path

import numpy as np
import openpyxl
import pytest

from mauve_metric.inputs.files import TextFile, read_texts
from mauve_metric.inputs.sources import text_source
from mauve_metric.inputs.tables import parquet_batches, workbook_rows
from mauve_metric.runtime import checks
from mauve_metric.runtime.errors import DamagedFile, EmptyTexts


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
        ('id;text\n1;"a\nb"\n2\n', "a.csv, line 4: no value in column 'text'"),
        ("id;text\n1;a;b\n", "a.csv, line 2: more values than the header has columns; quote a semicolon"),
        ("id,text\n1,a,b\n", "a.csv, line 2: more values than the header has columns; quote a comma"),
    ],
)
def test_a_table_that_may_mean_two_things_is_refused(content: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=message):
        read_texts(write(tmp_path / "a.csv", content))


UNCLOSED = 'id\ttext\n1\tA first text.\n2\t"An opened quotation goes on.\n3\tA third text.\n4\tA fourth text.\n'


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.tsv", UNCLOSED, r"a\.tsv, line 3: not CSV: a quote opens and does not close before the next column"),
        ("a.csv", UNCLOSED.replace("\t", ","), r"a\.csv, line 3: not CSV: a quote opens"),
        ("a.csv", 'id,text\n1,"One.\n2,A "third".\n3,"Four."\n', r"a\.csv, line 2: not CSV: a quote opens"),
        (
            "a.tsv",
            'id\ttext\n1\t"One.\n2\tTwo."\n3\tThree.\n',
            r"line 2: a quote opens here and closes on a later line",
        ),
        ("a.csv", "id,note,text\n1,,One.\n2,Two.\n", r"a\.csv, line 3: no value in column 'text', expected 3 values"),
        (
            "a.txt",
            "id,text\n1,One, two.\n2,Three.\n3,Four.\n",
            r"a\.txt, line 2: more values than the header has columns",
        ),
        (
            "a.txt",
            "A\tone\nB\ttwo\tthree\nC\tfour\n",
            r"a\.txt: a tab is in most lines, .* line 2 has 2 and line 1 has 1",
        ),
    ],
)
def test_a_damaged_table_is_one_sentence_and_no_lost_row(name: str, content: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        read_texts(write(tmp_path / name, content))
    assert "\n" not in str(caught.value) and isinstance(caught.value, DamagedFile)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", "1,The first text is here.\n2,The second one is here.\n"),
        ("a.csv", "The first text is here.\nThe second one is here.\n"),
        ("a.csv", ",text\n0,The first text is here.\n1,The second one is here.\n"),
        ("a.csv", ",0\n0,The first text is here.\n1,The second one is here.\n"),
        ("a.csv", "id|text\n1|The first text is here.\n2|The second one is here.\n"),
        ("a.csv", 'nr,text\n1,"The first text is here."\n2,The second one is here.\n'),
        ("a.txt", "id,text\n1,The first text is here.\n2,The second one is here.\n"),
        ("a.txt", "A title\tThe first text is here.\nOther\tThe second one is here.\n"),
    ],
)
def test_no_text_of_a_table_is_lost(name: str, content: str, tmp_path: Path) -> None:
    assert read_texts(write(tmp_path / name, content)) == ["The first text is here.", "The second one is here."]


def test_a_workbook(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for row in (["nr", "Reply"], [1, "A text in a workbook."], [2, "Another one is here."], [None, None]):
        book.active.append(row)
    book.save(tmp_path / "a.xlsx")
    table = write(tmp_path / "a.csv", "nr,Reply\n1,A text in a workbook.\n2,Another one is here.\n")
    assert read_texts(tmp_path / "a.xlsx") == read_texts(table) == read_texts(f"{tmp_path}/a.xlsx:Reply")
    with pytest.raises(ValueError, match="may take at most 0 MB unpacked"):
        TextFile(tmp_path / "a.xlsx", most_bytes=100)
    book.create_sheet("b").append(["x"])
    book.save(tmp_path / "b.xlsx")
    with pytest.raises(
        ValueError, match=r"b\.xlsx has rows in 2 sheets, 'Sheet', 'b': name one, such as .*b\.xlsx:Sheet!"
    ):
        read_texts(tmp_path / "b.xlsx")


def test_nested_columns_of_parquet(tmp_path: Path) -> None:
    import pyarrow
    import pyarrow.parquet as parquet

    turns = [{"role": "user", "content": "q"}, {"role": "assistant", "content": "An answer."}]
    parquet.write_table(pyarrow.table({"id": ["a1", "a2"], "messages": [turns, turns]}), tmp_path / "a.parquet")
    assert read_texts(tmp_path / "a.parquet") == ["An answer."] * 2
    parquet.write_table(pyarrow.table({"doc": [{"story": "One."}, {"story": "Two."}]}), tmp_path / "b.parquet")
    assert read_texts(tmp_path / "b.parquet", "doc.story") == read_texts(tmp_path / "b.parquet") == ["One.", "Two."]


def test_saved_datasets(tmp_path: Path) -> None:
    import datasets

    data = datasets.Dataset.from_dict({"prompt": ["Why?"] * 2, "response": ["One answer here.", "Two answers here."]})
    data.save_to_disk(tmp_path / "one")
    assert read_texts(tmp_path / "one") == data["response"][:]
    datasets.DatasetDict({"train": data, "test": data}).save_to_disk(tmp_path / "two")
    with pytest.raises(
        ValueError, match=r"holds the splits 'train', 'test': name the folder of one, such as .*two/train"
    ):
        read_texts(tmp_path / "two")
    assert read_texts(tmp_path / "two" / "test") == data["response"][:]


@pytest.mark.parametrize("is_damaged", [True, False])
def test_a_parquet_file_that_is_not_read_to_its_end_is_closed(tmp_path: Path, is_damaged: bool) -> None:
    import pyarrow
    import pyarrow.parquet as parquet

    path = tmp_path / "texts.parquet"
    parquet.write_table(pyarrow.table({"text": ["One.", "Two."]}), path)
    if is_damaged:
        path.write_bytes(path.read_bytes()[:-9] + b"PAR1")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ResourceWarning)
        with pytest.raises(DamagedFile) if is_damaged else contextlib.nullcontext():
            parquet_batches(path, None, 1)
        gc.collect()
    assert [said for said in map(str, (warning.message for warning in caught)) if path.name in said] == []


@pytest.mark.parametrize("text", ["one of a million equal texts " * 40, "x" * 2**20])
def test_a_small_parquet_file_of_far_more_text_is_not_read_to_its_end(tmp_path: Path, text: str) -> None:
    import pyarrow
    import pyarrow.parquet as parquet

    path, times = tmp_path / "packed.parquet", 2**34 // len(text)  # 16 GB
    indices = pyarrow.array(np.zeros(times, dtype=np.int32))
    column = pyarrow.DictionaryArray.from_arrays(indices, pyarrow.array([text]))
    parquet.write_table(pyarrow.table({"text": column}), path, compression="zstd")
    with pytest.raises(ValueError, match="unpacks to more than 200 times its size"):
        collections.deque(parquet_batches(path, ["text"], 256)[1], maxlen=0)


@pytest.mark.parametrize("as_dictionary", [True, False])
def test_many_rows_of_repeated_texts_are_measured_before_one_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, as_dictionary: bool
) -> None:
    import pyarrow
    import pyarrow.parquet as parquet

    path, column = tmp_path / "packed.parquet", pyarrow.array(["the same text " * 7] * 3000)
    column = column.dictionary_encode() if as_dictionary else column
    parquet.write_table(pyarrow.table({"text": column}), path, compression="zstd")
    monkeypatch.setattr(checks, "_ALWAYS_BYTES", 150_000)
    monkeypatch.setattr(checks, "_MOST_TIMES", 1)
    assert path.stat().st_size < 3000
    with pytest.raises(ValueError, match="unpacks to more than"):
        next(parquet_batches(path, ["text"], 256)[1])  # the first batch alone has 25 kB


def test_repeated_texts_of_an_ordinary_amount_are_read(tmp_path: Path) -> None:
    import pyarrow
    import pyarrow.parquet as parquet

    path = tmp_path / "repeated.parquet"
    parquet.write_table(pyarrow.table({"text": ["the same " * 100] * 20_000}), path, compression="zstd")
    assert path.stat().st_size * 200 < 900 * 20_000 and len(read_texts(path)) == 20_000


@pytest.mark.parametrize(
    ("first", "texts"),
    [
        ("continuation", ["He ran to the old house.", "It rained all day long."]),
        ("model_output", ["He ran to the old house.", "It rained all day long."]),
        ("Story", ["Story", "He ran to the old house.", "It rained all day long."]),  # a title
        ("id", ["id", "He ran to the old house.", "It rained all day long."]),
    ],
)
def test_a_header_above_lines_of_text_is_no_text(first: str, texts: list[str], tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(f"{first}\nHe ran to the old house.\nIt rained all day long.\n")
    assert read_texts(tmp_path / "a.txt") == texts


LINES = ["I went for a walk in the town.", "I read a book about the sea."]


@pytest.mark.parametrize(
    "header",
    [
        "Name,What did you do today?\n",
        "What did you do today?,Name of a friend or a person\n",
        "question,[openai:gpt-4] Write about a day in the town.\n",
        "Survey of 2024\nName,Reply\n",
        "sep=,\r\nName,Reply\n",
        'Name,Q1\nYour name,What did you do?\n"{""ImportId"":""a""}","{""ImportId"":""b""}"\n',
    ],
)
def test_headers_that_look_like_texts(header: str, tmp_path: Path) -> None:
    cells = (
        (("Ann", LINES[0]), ("Bob", LINES[1])) if not header.startswith("What") else ((LINES[0], "A"), (LINES[1], "B"))
    )
    rows = "".join(f"{first},{second}\n" for first, second in cells)
    assert read_texts(write(tmp_path / "a.csv", header + rows)) == LINES


def test_a_header_is_what_the_caller_says(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", "Tell us of a long day in the town.\n" + "".join(f"{line}\n" for line in LINES))
    assert len(read_texts(path)) == 3 and "--header: the first line has them" in TextFile(path).side("prediction").said
    assert read_texts(path, header=True) == LINES
    assert (
        read_texts(write(tmp_path / "b.csv", "text\n" + "".join(f"{line}\n" for line in LINES)), header=False)[0]
        == "text"
    )
    assert read_texts(write(tmp_path / "a.txt", "\n".join(["My day", *LINES])), header=True) == LINES


def test_words_without_a_full_stop_above_many_sentences_are_a_header(tmp_path: Path) -> None:
    many = [f"{line} It was day {number}." for number, line in enumerate(LINES * 6)]
    content = "".join(f"{line}\n" for line in ["Please tell us of your day in the town", *many])
    assert read_texts(write(tmp_path / "a.csv", content)) == many
    assert len(read_texts(write(tmp_path / "b.csv", content.replace("the town\n", "the town.\n")))) == 13


def workbook(path: Path, *rows: list[object], title: str = "Sheet") -> Path:
    book = openpyxl.load_workbook(path) if path.exists() else openpyxl.Workbook()
    sheet = book.active if title == "Sheet" else book.create_sheet(title)
    for row in rows:
        sheet.append(row)
    book.save(path)
    return path


def test_no_row_of_a_workbook_vanishes(tmp_path: Path) -> None:
    path = workbook(tmp_path / "a.xlsx", ["Reply"], [LINES[0]], [None], ["=A1"], [LINES[1]])
    side = TextFile(path).side("prediction")
    assert side.texts == [LINES[0], "", "", LINES[1]] and side.empty == "is null, a missing value"
    with pytest.raises(EmptyTexts, match=r"a\.xlsx, row 3: the text in 'Reply' is null, .* \(2 of 4 in all\)"):
        side.check_filled()


def test_cells_are_texts_as_they_are_shown(tmp_path: Path) -> None:
    path = workbook(tmp_path / "a.xlsx", ["id", "Reply"], [1, "One._x000D_\nTwo it is."], [2, 42.0], [3, LINES[0]])
    assert read_texts(path) == ["One.\r\nTwo it is.", "42", LINES[0]]
    assert (
        TextFile(workbook(tmp_path / "b.xlsx", ["Reply"], *[[line] for line in LINES], ["#N/A"]))
        .side("prediction")
        .empty
    )


def test_the_size_that_a_sheet_states_is_not_trusted(tmp_path: Path) -> None:
    path = workbook(tmp_path / "a.xlsx", ["id", "Reply"], *([number, line] for number, line in enumerate(LINES * 5)))
    with zipfile.ZipFile(path) as file:
        members = {name: file.read(name) for name in file.namelist()}
    with zipfile.ZipFile(path, "w") as file:
        for name, content in members.items():
            file.writestr(name, re.sub(rb'dimension ref="[^"]*"', b'dimension ref="A1:A5"', content))
    assert read_texts(path) == LINES * 5


@pytest.mark.more
def test_a_cell_far_outside_takes_little_memory(tmp_path: Path) -> None:
    path = workbook(tmp_path / "a.xlsx", ["Reply"], *[[line] for line in LINES])
    book = openpyxl.load_workbook(path)
    book.active["XFD99999"] = "far"
    book.save(path)
    tracemalloc.start()
    rows = workbook_rows(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(rows) == 3 and peak < 50 * 2**20  # all cells up to it take gigabytes


def test_a_sheet_is_chosen_by_its_name(tmp_path: Path) -> None:
    path = workbook(tmp_path / "a.xlsx", ["id", "Reply"], [1, LINES[0]])
    workbook(path, ["Reply"], [LINES[1]], title="B")
    assert read_texts(f"{path}:B!Reply") == read_texts(f"{path}:B!") == [LINES[1]]
    assert read_texts(f"{path}:Sheet!Reply") == [LINES[0]]
    with pytest.raises(ValueError, match="has no sheet 'C'; it has 'Sheet', 'B'"):
        read_texts(f"{path}:C!Reply")


@pytest.mark.parametrize("kind", ["feather", "stream", "file"])
def test_files_of_arrow(kind: str, tmp_path: Path) -> None:
    import pyarrow
    from pyarrow import feather, ipc

    table, path = (
        pyarrow.table({"id": [1, 2], "text": LINES}),
        tmp_path / ("a.feather" if kind == "feather" else "a.arrow"),
    )
    if kind == "feather":
        feather.write_feather(table, path)
    else:
        with (ipc.new_stream if kind == "stream" else ipc.new_file)(path, table.schema) as writer:
            writer.write_table(table)
    assert read_texts(path) == LINES
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(DamagedFile, match="is not an Arrow file that can be read"):
        read_texts(path)


def test_a_table_of_markdown(tmp_path: Path) -> None:
    lines = "".join(f"| {number} | {line} |\n" for number, line in enumerate(LINES))
    assert read_texts(write(tmp_path / "a.md", f"| id | text |\n|:---|---:|\n{lines}")) == LINES
