"""No sentence claims that sets or models are equal, or that a number is certain: rendered results, code and pages."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from samples import PACKAGE, ROOT

from mauve_metric import Comparison, MauveResult, compare
from mauve_metric.hosts.space.view.headline import result_html as page_headline
from mauve_metric.report.wording import words
from mauve_metric.report.wording.verdict_sentence import NO_VERDICT, headline, ranking_sentence

FORBIDDEN = re.compile(
    r"there is no difference between|(?:sets|models|they) do not differ|does not differ|equally close|"
    r"(?:the two sets|models) are (?:alike|equal|the same|indistinguishable)|no difference is real|"
    r"\(p = 0\)|p = 0 from",
    re.IGNORECASE,
)


def normal(seed: int, shift: float = 0.0) -> np.ndarray:
    return shift + np.random.default_rng(seed).normal(size=(40, 3))


@pytest.fixture(scope="module")
def pair() -> Comparison:
    models = {"a": normal(1, 0.2), "b": normal(2, 0.3)}
    return compare(p_features=normal(0), models=models, num_buckets=4, permutations=19)


ENDS = [None, (0.3, 0.5, 0.8), (0.3, 0.7, 1.0), (0.95, 1.0, 1.0), (1.0, 1.0, 1.0)]
VERDICTS = [(word, None) for word in ("like human", "different", "undecided")]
VERDICTS += [("no verdict", reason) for reason in NO_VERDICT]
P_VALUES = [None, 2.3e-308, 0.05, 1.0]


def changed(
    result: MauveResult, ends: tuple[float, float, float] | None, said: tuple[Any, str | None], p: float | None
) -> MauveResult:
    low, value, high = ends or (None, None, None)
    ci = None if low is None or high is None else (low, high)
    scores: dict[str, Any] = {"mauve_debiased": value, "mauve_debiased_ci": ci, "closeness": value, "closeness_ci": ci}
    return replace(result, verdict=said[0], verdict_reason=said[1], p_value=p, **scores)


@pytest.mark.more
@pytest.mark.parametrize("said", VERDICTS)
def test_no_verdict_claims_equality(pair: Comparison, said: tuple[Any, str | None]) -> None:
    for ends, p in itertools.product(ENDS, P_VALUES):
        result = changed(pair.models["a"], ends, said, p)
        for text in (headline(result), str(result), result.to_markdown(), page_headline(result)):
            assert not FORBIDDEN.search(text), text


@pytest.mark.more
@pytest.mark.parametrize("said", VERDICTS)
@pytest.mark.parametrize(("difference", "real"), [(0.0, False), (0.1, False), (0.1, True)])
def test_no_comparison_claims_equality(
    pair: Comparison, difference: float, real: bool, said: tuple[Any, str | None]
) -> None:
    for p, needed in itertools.product((2.3e-308, 0.5), (None, 30, 10**6)):
        item = replace(pair.differences[0], difference=difference, real=real, p_value=p)
        models = {name: changed(one, ENDS[3], said, p) for name, one in pair.models.items()}
        found = replace(pair, differences=(item,), models=models, texts_needed=needed, learned_ranking=())
        views = [ranking_sentence(found), words.forecast_sentence(found)]
        views += [page_headline(found), str(found), found.to_markdown(), found.to_latex(), found.to_csv()]
        for text in views:
            assert not FORBIDDEN.search(text), text
        sure = said[0] != "no verdict"
        assert ("closest" in views[0]) == (real and sure)
        assert ("do not tell the models apart" in views[0]) == (not real and sure)


@pytest.mark.parametrize("folder", [PACKAGE, ROOT / "docs", ROOT / "examples", ROOT / "leaderboard"])
def test_no_page_or_message_claims_equality(folder: object) -> None:
    assert isinstance(folder, type(ROOT))
    files = [file for file in folder.rglob("*") if file.suffix in (".py", ".md", ".html")] + [ROOT / "README.md"]
    found = {
        file.name: match.group()
        for file in files
        if (match := FORBIDDEN.search(" ".join(file.read_text(encoding="utf-8").split())))
    }
    assert len(files) > 1 and not found
