"""Every result has the same methods, and each of its formats is one that other programs read."""

from __future__ import annotations

import base64
import csv
import functools
import html
import io
import json
import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from mauve_metric import (
    compare,
    compute_mauve,
    describe,
    explain,
    human_baseline,
    rank_by_preferences,
    robustness,
    score_boundary_guesses,
    stress_test,
)
from mauve_metric.report.document import Column, Document, Heading, Line, Prose, Table, row_of
from mauve_metric.results.methods import Result

ODD = 'odd | _name_ %$&#{} \\ ~^ <b>"`'
WORDS = "the old sea was calm and a man in his boat saw no fish for many days".split()


def features(seed: int, shift: float = 0.0) -> np.ndarray:
    return shift + np.random.default_rng(seed).normal(size=(60, 4))


def texts() -> list[str]:
    rng = np.random.default_rng(1)
    return [f"{' '.join(rng.choice(WORDS, 12))}. {' '.join(rng.choice(WORDS, 9))}." for _ in range(60)]


def length(every: list[str]) -> np.ndarray:
    return np.array([[len(text), text.count("e"), text.count(" a ")] for text in every], dtype=float)


PREFERENCES = [
    {"model_a": ODD, "model_b": "b", "winner": answer, "annotator": str(number % 3)}
    for number, answer in enumerate(["a", "b", "a", "tie", "a", "b"] * 4)
]
MEASURES = {"mauve|": {ODD: 0.9, "b": 0.3, "c": 0.1}}
MORE = [
    {"model_a": "c", "model_b": name, "winner": winner, "annotator": "0"} for name in (ODD, "b") for winner in "aab"
]
GUESSES = [
    {
        "true_boundary_index": number % 10,
        "predicted_boundary_index": number * 7 % 10,
        "model": ODD if number % 2 else "b",
    }
    for number in range(40)
]
MODELS = {ODD: features(1, 0.3), "b": features(2, 1.0)}
MAKERS: dict[str, Callable[[], Result]] = {
    "compute_mauve": lambda: compute_mauve(p_features=features(0), q_features=features(1, 0.3)),
    "compare": lambda: compare(p_features=features(0), models=MODELS),
    "explain": lambda: explain(p_text=texts(), q_text=texts()[::-1], featurize_model_name=length, num_buckets=4),
    "describe": lambda: describe(p_features=features(0), models=MODELS, measures="distance"),
    "human_baseline": lambda: human_baseline(p_features=features(0), splits=2),
    "robustness": lambda: robustness(p_features=features(0), models=MODELS, vary=["seed", "num_buckets"]),
    "stress_test": lambda: stress_test(
        texts(), featurizers={ODD: length, "b": length}, perturbations="truncated", strengths=(0.5, 1), num_buckets=4
    ),
    "preferences": lambda: rank_by_preferences([*PREFERENCES, *MORE], MEASURES),
    "boundaries": lambda: score_boundary_guesses(GUESSES),
}


@functools.cache
def made(name: str) -> Result:
    return MAKERS[name]()


def cells(line: str, mark: str) -> int:
    return len(re.findall(rf"(?<!\\){re.escape(mark)}", line))


@pytest.mark.parametrize("name", MAKERS)
def test_terminal_text_ends_with_the_signature_and_has_no_control_characters(name: str) -> None:
    shown = made(name).document().terminal()
    assert all(line.isprintable() for line in shown.split("\n")) and "\n\n\n" not in shown
    assert shown.split("\n")[-1] == f"signature: {made(name).document().signatures[-1][1]}"


