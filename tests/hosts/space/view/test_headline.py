"""The first screen of the page: each number is that of the model or the featurizer whose name is beside it."""

from __future__ import annotations

import html
import re
from dataclasses import replace

import numpy as np
import pytest

from mauve_metric import MauveResult, compare, compute_mauve
from mauve_metric.hosts.flags_and_labels import PAGE
from mauve_metric.hosts.space.session import bars
from mauve_metric.hosts.space.view import headline as page
from mauve_metric.hosts.space.view.markup import verdicts
from mauve_metric.report.wording.verdict_sentence import headline, ranking_sentence
from mauve_metric.report.wording.words import learned_sentence
from mauve_metric.runtime.plain_text import digits
from mauve_metric.uncertainty.score_warnings import warn
from tests.samples import HUMAN, MODEL, ngrams

_GARBLED = {"p_texts": 0, "n_p": 30, "q_texts": 9, "n_q": 24, "share": 9 / 24}


@pytest.fixture(scope="module")
def result() -> MauveResult:
    quick = {"num_buckets": 4, "num_runs": 2, "kmeans_num_redo": 1}
    return compute_mauve(p_text=HUMAN, q_text=MODEL, featurize_model_name=ngrams, **quick)


def text_of(shown: str) -> str:
    """The visible text."""
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", shown)).split())


def cells(page: str, table: str) -> list[list[str]]:
    """The words in the cells of a table, by its class."""
    body = page.split(f"mm-table {table}'>")[1].split("<tbody>")[1].split("</tbody>")[0]
    return [
        [text_of(cell) for cell in re.findall(r"<t[hd].*?</t[hd]>", row, re.DOTALL)] for row in body.split("</tr>")[:-1]
    ]


def number(value: float | None, ends: tuple[float, float] | None) -> str:
    interval = "" if ends is None else f" [{digits(ends[0], '.3f')}, {digits(ends[1], '.3f')}]"
    return "–" if value is None else digits(value, ".3f") + interval


def test_a_comparison_has_the_published_number_of_its_best_model() -> None:
    rng = np.random.default_rng(0)
    human, best, small = rng.normal(size=(120, 4)), rng.normal(size=(120, 4)), 2 + rng.normal(size=(60, 4))
    compared = compare(p_features=human, models={"small": small, "best": best}, num_runs=1, knn=False)
    published = compute_mauve(p_features=human, q_features=best, num_runs=1, knn=False).mauve
    assert compared.models["best"].mauve != published
    assert page.first_screen_values(compared)["scales"][0].startswith(f"MAUVE, computed as in papers: {published:.4f};")


def test_headline_is_verdict_closeness_and_its_bar(result: MauveResult) -> None:
    seen = text_of(page.result_html(result))
    assert seen.startswith(headline(result)) and f"closeness {result.closeness:.3f}" in seen
    assert f"MAUVE, not computed as in papers: {result.mauve:.4f}" in seen and bars.scale() in seen
    (row,) = cells(page.result_html(result), "mm-seen")
    assert row[1] == number(result.closeness, result.closeness_ci)
    assert row[2] == f"{100 * (result.auc or 0):.0f} times in 100"
    assert [row[3], row[-1]] == [
        number(result.mauve_debiased, result.mauve_debiased_ci),
        number(result.mauve_classifier, result.mauve_classifier_ci),
    ]
    full = text_of(verdicts(result))
    assert learned_sentence(result) in full
    warned = replace(result, warnings=(warn("garbled_texts", _GARBLED, more="model"),))
    assert "wrongly decoded characters such as â€™ for ’ in" in text_of(page.result_html(warned))
    single = replace(
        result, closeness=None, closeness_ci=None, verdict="no verdict", verdict_reason="undeclared_prompts"
    )
    shown = text_of(page.result_html(single))
    assert "<strong>unknown</strong>" in page.result_html(single) and bars.DOUBT in shown and "--" not in shown
    shown = shown.replace("“ ", "“").replace(" ”", "”")  # around links
    assert "Tick “Rows are aligned” if row 1 answers row 1, give both files a column “prompt”" in shown


