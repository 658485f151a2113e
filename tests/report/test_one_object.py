"""Every number beside a name is that object's, and all views of a result hold the same facts.

Every verdict, of one and two featurizers, of one and three models, in every view.
"""

from __future__ import annotations

import csv
import hashlib
import html
import io
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest

from mauve_metric import Comparison, MauveResult, compare, compute_mauve
from mauve_metric.report import html_and_images
from mauve_metric.report.charts import of_comparison
from mauve_metric.report.first_screen import verdict_words
from mauve_metric.report.html_and_images import document_page, report_page
from mauve_metric.report.wording.verdict_sentence import headline, ranking_sentence
from mauve_metric.results.result import VerdictWord

VERDICTS: list[tuple[VerdictWord, str | None]] = [
    ("like human", None),
    ("different", None),
    ("different", "layout"),
    ("undecided", None),
    ("no verdict", "rows_not_aligned"),
]
NAMES = {"n_a": 0.3, "n_b": 0.8, "n_c": 1.2}  # models, by how far they are from the human texts
FEW: dict[str, Any] = {"num_runs": 1, "kmeans_num_redo": 1}


@pytest.fixture(scope="module")
def scored() -> dict[int, tuple[MauveResult, Comparison]]:
    """A score of one model and a comparison of three, by one featurizer and by two."""
    rng = np.random.default_rng(0)
    names = ("human", *NAMES)  # texts without a layout of their own
    texts = {name: [hashlib.sha256(f"{name}{row}".encode()).hexdigest() for row in range(60)] for name in names}
    rows = {text: rng.normal(size=8) + NAMES.get(name, 0.0) for name, each in texts.items() for text in each}

    def first(every: list[str]) -> np.ndarray:
        return np.array([rows[text][:4] for text in every])

    def second(every: list[str]) -> np.ndarray:
        return np.array([rows[text][4:] * 2 + 1 for text in every])

    human = texts.pop("human")
    found = {}
    for number, featurizers in ((1, {"f_x": first}), (2, {"f_x": first, "f_y": second})):
        single = compute_mauve(p_text=human, q_text=texts["n_b"], featurizers=featurizers, **FEW)
        found[number] = single, compare(human, texts, featurizers=featurizers, **FEW)
    return found


@pytest.fixture(autouse=True)
def no_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(html_and_images, "chart_svg", lambda chart: "<svg></svg>")
    for name in ("forest_chart", "curve_charts", "contributions_chart"):
        monkeypatch.setattr(of_comparison, name, Mock())


def judged_as(result: MauveResult, verdict: VerdictWord, reason: str | None) -> MauveResult:
    known = (
        {"closeness_without_layout": 0.612, "closeness_without_layout_ci": (0.567, 0.678)} if reason == "layout" else {}
    )
    return replace(result, verdict=verdict, verdict_reason=reason, **known)


def numbers_of(result: MauveResult, own: float | None = None) -> list[float]:
    """The scores of one object, with their intervals."""
    names = ("mauve", "mauve_debiased", "mauve_finer", "mauve_classifier", "closeness", "closeness_without_layout")
    names += ("auc", "precision", "recall", "density", "coverage", "human_halves", "frontier_integral", "mauve_ceiling")
    values = [*(getattr(result, name) for name in names), own, round(result.auc or 0, 2)]
    values += [end for name in names for end in getattr(result, f"{name}_ci", None) or ()]
    return [float(value) for value in values if isinstance(value, (int, float))]


def assert_own(line: str, allowed: list[float]) -> None:
    """Assert that each decimal of a line is one of these numbers, rounded."""
    for text in re.findall(r"(?<![\w.])\d\.\d+", line):
        step = 10.0 ** -len(text.split(".")[1])
        assert any(abs(float(text) - value) <= step for value in allowed), (text, line)