@pytest.mark.parametrize("name", MAKERS)
def test_a_narrow_terminal_loses_no_word(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = made(name).document().terminal(signatures=False)
    monkeypatch.setenv("COLUMNS", "80")
    shown = made(name).document().terminal(signatures=False)
    assert max(map(len, shown.split("\n")[1:])) <= 80 and {*whole.split()} == {*shown.split()}


@pytest.mark.parametrize("name", MAKERS)
def test_markdown_tables_are_rectangular(name: str) -> None:
    blocks = made(name).to_markdown().split("\n\n")
    tables = [block.splitlines() for block in blocks if block.startswith("| ")]
    assert len(tables) == len([part for part in made(name).document().shown("markdown") if isinstance(part, Table)]) > 0
    for table in tables:
        assert re.fullmatch(r"\|(---:?\|)+", table[1]) and len(table) > 2
        assert len({cells(line, "|") for line in table}) == 1
    assert blocks[-1].startswith("`") and blocks[-1].endswith("`\n")


@pytest.mark.parametrize("name", MAKERS)
def test_latex_is_balanced_and_escaped(name: str) -> None:
    lines = [line for line in made(name).to_latex().splitlines() if not line.startswith("%")]
    text = "\n".join(lines)
    assert text.count("\\begin{tabular}") == text.count("\\end{tabular}") == text.count("\\toprule") > 0
    assert len(re.findall(r"(?<!\\){", text)) == len(re.findall(r"(?<!\\)}", text))
    assert not re.search(r"(?<!\\)[#%]", text) and text.count("$") % 2 == text.count(r"\$") % 2
    for table in re.findall(r"\\begin{tabular}{(\w+)}(.*?)\\end{tabular}", text, re.DOTALL):
        rows = [line for line in table[1].splitlines() if line.endswith(r" \\")]
        assert {cells(line, "&") for line in rows} == {len(table[0]) - 1}


@pytest.mark.parametrize("name", MAKERS)
def test_csv_has_a_header_and_rows_of_its_length(name: str) -> None:
    found = made(name)
    for table, shown in found.document().tables.items():
        header, *rows = list(csv.reader(io.StringIO(found.to_csv(table))))
        assert header == [column.key for column in shown.columns] and len(rows) == len(shown.rows)
        assert all(len(row) == len(header) for row in rows)
    assert found.to_csv() == found.to_csv(next(iter(found.document().tables)))
    with pytest.raises(ValueError, match=f"table must be one of {', '.join(found.document().tables)}, got 'no'"):
        found.to_csv("no")


@pytest.mark.parametrize("name", MAKERS)
def test_json_holds_the_signature_and_no_other_type(name: str) -> None:
    found = made(name)
    values = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    signature = json.dumps(found.document().signatures[0][1], ensure_ascii=False)
    assert signature in json.dumps(values, ensure_ascii=False)


@pytest.mark.more
@pytest.mark.parametrize("name", MAKERS)
def test_figure_and_report_show_the_names_and_run_nothing(name: str, tmp_path: Path) -> None:
    found, tags = made(name), []
    assert '"description"' in found.plot().to_json()
    page = found.save_report(tmp_path / "report.html").read_text(encoding="utf-8")
    parser = HTMLParser()
    parser.handle_starttag = lambda tag, attrs: tags.append(tag)  # type: ignore[method-assign]
    parser.feed(page)
    assert f"base64,{base64.b64encode(b'<svg ').decode()[:6]}" in page
    assert "img" in tags and "table" in tags and not {"script", "link", "b>"} & set(tags)
    for _, signature in found.document().signatures:
        assert signature in html.unescape(page)
    with pytest.raises(ValueError, match=r"\.html"):
        found.save_report(tmp_path / "report.pdf")


def test_each_view_of_one_document() -> None:
    columns = (Column("name", "name"), Column("value", "value", ".2f"))
    table = Table(columns, [row_of(columns, "a_b", 0.5), row_of(columns, "c", None)])
    prose = Prose(["One.", "", Line("A point.", " - ", "   ")], lead="First.")
    parts = [Heading("a_b", "2 rows"), prose, table, Table(columns, [])]
    found = Document("Title", parts, {"rows": table}, [("", "s:1")])
    assert found.terminal().split("\n\n") == [
        "Title",
        "a_b: 2 rows",
        "  First.\n  One.\n - A point.",
        "  name  value\n  a_b    0.50\n  c         –",
        "signature: s:1",
    ]
    rows = "| name | value |\n|---|---:|\n| a\\_b | 0.50 |\n| c | – |"
    assert found.markdown().split("\n\n") == ["**a\\_b**", "**First.**", "One.\n- A point.", rows, "`s:1`\n"]
    top = "\\begin{tabular}{lr}\n\\toprule\nname & value \\\\\n\\midrule\n"
    body = "a\\_b & 0.50 \\\\\nc & -- \\\\\n\\bottomrule\n\\end{tabular}"
    assert found.latex() == f"% a_b\n\n{top}{body}\n\n% s:1\n"
    assert found.csv() == found.csv("rows") == "name,value\na_b,0.5\nc,\n"


def test_methods_check_their_arguments() -> None:
    result = made("describe")
    for path in (3, "", None, b"a.html"):
        with pytest.raises(ValueError, match=r"^path must be the name of a file, got "):
            result.save_report(path)  # type: ignore[arg-type]
    for every in ("no", np.zeros(2), None):
        with pytest.raises(ValueError, match=r"^every must be True or False, got "):
            result.to_latex(every=every)  # type: ignore[arg-type]
    for name in ("nope", 3, ["mmd"]):
        with pytest.raises(ValueError, match=r"^measure must be one of "):
            result.best_model(name)  # type: ignore[attr-defined]
        with pytest.raises(ValueError, match=r"^table must be one of "):
            result.to_csv(name)  # type: ignore[arg-type]
    score = made("compute_mauve")
    for names in ("mauve", 3, None, ["nope"], [3], [["mauve"]], ["closeness_ci"], ["q_hist"]):
        with pytest.raises((TypeError, ValueError), match=r"^names must be "):
            score.numbers(names)  # type: ignore[attr-defined]
    ends = score.numbers(("closeness_ci_low", "mauve", "verdict"))  # type: ignore[attr-defined]
    assert ends["mauve"] == score.mauve and ends.keys() == {"closeness_ci_low", "mauve", "verdict"}  # type: ignore[attr-defined]
