"""Each verdict with each of its reasons, and that it depends on the set of texts only."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from samples import texts_of

from mauve_metric import FeatureSet, MauveResult, compute_mauve
from mauve_metric.hosts.cli.warning_guide import ADVICE
from mauve_metric.options import MauveConfig
from mauve_metric.scoring.verdict import LIFTED, NOT_FEATURES, WRONG_DESIGN, judged
from mauve_metric.uncertainty.score_warnings import ScoreWarning

FEW: dict[str, Any] = {"num_runs": 1, "knn": False, "kmeans_num_redo": 1}


def normal(n: int, seed: int, shift: float = 0.0) -> np.ndarray:
    return shift + np.random.default_rng(seed).normal(size=(n, 4))


def score(p: np.ndarray, q: np.ndarray, **options: Any) -> MauveResult:
    return compute_mauve(p_features=p, q_features=q, **FEW | options)


@pytest.fixture(scope="module")
def equal() -> MauveResult:
    return score(normal(1500, 0), normal(1500, 1))


@pytest.fixture(scope="module")
def apart() -> MauveResult:
    return score(normal(100, 0), normal(100, 1, 1.0))


def test_verdicts_of_real_sets(equal: MauveResult, apart: MauveResult) -> None:
    assert (equal.verdict, equal.verdict_reason) == ("like human", None)
    assert equal.closeness_ci is not None and equal.closeness_ci[1] == 1
    assert (apart.verdict, apart.verdict_reason) == ("different", None)
    assert apart.closeness == min(apart.mauve_debiased, apart.mauve_classifier)
    assert score(normal(100, 2), normal(100, 3)).verdict == "undecided"
    few = score(normal(12, 0), normal(12, 1, 3.0))
    assert (few.verdict, few.verdict_reason) == ("no verdict", "too_few")
    reasons = [judged(replace(apart, n_q=texts), MauveConfig()).verdict_reason for texts in (19, 20)]
    assert reasons == ["too_few", None]
    assert score(np.ones((30, 2)), np.ones((30, 2))).verdict_reason == "constant_features"
    assert score(np.ones((1, 2)), np.ones((30, 2))).closeness is None


@pytest.mark.parametrize("code", [*LIFTED, *NOT_FEATURES, *WRONG_DESIGN])
def test_a_warning_withholds_a_verdict_but_no_difference(equal: MauveResult, apart: MauveResult, code: str) -> None:
    assert code in ADVICE
    warned, shown = (
        judged(replace(one, warnings=(ScoreWarning(code, "", {}),)), MauveConfig()) for one in (equal, apart)
    )
    assert warned.verdict == "no verdict"
    assert warned.verdict_reason == {**LIFTED, **NOT_FEATURES, **WRONG_DESIGN}[code]
    assert (shown.verdict == "different") == (code in LIFTED)


def test_layout_is_named_beside_the_difference(apart: MauveResult) -> None:
    found = judged(replace(apart, warnings=(ScoreWarning("wrapping_in_one_set", "", {}),)), MauveConfig())
    assert (found.verdict, found.verdict_reason) == ("different", "layout")


def openings(*numbers: int) -> np.ndarray:
    return np.array(numbers, dtype=np.uint64)


def side(seed: int, hashes: np.ndarray) -> FeatureSet:
    return FeatureSet(
        normal(len(hashes), seed),
        opening_hashes=hashes,
        text_hashes=np.arange(len(hashes), dtype=np.uint64) + 1000 * np.uint64(seed),
    )


def test_rows_that_are_not_aligned_are_found() -> None:
    order = np.arange(40)
    human, step, shuffled = (side(seed, openings(*rows)) for seed, rows in enumerate((order, order, (order + 7) % 40)))
    right, wrong = (compute_mauve(p=human, q=model, aligned=True, **FEW) for model in (step, shuffled))
    assert right.verdict_reason != "rows_not_aligned"
    assert (wrong.verdict, wrong.verdict_reason) == ("no verdict", "rows_not_aligned")
    undeclared = compute_mauve(p=human, q=shuffled, **FEW)
    assert (undeclared.design, undeclared.partners, undeclared.verdict) == ("found", 40, "undecided")


def test_one_prompt_for_all_texts_is_none() -> None:
    human, model = (side(seed, openings(*[5] * 40)) for seed in (0, 1))
    found = [
        compute_mauve(p=human, q=model, **FEW, **more)
        for more in ({}, {"p_groups": ["a"] * 40, "q_groups": ["a"] * 40})
    ]
    assert [one.verdict for one in found] == ["undecided"] * 2
    assert found[0].closeness_ci == found[1].closeness_ci is not None


def test_the_order_of_rows_changes_nothing_but_the_published_number() -> None:
    texts = texts_of(90, 0), texts_of(90, 1)
    rng, found = np.random.default_rng(0), []
    for _ in range(10):
        sides = [[side[i] for i in rng.permutation(90)] for side in texts]
        one = compute_mauve(p_text=sides[0], q_text=sides[1], featurize_model_name="ngrams", num_runs=2)
        warnings = sorted(warning.code for warning in one.warnings if not warning.code.startswith("format"))
        found.append((one.verdict, one.verdict_reason, warnings, one.closeness, one.closeness_ci))
    first = found[0]
    assert all(one[:3] == first[:3] for one in found)
    assert all(np.allclose([one[3], *one[4]], [first[3], *first[4]], rtol=0, atol=1e-9) for one in found)