def rows_of(view: str) -> Iterator[list[str]]:
    """The rows of the tables of any view, as cells or words."""
    if "<tr" in view:
        for row in re.findall(r"<tr[^>]*>(.*?)</tr>", view, re.DOTALL):
            yield [re.sub("<[^>]*>", "", cell) for cell in re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row, re.DOTALL)]
        view = re.sub(r"<tr.*</tr>", "", view, flags=re.DOTALL)
    for line in html.unescape(view).replace("\\_", "_").splitlines():
        yield [part.strip() for part in re.split(r"[|&]|\s{2,}|,(?=\S)", line) if part.strip()]


def objects(result: MauveResult | Comparison) -> dict[tuple[str, ...], list[float]]:
    """The numbers that may be beside each name, or pair of featurizer and model."""
    if isinstance(result, MauveResult):
        joint = [result.closeness or 0, *(result.closeness_ci or ())]
        found = {(name,): numbers_of(one) for name, one in result.by_featurizer.items()}
        if (score := result.together) is not None:
            found["joined",] = [score.mauve_classifier, *score.mauve_classifier_ci, score.auc, round(score.auc, 2)]
        return found | {("all",): joint}
    found = {}
    for name, one in result.models.items():
        if len(result.by_featurizer) < 2:
            found[name,] = numbers_of(one, result.own[name].mauve)
            continue
        for label, of_featurizer in result.by_featurizer.items():
            single = of_featurizer.models[name]
            found[label, name] = numbers_of(single, of_featurizer.own[name].mauve)
        score = one.together
        assert score is not None
        found["joined", name] = [score.mauve_classifier, *score.mauve_classifier_ci, score.auc]
        plain = [one.closeness_without_layout, *(one.closeness_without_layout_ci or ())]
        found["all", name] = [
            value for value in (one.closeness, *(one.closeness_ci or ()), *plain) if value is not None
        ]
        each = [part.models[name].closeness or 0 for part in result.by_featurizer.values()]
        mixed = [result.own[name].mauve, one.precision or 0, one.recall or 0, *(one.precision_ci or ())]
        # the row of a model: closeness, and the columns that are named after a featurizer
        found[name,] = [*found["all", name], *each, score.mauve_classifier, *mixed, *(one.recall_ci or ())]
    return found


def check_rows(view: str, allowed: Mapping[tuple[str, ...], list[float]]) -> int:
    """Assert that each row that begins with a name, but for the ranks, has numbers of that object; return how many."""
    seen = 0
    for cells in rows_of(view):
        words = [cell.removesuffix(" *") for cell in cells if not re.fullmatch(r"\d+|–", cell)]
        for size in (2, 1):
            key = tuple(words[:size])
            if key in allowed and not {*words[size : size + 1]} & {*NAMES}:
                assert_own(" ".join(words[size:]), allowed[key])
                seen += 1
                break
    return seen


def check_csv(view: str, allowed: Mapping[tuple[str, ...], list[float]]) -> None:
    for row in csv.DictReader(io.StringIO(view)):
        key = tuple(filter(None, (row.get("featurizer"), row.get("model"))))
        for name in ("closeness", "closeness_without_layout", "mauve_debiased", "mauve_classifier", "auc", "precision"):
            if row.get(name):
                assert any(abs(float(row[name]) - value) < 1e-9 for value in allowed[key]), (key, name, row)


