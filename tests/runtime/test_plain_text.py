"""Numbers as text, never wrongly an end of their range; names are data: nasty ones through every output."""

from __future__ import annotations

import csv
import html
import io
import json
import math
import re
from pathlib import Path

import numpy as np
import pytest

from mauve_metric import Comparison, compare
from mauve_metric.apps.describing.catalogue.all_measures import MEASURES
from mauve_metric.apps.studies.robustness_result import CSV_COLUMNS, FACTOR_COLUMNS, PAIR_COLUMNS
from mauve_metric.hosts.cli.main import main
from mauve_metric.hosts.space.view.text_map import map_chart
from mauve_metric.report import html_and_images
from mauve_metric.report.document import latex_text
from mauve_metric.report.html_and_images import chart_svg, save_chart
from mauve_metric.runtime.plain_text import cell, digits, figure_text, percent, printable, shown_names, spreadsheet_text

NASTY = (
    "</script><script>alert(1)</script>",
    "<!--<script>",
    "\x1b]0;title\x07\x1b[31mred",
    "a\x00b",
    "\ufffe",
    "\ud800",
    "evil\u202e",
    "a\r\\input{b}",
    "a b",
    "a\nb",
    '=HYPERLINK("http://x")',
    "+1",
    "-2",
    "@x",
    "x;=1+1",
    'x" ; -1',
    "see https://e.org",
    "www.e.org #1",
    "a@e.org",
    "constructor",
    "toString",
    "__proto__",
    "p",
    "q",
    "[x]",
    "5 % & $1_^{}",
    "| `*",
)
KEYS = ("constructor", "toString", "__proto__")


@pytest.fixture(scope="module")
def nasty() -> Comparison:
    rng = np.random.default_rng(0)
    models = {name: rng.normal(number / 10, 1, size=(20, 3)) for number, name in enumerate(NASTY)}
    return compare(p_features=rng.normal(size=(20, 3)), models=models, num_buckets=3, num_runs=1, buckets=1, seed=1)


def assert_plain(text: str) -> None:
    """Nothing in a text that a terminal, or a comment's end, would act on."""
    assert all(line.isprintable() for line in text.split("\n"))
    text.encode()


def test_ordinary_names_stay_as_they_are() -> None:
    for name in ("gpt2-xl", "org/model v1.0", "a  b", "日本 🙂", "می\u200cخواهم", "a<b>"):
        assert printable(name) == figure_text(name) == spreadsheet_text(name) == name


def test_names_that_would_look_alike_are_told_apart() -> None:
    assert list(shown_names(["a\nb", "a b", "a\tb"]).values()) == ["a b (2)", "a b", "a b (3)"]


@pytest.mark.slow
def test_the_data_keeps_every_name(nasty: Comparison) -> None:
    found = nasty.to_dict()
    assert list(found["models"]) == list(NASTY) and set(found["ranking"]) == set(NASTY)
    assert list(json.loads(json.dumps(found))["mauve_own"]) == list(NASTY)


@pytest.mark.slow
def test_the_terminal_shows_every_name_without_control_sequences(nasty: Comparison) -> None:
    shown = nasty.document().terminal()
    assert_plain(shown)
    assert r"\x1b]0;title\x07\x1b[31mred" in shown and r"a\x00b" in shown and r"\ufffe" in shown
    assert len(re.findall(r"^ +\d+  \S", shown, re.MULTILINE)) == len(NASTY)  # a row each, equal ones of one rank
    for explanation in nasty.explanations.values():
        assert_plain(str(explanation))


def test_markdown_and_latex_hold_no_markup_of_a_name(nasty: Comparison) -> None:
    markdown, latex = nasty.to_markdown(), nasty.to_latex()
    assert_plain(markdown.replace("\u2060", ""))
    assert_plain(latex)
    table = next(part for part in markdown.split("\n\n") if part.startswith("| rank |")).splitlines()
    assert len(table) == len(NASTY) + 2
    columns = len(re.findall(r"(?<!\\)\|", table[1]))
    assert all(len(re.findall(r"(?<!\\)\|", line)) == columns for line in table)
    assert not re.search(r"(?<!\\)<", "\n".join(table))
    prose = re.sub(r"`[^`\n]*`|^    .*$", "", markdown, flags=re.MULTILINE)  # but code, in which nothing is live
    assert not re.search(r"@\w|://|www\.|#\d", prose)
    live = [line for line in latex.splitlines() if not line.startswith("% ")]
    assert r"\input" not in "\n".join(live) and r"\input" in latex.splitlines()[-1]
    assert not any(line.startswith("[") for line in latex.splitlines())  # it would be the option of the line above


