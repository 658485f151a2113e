"""The commands `rank_by_preferences` and `score_boundary_guesses`: what they print in every form, and how they fail."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from mauve_metric import rank_by_preferences, score_boundary_guesses
from mauve_metric.hosts.cli.main import main

PREFERENCES = "winner,loser,worker\n" + "".join(
    f"{one},{two},w{number % 3}\n"
    for one, two, times in (("human", "a", 3), ("a", "human", 1), ("a", "b", 2), ("b", "=c", 2), ("=c", "a", 1))
    for number in range(times)
)
MEASURES = "model,mauve,mine\na,0.9,1\nb,0.5,\n=c,0.1,2\n"
GUESSES = "model,boundary,guess\ngpt2,4,4\ngpt2,5,7\nxl,none,3\n"


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str, str]:
    paths = []
    for name, content in (("preferences", PREFERENCES), ("measures", MEASURES), ("guesses", GUESSES)):
        path = tmp_path / f"{name}.csv"
        path.write_text(content, encoding="utf-8")
        paths.append(str(path))
    return paths[0], paths[1], paths[2]


def printed(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """Standard output; the notes that a table for programs has no room for are on the other one."""
    assert main(arguments) == 0
    out, err = capsys.readouterr()
    assert err == "" or any(form in arguments for form in ("--csv", "--csv-correlations", "--latex"))
    return out


def test_preferences_prints_models_measures_and_failures(
    files: tuple[str, str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    out = printed(["preferences", files[0], "--with", files[1]], capsys)
    assert out.index("human") < out.index("=c") < out.index("mauve")
    assert "9 judgements by 3 annotators, 0 ties." in out
    assert "No correlation of mine: it has no value for 'b'." in out


def test_json_is_the_result(files: tuple[str, str, str], capsys: pytest.CaptureFixture[str]) -> None:
    found = json.loads(printed(["preferences", files[0], "--with", files[1], "--ties", "drop", "--json"], capsys))
    assert found == json.loads(
        json.dumps(rank_by_preferences(files[0], files[1], ties="drop").to_dict(), allow_nan=False)
    )
    question = found["questions"]["winner"]
    assert question["models"]["human"]["score"] > 0 and question["ranking"][0] == "human"
    assert question["correlations"]["mauve"]["correlation"] == 1.0
    found = json.loads(printed(["boundaries", files[2], "--json"], capsys))
    assert found == json.loads(json.dumps(score_boundary_guesses(files[2]).to_dict(), allow_nan=False))
    assert found["models"]["gpt2"]["points"] == 4.0


def test_tables_for_programs_and_papers(files: tuple[str, str, str], capsys: pytest.CaptureFixture[str]) -> None:
    rows = list(csv.DictReader(io.StringIO(printed(["preferences", files[0], "--csv"], capsys))))
    assert [row["rank"] for row in rows] == ["1", "2", "3", "4"]
    assert {row["model"] for row in rows} == {"human", "a", "b", "'=c"}  # no formula
    arguments = ["preferences", files[0], "--with", files[1], "--csv-correlations"]
    rows = list(csv.DictReader(io.StringIO(printed(arguments, capsys))))
    assert [(row["question"], row["measure"], float(row["correlation"])) for row in rows] == [("winner", "mauve", 1.0)]
    assert "| rank | model |" in printed(["preferences", files[0], "--markdown"], capsys)
    assert "\\toprule" in printed(["preferences", files[0], "--latex"], capsys)
    rows = list(csv.DictReader(io.StringIO(printed(["boundaries", files[2], "--csv"], capsys))))
    assert [row["model"] for row in rows] == ["gpt2", "xl", "(all)"]
    assert "| model | points |" in printed(["boundaries", files[2], "--markdown"], capsys)
    assert "\\toprule" in printed(["boundaries", files[2], "--latex"], capsys)


def test_boundaries_prints_points_and_those_of_random_guesses(
    files: tuple[str, str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    out = " ".join(printed(["boundaries", files[2], "--signature"], capsys).split())
    assert "gpt2 4.000 0.000 5.000 " in out and "by guessing at random" in out and "signature: sentences:10|" in out
    assert "alpha" not in out  # the output quotes no text


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["preferences", "nowhere.csv"], "error: there is no file 'nowhere.csv'  [no_file]"),
        (["preferences", "GUESSES"], "mauve-metric boundaries reads it"),
        (["preferences", "MEASURES", "--answer", "mine", "--better", "mine=best"], "of mine must be higher or lower"),
        (["boundaries", "PREFERENCES"], "must have the columns 'boundary' and 'guess'"),
        (["preferences", "PREFERENCES", "--with", "GUESSES"], "in column 'guess'|is given twice|no measures"),
        (
            ["preferences", "PREFERENCES", "--confidence-level", "95"],
            "--confidence-level must be a number in (0, 1), got 95",
        ),
        (["preferences", "PREFERENCES", "--pseudo-wins", "-1"], "--pseudo-wins must be a number in [0, 1e+09), got -1"),
    ],
)
def test_bad_input_is_one_sentence(
    arguments: list[str], said: str, files: tuple[str, str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    given = {"PREFERENCES": files[0], "MEASURES": files[1], "GUESSES": files[2]}
    assert main([given.get(argument, argument) for argument in arguments]) == 1
    out, err = capsys.readouterr()
    assert out == "" and err.count("\n") == 1 and err.startswith("mauve-metric: error: ")
    assert any(part in err for part in said.split("|"))


def test_two_forms_at_once_are_wrong_usage(files: tuple[str, str, str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["preferences", files[0], "--json", "--csv"])
    assert caught.value.code == 2 and "not allowed with" in capsys.readouterr().err
