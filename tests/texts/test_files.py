"""Every form in which texts and features arrive, in memory and in files."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mauve_metric.features.reference_files import read_features
from mauve_metric.texts.files import READERS, TextFile, read_texts
from mauve_metric.texts.sources import text_source

TEXTS = ["One, two.", 'He said "no"\tand left.', "naïve café — 東京 🙂", "  two  spaces  "]
# characters that str.splitlines takes for the end of a line and that end none in a text file
INNER = "a\u2028b\u2029c\x85d\x0be\x0cf\x1cg"


def write(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


# --- files --------------------------------------------------------------------------------------------------------


def as_lines(texts: list[str]) -> bytes:
    return "".join(f"{text}\n" for text in texts).encode()


def as_json_lines(texts: list[str]) -> bytes:
    return "".join(json.dumps({"id": 1, "text": text}, ensure_ascii=False) + "\n" for text in texts).encode()


def as_json(texts: list[str]) -> bytes:
    return json.dumps([{"text": text} for text in texts]).encode()


def as_table(texts: list[str], delimiter: str) -> bytes:
    out = io.StringIO(newline="")
    writer = csv.writer(out, delimiter=delimiter)
    writer.writerow(["id", "text"])
    writer.writerows([index, text] for index, text in enumerate(texts))
    return out.getvalue().encode()


def as_parquet(texts: list[str]) -> bytes:
    import pyarrow
    import pyarrow.parquet as parquet

    out = io.BytesIO()
    parquet.write_table(pyarrow.table({"id": list(range(len(texts))), "text": texts}), out)
    return out.getvalue()


WRITERS = {
    ".txt": as_lines,
    ".jsonl": as_json_lines,
    ".json": as_json,
    ".csv": lambda texts: as_table(texts, ","),
    ".tsv": lambda texts: as_table(texts, "\t"),
    ".parquet": as_parquet,
}


def test_every_reader_is_tested() -> None:
    assert set(WRITERS) == set(READERS) - {".eval"}


@pytest.mark.parametrize("suffix", WRITERS)
def test_round_trip(suffix: str, tmp_path: Path) -> None:
    texts = [*TEXTS, INNER, "last"]
    assert read_texts(write(tmp_path / f"a{suffix}", WRITERS[suffix](texts))) == texts
    assert read_texts(str(write(tmp_path / f"b{suffix.upper()}", WRITERS[suffix](texts)))) == texts


@pytest.mark.parametrize("suffix", [suffix for suffix in WRITERS if suffix != ".parquet"])
def test_byte_order_mark_and_windows_line_ends(suffix: str, tmp_path: Path) -> None:
    content = WRITERS[suffix](TEXTS).replace(b"\r\n", b"\n")
    for name, raw in {
        "bom": b"\xef\xbb\xbf" + content,
        "crlf": content.replace(b"\n", b"\r\n"),
        "no-last-newline": content.rstrip(b"\r\n"),
    }.items():
        assert read_texts(write(tmp_path / f"{name}{suffix}", raw)) == TEXTS, name


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".jsonl", ".json", ".parquet"])
def test_line_breaks_inside_a_text(suffix: str, tmp_path: Path) -> None:
    texts = ["first\nsecond", "a\n\nb\n", "plain"]
    assert read_texts(write(tmp_path / f"a{suffix}", WRITERS[suffix](texts))) == texts


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".jsonl", ".txt"])
def test_long_texts(suffix: str, tmp_path: Path) -> None:
    limit = csv.field_size_limit()
    text = "word " * 60_000  # 300 kB; the csv module stops at 128 KiB by default
    assert len(text) > limit
    assert read_texts(write(tmp_path / f"a{suffix}", WRITERS[suffix]([text]))) == [text]
    assert csv.field_size_limit() == limit  # a global setting, put back


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".jsonl", ".json"])
def test_choice_of_the_field(suffix: str, tmp_path: Path) -> None:
    rows = [{"prompt": "p1", "story": "s1"}, {"prompt": "p2", "story": "s2"}]
    only = [{"story": row["story"]} for row in rows]
    for name, content in (("two", rows), ("only", only)):
        if suffix == ".jsonl":
            raw = "\n".join(map(json.dumps, content))
        elif suffix == ".json":
            raw = json.dumps(content)
        else:
            delimiter = "," if suffix == ".csv" else "\t"
            raw = "\n".join(delimiter.join(line) for line in [list(content[0]), *(row.values() for row in content)])
        write(tmp_path / f"{name}{suffix}", raw)
    assert read_texts(tmp_path / f"two{suffix}", "story") == ["s1", "s2"]
    assert read_texts(tmp_path / f"two{suffix}", "prompt") == ["p1", "p2"]
    assert read_texts(tmp_path / f"only{suffix}") == ["s1", "s2"]
    with pytest.raises(ValueError, match=r"has no field 'text': choose one of 'prompt', 'story' with text_field"):
        read_texts(tmp_path / f"two{suffix}")


def test_choice_of_the_parquet_column(tmp_path: Path) -> None:
    import pyarrow
    import pyarrow.parquet as parquet

    parquet.write_table(
        pyarrow.table({"a": ["x"], "b": pyarrow.array(["y"]).dictionary_encode()}), tmp_path / "t.parquet"
    )
    assert read_texts(tmp_path / "t.parquet", "b") == ["y"]


def test_json_of_plain_strings(tmp_path: Path) -> None:
    assert read_texts(write(tmp_path / "a.jsonl", '"one"\n\n"two"\n')) == ["one", "two"]
    assert read_texts(write(tmp_path / "a.json", '["one", "two"]')) == ["one", "two"]


def test_empty_lines_of_a_text_file_are_kept_for_the_check(tmp_path: Path) -> None:
    # they are texts, empty ones, which `empty_texts` decides about
    assert read_texts(write(tmp_path / "a.txt", "one\n\ntwo\n")) == ["one", "", "two"]


def test_folder_in_the_order_of_names(tmp_path: Path) -> None:
    for name, content in {"b.txt": "second\nline\n", "a.txt": "first", "c.TXT": "third", "notes.md": "no"}.items():
        write(tmp_path / name, content)
    (tmp_path / "d.txt").mkdir()
    assert [text.strip() for text in read_texts(tmp_path)] == ["first", "second\nline", "third"]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("one\ntwo\n", ["one", "two"]),
        ('{"text": "one"}\n{"text": "two"}\n', ["one", "two"]),
        ("\ufeffone\r\ntwo\r\n", ["one", "two"]),
        (INNER + "\n", [INNER]),
    ],
)
def test_standard_input(content: str, expected: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content.encode())))
    assert read_texts("-") == expected


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "standard input holds no texts"),
        (b'{"text": "a"}\n{"text": \n', "standard input, line 2: not JSON"),
        (b"a\n\xff\n", "standard input is not UTF-8: byte 2 on line 2 is 0xff"),
    ],
)
def test_bad_standard_input(content: bytes, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    with pytest.raises(ValueError, match=message):
        read_texts("-")


def test_feature_files(tmp_path: Path) -> None:
    features = np.random.default_rng(0).normal(size=(5, 3)).astype(np.float32)
    np.save(tmp_path / "a.npy", features)
    np.savez(tmp_path / "one.npz", anything=features)
    np.savez_compressed(tmp_path / "two.npz", features=features, labels=np.ones(5))
    for name in ("a.npy", "one.npz", "two.npz"):
        found = read_features(tmp_path / name).features
        np.testing.assert_array_equal(found, features)
        assert found.dtype == np.float32


# --- in memory ----------------------------------------------------------------------------------------------------


def forms() -> dict[str, Any]:
    import datasets
    import pandas
    import pyarrow

    dataset = datasets.Dataset.from_dict({"text": TEXTS, "id": list(range(len(TEXTS)))})
    return {
        "list": list(TEXTS),
        "tuple": tuple(TEXTS),
        "generator": (text for text in TEXTS),
        "iterator": iter(TEXTS),
        "numpy strings": np.array(TEXTS),
        "numpy objects": np.array(TEXTS, dtype=object),
        "Dataset": dataset,
        "Dataset's column": dataset["text"],
        "Dataset of one column": dataset.select_columns("text").rename_column("text", "story"),
        "IterableDataset": dataset.to_iterable_dataset(),
        "mapped IterableDataset": dataset.to_iterable_dataset().map(lambda row: row),
        "pandas column": pandas.Series(TEXTS, index=[5, 6, 7, 8]),
        "pandas strings": pandas.Series(TEXTS, dtype="string"),
        "pandas table": pandas.DataFrame({"text": TEXTS, "id": 1}),
        "pyarrow array": pyarrow.array(TEXTS),
        "pyarrow chunks": pyarrow.chunked_array([TEXTS[:1], TEXTS[1:]]),
        "dict values": dict(enumerate(TEXTS)).values(),
    }


@pytest.mark.parametrize("name", forms())
def test_forms(name: str) -> None:
    source = text_source("p_text", forms()[name])
    found = list(source.texts)
    assert found == TEXTS and {type(text) for text in found} == {str}
    assert source.dropped == 0


@pytest.mark.parametrize("name", ["generator", "iterator", "IterableDataset", "mapped IterableDataset"])
def test_streams_are_not_gathered(name: str) -> None:
    source = text_source("p_text", forms()[name])
    assert isinstance(source.texts, Iterator)
    assert next(source.texts) == TEXTS[0]


@pytest.mark.parametrize("stream", [False, True])
def test_field_of_a_dataset(stream: bool) -> None:
    import datasets

    dataset: Any = datasets.Dataset.from_dict({"prompt": ["p"] * 4, "story": TEXTS})
    dataset = dataset.to_iterable_dataset() if stream else dataset
    assert list(text_source("q_text", dataset, text_field="story").texts) == TEXTS
    with pytest.raises(ValueError, match="q_text has no field 'text': choose one of 'prompt', 'story' with text_field"):
        text_source("q_text", dataset)
    with pytest.raises(ValueError, match="q_text has no field 'storys'; it has 'prompt', 'story'"):
        text_source("q_text", dataset, text_field="storys")


def test_dropping_keeps_the_order_and_counts() -> None:
    texts = ["", "one", " \n", "two", "\u00a0"]
    for data in (texts, iter(texts)):
        source = text_source("p_text", data, empty_texts="drop")
        assert list(source.texts) == ["one", "two"]
        assert source.dropped == 3
    assert texts == ["", "one", " \n", "two", "\u00a0"]


def test_a_stream_is_checked_while_it_is_read() -> None:
    source = text_source("p_text", iter(["one", "", "two"]))
    texts = iter(source.texts)
    assert next(texts) == "one"
    with pytest.raises(ValueError, match="empty or whitespace-only text at position 1"):
        next(texts)


def test_missing_values_are_named() -> None:
    import pandas
    import pyarrow

    for data in (pandas.Series(["a", None]), pandas.Series(["a", None], dtype="string"), pyarrow.array(["a", None])):
        with pytest.raises(TypeError, match=r"p_text must hold strings only, got .* at position 1"):
            text_source("p_text", data)


# --- what looks like one thing and is another ----------------------------------------------------------------------


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-16", "utf-32-le", "utf-32-be"])
@pytest.mark.parametrize("text", ["eins\nzwei\ndrei\n", "один два\nтри\n"])
@pytest.mark.parametrize("suffix", [".txt", ".jsonl", ".csv"])
def test_wide_encodings_are_named_and_never_read(suffix: str, text: str, encoding: str, tmp_path: Path) -> None:
    path = write(tmp_path / f"texts{suffix}", text.encode(encoding))
    with pytest.raises(ValueError, match=rf"texts\{suffix} is not UTF-8: it looks like UTF-{encoding[4:6]}"):
        read_texts(path)


def test_a_single_zero_does_not_make_an_encoding(tmp_path: Path) -> None:
    content = "a text of many letters, as they come from the web\n" * 3 + "with a \0 in it\n"
    assert read_texts(write(tmp_path / "a.txt", content))[-1] == "with a \0 in it"


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


@pytest.mark.parametrize(
    ("content", "reason"),
    [("[" * 100_000, "nested too deep"), ('{"text": ' + "1" * 5000 + "}", "a whole number of too many digits")],
)
@pytest.mark.parametrize(("suffix", "place"), [(".json", ""), (".jsonl", ", line 1")])
def test_json_that_python_cannot_hold_is_named(
    content: str, reason: str, suffix: str, place: str, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match=rf"texts\{suffix}{place}: not JSON that can be read: .*{reason}") as caught:
        read_texts(write(tmp_path / f"texts{suffix}", content))
    assert type(caught.value) is ValueError and len(str(caught.value)) < 300


@pytest.mark.parametrize(
    ("content", "texts"),
    [
        ('"one\\ntwo"\n\n"three"\n', ["one\ntwo", "three"]),
        ('["one", "two"]', ["one", "two"]),
        ('\n[\n {"text": "one"},\n {"text": "two"}\n]\n', ["one", "two"]),
        ('\n{"text": "one"}\n', ["one"]),
        ('"Hello," she said, "bye."\n"Hello."\n', ['"Hello," she said, "bye."', '"Hello."']),
        ("[Verse 1]\nla la\n", ["[Verse 1]", "la la"]),
        ("[1] a footnote\n", ["[1] a footnote"]),
    ],
)
def test_standard_input_is_read_as_what_it_is(content: str, texts: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content.encode())))
    assert read_texts("-") == texts


@pytest.mark.parametrize(
    ("content", "message"),
    [("[]", "standard input holds no texts"), ('["a", "b"', "standard input, line 1: not JSON"), ("\n", None)],
)
def test_standard_input_that_is_no_list_of_texts(
    content: str, message: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content.encode())))
    if message is None:
        assert read_texts("-") == [""]  # an empty text, which `empty_texts` judges
        return
    with pytest.raises(ValueError, match=message):
        read_texts("-")


def test_closed_standard_input_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(ValueError, match="standard input is closed"):
        read_texts("-")


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
    assert type(caught.value) is ValueError


def test_parquet_text_that_is_no_utf8_is_said(tmp_path: Path) -> None:
    import pyarrow
    import pyarrow.parquet as parquet

    column = pyarrow.array([b"\xff\xfe"]).view(pyarrow.string())
    parquet.write_table(pyarrow.table({"text": column}), tmp_path / "t.parquet")
    with pytest.raises(ValueError, match=r"t\.parquet is not a parquet file that can be read") as caught:
        read_texts(tmp_path / "t.parquet")
    assert type(caught.value) is ValueError


# --- tables -------------------------------------------------------------------------------------------------------


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
        ("a,text;b\n1,2;3\n", "a.csv, line 1: a comma or a semicolon may stand between the columns: quote the names"),
        ("a,text;b\n1,2,3;4\nx\n", "a.csv, line 1: a comma or a semicolon may stand between the columns"),
        ("id;text\n1;a\n2\n", "a.csv, line 3: no value in column 'text'"),
        ("id;text\n1;a;b\n", "a.csv, line 2: more values than the header has columns; quote a semicolon"),
        ("id,text\n1,a,b\n", "a.csv, line 2: more values than the header has columns; quote a comma"),
    ],
)
def test_a_table_that_may_mean_two_things_is_refused(content: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=message):
        read_texts(write(tmp_path / "a.csv", content))


# --- fields, folders, several sides --------------------------------------------------------------------------------


def test_dotted_paths(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", '{"doc": {"story": "s1"}, "x": 1}\n{"doc": {"story": "s2"}, "x": 1}\n')
    assert read_texts(path, "doc.story") == ["s1", "s2"]
    with pytest.raises(ValueError, match=r"a.jsonl, line 1 has no field 'doc.tale'; 'doc' has 'story'"):
        read_texts(path, "doc.tale")
    path = write(tmp_path / "b.jsonl", '{"a.b": "s1", "a": {"b": "no"}}\n')
    assert read_texts(path, "a.b") == ["s1"]


@pytest.mark.parametrize("suffix", [".jsonl", ".json", ".csv", ".tsv", ".parquet"])
def test_named_fields_of_any_file(suffix: str, tmp_path: Path) -> None:
    path = write(tmp_path / f"a{suffix}", WRITERS[suffix](TEXTS))
    assert not TextFile(path).holds_both
    assert not TextFile(path, reference_field="nowhere", prediction_field="text").holds_both
    if suffix in (".csv", ".tsv"):
        file = TextFile(path, reference_field="id", prediction_field="text")
        assert file.holds_both and file.side("reference").texts == ["0", "1", "2", "3"]
        assert file.side("prediction").texts == TEXTS


def test_folders(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"holds no .txt files, and no file of a tool that is known"):
        TextFile(tmp_path)
    write(tmp_path / "trainer_log.jsonl", '{"loss": 1}\n')
    path = write(tmp_path / "generated_predictions.jsonl", '{"prompt": "p", "predict": "m", "label": "h"}\n')
    assert TextFile(tmp_path).name == str(path) and read_texts(tmp_path, side="reference") == ["h"]
    write(tmp_path / "merges.txt", "x")
    with pytest.raises(ValueError, match=r"holds 'generated_predictions.jsonl' and 1 .txt files: expected one of them"):
        TextFile(tmp_path)


def test_a_filter_of_a_file_without_filters(tmp_path: Path) -> None:
    for name in ("a.jsonl", "a.csv"):
        path = write(tmp_path / name, WRITERS[Path(name).suffix](TEXTS))
        with pytest.raises(ValueError, match="has no field that filter='none' could choose from"):
            TextFile(path, filter="none")
    with pytest.raises(TypeError, match="prediction_field must be a text, got 0"):
        TextFile(path, prediction_field=0)  # type: ignore[arg-type]


@pytest.mark.parametrize("content", ["null", "3", "true", '"x"', "{}"])
def test_json_that_is_no_list_is_no_log_of_inspect(content: str, tmp_path: Path) -> None:
    (tmp_path / "n.json").write_text(content, encoding="utf-8")
    with pytest.raises(ValueError, match="must hold a JSON list of texts or objects, got"):
        read_texts(tmp_path / "n.json")
