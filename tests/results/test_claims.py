"""No sentence claims that sets or models are equal, or that a number is certain: rendered results, code and pages."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace

import numpy as np
import pytest
from samples import PACKAGE, ROOT

from mauve_metric import Comparison, MauveResult, compare, compute_mauve
from mauve_metric.hosts.space.view import markup
from mauve_metric.results import result_methods
from mauve_metric.results.wording import words
from mauve_metric.results.wording.answer import joint_comparison, joint_verdict
from mauve_metric.results.wording.verdict import LIFTED, WITHHELD, verdict
from mauve_metric.uncertainty.score_warnings import ScoreWarning

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
CODES = ["", *WITHHELD, *LIFTED]
P_VALUES = [None, 2.3e-308, 0.05, 1.0]


def changed(result: MauveResult, ends: tuple[float, float, float] | None, code: str, p: float | None) -> MauveResult:
    low, value, high = ends or (None, None, None)
    ci = None if low is None or high is None else (low, high)
    warnings = (ScoreWarning(code, "message", {}),) if code else ()
    return replace(result, mauve_debiased=value, mauve_ci=ci, warnings=warnings, p_value=p)


@pytest.mark.parametrize("code", CODES)
def test_no_verdict_claims_equality(pair: Comparison, code: str) -> None:
    for ends, p in itertools.product(ENDS, P_VALUES):
        result = changed(pair.models["a"], ends, code, p)
        other = changed(pair.models["b"], (0.3, 0.5, 0.8), "", 0.05)
        both = joint_verdict({"x": result, "y": other}), joint_verdict({"x": result, "y": result})
        for said in (verdict(result), words.headline(result).sentence, *both, markup.headline(result)):
            assert not FORBIDDEN.search(said), said


@pytest.mark.parametrize(("difference", "real", "code"), [
    (0.0, False, ""), (0.1, False, ""), (0.1, True, ""), (0.1, True, "shared_prompts"), (0.0, False, "short_references")
])  # fmt: skip
def test_no_comparison_claims_equality(pair: Comparison, difference: float, real: bool, code: str) -> None:
    for p, needed in itertools.product((2.3e-308, 0.5), (None, 30, 10**6)):
        item = replace(pair.differences[0], difference=difference, real=real, p_value=p)
        models = {name: changed(one, ENDS[3], code, p) for name, one in pair.models.items()}
        found = replace(pair, differences=(item,), models=models, texts_needed=needed, learned_ranking=())
        views = [words.ranking_verdict(found), words.conclusion(found), words.forecast_sentence(found)]
        views += [joint_comparison({"x": found, "y": found}), markup.headline(found), str(found)]
        views += [found.to_markdown(), found.to_latex(), found.to_csv()]
        for said in views:
            assert not FORBIDDEN.search(said), said
        assert "closest" not in views[0] or (real and not code)
        assert ("cannot be told apart" in views[0]) == (not real and not code)
    assert not FORBIDDEN.search(result_methods.report_page(found))


def test_a_verdict_names_its_features(pair: Comparison) -> None:
    apart = compute_mauve(p_features=normal(0), q_features=normal(1, 5.0), num_buckets=4)
    unmeasured = ", whose blind spots were not measured"  # of interest where no difference is seen
    alike = replace(changed(apart, (0.95, 1.0, 1.0), "", None), auc=None)
    for result in (apart, alike):
        entries = {**result.signature_entries, "featurize_model_name": "org/name"}
        said = verdict(replace(result, signature_entries=entries))
        assert " on the features of org/name" in said and (unmeasured in said) == (result is alike)
    assert "on the features given" in words.ranking_verdict(pair)


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
