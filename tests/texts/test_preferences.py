"""Tables of preferences: every form of answer, and errors in a table."""

from __future__ import annotations

from pathlib import Path

import pytest

from mauve_metric.texts.preferences import read_preferences


def written(folder: Path, content: str) -> Path:
    path = folder / "preferences.csv"
    path.write_text(content, encoding="utf-8")
    return path


def outcomes(folder: Path, *answers: str) -> list[float]:
    rows = "".join(f"gpt2,human,{answer}\n" for answer in answers)
    return read_preferences(written(folder, f"model_a,model_b,winner\n{rows}")).questions["winner"].outcome


def test_answers_of_every_form(tmp_path: Path) -> None:
    assert outcomes(tmp_path, "a", "B", " tie ", "model_a", "model_b", "tie (bothbad)") == [1, 0, 0.5, 1, 0, 0.5]
    assert outcomes(tmp_path, "2a", "1a", "0", "1b", "2b") == [1, 1, 0.5, 0, 0]
    assert outcomes(tmp_path, "Definitely A", "slightly_a", "Tie", "Slightly B", "definitely b") == [1, 1, 0.5, 0, 0]
    assert outcomes(tmp_path, "gpt2", "human") == [1, 0]


def test_winners_and_losers(tmp_path: Path) -> None:
    read = read_preferences(written(tmp_path, "Winner;Loser;Annotator\nhuman;gpt2;ann\ngpt2;human;bob\n"))
    question = read.questions["Winner"]
    assert (question.first, question.second) == (["human", "gpt2"], ["gpt2", "human"])
    assert (question.outcome, question.annotators) == ([1.0, 1.0], ["ann", "bob"])
    assert question.models() == ["human", "gpt2"]


PUBLISHED = """,WorkerId,Input.model_b,Input.model_a,Input.ctx,Answer.q1,Answer.q2,Answer.q3,Answer.te
0,W1,"('gpt2', 'p0.9')","('gpt2-xl', 'p0.95')","<p>, ""and""</p>",1a,1a,1b,28.1
1,W2,human,"('gpt2', 'p0.9')",x,2b,0,1b,24.9
"""


def test_the_published_file_is_read_as_it_is(tmp_path: Path) -> None:
    path = written(tmp_path, PUBLISHED)
    read = read_preferences(path)
    assert list(read.questions) == ["Answer.q1", "Answer.q2", "Answer.q3"]
    assert read.questions["Answer.q1"].outcome == [1.0, 0.0]
    assert read.questions["Answer.q2"].outcome == [1.0, 0.5]
    assert read.questions["Answer.q3"].annotators == ["W1", "W2"]
    assert read.questions["Answer.q3"].models() == ["('gpt2-xl', 'p0.95')", "('gpt2', 'p0.9')", "human"]
    slow = read_preferences(path, answers=["Answer.q3"], min_seconds=25)
    assert list(slow.questions) == ["Answer.q3"] and slow.quick == 1


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
    assert read_preferences(path, answers=["better style"]).questions["better style"].outcome == [0.0]
    with pytest.raises(ValueError, match="no column 'style': it has 'model_a'"):
        read_preferences(path, answers=["style"])
    with pytest.raises(ValueError, match="no judgement took 9 seconds or more"):
        read_preferences(path, min_seconds=9)
    with pytest.raises(ValueError, match="no column 'seconds' for min_seconds"):
        read_preferences([{"winner": "x", "loser": "y"}], min_seconds=9)


def test_rows_of_a_program() -> None:
    read = read_preferences([{"model_a": "x", "model_b": "y", "winner": "a", "judge": 7}])
    assert read.questions["winner"].annotators == ["7"]
    for wrong in ("x.json", [], [{"winner": "x", "loser": "y"}, {"winner": "x"}]):
        with pytest.raises(ValueError, match=r"must be a table|no rows|row 1: no value for 'loser'"):
            read_preferences(wrong)
    with pytest.raises(TypeError, match="must hold dicts, got str"):
        read_preferences(["human"])  # type: ignore[list-item]
    with pytest.raises(TypeError, match="must be a path or a list of dicts, got int"):
        read_preferences(3)  # type: ignore[arg-type]
