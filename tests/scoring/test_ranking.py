"""The order of models, and forecasts of their differences."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import numpy as np
import pytest
from samples import HUMAN_FEATURES, MODEL_FEATURES

from mauve_metric import Comparison, MauveResult, compare, compute_mauve
from mauve_metric.options import MauveConfig
from mauve_metric.report.wording.verdict_sentence import ranking_sentence
from mauve_metric.scoring.ranking import NEAR_0, _forecasts, ranked_by_closeness, ranked_by_learned_score
from mauve_metric.uncertainty.closeness import Bound
from mauve_metric.uncertainty.forecast import LEAST_FORECAST, MOST_FORECAST, detectable_difference


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    return compare(p_features=HUMAN_FEATURES, models=MODEL_FEATURES, num_runs=2)


@pytest.mark.parametrize("stderr", [1e-12, 0.01, 0.4, 5.0])
@pytest.mark.parametrize("difference", [0.0, 1e-12, 1e-4, 0.2, 1.0])
def test_forecasts_near_their_ends_are_numbers_of_texts(
    comparison: Comparison, stderr: float, difference: float
) -> None:
    pair = replace(comparison.differences[0], difference=difference, stderr=stderr)
    smallest, needed = _forecasts([pair], comparison.models, MauveConfig())
    assert smallest is not None and 0 < smallest <= 1
    assert needed is None or LEAST_FORECAST <= needed <= MOST_FORECAST
    if difference == 0:
        assert needed is None
    elif difference >= 0.2:
        assert needed is not None


def test_texts_to_show_a_difference_grow_with_its_inverse_square(comparison: Comparison) -> None:
    best, texts = comparison.differences[0], min(result.n_q for result in comparison.models.values())
    inside = {name: replace(result, closeness_ci=(0.1, 0.9)) for name, result in comparison.models.items()}
    for difference in (0.05, 0.1, 0.2):
        pair = replace(best, difference=difference, stderr=0.02)
        smallest, needed = _forecasts([pair], inside, MauveConfig())
        assert smallest == pytest.approx(detectable_difference(0.02, 0.95))
        assert needed == max(round(texts * (smallest / difference) ** 2), LEAST_FORECAST)
    near_1 = {name: replace(result, closeness_ci=(0.6, 1.0)) for name, result in inside.items()}
    assert _forecasts([replace(best, stderr=0.02)], near_1, MauveConfig())[0] == pytest.approx(0.4)


def test_at_the_floor_models_have_two_orders() -> None:
    rng, centre = np.random.default_rng(0), 4 * np.eye(6)[0]
    human = centre + rng.normal(size=(120, 6))
    models = {
        "narrow": centre + 0.5 * np.eye(6)[1] + 0.05 * rng.normal(size=(120, 6)),
        "wide": centre + 3 * rng.normal(size=(120, 6)),
        "far": centre + 4 * np.eye(6)[2] + rng.normal(size=(120, 6)),
    }
    found = compare(p_features=human, models=models, num_runs=1, mauve_scaling_factor=100)
    assert all((result.closeness or 0) < NEAR_0 for result in found.models.values()), found
    assert found.ranked_by == "precision" and found.ranking[0] == "narrow" and found.recall_ranking[0] == "wide"
    for score, order, pairs in (
        ("precision", found.ranking, found.differences),
        ("recall", found.recall_ranking, found.recall_differences),
    ):
        values = [getattr(found.models[name], score) for name in order]
        assert values == sorted(values, reverse=True) and len(pairs) == 3
        for pair in pairs:
            a, b = (getattr(found.models[name], score) for name in (pair.a, pair.b))
            assert pair.difference == pytest.approx(a - b) and pair.ci is not None
            ends = [getattr(found.models[name], f"{score}_ci") for name in (pair.a, pair.b)]
            widths = [high - low for low, high in ends]
            # of independent errors, but for their ends at 0
            assert pair.ci[1] - pair.ci[0] == pytest.approx(np.hypot(*widths), rel=0.1)
            assert not pair.real or pair.ci[0] > 0
    said = ranking_sentence(found)
    assert said.startswith("The closeness of all is near 0, where it does not order them.")
    assert said.endswith(" By precision (quality), narrow is first. By recall (diversity), wide is first.")
    for shown in (str(found), found.to_markdown(), found.document().terminal()):
        assert said in " ".join(shown.split()) and "All models differ" not in shown
    assert found.texts_needed is None and found.smallest_difference is None


def test_without_neighbours_groups_order_models_at_the_floor() -> None:
    rng = np.random.default_rng(1)
    models = {name: rng.normal(size=(120, 3)) + 9 for name in "ab"}
    found = compare(p_features=rng.normal(size=(120, 3)), models=models, num_runs=1, knn=False)
    assert found.ranked_by == "groups" and found.recall_ranking == ()
    assert "Ranked by the score by groups." in found.to_markdown() and "by groups" in found.to_latex()


CONFIG = MauveConfig()


@pytest.fixture(scope="module")
def small() -> MauveResult:
    rows = HUMAN_FEATURES[:30], MODEL_FEATURES["good"][:30]
    return compute_mauve(p_features=rows[0], q_features=rows[1], num_buckets=2, num_runs=1, knn=False)


def bound(of_model: int, kind: Literal["groups", "classifier"] = "groups", texts: int = 60) -> Bound:
    """Two buckets: half of the human texts are in the first, and so many of sixty model texts."""
    human, model = np.arange(texts) % 2, (np.arange(texts) >= of_model).astype(np.int64)
    return Bound(kind, [(human, model)], None)


def value_of(partition: Bound) -> float:
    values = partition.estimates(CONFIG).values
    assert values is not None
    return values[0]


def ranked(small: MauveResult, **models: dict[str, Any]) -> dict[str, Any]:
    usual = {"bounds": (bound(40),), "closeness": 0.5}
    return ranked_by_closeness({name: replace(small, **usual | fields) for name, fields in models.items()}, CONFIG)


SUPPORT: dict[str, Any] = {"closeness": 0.04, "precision": 0.5, "precision_ci": (0.4, 0.6)}
SUPPORT |= {"recall": 0.5, "recall_ci": (0.4, 0.6)}


def test_models_are_ranked_by_precision_where_all_are_near_0(small: MauveResult) -> None:
    without = {"closeness": 0.5, "closeness_without_layout": 0.04, "bounds_without_layout": (bound(40),)}
    for other, ranked_by in (
        ({}, "precision"),
        ({"closeness": None}, "precision"),
        (without, "precision"),
        ({"closeness": 0.05}, "closeness"),
        ({"precision_ci": None}, "groups"),
        ({"recall_ci": None}, "groups"),
    ):
        assert ranked(small, a=SUPPORT, b=SUPPORT | other)["ranked_by"] == ranked_by, other
    assert ranked(small, a=SUPPORT)["ranked_by"] == "closeness"  # nothing is to be ordered
    found = ranked(small, a=SUPPORT, b=SUPPORT | {"precision": 0.9, "precision_ci": (0.7, 1.0)})
    (pair,) = found["differences"]
    assert found["ranking"] == ("b", "a") and pair.difference == pytest.approx(0.4)
    # Zou and Donner 2008; above 0.9 the error is half of the interval's width, since it ends at 1
    assert pair.ci == pytest.approx((0.4 - (0.2**2 + 0.1**2) ** 0.5, 0.4 + (0.15**2 + 0.1**2) ** 0.5))


def test_a_model_is_ranked_by_its_lowest_bound_that_has_an_interval(small: MauveResult) -> None:
    low, high, few = bound(55), bound(40), bound(2, texts=2)
    assert value_of(low) < value_of(high)
    assert few.estimates(CONFIG).mauve is None
    for fields, lowest in (
        ({"bounds": (high, low)}, low),
        ({"bounds": (low, high)}, low),
        ({"bounds": (few, high)}, high),
        ({"bounds": (few,)}, few),
        ({"bounds": (low,), "bounds_without_layout": (high,), "closeness_without_layout": 0.5}, high),
        ({"bounds": (high,), "bounds_without_layout": (low,)}, high),
    ):
        (pair,) = ranked(small, a={"bounds": (bound(30),)}, b=fields)["differences"]
        assert (pair.a, pair.difference) == ("a", pytest.approx(value_of(bound(30)) - value_of(lowest)))
        assert (pair.ci is None) == (pair.p_value is None) == (lowest is few)
    near_0 = [
        {"closeness": 0.01, "bounds": (high, replace(bound(of_model), kind="classifier"))} for of_model in (59, 58)
    ]
    assert ranked(small, a=near_0[0], b=near_0[1])["differences"][0].difference == 0  # by groups alone
    classifiers = [{**fields, "bounds": fields["bounds"][1:]} for fields in near_0]
    assert ranked(small, a=classifiers[0], b=classifiers[1])["ranking"] == ("b", "a")


@pytest.mark.parametrize(
    ("worse", "better"),
    [
        ({"mauve_debiased": 0.5}, {"mauve_debiased": 0.6}),
        ({"mauve_debiased": None, "mauve": 0.5}, {"mauve_debiased": 0.6}),
        ({"mauve_debiased": None, "mauve": 0.5}, {"mauve_debiased": None, "mauve": 0.6}),
        ({"frontier_integral_debiased": 0.2}, {"frontier_integral_debiased": 0.1}),
        ({"frontier_integral_debiased": None, "frontier_integral": 0.2}, {"frontier_integral_debiased": 0.1}),
        ({"mauve": 0.5}, {"mauve": 0.6}),
    ],
)
def test_models_of_one_closeness_are_ordered_by_their_groups(
    small: MauveResult, worse: dict[str, Any], better: dict[str, Any]
) -> None:
    same = {"mauve_debiased": 0.5, "frontier_integral_debiased": 0.15, "mauve": 0.3, "frontier_integral": 0.9}
    assert ranked(small, a=same | worse, b=same | better)["ranking"] == ("b", "a")
    assert ranked(small, b=same | worse, a=same | better)["ranking"] == ("a", "b")


def test_models_are_ranked_by_falling_learned_score(small: MauveResult) -> None:
    assert ranked_by_learned_score({}, CONFIG) == ((), ())
    assert small.learned is not None
    scores = {"a": 0.2, "b": 0.9, "c": 0.5}
    found, pairs = ranked_by_learned_score(
        {name: (small.learned._replace(mauve=value), None) for name, value in scores.items()}, CONFIG
    )
    assert found == ("b", "c", "a") and [(pair.a, pair.b) for pair in pairs] == [("b", "c"), ("b", "a"), ("c", "a")]


def test_forecasts_are_of_the_smallest_set_and_of_the_ends_that_reach_1(small: MauveResult) -> None:
    best = ranked(small, a={}, b={"bounds": (bound(50),)})["differences"][0]
    pair = replace(best, difference=0.1, stderr=0.02)
    smallest = detectable_difference(0.02)
    usual = {"closeness_ci": (0.1, 0.9), "n_p": 300, "n_q": 300}
    assert _forecasts([], {}, CONFIG) == _forecasts([replace(best, stderr=None)], {}, CONFIG) == (None, None)
    for name in ("n_p", "n_q"):
        for small_one in "ab":
            models = {key: replace(small, **usual | ({name: 200} if key == small_one else {})) for key in "ab"}
            assert _forecasts([pair], models, CONFIG) == (smallest, round(200 * (smallest / 0.1) ** 2))
    layout = {"closeness_ci": (0.1, 1.0), "closeness_without_layout": 0.5, "closeness_without_layout_ci": (0.7, 1.0)}
    for changes, expected in (
        (({"closeness_ci": (0.6, 1.0)}, {"closeness_ci": (0.8, 1.0)}), 0.4),
        (({"closeness_ci": (0.6, 0.99)}, {"closeness_ci": (0.8, 1.0)}), 0.2),
        (({"closeness_ci": None}, {"closeness_ci": (0.8, 1.0)}), 0.2),
        ((layout, {}), 0.3),
        (({"closeness_ci": (0.0, 1.0)}, {}), 1.0),
    ):
        models = {name: replace(small, **usual | fields) for name, fields in zip("ab", changes, strict=True)}
        assert _forecasts([pair], models, CONFIG)[0] == pytest.approx(expected)