@pytest.mark.parametrize("number", [1, 2])
@pytest.mark.parametrize(("verdict", "reason"), VERDICTS)
def test_numbers_of_a_score(
    scored: dict[int, tuple[MauveResult, Comparison]], number: int, verdict: VerdictWord, reason: str | None
) -> None:
    result = judged_as(scored[number][0], verdict, reason)
    document, allowed = result.document(), objects(result)
    views = [document.terminal(), result.to_markdown(), document_page(document, Mock())]
    for view in (str(result), *views):
        assert check_rows(view, allowed) >= (3 if number == 2 else 0)
    said, closeness = headline(result), f"{result.closeness:.3f}"
    for view in (str(result), *views, result.to_latex()):
        text = " ".join(html.unescape(view).replace("\\", "").split())
        assert " ".join(said.removesuffix(".").split()) in text and closeness in text
    assert verdict_words(result) in result.to_csv() and f"{result.closeness}" in result.to_csv()
    if number == 2:
        rows = list(csv.DictReader(io.StringIO(result.to_csv("featurizers"))))
        assert [row["featurizer"] for row in rows] == ["f_x", "f_y", "joined"]
        (deciding,) = [row for row in rows if row["decides"]]
        assert float(deciding["closeness"]) == result.closeness
        check_csv(result.to_csv("featurizers"), allowed)
        by = {row["score"]: row["featurizer"] for row in csv.DictReader(io.StringIO(result.to_csv()))}
        assert by.pop("closeness") == "all" and {*by.values()} == {"f_x"}


@pytest.mark.parametrize("models", [1, 3])
@pytest.mark.parametrize("number", [1, 2])
@pytest.mark.parametrize(("verdict", "reason"), VERDICTS)
def test_numbers_of_a_comparison(
    scored: dict[int, tuple[MauveResult, Comparison]],
    number: int,
    models: int,
    verdict: VerdictWord,
    reason: str | None,
) -> None:
    whole = scored[number][1]
    comparison = some_models(whole, [*NAMES][:models])
    judged = {name: judged_as(one, verdict, reason) for name, one in comparison.models.items()}
    comparison = replace(comparison, models=judged)
    document, allowed = comparison.document(), objects(comparison)
    views = [str(comparison), document.terminal(), comparison.to_markdown(), report_page(comparison)]
    for view in views:
        assert check_rows(view, allowed) >= models
    check_rows(comparison.to_latex(), {key: values for key, values in allowed.items() if len(key) == 1})
    check_csv(comparison.to_csv(), allowed)
    said = ranking_sentence(comparison)
    for view in (*views[: None if models > 1 else 3], comparison.to_latex()):
        text = " ".join(html.unescape(view).replace("\\", "").split())
        assert " ".join(said.removesuffix(".").split()) in text, text
        for name, one in comparison.models.items():
            assert name in text and f"{one.closeness:.3f}" in text
    rows = list(csv.DictReader(io.StringIO(comparison.to_csv())))
    deciding = [row for row in rows if row.get("featurizer", "all") == "all"]
    assert {row["model"]: float(row["closeness"]) for row in deciding} == {
        name: one.closeness for name, one in comparison.models.items()
    }
    assert {row["verdict"] for row in deciding} == {verdict_words(one) for one in comparison.models.values()}


def some_models(comparison: Comparison, names: list[str]) -> Comparison:
    """A comparison of some of the models."""
    kept: dict[str, Any] = {key: {name: getattr(comparison, key)[name] for name in names} for key in ("models", "own")}
    for key in ("ranking", "learned_ranking", "together_ranking"):
        kept[key] = tuple(name for name in getattr(comparison, key) if name in names)
    for key in ("differences", "learned_differences", "together_differences"):
        kept[key] = tuple(pair for pair in getattr(comparison, key) if {pair.a, pair.b} <= {*names})
    kept["by_featurizer"] = {label: some_models(one, names) for label, one in comparison.by_featurizer.items()}
    return replace(comparison, smallest_difference=None, texts_needed=None, **kept)


def test_a_paper_and_a_verdict_name_every_featurizer(scored: dict[int, tuple[MauveResult, Comparison]]) -> None:
    single, several = scored[2]
    for result in (single, several, some_models(several, ["n_a"])):
        paper = result.to_latex().replace("\\_", "_")
        assert "features of f_x + f_y, " in paper
        assert " by f_x. Precision and recall: " in paper and "in both by f_x." in paper
    for model in (single, *several.models.values()):
        assert "as far as f_x + f_y see:" in headline(judged_as(model, "like human", None))
    assert "in both by f_x" not in "".join(result.to_latex().replace("\\_", "_") for result in scored[1])
