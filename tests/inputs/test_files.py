"""Every accepted form of texts and features, in memory and in files."""

from __future__ import annotations

import csv
import gzip
import io
import json
import pickle
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mauve_metric import compute_mauve
from mauve_metric.features.feature_files import read_features
from mauve_metric.inputs.file_types import named_endings
from mauve_metric.inputs.files import TextFile, read_texts
from mauve_metric.inputs.sources import text_source
from mauve_metric.options import split_options
from mauve_metric.runtime.errors import EmptyTexts, NoSuchField, SeveralTexts, UnknownEnding

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
    assert set(WRITERS) == set(named_endings()) - {
        ".eval",
        ".xlsx",
    }  # of these see test_tool_formats.py and test_tables.py


@pytest.mark.parametrize("suffix", WRITERS)
def test_round_trip(suffix: str, tmp_path: Path) -> None:
    texts = [*TEXTS, INNER, "last"]
    assert read_texts(write(tmp_path / f"a{suffix}", WRITERS[suffix](texts))) == texts
    assert read_texts(str(write(tmp_path / f"b{suffix.upper()}", WRITERS[suffix](texts)))) == texts


NO_TEXT = {
    **{f"protocol {number}": (pickle.dumps(["a text"] * 9, number), "is a pickle of Python") for number in range(6)},
    "parquet": (as_parquet(TEXTS), "holds another packed file, or one of parquet"),
    "gzip": (gzip.compress(b"a text"), "holds another packed file"),
    "PDF": (b"%PDF-1.4", "is a PDF"),
    "program": (b"\x7fELF" + bytes(90), "is no text: 90 of its 94 bytes are null, the first at 4"),
    "null characters": (b"a text\0 with null\n" * 20, "is no text: 20 of its 360 bytes are null"),
}


@pytest.mark.parametrize("name", NO_TEXT)
def test_what_is_no_text_is_named_also_where_it_is_packed(name: str, tmp_path: Path) -> None:
    """And no encoding is proposed in which it would be read as Chinese."""
    content, said = NO_TEXT[name]
    for ending in (".txt", ".jsonl.gz"):
        path = write(tmp_path / f"a{ending}", gzip.compress(content))
        with pytest.raises(ValueError, match=re.escape(f"{path} {said}")):
            read_texts(path)


@pytest.mark.parametrize("name", [*(f"a{suffix}" for suffix in WRITERS), "."])
def test_a_file_that_was_pickled_has_the_same_texts(name: str, tmp_path: Path) -> None:
    """So that it can be given to another process; "." is a folder of two files."""
    for shard in ("a", "b") if name == "." else ("a",):
        suffix = ".jsonl" if name == "." else Path(name).suffix
        write(tmp_path / f"{shard}{suffix}", WRITERS[suffix](TEXTS))
    file = TextFile(tmp_path / name)
    assert pickle.loads(pickle.dumps(file)).side("reference") == file.side("reference")


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
    rows = [{"note": "a first", "tale": "one tale"}, {"note": "a second", "tale": "a tale"}]
    only = [{"tale": row["tale"]} for row in rows]
    for name, content in (("two", rows), ("only", only)):
        if suffix == ".jsonl":
            raw = "\n".join(map(json.dumps, content))
        elif suffix == ".json":
            raw = json.dumps(content)
        else:
            delimiter = "," if suffix == ".csv" else "\t"
            raw = "\n".join(delimiter.join(line) for line in [list(content[0]), *(row.values() for row in content)])
        write(tmp_path / f"{name}{suffix}", raw)
    assert read_texts(tmp_path / f"two{suffix}", "tale") == ["one tale", "a tale"]
    assert read_texts(f"{tmp_path / f'two{suffix}'}:note") == ["a first", "a second"]
    assert read_texts(tmp_path / f"only{suffix}") == ["one tale", "a tale"]
    message = r"has several fields that may be the text: 'note' \('a first'\), 'tale' \('one tale'\); name one, such as"
    with pytest.raises(ValueError, match=message):
        read_texts(tmp_path / f"two{suffix}")
    only_path = tmp_path / f"only{suffix}"
    with pytest.raises(NoSuchField, match=re.escape(f"name one, such as {only_path}:tale")):  # for this file alone
        read_texts(f"{only_path}:story")


def test_empty_lines_of_a_text_file_are_kept_for_the_check(tmp_path: Path) -> None:
    # they are texts, empty ones, which `empty_texts` decides about
    assert read_texts(write(tmp_path / "a.txt", "one\n\ntwo\n")) == ["one", "", "two"]