def test_latex_escapes_every_mark_of_a_title() -> None:
    titles = {row.title for row in MEASURES.values()}
    titles |= {column.title for column in (*PAIR_COLUMNS, *FACTOR_COLUMNS, *CSV_COLUMNS)}
    assert {"χ² divergence", "lowest τ"} < titles
    for title in titles:  # text fonts have the letters of Latin 1, and neither Greek nor ∞
        assert all(mark.isascii() or (mark <= "ÿ" and mark.isalpha()) for mark in latex_text(title)), title


def assert_no_formula(content: str) -> None:
    """No cell that a spreadsheet computes, where commas part cells and where semicolons do."""
    for delimiter in ",;":
        for row in csv.reader(io.StringIO(content), delimiter=delimiter):
            for cell_text in row:
                is_number = re.fullmatch(r"-?[\d.e+-]+(,.*)?", cell_text)
                assert is_number or not re.match(r"[\s\"]*[=+\-@]", cell_text), cell_text


def test_no_field_of_a_csv_is_a_formula(nasty: Comparison) -> None:
    rows = list(csv.DictReader(io.StringIO(nasty.to_csv())))
    assert len(rows) == len(NASTY) and {"'+1", "'-2", "'@x", "constructor"} <= {row["model"] for row in rows}
    for row in csv.DictReader(io.StringIO(nasty.to_csv("differences"))):
        assert not row["a"].startswith(("=", "+", "-", "@")) and not row["b"].startswith(("=", "+", "-", "@"))
        assert -1 <= float(row["difference"]) <= 1
    assert_plain(nasty.to_csv())
    assert_no_formula(nasty.to_csv())