def test_headline_of_equal_models_names_no_winner() -> None:
    rng = np.random.default_rng(0)
    human, model = rng.normal(size=(40, 3)), rng.normal(size=(40, 3))
    equal = compare(p_features=human, models={"a": model, "b": model}, num_runs=1, num_buckets=4)
    assert text_of(page.result_html(equal)).startswith(ranking_sentence(equal))
    assert "closest" not in ranking_sentence(equal)


def test_alignment_is_asked_for_where_the_verdict_lacks_it(result: MauveResult) -> None:
    undeclared = replace(result, verdict="no verdict", verdict_reason="undeclared_prompts", n_p=40, n_q=40)
    assert page.asks_for_alignment([result, undeclared])
    others = replace(undeclared, n_q=39), replace(undeclared, verdict_reason="rows_not_aligned"), result
    assert not page.asks_for_alignment(others)


@pytest.fixture(scope="module")
def featurizers(minilm: str) -> list[str]:
    return ["ngrams", minilm]


@pytest.mark.more
def test_each_featurizer_has_a_row_of_its_own_numbers_and_the_deciding_one_is_marked(featurizers: list[str]) -> None:
    result = compute_mauve(p_text=HUMAN, q_text=MODEL, featurizers=featurizers, num_runs=1)
    assert result.together is not None
    rows = cells(page.result_html(result), "mm-seen")
    assert len(rows) == len(featurizers) + 1
    values = [*(each.closeness for each in result.by_featurizer.values()), result.together.mauve_classifier]
    assert min(value for value in values if value is not None) == result.closeness
    for row, each in zip(rows, result.by_featurizer.values(), strict=False):
        assert [*row[1:4], row[-1]] == [
            number(each.closeness, each.closeness_ci),
            f"{100 * (each.auc or 0):.0f} times in 100",
            number(each.mauve_debiased, each.mauve_debiased_ci),
            number(each.mauve_classifier, each.mauve_classifier_ci),
        ]
    score = number(result.together.mauve_classifier, result.together.mauve_classifier_ci)
    assert [rows[-1][1], *rows[-1][-1:]] == [score, score]
    assert rows[-1][2:4] == [f"{100 * result.together.auc:.0f} times in 100", "–"]
    decides = ["decides" in row[0] for row in rows]
    assert decides.index(True) == values.index(result.closeness) and sum(decides) == 1  # the first of equal ones


@pytest.mark.slow
def test_all_below_the_table_of_models_is_of_the_one_that_is_picked(featurizers: list[str]) -> None:
    compared = compare(
        p_text=HUMAN, models={"a": MODEL, "b": HUMAN[:24], "c": MODEL[:20]}, featurizers=featurizers, num_runs=1
    )
    for name, result in compared.models.items():
        shown = page.result_html(compared, name)
        rows = cells(shown, "mm-models")
        assert [row[0] for row in rows] == list(compared.ranking)
        for row, other in zip(rows, compared.ranking, strict=True):
            scored = compared.models[other]
            assert row[1] == number(scored.closeness, scored.closeness_ci)
            assert row[3] == number(compared.own[other].mauve, None) and row[6].startswith(scored.verdict)
        below = shown.split("</table>", 1)[1]
        assert f"closeness of {name} {digits(result.closeness or 0, '.3f')}" in text_of(below) and PAGE.respell(
            headline(result)
        ) in text_of(below)
        seen = cells(shown, "mm-seen")
        for row, each in zip(seen, compared.by_featurizer.values(), strict=False):
            assert row[1] == number(each.models[name].closeness, each.models[name].closeness_ci)
        assert result.together is not None
        assert seen[-1][1] == number(result.together.mauve_classifier, result.together.mauve_classifier_ci)
    assert page.result_html(compared) == page.result_html(compared, compared.ranking[0])