def test_hidden_files_of_a_folder_are_no_texts(tmp_path: Path) -> None:
    for name in (".hidden.txt", "._1.txt", "1.txt", "2.txt"):
        (tmp_path / name).write_text(name, encoding="utf-8")
    assert [*read_texts(tmp_path)] == ["1.txt", "2.txt"]


def test_folder_in_the_order_of_names(tmp_path: Path) -> None:
    for name, content in {"b.txt": "second\nline\n", "a.txt": "first", "c.TXT": "third", "notes.md": "no"}.items():
        write(tmp_path / name, content)
    (tmp_path / "d.txt").mkdir()
    assert [text.strip() for text in read_texts(tmp_path)] == ["first", "second\nline", "third"]


def test_a_folder_of_features_is_called_so(tmp_path: Path) -> None:
    write(tmp_path / "0.npy", "")
    with pytest.raises(UnknownEnding, match="known: features of several files are read in Python, as p_features= and"):
        read_texts(tmp_path)


def test_a_folder_of_texts_and_of_tables_is_refused(tmp_path: Path) -> None:
    """The tables were left out without a word, beside a LICENSE.txt too."""
    write(tmp_path / "LICENSE.txt", "As is.")
    write(tmp_path / "scores.json", "{}")
    assert read_texts(tmp_path) == ["As is."]
    for number in range(2):
        write(tmp_path / f"part-{number}.jsonl", '{"text": "one"}\n')
    said = "holds 1 .txt file and 'part-0.jsonl', 'part-1.jsonl': expected texts of one kind"
    with pytest.raises(SeveralTexts, match=said):
        read_texts(tmp_path)


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


def test_dropping_keeps_the_order_and_counts() -> None:
    texts = ["", "one", " \n", "two", "\u00a0"]
    for data in (texts, iter(texts)):
        source = text_source("p_text", data, empty_texts="drop")
        assert list(source.texts) == ["one", "two"]
        assert source.dropped == 3
    assert texts == ["", "one", " \n", "two", "\u00a0"]


def test_missing_values_are_named() -> None:
    import pandas
    import pyarrow

    for data in (pandas.Series(["a", None]), pandas.Series(["a", None], dtype="string"), pyarrow.array(["a", None])):
        with pytest.raises(TypeError, match=r"p_text must hold strings only, got .* at position 1"):
            text_source("p_text", data)


# --- what looks like one thing and is another ----------------------------------------------------------------------


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
@pytest.mark.parametrize("text", ["eins\nzwei\ndrei\n", "один два\nтри\n"])
@pytest.mark.parametrize("suffix", [".txt", ".jsonl", ".csv"])
def test_wide_encodings_are_named_and_never_read(suffix: str, text: str, encoding: str, tmp_path: Path) -> None:
    path = write(tmp_path / f"texts{suffix}", text.encode(encoding))
    with pytest.raises(ValueError, match=rf"texts\{suffix} is not UTF-8: it looks like UTF-{encoding[4:6]}"):
        read_texts(path)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "utf-8-sig"])
def test_a_byte_order_mark_states_the_encoding(encoding: str, tmp_path: Path) -> None:
    assert read_texts(write(tmp_path / "a.txt", "один два\nтри\n".encode(encoding))) == ["один два", "три"]


def test_a_single_zero_does_not_make_an_encoding(tmp_path: Path) -> None:
    content = "a text of many letters, as they come from the web\n" * 3 + "with a \0 in it\n"
    assert read_texts(write(tmp_path / "a.txt", content))[-1] == "with a \0 in it"


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


def test_closed_standard_input_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(ValueError, match="standard input is closed"):
        read_texts("-")


# --- fields, folders, several sides --------------------------------------------------------------------------------


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
    with pytest.raises(ValueError, match="a file must have a name"):
        read_texts("")
    with pytest.raises(ValueError, match=r"holds no .txt files, and no file of a tool that is known"):
        TextFile(tmp_path)
    write(tmp_path / "trainer_log.jsonl", '{"loss": 1}\n')
    path = write(tmp_path / "generated_predictions.jsonl", '{"prompt": "p", "predict": "m", "label": "h"}\n')
    assert TextFile(tmp_path).name == str(path) and read_texts(tmp_path, side="reference") == ["h"]
    write(tmp_path / "merges.txt", "x")
    with pytest.raises(ValueError, match=r"holds 'generated_predictions.jsonl' and 1 .txt file: expected one of them"):
        TextFile(tmp_path)