@pytest.mark.slow
def test_a_figure_draws_every_name_and_runs_none(
    nasty: Comparison, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("vl_convert.javascript_bundle", lambda *_, **__: "")  # a megabyte of Vega
    chart = nasty.plot()
    save_chart(chart, tmp_path / "figure.html")
    drawn = html.unescape(chart_svg(chart)).replace("\u2060", "")
    for name in shown_names(NASTY).values():
        assert drawn.count(f">{name}<") >= 3 or (name == "__proto__" and drawn.count(name) >= 3)
    pages = [(tmp_path / "figure.html").read_text(encoding="utf-8"), chart.to_html()]
    pages.append(str(chart._repr_mimebundle_()))
    for page in pages:
        assert (
            "alert(1)" in page and "<script>alert(1)" not in page and "</script><" not in page.split("const spec")[-1]
        )
        assert not re.search(r"<script>alert\(1\)|alert\(1\)</script>|<!--<script>", page)


@pytest.mark.more
def test_attributes_of_javascript_objects_are_ordinary_names() -> None:
    rng = np.random.default_rng(1)
    data = {name: rng.normal(size=(20, 3)) for name in (*KEYS, "gpt2")}
    found = compare(p_features=rng.normal(size=(20, 3)), models=data, num_buckets=3, num_runs=1)
    drawn = chart_svg(found.plot()).replace("\u2060", "")
    assert [drawn.count(f">{key}<") for key in KEYS] == [drawn.count(">gpt2<")] * len(KEYS) != [0] * len(KEYS)


@pytest.mark.more
def test_the_map_of_texts_takes_any_name_and_text() -> None:
    rng = np.random.default_rng(2)
    names = ["human", *NASTY]
    rows = [rng.normal(size=(3, 2)).astype(np.float32) for _ in names]
    buckets, texts = [np.zeros(3, np.int64) for _ in names], [["</script><script>alert(1)"] * 3 for _ in names]
    chart = map_chart(names, rows, buckets, texts, (0.5, 0.2))
    assert "</script><script>alert" not in chart.to_html()
    drawn = html.unescape(chart_svg(chart)).replace("\u2060", "")
    assert all(name in drawn for name in shown_names(names).values())


@pytest.mark.slow
def test_the_report_shows_every_name_as_text(
    nasty: Comparison, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(html_and_images, "chart_svg", lambda chart: "<svg></svg>")  # what base64 would hide
    page = nasty.save_report(tmp_path / "report.html").read_text(encoding="utf-8")
    assert "<script" not in page.lower() and "<!--" not in page
    assert_plain(page)
    for name in shown_names(NASTY).values():
        assert html.escape(name) in page or str(html.escape(name)).replace("&quot;", "&#34;") in page


def test_the_signature_says_the_size_of_every_set(nasty: Comparison) -> None:
    assert nasty.signature_entries["n_p"] == 20 and nasty.signature_entries["n_model_p"] == 20
    assert "n_model_q" in nasty.signature_entries and "n_q" not in nasty.signature_entries
    rng = np.random.default_rng(0)
    sets = {name: rng.normal(size=(size, 3)) for name, size in (("p", 21), ("model_p", 22), ("gpt2", 23))}
    found = compare(p_features=rng.normal(size=(20, 3)), models=sets, num_buckets=3, num_runs=1)
    sizes = {key: value for key, value in found.signature_entries.items() if key.startswith("n_")}
    assert sizes == {"n_p": 20, "n_model_p": 21, "n_model_model_p": 22, "n_gpt2": 23}


@pytest.mark.more
def test_the_shell_prints_files_of_any_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(0)
    paths = [tmp_path / f"{name}.npy" for name in ("human", "\x1b[31mred", "=1+1", "a\rb")]
    for path in paths:
        np.save(path, rng.normal(size=(20, 3)))
    for flags in ((), ("--json",)):
        assert main(["compare", *map(str, paths), "--num-buckets", "3", *flags]) == 0
        out, err = capsys.readouterr()
        assert_plain(out)
        assert_plain(err)


def test_the_shell_is_clean_in_titles_and_errors(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "\x1b[31mred.npy"
    np.save(path, np.random.default_rng(0).normal(size=(20, 3)))
    assert main(["score", str(path), str(path), "--num-buckets", "3"]) == 0
    assert main(["score", str(path), str(tmp_path / "\x1b[31mred.txt"), "--num-buckets", "3"]) == 1
    assert main(["score", str(path), str(tmp_path / "a\x1bb.what")]) == 1
    out, err = capsys.readouterr()
    assert_plain(out)
    assert_plain(err)
    assert r"\x1b[31mred.npy (model)" in out


@pytest.mark.parametrize("form", [".2f", ".3f", ".4f", "+.4f", ".2g"])
def test_only_an_end_of_the_range_is_shown_as_one(form: str) -> None:
    rng = np.random.default_rng(0)
    near = 10.0 ** rng.uniform(-16, 0, size=300)
    for value in [*near, *(1 - near), *(near - 1 if form[0] == "+" else [])]:
        shown = digits(float(value), form)
        if shown[0] in "<>":
            bound = float(shown[1:])
            assert value < bound if shown[0] == "<" else value > bound
        else:
            assert float(shown) not in (-1, 0, 1) or float(shown) == value
    assert [float(digits(end, form)) for end in (0.0, 1.0)] == [0, 1]


def test_a_range_without_ends_has_a_zero_like_any_number() -> None:
    values = (-1e-15, -1e-6, 1e-15, 0.04, -0.06, 1.00001)
    assert [digits(value, "+.1f", ()) for value in values] == ["+0.0", "+0.0", "+0.0", "+0.0", "-0.1", "+1.0"]
    assert digits(-1e-15, "+.1f") == ">-0.1"


def test_shown_numbers_are_the_rounded_ones() -> None:
    assert [digits(value) for value in (0.83312, 12.5, 0.9999954, -0.0)] == ["0.8331", "12.5000", "0.999995", "0.0000"]
    assert [cell(value, ".2g") for value in (0.031, 1.0, 1e-12, 0.9996)] == ["0.031", "1", "<0.0001", "0.9996"]
    assert [cell(None, ".4f"), cell(3, "d"), cell("a", "s"), cell(math.nan, ".3f")] == ["–", "3", "a", "nan"]
    assert [percent(part, 3.0) for part in (0.0, 1e-6, 1.0, 2.99999, 3.0)] == [
        "0.0 %", "<0.1 %", "33.3 %", "99.9997 %", "100.0 %",
    ]  # fmt: skip
