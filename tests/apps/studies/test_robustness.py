"""The ranking of models under other settings."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from samples import ngrams, texts_of

from mauve_metric import Comparison, Robustness, compare, robustness
from mauve_metric.apps.studies.robustness_result import Setting
from mauve_metric.apps.studies.robustness_settings import (
    FACTORS,
    Base,
    SetPart,
    changed,
    part_rows,
    planned,
    small_design,
)
from mauve_metric.scoring.evaluation import resolve_config

pytestmark = pytest.mark.more

Features = Callable[[list[str]], np.ndarray]


def sets(n: int = 60, shifts: tuple[float, ...] = (0.0, 0.1, 3.0)) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    human, *models = (rng.normal(shift, 1, size=(n, 6)) for shift in (0.0, *shifts))
    names = ("good", "middle", "bad")
    return {"p_features": human, "models": dict(zip(names, models, strict=False))}


@pytest.fixture(scope="module")
def found() -> Robustness:
    return robustness(**sets(), vary="num_buckets,mauve_scaling_factor,seed,n,row_order,pooling", num_runs=2)


@pytest.mark.slow
def test_every_setting_scores_as_compare_does(found: Robustness) -> None:
    by_name = {setting.name: setting for setting in found.settings}
    for name, options in (
        ("default", {}),
        ("k=3", {"num_buckets": 3}),
        ("c=1", {"mauve_scaling_factor": 1}),
        ("seed=125", {"seed": 125}),
        ("order=pq", {"row_order": "pq"}),
    ):
        comparison = compare(**sets(), **options, num_runs=2, knn=False)  # type: ignore[arg-type]
        assert_ranked_alike(by_name[name], comparison)


def assert_ranked_alike(setting: Setting, comparison: Comparison) -> None:
    """The same scores with errors, ranking and tests."""
    assert (setting.ranking, setting.ranked_by) == (comparison.ranking, comparison.ranked_by)
    assert setting.differences == comparison.differences
    for model, result in comparison.models.items():
        score = setting.models[model]
        assert (score.closeness, score.ci) == (result.closeness, result.closeness_ci)
        assert (score.mauve_debiased, score.mauve) == (result.mauve_debiased, result.mauve)


@pytest.mark.slow
def test_a_part_of_the_texts_scores_as_compare_does_on_it(found: Robustness) -> None:
    setting = next(item for item in found.settings if item.name == "n=1/2 (B)")
    rows, given = part_rows(60, SetPart(2, 1)), sets()
    half = {name: features[rows] for name, features in given["models"].items()}
    comparison = compare(p_features=given["p_features"][rows], models=half, num_runs=2, knn=False)
    assert_ranked_alike(setting, comparison)
    assert (setting.texts, setting.num_buckets) == (30, 3)


def test_a_model_that_copies_itself_scores_as_compare_does() -> None:
    """Copies join prompts of that model alone, and the other one keeps its own groups."""
    rng = np.random.default_rng(0)
    human = rng.normal(size=(120, 6))
    one, two = human * 0.6 + rng.normal(size=(120, 6)) * 0.8, human + rng.normal(size=(120, 6)) * 0.4 + 0.3
    two[10:60] = two[:50]
    given: Any = {"p_features": human, "models": {"one": one, "two": two}, "aligned": True, "num_runs": 2}
    found = robustness(**given, vary="seed", design=False)
    assert_ranked_alike(found.default, compare(**given, knn=False))


def test_a_part_of_a_model_that_repeats_itself_scores_as_compare_does_on_it() -> None:
    rng = np.random.default_rng(5)
    human, one, two = rng.normal(size=(3, 200, 3))
    models = {"one": one[np.arange(200) // 2], "two": two}
    found = robustness(p_features=human, models=models, vary="n", design=False, num_runs=1)
    rows = part_rows(200, SetPart(4, 1))
    of_part = {name: features[rows] for name, features in models.items()}
    comparison = compare(p_features=human[rows], models=of_part, num_runs=1, knn=False)
    assert_ranked_alike(next(item for item in found.settings if item.name == "n=1/4 (B)"), comparison)


def test_the_parts_of_one_size_share_no_row() -> None:
    one, two = part_rows(61, SetPart(4, 0)), part_rows(61, SetPart(4, 1))
    assert len(one) == len(two) == 15 and not set(one) & set(two)


def test_stability_of_pairs_and_effects_of_factors(found: Robustness) -> None:
    assert found.holds and found.ranking[-1] == "bad"
    pairs = {(pair.a, pair.b): pair for pair in found.pairs}
    apart = pairs[found.ranking[0], "bad"]
    assert (apart.verdict, apart.ahead, apart.real) == ("holds", len(found.settings), len(found.settings))
    assert pairs[found.ranking[0], found.ranking[1]].verdict == "never told apart"
    one_c = [setting for setting in found.settings if setting.factor != "mauve_scaling_factor"]
    values = [setting.difference(apart.a, apart.b).difference for setting in one_c]
    assert (apart.smallest, apart.largest) == (min(values), max(values))
    c = next(item for item in found.factors if item.factor == "mauve_scaling_factor")
    assert (c.settings, c.moved, c.effect) == (2, None, None)
    assert {item.factor for item in found.factors} == {
        "num_buckets",
        "mauve_scaling_factor",
        "seed",
        "n",
        "row_order",
    }
    seed = next(item for item in found.factors if item.factor == "seed")
    assert seed.effect_pair is not None
    design = [setting for setting in found.settings for _ in range(setting.in_design)]
    assert len(design) == 12 and len({json.dumps(item.changes) for item in found.settings}) == len(found.settings)
    with_seed, without = (
        [item.difference(*seed.effect_pair).difference for item in design if ("seed" in item.changes) is wanted]
        for wanted in (True, False)
    )
    assert seed.effect == pytest.approx(np.mean(with_seed) - np.mean(without))
    assert len(with_seed) == len(without) == 6


def test_a_ranking_that_depends_on_the_featurizer() -> None:
    human, one, two = (texts_of(60, seed) for seed in range(3))

    def first(texts: list[str]) -> np.ndarray:
        return ngrams(texts) + 5.0 * np.array([[text in one] for text in texts])

    def second(texts: list[str]) -> np.ndarray:
        return ngrams(texts) + 5.0 * np.array([[text in two] for text in texts])

    found = robustness(
        human,
        {"one": one, "two": two},
        featurize_model_name=first,
        featurizers=[second, "no/such-model"],
        vary="featurize_model_name,pooling,max_text_length",
        num_runs=1,
    )
    assert found.ranking == ("two", "one") and not found.holds
    (pair,) = found.pairs
    assert pair.verdict == "turned" and pair.depends_on == "featurize_model_name"
    assert len(pair.turned) == 1 and "second" in pair.turned[0]
    assert found.settings[1].tau == -1
    assert "cannot be loaded" in found.failed["featurizer=no/such-model"]
    assert set(found.left_out) == {"pooling", "max_text_length", "design"}
    assert "settings: two and one under featurizer=" in " ".join(str(found).split())


def test_without_a_featurizer_of_its_own_the_first_makes_the_default() -> None:
    human, one, two = (texts_of(24, seed) for seed in range(3))
    sides: Any = {"p_text": human, "models": {"one": one, "two": two}}
    named = [ngrams, lambda texts: ngrams(texts)[:, ::2]]
    found = robustness(**sides, featurizers=named, vary="featurize_model_name", num_runs=1)
    assert found.failed == {} and len(found.settings) == 2
    assert "2 models under 2 settings" in str(found) and "1 other settings" not in str(found)
    assert_ranked_alike(found.default, compare(**sides, featurize_model_name=ngrams, num_runs=1))


def test_functions_of_one_name_are_told_apart() -> None:
    human, one, two = (texts_of(40, seed) for seed in range(3))
    made = [lambda texts, scale=scale: ngrams(texts)[:, ::scale] for scale in (1, 2, 3)]
    found = robustness(
        human,
        {"one": one, "two": two},
        featurize_model_name=made[0],
        featurizers=made[1:],
        vary="featurize_model_name",
        num_runs=1,
    )
    assert len({setting.models["one"].mauve for setting in found.settings}) == 3


@pytest.mark.slow
def test_pooling_and_length_of_texts(tiny_gpt2: str, caplog: pytest.LogCaptureFixture) -> None:
    human, one, two = (texts_of(24, seed, shortest=10) for seed in range(3))
    with caplog.at_level(logging.INFO, "mauve_metric.apps.studies.robustness"):
        found = robustness(
            human,
            {"one": one, "two": two},
            featurize_model_name="no/such-model",
            featurizers=[tiny_gpt2],
            vary="pooling,max_text_length",
            num_runs=1,
        )
    factors = [setting.factor for setting in found.settings]
    assert factors == ["default", "pooling", "max_text_length", "max_text_length", "design"]
    assert "no/such-model" in found.failed["featurizer=no/such-model"]
    assert len({setting.models["one"].mauve for setting in found.settings[:3]}) > 1
    mean = compare(human, {"one": one, "two": two}, featurize_model_name=tiny_gpt2, pooling="mean", num_runs=1)
    assert_ranked_alike(found.settings[1], mean)
    said = next(record.message for record in caplog.records if "more settings" in record.message)
    assert said.startswith("4 more settings of 2 models, texts featurized in 4 more ways: about ")


def test_the_design_is_balanced_and_orthogonal() -> None:
    factors = FACTORS[:8]
    design = small_design({factor: [1, 2] for factor in factors})
    signs = np.array([[1 if factor in row else -1 for factor in factors] for row in design])
    assert (signs.sum(axis=0) == 0).all()
    assert (signs.T @ signs == 12 * np.eye(8)).all()
    assert design[-1] == {} and all(level == 1 for row in design for level in row.values())


def test_automatic_buckets_follow_a_part_of_the_texts() -> None:
    from mauve_metric.options import MauveConfig

    def k(auto: bool, **changes: Any) -> object:
        base = Base(
            resolve_config(MauveConfig(num_buckets=60), 600, 600), (600, 600), {}, None, False, auto_buckets=auto
        )
        return changed(base, changes).num_buckets

    half = SetPart(2, 0)
    assert (k(True, n=half), k(True, n=half, num_buckets=30), k(True, num_buckets=30)) == ("auto", 15, 30)
    assert (k(False, n=half), k(False, n=half, num_buckets=30)) == (60, 30)


def test_factors_that_cannot_be_varied_are_listed_with_the_reason() -> None:
    from mauve_metric.options import MauveConfig

    base = Base(resolve_config(MauveConfig(num_buckets=2), 25, 25), (25, 25), {"pooling": "mean"}, 6.0, True)
    _, left_out, _ = planned(base, FACTORS)
    assert "half of 25 texts is too few" in left_out["n"]
    assert "too short" in left_out["max_text_length"]
    assert "name some with featurizers" in left_out["featurize_model_name"]


def test_every_form_holds_every_setting(found: Robustness) -> None:
    held = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert len(held["settings"]) == len(found.settings) and held["left_out"].keys() == {"pooling"}
    assert held["pairs"][0]["verdict"] == found.pairs[0].verdict
    lines = found.to_csv().splitlines()
    assert len(lines) == 1 + 3 * len(found.settings)
    for text in (str(found), found.to_markdown(), found.to_latex()):
        assert all(setting.name.split(",")[0].split("=")[0] in text for setting in found.settings)
    assert found.to_csv("pairs").startswith("a,b,") and found.to_csv("factors").startswith("factor,")
    spec = found.plot().to_dict()
    (rows,) = spec["datasets"].values()
    assert len(rows) == 3 * len(found.settings)
    assert [row["rank"] for row in rows[:3]] == [1, 2, 3] and [row["model"] for row in rows[:3]] == list(found.ranking)
    apart = {item.name: item for item in found.settings}["default"]
    assert rows[1]["apart"] == int(apart.difference(found.ranking[1], found.ranking[2]).real)


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        ({"models": {"one": np.ones((30, 2))}}, {}, "at least two models"),
        ({}, {"vary": "sed"}, "vary must name at least one of .*, got 'sed'"),
        ({}, {"vary": 3}, "vary must be names"),
        ({}, {"featurizers": "minilm"}, "featurizers must be a list"),
        ({}, {"featurizers": [3]}, "featurizers must be a model name"),
    ],
)
def test_bad_input(change: dict[str, Any], options: dict[str, Any], message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        robustness(**(sets(20) | change), **options)


def test_nothing_moves_equal_models() -> None:
    sides = sets(20)
    twins = dict.fromkeys(("one", "two"), next(iter(sides["models"].values())))
    found = robustness(**(sides | {"models": twins}), vary="row_order", num_runs=1)
    (pair,) = found.pairs
    assert (pair.depends_on, pair.moved, pair.verdict) == (None, None, "never told apart")
    shown = " ".join(str(found).split())
    assert "No setting changes the ranking: the other setting ranks the models alike. 0 of 1 differences are" in shown


def test_settings_without_an_error_bar_are_named() -> None:
    """Five prompts are too few for a classifier, and most of twenty buckets hold one text a side."""
    prompts = [number // 4 for number in range(20)]
    given: Any = {"num_buckets": 20, "p_groups": prompts, "q_groups": dict.fromkeys(("good", "middle", "bad"), prompts)}
    found = robustness(**sets(20), **given, vary="seed", design=False, num_runs=1)
    assert_ranked_alike(found.default, compare(**sets(20), **given, num_runs=1, knn=False))
    assert found.default.without_error == found.ranking and not found.default.difference("good", "bad").real
    shown = " ".join(str(found).split())
    assert "Without an error bar: default (" in shown


def test_models_that_are_all_near_0_are_ranked_by_groups(found: Robustness) -> None:
    given = sets(100, (2.0, 2.5, 6.0))
    far = robustness(**given, vary="mauve_scaling_factor", design=False, num_runs=1)
    assert_ranked_alike(far.default, compare(**given, num_runs=1, knn=False))
    assert (far.default.ranked_by, found.default.ranked_by) == ("groups", "closeness")
    best = far.default.models[far.ranking[0]].mauve_debiased
    assert best is not None and f"{best:.4f} (1)" in str(far) and "default, by groups" in str(far)
    on_its_scale = [item for item in far.settings if item.ranked_by == "groups" and item.factor == "default"]
    values = [item.difference(far.pairs[0].a, far.pairs[0].b).difference for item in on_its_scale]
    assert (far.pairs[0].smallest, far.pairs[0].largest) == (min(values), max(values))


def test_too_few_texts() -> None:
    with pytest.raises(ValueError, match="at least 20 texts to vary settings, got 19"):
        robustness(**sets(19))


@pytest.mark.slow
def test_the_neighbour_is_varied_on_request_and_every_setting_has_precision_and_recall() -> None:
    rng = np.random.default_rng(0)
    human, near, far = (rng.normal(shift, 1, size=(80, 6)) for shift in (0, 0.3, 2))
    sets: Any = {"p_features": human, "models": {"near": near, "far": far}, "num_runs": 1}
    found = robustness(**sets, vary="knn_k,seed", design=False)
    assert [setting.changes.get("knn_k") for setting in found.settings if setting.factor == "knn_k"] == ["2", "8", "16"]
    for setting in found.settings:
        k = int(setting.changes.get("knn_k", 4))
        seed = int(setting.changes.get("seed", 25))
        of_models = compare(**sets, knn_k=k, seed=seed).models
        one = of_models["near"]
        assert (setting.models["near"].precision, setting.models["near"].recall) == (one.precision, one.recall)
        if setting.factor == "knn_k":  # moves no closeness
            assert setting.models["near"].closeness == found.default.models["near"].closeness
    assert "Precision / recall" in str(found) and "precision" in found.to_csv().split("\n")[0]
    plain = robustness(**sets, vary="seed", design=False)
    assert plain.default.models["near"].precision is None and "Precision / recall" not in str(plain)
