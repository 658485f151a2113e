"""A comparison's tables in CSV, Markdown, LaTeX and the terminal; exit status and sentences of gates."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace

import pytest
from samples import ROOT, script

from mauve_metric import Comparison
from mauve_metric.report.first_screen import featurizers_table, first_screen
from mauve_metric.report.result_documents import DIFFERENCE_COLUMNS
from mauve_metric.runtime.plain_text import rounded_up


def test_csv_holds_the_numbers(told: Comparison) -> None:
    rows = list(csv.DictReader(io.StringIO(told.to_csv())))
    assert [row["model"] for row in rows] == list(told.ranking)
    assert float(rows[0]["mauve"]) == told.models[told.ranking[0]].mauve
    pairs = list(csv.DictReader(io.StringIO(told.to_csv("differences"))))
    assert len(pairs) == 1 and float(pairs[0]["p_value"]) == told.differences[0].p_value
    with pytest.raises(ValueError, match="models, differences"):
        told.to_csv("other")


def test_csv_holds_the_verdict_and_the_codes_of_warnings(told: Comparison) -> None:
    for row in csv.DictReader(io.StringIO(told.to_csv())):
        result = told.models[row["model"]]
        assert row["verdict"].startswith(result.verdict)
        weights = {warning.code: warning.weight for warning in result.warnings}
        codes = row["warnings"].split()
        assert {*codes} == {*weights} != set()
        assert [weights[code] for code in codes] == sorted(weights.values(), reverse=True)


def test_markdown_and_latex_escape_names(told: Comparison) -> None:
    document = told.document()
    assert document.paper is not None
    table = next(part for part in told.to_markdown().split("\n\n") if part.startswith("| rank |"))
    for line in table.splitlines():
        assert len(re.findall(r"(?<!\\)\|", line)) == len(document.first_table.columns) + 1
    body = "\n".join(line for line in told.to_latex(every=True).splitlines() if not line.startswith("% "))
    assert not re.search(r"(?<!\\)[$#_]|(?<=.)(?<!\\)%", body)
    for line in body.splitlines():
        if line.endswith(r"\\"):
            assert len(re.findall(r"(?<!\\)&", line)) in (
                len(document.first_table.columns) - 1,
                len(DIFFERENCE_COLUMNS) - 1,
                len(document.paper.table.columns) - 1,
            )


def test_what_two_human_sets_reach_is_on_the_buckets_of_the_mauve_beside_it(comparison: Comparison) -> None:
    own = {name: score._replace(mauve_ceiling=0.123) for name, score in comparison.own.items()}
    told = replace(comparison, own=own)
    assert "MAUVE: two human sets reach about 0.12;" in told.first_screen()
    assert "two human sets of this size reach 0.123." in told.to_latex()
    stored = replace(comparison, own={name: score._replace(mauve_ceiling=None) for name, score in own.items()})
    assert "human sets" not in stored.first_screen() + stored.to_latex()


def test_terminal_table_has_everything(comparison: Comparison) -> None:
    shown = comparison.document().terminal()
    for name in comparison.ranking:
        assert f"{comparison.models[name].mauve:.4f}" in shown and f"{comparison.own[name].mauve:.4f}" in shown
    assert "few_texts" in shown and shown.endswith(comparison.signature)
    assert shown.count("120 texts are few") == 1  # what is true of all models is said once
    assert rounded_up(1) == "1" and rounded_up(100) == "100" and rounded_up(101) == "110"


@pytest.mark.parametrize("command", ["score", "compare"])
def test_the_published_schemas_are_those_of_the_results(command: str) -> None:
    published = (ROOT / f"docs/{command}.schema.json").read_text(encoding="utf-8")
    assert published == script("docs/make_schema").text(command), "run: python docs/make_schema.py"


def test_a_row_holds_the_scores_of_its_featurizer(told: Comparison) -> None:
    result = told.models[told.ranking[0]]
    each = {"first": result, "second": replace(result, p_value=0.5)}
    table = featurizers_table(replace(result, by_featurizer=each))
    assert [row["featurizer"] for row in table.rows] == [*each]
    assert [(row["closeness"], row["low"], row["high"]) for row in table.rows] == [
        (one.closeness, *(one.closeness_ci or ())) for one in each.values()
    ]
    assert "p_value" in [column.key for column in table.columns]
    assert "p_value" not in [
        column.key for column in featurizers_table(replace(result, by_featurizer={"first": result})).columns
    ]


def test_the_first_screen_of_a_score_says_what_joined_is(told: Comparison) -> None:
    result = told.models[told.ranking[0]]
    several = replace(result, by_featurizer={"first": result, "second": result}, together=result)
    legend = "joined: one classifier of the features of all featurizers"
    assert legend in first_screen(several) and legend not in first_screen(replace(several, together=None))
