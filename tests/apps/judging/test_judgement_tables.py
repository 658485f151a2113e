"""Choices between two models and guesses of Real or Fake Text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pytest

from mauve_metric.apps.judging.judgement_tables import open_table, read_guesses
from mauve_metric.apps.judging.preference_tables import read_preferences


def written(folder: Path, content: str) -> Path:
    path = folder / "preferences.csv"
    path.write_text(content, encoding="utf-8")
    return path


def outcomes(folder: Path, *answers: str) -> list[float]:
    rows = "".join(f"gpt2,human,{answer}\n" for answer in answers)
    return read_preferences(written(folder, f"model_a,model_b,winner\n{rows}"))[1]["winner"].outcome


def test_answers_of_every_form(tmp_path: Path) -> None:
    assert outcomes(tmp_path, "a", "B", " tie ", "model_a", "model_b", "tie (bothbad)") == [1, 0, 0.5, 1, 0, 0.5]
    assert outcomes(tmp_path, "2a", "1a", "0", "1b", "2b") == [1, 1, 0.5, 0, 0]
    assert outcomes(tmp_path, "Definitely A", "slightly_a", "Tie", "Slightly B", "definitely b") == [1, 1, 0.5, 0, 0]
    assert outcomes(tmp_path, "gpt2", "human") == [1, 0]


def test_winners_and_losers(tmp_path: Path) -> None:
    _, questions, _ = read_preferences(written(tmp_path, "Winner;Loser;Annotator\nhuman;gpt2;ann\ngpt2;human;bob\n"))
    question = questions["Winner"]
    assert (question.first, question.second) == (["human", "gpt2"], ["gpt2", "human"])
    assert (question.outcome, question.annotators) == ([1.0, 1.0], ["ann", "bob"])
    assert question.models() == ["human", "gpt2"]


def test_a_table_of_judgements_is_read_from_a_workbook_and_a_csv_file(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for row in (["winner", "loser", "seconds"], ["human", "é", 4], ["é", "human", None]):
        book.active.append(row)
    book.save(tmp_path / "a.xlsx")
    content = "winner;loser;seconds\nhuman;é;4\né;human;\n"
    of_csv = open_table("judgements", written(tmp_path, content))
    assert [line.value for line in of_csv.lines] == [
        line.value for line in open_table("judgements", tmp_path / "a.xlsx").lines
    ]
    path = tmp_path / "b.csv"
    path.write_bytes(content.encode("cp1252"))
    with pytest.raises(ValueError, match=r"b\.csv is not UTF-8: save it as \.xlsx, or as CSV UTF-8"):
        open_table("judgements", path)


PUBLISHED = """,WorkerId,Input.model_b,Input.model_a,Input.ctx,Answer.q1,Answer.q2,Answer.q3,Answer.te
0,W1,"('gpt2', 'p0.9')","('gpt2-xl', 'p0.95')","<p>, ""and""</p>",1a,1a,1b,28.1
1,W2,human,"('gpt2', 'p0.9')",x,2b,0,1b,24.9
"""


def test_the_published_file_is_read_as_it_is(tmp_path: Path) -> None:
    path = written(tmp_path, PUBLISHED)
    _, questions, _ = read_preferences(path)
    assert list(questions) == ["Answer.q1", "Answer.q2", "Answer.q3"]
    assert questions["Answer.q1"].outcome == [1.0, 0.0]
    assert questions["Answer.q2"].outcome == [1.0, 0.5]
    assert questions["Answer.q3"].annotators == ["W1", "W2"]
    assert questions["Answer.q3"].models() == ["('gpt2-xl', 'p0.95')", "('gpt2', 'p0.9')", "human"]
    _, questions, quick = read_preferences(path, answers=["Answer.q3"], min_seconds=25)
    assert list(questions) == ["Answer.q3"] and quick == 1


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("model_a,winner\nx,a\n", "must have the columns 'winner' and 'loser', or 'model_a', .* it has 'model_a'"),
        ("model_a,model_b\nx,y\n", "no column 'winner' with the answers"),
        ("model_a,model_b,winner\nx,y,3\n", "line 2: expected a, b or tie; .* in column 'winner', got '3'"),
        ("model_a,model_b,winner\nx,y,a\nx,y,\n", "line 3: expected .* got ''"),
        ("model_a,model_b,winner\nx,x,a\n", "line 2: 'x' is compared with itself"),
        ("model_a,model_b,winner\nB,A,A\n", "line 2: 'A' .* is a side and the name of the model on the other"),
        ("winner,loser\nx,\n", "line 2: expected a model in column 'loser', got nothing"),
        ("winner,loser,rater\nx,y,\n", "expected an annotator in column 'rater'"),
        ("winner,loser\n", "has no rows"),
        ("winner,loser,winner\nx,y,z\n", "two columns called 'winner'"),
        ("winner,loser\nx,y,z\n", "line 2: more values than the header has columns"),
        ("", "is empty"),
    ],
)
def test_errors_name_the_line(tmp_path: Path, content: str, said: str) -> None:
    with pytest.raises(ValueError, match=said) as caught:
        read_preferences(written(tmp_path, content))
    assert "preferences.csv" in str(caught.value)


def test_other_columns_and_times_are_asked_for_by_name(tmp_path: Path) -> None:
    path = written(tmp_path, "model_a,model_b,winner,better style,seconds\nx,y,a,b,8\n")
    assert read_preferences(path, answers=["better style"])[1]["better style"].outcome == [0.0]
    with pytest.raises(ValueError, match="no column 'style': it has 'model_a'"):
        read_preferences(path, answers=["style"])
    with pytest.raises(ValueError, match="no judgement took 9 seconds or more"):
        read_preferences(path, min_seconds=9)
    with pytest.raises(ValueError, match="no column 'seconds' for min_seconds"):
        read_preferences([{"winner": "x", "loser": "y"}], min_seconds=9)


def test_rows_of_a_program() -> None:
    _, questions, _ = read_preferences([{"model_a": "x", "model_b": "y", "winner": "a", "judge": 7}])
    assert questions["winner"].annotators == ["7"]
    pair = {"winner": "x", "loser": "y"}
    for wrong, said in (
        ([], "no rows"),
        ([pair, {"winner": "x"}], "row 1: expected a model in column 'loser', got nothing"),
        ([pair, {**pair, "judge": 7}], "row 0: expected an annotator in column 'judge', got nothing"),
    ):
        with pytest.raises(ValueError, match=said):
            read_preferences(wrong)
    rated = [{"model": "x", "fluency": 3}, {"model": "y", "fluency": 2, "clarity": 4}]  # of a key that the first lacks
    assert read_preferences(rated)[1]["clarity"].missing == 1
    with pytest.raises(TypeError, match="must hold dicts, got str"):
        read_preferences(["human"])  # type: ignore[list-item]
    with pytest.raises(TypeError, match="must be a path or a list of dicts, got int"):
        read_preferences(3)  # type: ignore[arg-type]
    pandas = pytest.importorskip("pandas")
    with pytest.raises(TypeError, match=r"must be a path or a list of dicts, got DataFrame: .*to_dict\('records'\)"):
        read_preferences(pandas.DataFrame({"winner": ["human"], "loser": ["gpt2"]}))


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


def test_a_message_has_one_line_whatever_the_file_is_called(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"a\\nb' is no table: expected \.jsonl, \.json, \.csv, \.tsv or \.xlsx$"):
        read_guesses(written(tmp_path, "x").rename(tmp_path / "a\nb"))


def test_shorter_texts_and_impossible_ones() -> None:
    assert read_guesses([{"boundary": 5, "guess": "none"}], sentences=4).guess == [5]
    with pytest.raises(ValueError, match="sentences must be an integer of at least 2, got 1"):
        read_guesses([{"boundary": 2, "guess": 2}], sentences=1)


@pytest.mark.parametrize("seconds", ["2", [1], -1, float("nan"), True])
def test_a_limit_of_seconds_that_is_none(seconds: Any) -> None:
    rows = [{"winner": "x", "loser": "y", "seconds": 3}]
    with pytest.raises(ValueError, match=r"min_seconds must be a number in \[0, inf\), got "):
        read_preferences(rows, min_seconds=seconds)


@pytest.mark.parametrize("told", [True, False])
def test_two_answers_of_one_annotator_to_one_text_are_told(told: bool, caplog: pytest.LogCaptureFixture) -> None:
    who = "anonymous" if told else "ben"
    pair = {"model_a": "x", "model_b": "y", "text": "7", "answer": "a"}
    swapped = pair | {"model_a": "y", "model_b": "x"}
    read_preferences([pair | {"annotator": "anonymous"}, swapped | {"annotator": who}])
    guess = {"text": "x 7", "boundary": 3, "guess": 4}
    read_guesses([guess | {"annotator": "anonymous"}, guess | {"annotator": who}])
    read_guesses([guess | {"annotator": "anonymous", "file": name} for name in "ab"])
    said = [line for line in caplog.messages if "answered more than once to text" in line]
    assert len(said) == 2 * told and all("with 1 of 1 texts" in line for line in said)
