"""No line of any output contradicts the verdict: one example of each verdict and reason, in every form."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest

from mauve_metric import Comparison, Explanation, MauveResult, compare, compute_mauve, explain
from mauve_metric.options import MauveConfig
from mauve_metric.report import html_and_images
from mauve_metric.report.charts import of_comparison
from mauve_metric.report.document import Prose
from mauve_metric.report.first_screen import featurizers_table
from mauve_metric.report.html_and_images import document_page, report_page
from mauve_metric.report.wording.verdict_sentence import DIFFERS, NO_VERDICT, ranking_sentence
from mauve_metric.scoring.verdict import judged

FEW: dict[str, Any] = {"num_runs": 1, "kmeans_num_redo": 1}
MOST_WORDS, MOST_LINES_OF_EXPLAIN = 25, 40
CLAIMS = {  # what only the outputs of a verdict may say
    "like human": r"like human text|of 0\.\d+ or more would have shown",
    "different": "|".join(
        ["differ(?:ent|s)? (?:strongly )?from human", *DIFFERS.values(), "give it away", "by its layout"]
    ),
    "undecided": r"undecided|a set would most likely decide|a set are too few; about",
    "no verdict": r"no verdict|no ranking",
}
OTHERS = (  # sentences that judge by one number of several
    r"by more than chance|do(?:es)? not show a difference|cannot (?:reliably )?tell|can tell|tells? them apart|closest|"
    r"do not trust|(?:sets|texts) (?:are|look) (?:alike|equal|different)|significant"
)


def normal(seed: int, shift: float = 0.0, n: int = 120) -> np.ndarray:
    return shift + np.random.default_rng(seed).normal(size=(n, 4))


@pytest.fixture(scope="module")
def results() -> dict[str, MauveResult]:
    """One example of each verdict and reason, and of what can show a difference."""
    both = compute_mauve(p_features=normal(0), q_features=normal(1, 1.0), **FEW)
    of_kind = {kind: tuple(bound for bound in both.bounds if bound.kind == kind) for kind in ("groups", "classifier")}
    undecided = compute_mauve(p_features=normal(0), q_features=normal(1), **FEW)
    found = {
        "both": both,
        "groups": judged(replace(both, bounds=of_kind["groups"]), MauveConfig()),
        "detail": judged(replace(both, bounds=of_kind["classifier"]), MauveConfig()),
        "layout": replace(both, verdict_reason="layout"),
        "like human": compute_mauve(p_features=normal(0, n=1500), q_features=normal(1, n=1500), **FEW),
        "undecided": undecided,
    }
    return found | {one: replace(undecided, verdict="no verdict", verdict_reason=one) for one in NO_VERDICT}


@pytest.fixture(scope="module")
def explanation() -> Explanation:
    return explain(p_features=normal(0), q_features=normal(1, 1.0), **FEW)


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    models = {"a": normal(1, 0.5), "b": normal(2, 2.0), "c": normal(3, 2.0)}
    return compare(p_features=normal(0), models=models, **FEW)


@pytest.fixture(autouse=True)
def no_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(html_and_images, "chart_svg", lambda chart: "<svg></svg>")
    for name in ("forest_chart", "curve_charts", "contributions_chart"):
        monkeypatch.setattr(of_comparison, name, Mock())


def check(shown: str, *verdicts: str) -> None:
    """Assert that an output claims nothing but these verdicts."""
    text = " ".join(re.sub(r"<[^>]*>|base64,\S*", " ", shown).split()).lower()
    for verdict, claims in CLAIMS.items():
        if verdict not in verdicts:
            found = re.search(claims, text)
            assert found is None, (verdict, text[max(found.start() - 80, 0) : found.end() + 80])
    found = re.search(OTHERS, text)
    assert found is None, text[max(found.start() - 80, 0) : found.end() + 80]


def test_every_form_of_a_score_agrees_with_its_verdict(results: dict[str, MauveResult]) -> None:
    for result in results.values():
        document = result.document()
        pages = [document_page(document, Mock()), result.to_markdown(), document.terminal()]
        for shown in (*pages, str(result), result.to_latex(), result.to_latex(every=True), result.to_csv()):
            check(shown, result.verdict)
        first = str(result).splitlines()
        assert all(line.rstrip() in pages[1].replace("    ", "", 1) or line.strip() in pages[1] for line in first)
        for page in pages:
            assert page.index(first[2].split(":")[0].split(".")[0]) < page.index("frontier integral")
        assert f"{result.verdict}" in result.to_csv() and first[2].split(":")[0].split(".")[0] in result.to_latex()


def test_explanations_agree_with_the_verdict(results: dict[str, MauveResult], explanation: Explanation) -> None:
    for result in results.values():
        told = replace(explanation, result=result)
        for shown in (str(told), told.document().terminal(), told.to_markdown()):
            check(shown, result.verdict)
        assert len(str(told).splitlines()) <= MOST_LINES_OF_EXPLAIN


@pytest.mark.more
def test_comparisons_agree_with_the_verdicts(results: dict[str, MauveResult], comparison: Comparison) -> None:
    for name, result in results.items():
        pages = [report_page] if name not in [*NO_VERDICT][1:] else []  # the reasons differ in one sentence
        alone = replace(comparison, models={"a": result}, own={"a": comparison.own["a"]}, ranking=("a",))
        alone = replace(alone, differences=(), smallest_difference=None)
        for shown in (str(alone), alone.document().terminal(), alone.to_markdown(), *(page(alone) for page in pages)):
            check(shown, result.verdict)
        several = replace(comparison, models=comparison.models | {"b": result})
        said = ranking_sentence(several)
        assert said.startswith("NO RANKING") == (result.verdict == "no verdict")
        assert ("come first" in said or "closest" in said) == (result.verdict != "no verdict")
        ranks = {row["rank"] for row in several.document().tables["models"].rows}
        assert (ranks == {None}) == (result.verdict == "no verdict")
        told = str(several), several.document().terminal(), several.to_markdown(), *(page(several) for page in pages)
        for shown in told:
            assert said in " ".join(shown.split()) and " rank " not in several.to_latex()


def test_nothing_is_ranked_where_nothing_differs(comparison: Comparison) -> None:
    equal = tuple(replace(pair, real=False) for pair in comparison.differences)
    found = replace(comparison, differences=equal)
    assert ranking_sentence(found) == "These texts do not tell the models apart."
    terminal = found.document().terminal()
    assert "  rank  " not in terminal and "  rank  " in comparison.document().terminal()
    assert found.to_csv().startswith("rank,") and ",no," in found.to_csv() and ",no," not in comparison.to_csv()


def test_sentences_are_short(results: dict[str, MauveResult], comparison: Comparison, explanation: Explanation) -> None:
    several = {"first": results["both"], "second": results["undecided"]}
    told = [*results.values(), comparison, explanation, replace(results["both"], by_featurizer=several)]
    for one in told:
        lines = [line.text for part in one.document().parts if isinstance(part, Prose) for line in part.texts]
        lines = [line for line in lines if not line.startswith("! ")]
        for sentence in (sentence for line in lines for sentence in re.split(r"(?<=[.:;]) ", line)):
            assert len(sentence.split()) <= MOST_WORDS, sentence


def test_featurizers_that_show_a_difference_are_named(results: dict[str, MauveResult]) -> None:
    apart, alike = results["both"], results["undecided"]
    bounds = [replace(bound, featurizer=name) for name, one in (("x", apart), ("y", alike)) for bound in one.bounds]
    result = judged(replace(apart, by_featurizer={"x": apart, "y": alike}, bounds=tuple(bounds)), MauveConfig())
    assert "text: " in str(result) and " Shown by x.\n" in str(result)
    assert [row["featurizer"] for row in featurizers_table(result).rows] == ["x", "y"]
    check(result.document().terminal(), "different")
