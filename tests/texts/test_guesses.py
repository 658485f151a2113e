"""Tables of guesses at the boundary: both ways of counting, and errors in a table."""

from __future__ import annotations

import numpy as np
import pytest

from mauve_metric.texts.guesses import read_guesses


def test_both_ways_of_counting_say_the_same() -> None:
    ours = read_guesses([{"boundary": 4, "guess": 6}, {"boundary": "none", "guess": 11}, {"boundary": "", "guess": 2}])
    published = read_guesses(
        [
            {"true_boundary_index": 2, "predicted_boundary_index": 4},
            {"true_boundary_index": 9, "predicted_boundary_index": 9},
            {"true_boundary_index": 9, "predicted_boundary_index": 0},
        ]
    )
    assert ours.boundary == published.boundary == [4, 11, 11]
    assert ours.guess == published.guess == [6, 11, 2]
    assert (ours.players, ours.models, ours.texts, ours.seconds) == (None, None, None, None)


def test_rounds_are_taken_in_the_order_of_their_dates() -> None:
    row = {"boundary": 4, "model": "gpt2", "annotator": "ann", "generation": 17, "sentence_seconds": "3.5 200"}
    read = read_guesses([row | {"guess": 5, "date": "2021-02-01"}, row | {"guess": 4, "date": "2021-01-01"}])
    assert read.guess == [4, 5]
    assert (read.players, read.models, read.texts) == (["ann"] * 2, ["gpt2"] * 2, ["17"] * 2)
    assert read.seconds == [[3.5, 200.0]] * 2


def test_dates_are_compared_as_dates() -> None:
    dates = ["2021-12-01T09:00:00", "20211130", "2021-12-01 10:30+02:00", "2021-12-01"]
    rows = [{"boundary": 4, "guess": 2 + place, "date": date} for place, date in enumerate(dates)]
    assert read_guesses(rows).guess == [3, 5, 4, 2]  # 10:30+02:00 is 08:30 in UTC
    for wrong in ("12/1/2021", "1 Dec 2021", "", "2021-13-01"):
        with pytest.raises(ValueError, match=r"row 1: expected a date such as 2021-12-31 .*in column 'date', got"):
            read_guesses([rows[0], {**rows[0], "date": wrong}])


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"boundary": 4}, "must have the columns 'boundary' and 'guess'"),
        (
            {"boundary": 1, "guess": 4},
            "row 0: expected a sentence from 2 to 11, or none, in column 'boundary', got '1'",
        ),
        ({"boundary": 4, "guess": 4.5}, "in column 'guess', got '4.5'"),
        ({"boundary": 4, "guess": np.array([1, 2])}, r"in column 'guess', got '\[1 2\]'"),
        ({"boundary": 4, "guess": "soon"}, "in column 'guess', got 'soon'"),
        ({"true_boundary_index": 10, "predicted_boundary_index": 4}, "expected a sentence from 0 to 9 "),
        ({"boundary": 4, "guess": 4, "player": ""}, "row 0: nothing in column 'player'"),
        ({"boundary": 4, "guess": 4, "sentence_seconds": "-3"}, "expected seconds in column 'sentence_seconds'"),
    ],
)
def test_errors_name_the_row(row: dict[str, object], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        read_guesses([row])


def test_a_message_has_one_line_whatever_the_file_is_called() -> None:
    with pytest.raises(ValueError, match=r"^a b must be a table, \.csv or \.tsv$"):
        read_guesses("a\nb")


def test_shorter_texts_and_impossible_ones() -> None:
    assert read_guesses([{"boundary": 5, "guess": "none"}], sentences=4).guess == [5]
    with pytest.raises(ValueError, match="sentences must be an integer of at least 2, got 1"):
        read_guesses([{"boundary": 2, "guess": 2}], sentences=1)
