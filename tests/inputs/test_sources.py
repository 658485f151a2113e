"""Texts in every accepted form."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mauve_metric.inputs.sources import text_source
from mauve_metric.runtime.errors import EmptyTexts, NotTexts, SeveralTexts

TEXTS = ["One, two.", 'He said "no"\tand left.', "naïve café — 東京 🙂", "  two  spaces  "]


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
        "pyarrow table": pyarrow.table({"id": list(range(len(TEXTS))), "text": TEXTS}),
        "pyarrow table of one column": pyarrow.table({"story": TEXTS}),
        "pyarrow batch": pyarrow.record_batch({"text": TEXTS}),
        "dict values": dict(enumerate(TEXTS)).values(),
    }


@pytest.mark.parametrize("name", forms())
def test_forms(name: str) -> None:
    source = text_source("p_text", forms()[name])
    found = list(source.texts)
    assert found == TEXTS and {type(text) for text in found} == {str}
    assert source.dropped == 0


def test_polars_columns_and_frames() -> None:
    import polars

    one = polars.DataFrame({"story": TEXTS})
    many = polars.DataFrame({"id": range(len(TEXTS)), "text": TEXTS})
    for data in (one, one.lazy(), many, many.lazy(), many["text"]):
        assert list(text_source("p_text", data).texts) == TEXTS
    assert list(text_source("p_text", many.rename({"text": "story"}).lazy(), text_field="story").texts) == TEXTS
    assert list(text_source("p_text", many.rename({"text": "story"}).lazy()).texts) == TEXTS  # the only column of texts
    with pytest.raises(ValueError, match="several fields that may be the text: 'left'"):
        text_source("p_text", many.select(left="text", right=polars.col("text").str.to_uppercase()).lazy())
    with pytest.raises(TypeError, match="q_text must hold strings only, got int at position 0: 0"):
        text_source("q_text", many.select("id"))


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
    assert list(text_source("q_text", dataset).texts) == TEXTS
    message = r"q_text has no field 'storys' \(did you mean 'story'\?\); it has 'prompt' \('p'\), .*text_field='story'"
    with pytest.raises(ValueError, match=message):
        text_source("q_text", dataset, text_field="storys")


def test_a_table_without_rows_holds_no_texts() -> None:
    pandas, pyarrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    columns: dict[str, list[str]] = {"prompt": [], "story": []}
    for table in (pandas.DataFrame(columns), pyarrow.table(columns)):
        with pytest.raises(EmptyTexts, match="q_text must hold at least one non-empty text, got 0 texts"):
            text_source("q_text", table)
        assert text_source("q_text", table, empty_texts="keep").texts == []


def test_one_of_several_answers_in_a_cell_can_be_named() -> None:
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"text": [["One.", "Two."], ["Three.", "Four."]]})
    with pytest.raises(SeveralTexts, match=r"'text' holds 2 answers: choose one with text_field, such as text\.0"):
        text_source("q_text", table)
    assert text_source("q_text", table, text_field="text.0").texts == ["One.", "Three."]


@pytest.mark.parametrize("name", ["human.jsonl", Path("human.jsonl"), "a/human.csv.gz"])
def test_a_files_name_is_no_list_of_texts(name: object) -> None:
    with pytest.raises(TypeError, match=r"texts must be a list of texts, got .*read_texts gives those of a file"):
        text_source("texts", name)


def test_a_stream_is_checked_while_it_is_read() -> None:
    source = text_source("p_text", iter(["one", "", "two"]))
    texts = iter(source.texts)
    assert next(texts) == "one"
    with pytest.raises(ValueError, match="empty or whitespace-only text at position 1"):
        next(texts)


@pytest.mark.parametrize("invisible", ["\u200b", "\ufeff\n", "\u00ad", "\u2060\u200d", "\u3164", "\x00", "\x1b"])
def test_a_text_of_invisible_characters_is_empty(invisible: str) -> None:
    for texts in (["one", invisible], iter(["one", invisible])):
        with pytest.raises(EmptyTexts, match=r"empty or whitespace-only text .*position 1"):
            list(text_source("p_text", texts).texts)
    dropping = text_source("p_text", ["one", invisible, f"{invisible}two"], empty_texts="drop")
    assert (dropping.texts, dropping.dropped) == (["one", f"{invisible}two"], 1)


@pytest.mark.parametrize("nothing", [None, float("nan"), pytest.param("NA", id="NA of pandas")])
def test_what_is_missing_in_a_list_is_dropped_on_request_as_in_a_file(nothing: object) -> None:
    if nothing == "NA":
        nothing = pytest.importorskip("pandas").NA
    for texts in (["one", nothing, "nan"], iter(["one", nothing, "nan"])):
        found = text_source("p_text", texts, empty_texts="drop")
        assert (list(found.texts), found.dropped) == (["one", "nan"], 1)
    with pytest.raises(NotTexts, match=r"strings only, got .* position 1: .*; remove missing .* empty_texts='drop'"):
        text_source("p_text", ["one", nothing])
    for other in (3, b"", np.zeros(2), [None]):
        with pytest.raises(NotTexts, match=rf"got {type(other).__name__} at position 1: "):
            text_source("p_text", ["one", other], empty_texts="drop")


def test_two_kinds_in_a_table_are_refused() -> None:
    pandas, pyarrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    rows = {"text": [f"Text {number}." for number in range(8)], "label": ["human"] * 4 + ["ai"] * 4}
    for table in (pandas.DataFrame(rows), pyarrow.table(rows)):
        with pytest.raises(SeveralTexts, match=r"p_text holds texts of 2 kinds, by 'label': 'human' \(4\), 'ai' \(4\)"):
            text_source("p_text", table, text_field="text")
    assert text_source("p_text", pandas.DataFrame(rows)["text"]).texts == rows["text"]
    unnamed = pandas.DataFrame({0: rows["text"], 1: rows["label"]})
    with pytest.raises(SeveralTexts, match="2 kinds, by 1:"):
        text_source("p_text", unnamed)


def test_the_name_of_a_file_in_place_of_texts_is_refused_with_the_function_that_reads_it() -> None:
    with pytest.raises(NotTexts, match=r"must be a list of texts, got .*Path: mauve_metric\.read_texts gives"):
        text_source("texts", Path("human.jsonl"))
