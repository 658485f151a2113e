"""Stored results: those of the package are taken, and a changed number is found by the counts beside it."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from mauve_metric import compare, compute_mauve
from mauve_metric.hosts.stored_results import check_stored, check_stored_order

RNG = np.random.default_rng(0)
SETS = {
    "far": (RNG.normal(size=(60, 5)), RNG.normal(size=(40, 5)) + 1),
    "equal": (RNG.normal(size=(100, 5)), RNG.normal(size=(100, 5))),
    "copies": (np.repeat(RNG.normal(size=(20, 5)), 3, axis=0), RNG.normal(size=(60, 5))),
    "small": (RNG.normal(size=(5, 3)), RNG.normal(size=(4, 3))),
}


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"num_buckets": 3, "num_runs": 3},
        {"mauve_scaling_factor": 0.1, "divergence_curve_discretization_size": 5},  # alike, but of few texts
        {"quantizer": "classifier"},
        {"num_runs": 1, "knn": False, "permutations": 20},
    ],
)
@pytest.mark.parametrize("sets", SETS)
def test_what_the_package_writes_is_consistent(sets: str, options: dict[str, Any]) -> None:
    p, q = SETS[sets]
    result = compute_mauve(p_features=p, q_features=q, **({"num_buckets": 2} if sets == "small" else {}) | options)
    check_stored(json.loads(json.dumps(result.to_dict())))


@pytest.mark.parametrize("design", [{"aligned": True}, {"p_groups": [*range(50)] * 2, "q_groups": [*range(25)] * 4}])
def test_results_of_a_design_are_consistent(design: dict[str, Any]) -> None:
    p, q = SETS["equal"]
    check_stored(compute_mauve(p_features=p, q_features=q, **design).to_dict())


_CHANGES: list[tuple[dict[str, Any], str]] = [
    *(({name: 0.123}, f"its {name} is not what") for name in ("mauve", "mauve_star", "mauve_exact", "mauve_floor")),
    *(({name: 0.123}, f"its {name} is not what") for name in ("frontier_integral", "frontier_integral_star")),
    *(({name: 0.123}, f"its {name} is not what") for name in ("jensen_shannon", "prd_area", "prd_precision")),
    ({"mauve_classifier": None}, "belong together"),
    ({"auc": 0.5}, "its auc is not what its own counts give"),
    ({"auc": None}, "belong together"),
    ({"learned_p_counts": None}, "belong together"),
    ({"learned_p_counts": [60]}, "must hold numbers of all texts"),
    *(({"learned_q_counts": wrong}, "must hold whole numbers") for wrong in ("x", ["x"], [None], [[], 1], [10**400])),
    *(({"q_hist": wrong}, "q_hist must hold numbers") for wrong in (["x"], [[], 1], [10**400])),
    ({"p_hist": [0.5, 0.5]}, "p_hist must hold"),
    ({"n_p": 61}, "p_hist must hold shares of n_p texts"),
    ({"mauve": float("nan")}, "its mauve is not what"),
    ({"mauve": "0.9"}, "its mauve is not what"),
    ({"precision": 1e308}, "its precision must be a number in its range"),
    ({"mauve_classifier": 0.9}, "its mauve_classifier is not what"),
    ({"closeness": 0.99}, "its closeness must be no higher than its mauve_"),
    ({"closeness_ci": [0.98, 1.0]}, "its closeness must be no higher than its mauve_"),
    *(({"closeness_ci": wrong}, "its closeness_ci must be two numbers") for wrong in ([], [0.1], ["a", "b"], 0.5)),
    ({"by_featurizer": {"x": {"auc_ci": []}}}, "its auc_ci must be two numbers"),
    ({"by_featurizer": {"x": {"auc": 0.2, "auc_ci": [0.5, 0.9]}}}, "its auc_ci must hold its score, 0.2:"),
    ({"closeness": 0.0, "closeness_ci": [0.001, 0.02]}, "its closeness_ci must hold its score, 0.0"),
    *(({"mauve_debiased_ci": wrong}, "its mauve_debiased_ci must hold") for wrong in ([0.998, 0.999], [0.9, 0.01])),
    ({"precision": None}, "its precision_ci must hold its score, None"),
    *(({name: -0.1}, f"its {name} must be a number") for name in ("mauve_debiased_stderr", "mauve_ceiling_std")),
    *(({name: 1.1}, f"its {name} must be a number") for name in ("mauve_ceiling", "mauve_finer")),
    *(({name: 0.4321}, f"its {name} is not what") for name in ("mauve_mean", "mauve_std")),
    *(({"mauve_runs": wrong}, "mauve_runs must hold numbers") for wrong in ([], None, 0.5, ["x"], [[0.5]])),
    ({"mauve_runs": [0.5]}, "its mauve is not what"),
    ({"verdict": "undecided", "shown_by": []}, "its verdict 'undecided' is not what"),
    ({"verdict": "like human"}, "its verdict 'like human' is not what its own numbers give"),
    ({"verdict": "undecided"}, "its verdict 'undecided' is not what"),
    ({"shown_by": []}, "its verdict 'different' is not what"),
    ({"verdict": "no verdict"}, "its verdict 'no verdict' is not what"),
    ({"closeness": True}, "its closeness must be a number"),
    ({"density": float("inf")}, "its density must be a number"),
    *(({name: 7.0}, f"its {name} must be a number") for name in ("format_auc", "shown_p_value", "human_halves")),
    *(({name: -5}, f"its {name} must be a number") for name in ("q_median_length", "texts_needed", "p_dropped")),
    (
        {"closeness_without_layout": 0.9, "normalised": {"mauve_classifier": 0.1}},
        "its closeness_without_layout must be no higher than its normalised",
    ),
]


@pytest.mark.parametrize(("change", "message"), _CHANGES)
def test_a_changed_number_is_found(change: dict[str, Any], message: str) -> None:
    p, q = SETS["far"]
    result = compute_mauve(p_features=p, q_features=q, independent=True).to_dict()
    with pytest.raises(ValueError, match=message):
        check_stored(result | change)


def test_a_comparison_that_contradicts_itself_is_found() -> None:
    (human, near), (_, far) = SETS["equal"], SETS["far"]
    values = compare(p_features=human, models={"near": near, "far": far}).to_dict()
    check_stored_order(values)
    with pytest.raises(ValueError, match="its ranking is not by falling closeness"):
        check_stored_order(values | {"ranking": values["ranking"][::-1]})
    (pair,) = values["differences"]
    with pytest.raises(ValueError, match="its difference of near and far is not what"):
        check_stored_order(values | {"differences": [pair | {"difference": 0.01}]})
    lower = {**values["models"]["near"], "mauve_classifier": 0.0}
    with pytest.raises(ValueError, match="its closeness must be no higher than its mauve_classifier"):
        check_stored_order(values | {"by_featurizer": {"x": {"models": {**values["models"], "near": lower}}}})
    check_stored_order(values | {"by_featurizer": {"x": {"models": values["models"]}}})
