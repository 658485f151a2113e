"""The order of models, and forecasts of their differences."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from samples import HUMAN_FEATURES, MODEL_FEATURES

from mauve_metric import Comparison, compare
from mauve_metric.options import MauveConfig
from mauve_metric.report.wording.verdict_sentence import ranking_sentence
from mauve_metric.scoring.ranking import NEAR_0, _forecasts
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