def test_shards(tmp_path: Path) -> None:
    for number in range(3):
        (tmp_path / f"part-{number}.jsonl").write_text(
            f'{{"id": {number}, "text": "Text {number}."}}\n', encoding="utf-8"
        )
    assert read_texts(tmp_path) == ["Text 0.", "Text 1.", "Text 2."]
    assert TextFile(tmp_path).side("prediction").said == f"{tmp_path}: 3 texts from `text`"
    write(tmp_path / "trainer_log.jsonl", '{"loss": 1}\n')
    with pytest.raises(
        ValueError, match=r"holds files with other fields, first .*trainer_log\.jsonl: give its own name"
    ):
        read_texts(tmp_path)


def test_a_filter_of_a_file_without_filters(tmp_path: Path) -> None:
    for name in ("a.jsonl", "a.csv"):
        path = write(tmp_path / name, WRITERS[Path(name).suffix](TEXTS))
        with pytest.raises(ValueError, match=r"has no field 'filter' for \[filter=none\]; it has 'id' "):
            read_texts(f"{path}[filter=none]")
    with pytest.raises(TypeError, match="prediction_field must be a text with something in it, got 0"):
        TextFile(path, prediction_field=0)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["text_field", "reference_field", "prediction_field", "prompt_field"])
def test_an_empty_name_of_a_field_is_refused(name: str, tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", '{"text": "One."}\n')
    with pytest.raises(ValueError, match=f"{name} must be a text with something in it, got ''"):
        TextFile(path, **{name: ""})
    if name == "text_field":
        with pytest.raises(ValueError, match="text_field must be the name of a column, got ''"):
            split_options({name: ""})


@pytest.mark.parametrize("content", ["null", "3", "true", '"x"', "{}"])
def test_json_that_is_no_list_is_no_log_of_inspect(content: str, tmp_path: Path) -> None:
    (tmp_path / "n.json").write_text(content, encoding="utf-8")
    with pytest.raises(ValueError, match="must hold a JSON list of texts or objects, got"):
        read_texts(tmp_path / "n.json")


def test_shards_are_read_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    for number in (10, 2, 0, 1, 11):
        write(tmp_path / f"part-{number}.jsonl", json.dumps({"text": f"Text {number}."}))
    assert read_texts(tmp_path) == [f"Text {number}." for number in (0, 1, 2, 10, 11)]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[deleted]", r"is '\[deleted\]', a missing value"),
        ("#REF!", "is '#REF!', a missing value"),
        ("ERROR: Rate limit exceeded", "is 'ERROR: Rate limit exceeded', a missing value"),
        ("\\N", r"is '\\\\N', a missing value"),
        (None, "is null, a missing value"),
        ("One \ud83d", "holds half of a surrogate pair"),
    ],
)
@pytest.mark.parametrize("field", [None, "text"])
def test_missing_texts_have_one_rule(text: str | None, reason: str, field: str | None, tmp_path: Path) -> None:
    texts = ["A first text.", text, "A last text."]
    rows = texts if field is None else [{"id": row, field: text} for row, text in enumerate(texts)]
    side = TextFile(write(tmp_path / "a.jsonl", "\n".join(map(json.dumps, rows)))).side("prediction")
    assert side.texts == ["A first text.", "", "A last text."]
    with pytest.raises(EmptyTexts, match=rf"a\.jsonl, line 2.* {reason}.* \(1 of 3 in all\).*empty_texts='drop'"):
        side.check_filled()


def test_a_missing_text_leaves_both_sides_of_aligned_rows(tmp_path: Path) -> None:
    human, model = (
        [f"One of the texts, number {row}." for row in range(12)],
        [f"Two of {row} texts." for row in range(12)],
    )
    rows = [{"target": text} for text in human]
    path = write(tmp_path / "h.jsonl", "\n".join(map(json.dumps, rows)))
    other = write(
        tmp_path / "m.jsonl",
        "\n".join(json.dumps({"output": t} if row else {"output": None}) for row, t in enumerate(model)),
    )
    options: Any = {"featurize_model_name": "ngrams", "num_buckets": 2, "aligned": True, "empty_texts": "drop"}
    result = compute_mauve(p_text=str(path), q_text=str(other), **options)
    groups: Any = {"p_groups": range(12), "q_groups": range(1, 12)}
    expected = compute_mauve(p_text=human, q_text=model[1:], **{**options, "aligned": False}, **groups)
    assert (result.q_dropped, result.mauve_debiased_ci) == (1, expected.mauve_debiased_ci)


@pytest.mark.parametrize("most", [-1, "20", 1.5, True])
def test_a_limit_that_is_none_is_named(most: Any, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\n")
    with pytest.raises(ValueError, match=r"^most_bytes must be an integer of at least 1, got "):
        TextFile(tmp_path / "a.txt", most_bytes=most)
