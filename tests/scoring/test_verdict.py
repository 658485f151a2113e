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
from mauve_metric.scoring import verdict
from mauve_metric.scoring.verdict import (
    LIFTED,
    NOT_FEATURES,
    NOTHING_TO_SEE,
    WRONG_DESIGN,
    bounds_of,
    bounds_without_layout,
    decides,
    judged,
)
from mauve_metric.uncertainty.closeness import Bound, Closeness
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
    assert (equal.verdict, equal.verdict_reason, equal.shown_by) == ("like human", None, ())
    assert equal.closeness_ci is not None and equal.closeness_ci[1] == 1 and equal.closeness_ci[0] > 0.9
    assert (apart.verdict, apart.verdict_reason) == ("different", None)
    values = [bound.estimates(MauveConfig()).values for bound in apart.bounds]
    assert apart.closeness == min(value[0] for value in values if value is not None)
    assert apart.closeness <= min(apart.mauve_debiased, apart.mauve_classifier)
    unsure = score(normal(100, 2), normal(100, 3, 0.1))
    assert unsure.verdict == "undecided" and unsure.texts_needed is not None and unsure.texts_needed > 100
    assert (equal.texts_needed, apart.texts_needed, unsure.shown_by) == (None, None, ())
    few = score(normal(12, 0), normal(12, 1, 3.0))
    assert (few.verdict, few.verdict_reason) == ("no verdict", "too_few")
    reasons = [judged(replace(apart, n_q=texts), MauveConfig()).verdict_reason for texts in (19, 20)]
    assert reasons == ["too_few", None] and verdict.FEWEST_TEXTS == 20
    assert score(np.ones((30, 2)), np.ones((30, 2))).verdict_reason == "constant_features"
    assert score(np.ones((1, 2)), np.ones((30, 2))).closeness is None


@pytest.mark.parametrize(
    ("ci", "shown", "expected"),
    [
        ((0.901, 1.0), (), "like human"),
        ((0.901, 0.99), (), "like human"),  # a difference too small to matter
        ((0.9, 1.0), (), "undecided"),
        ((0.899, 1.0), (), "undecided"),
        ((0.901, 1.0), (0,), "different"),
        ((0.2, 0.5), (), "undecided"),
        (None, (), "no verdict"),
        (None, (0,), "different"),
    ],
)
def test_a_low_end_above_nine_tenths_and_no_test_make_sets_alike(
    equal: MauveResult,
    monkeypatch: pytest.MonkeyPatch,
    ci: tuple[float, float] | None,
    shown: tuple[int, ...],
    expected: str,
) -> None:
    found = Closeness(0.95, ci, shown, 0.01 if shown else None)
    monkeypatch.setattr(verdict, "closeness_of", lambda *_: found)
    one = judged(equal, MauveConfig())
    assert (one.verdict, one.closeness_ci, one.shown_p_value) == (expected, ci, 0.01 if shown else None)
    assert one.shown_by == (("groups",) if shown else ())
    assert (one.texts_needed is None) == (expected != "undecided")


def test_the_finer_score_is_that_of_the_second_bound(apart: MauveResult) -> None:
    finer = apart.bounds[1].estimates(MauveConfig())
    assert apart.bounds[1].kind == "groups" and finer.values is not None and finer.mauve is not None
    assert (apart.mauve_finer, apart.mauve_finer_ci) == (finer.values[0], finer.mauve.ci)


def test_fewer_than_twenty_texts_have_no_verdict(apart: MauveResult) -> None:
    for sizes in ({"n_p": 19}, {"n_q": 19}):
        found = judged(replace(apart, **sizes), MauveConfig())
        assert (found.verdict, found.verdict_reason) == ("no verdict", "too_few")
    assert judged(replace(apart, n_p=20, n_q=20), MauveConfig()).verdict == "different"


@pytest.mark.parametrize(
    ("closeness", "expected"),
    [
        (Closeness(0.5, (0.2, 0.9), (0,), None), "different"),  # by an interval, without a test
        (Closeness(0.5, (0.5, 1.0), (), None), "undecided"),  # no error below: nothing to forecast from
    ],
)
def test_no_test_and_no_forecast_are_none(
    apart: MauveResult, monkeypatch: pytest.MonkeyPatch, closeness: Closeness, expected: str
) -> None:
    monkeypatch.setattr(verdict, "closeness_of", lambda *_: closeness)
    found = judged(apart, MauveConfig())
    assert (found.verdict, found.shown_p_value, found.texts_needed) == (expected, None, None)


@pytest.mark.parametrize(("texts", "expected"), [(99, "undecided"), (100, "like human")])
def test_fewer_than_a_hundred_texts_are_never_like_human(equal: MauveResult, texts: int, expected: str) -> None:
    for sizes in ({"n_p": texts}, {"n_q": texts}):
        found = judged(replace(equal, **sizes), MauveConfig())
        assert found.verdict == expected
        assert expected == "like human" or (found.texts_needed is not None and found.texts_needed >= 100)


def test_repeats_alone_show_a_difference(equal: MauveResult, apart: MauveResult) -> None:
    found = judged(replace(equal, repeats_p_value=1e-5), MauveConfig())
    assert (found.verdict, found.shown_by, found.shown_p_value) == ("different", ("repeats",), 1e-5)
    both = judged(replace(apart, repeats_p_value=1e-300), MauveConfig())
    assert {*both.shown_by} == {*apart.shown_by, "repeats"} and both.shown_p_value == 1e-300


def warned(result: MauveResult, code: str, design: str = "undeclared") -> tuple[str, str | None]:
    one = replace(result, warnings=(ScoreWarning(code, "", {}),), design=design)
    found = judged(one, MauveConfig())
    return found.verdict, found.verdict_reason


@pytest.mark.parametrize("code", [*LIFTED, *NOT_FEATURES, *WRONG_DESIGN])
def test_a_warning_withholds_a_verdict_but_no_difference(equal: MauveResult, apart: MauveResult, code: str) -> None:
    """But for features of which all are equal, which differ in nothing."""
    reason = {**LIFTED, **NOT_FEATURES, **WRONG_DESIGN}[code]
    assert code in ADVICE and warned(equal, code) == ("no verdict", reason)
    beside = None if code in LIFTED else reason
    nothing = code in NOTHING_TO_SEE
    assert warned(apart, code) == (("no verdict", reason) if nothing else ("different", beside))


def test_prompts_of_its_own_in_each_set_leave_no_verdict_unless_they_are_declared(
    equal: MauveResult, apart: MauveResult
) -> None:
    for one in (equal, apart):
        assert warned(one, "own_prompts") == ("no verdict", "undeclared_prompts")
        assert warned(one, "own_prompts", "independent") == (one.verdict, None)
    assert warned(equal, "shared_prompts", "aligned") == ("like human", None)
    assert warned(equal, "token_ids", "independent") == ("no verdict", "token_ids")


def answers(prompts: int, times: int, seed: int, noise: float = 0.5) -> np.ndarray:
    rng = np.random.default_rng(seed)
    rows = np.repeat(rng.normal(size=(prompts, 60)), times, axis=0)
    return rng.permutation(rows + noise * rng.normal(size=rows.shape))


@pytest.mark.slow
@pytest.mark.parametrize("noise", [0.0, 0.2])
def test_whose_repeats_they_are(noise: float) -> None:
    """The model's own show a difference; those of the human set, or of both alike, are a property of the data."""
    alone = [np.random.default_rng(seed).normal(size=(200, 60)) for seed in (0, 1)]
    part = [np.vstack([rows[:140], answers(20, 3, seed, noise)]) for seed, rows in enumerate(alone)]
    own, human, both = score(alone[0], part[1]), score(part[0], alone[1]), score(*part)
    assert own.verdict == "different" and "repeats" in own.shown_by and own.design == "undeclared"
    assert 0.3 <= own.q_repeated < 0.5 and own.p_repeated < 0.05  # and a tenth of the others, by chance
    for other in (human, both):
        assert other.verdict != "different" and other.repeats_p_value is None
    assert 0.3 <= both.p_repeated < 0.5


def test_a_collapsed_model_is_different() -> None:
    found = score(answers(200, 1, 2), np.tile(answers(8, 1, 3), (25, 1)))
    assert found.verdict == "different" and "repeats" in found.shown_by
    assert found.shown_p_value is not None and found.shown_p_value < 1e-6


@pytest.mark.more
@pytest.mark.parametrize("seed", range(3))
def test_a_few_texts_with_zipfs_shares_on_both_sides_are_not_different(seed: int) -> None:
    rng, kinds, shares = np.random.default_rng(seed), normal(30, seed), 1 / np.arange(1, 31)
    found = score(*(kinds[rng.choice(30, size=300, p=shares / shares.sum())] for _ in range(2)))
    assert found.verdict != "different" and found.closeness is not None and found.closeness > 0.9


@pytest.mark.more
def test_prompts_of_its_own_in_each_set_are_named_and_a_declaration_silences_them() -> None:
    sides = answers(60, 4, 4), answers(60, 4, 5)
    found = score(*sides)
    assert (found.verdict, found.verdict_reason) == ("no verdict", "undeclared_prompts")
    declared = score(*sides, independent=True)
    assert declared.design == "independent" and declared.verdict_reason is None
    assert not {"own_prompts", "repeated_texts"} & {warning.code for warning in declared.warnings}
    assert declared.q_repeated is None


@pytest.mark.more
def test_several_answers_of_the_model_alone_have_both_readings() -> None:
    human, model = answers(200, 1, 6), answers(50, 4, 7)
    found = score(human, model)
    assert found.verdict == "different" and found.repeated_groups == pytest.approx(50, abs=4)
    assert found.closeness_as_prompts is not None
    value, low, high = found.closeness_as_prompts
    assert low <= value <= high == 1 and value > 0.9 > found.closeness
    silent = score(human, model, independent=True)
    assert silent.closeness_as_prompts is None and "repeats" not in silent.shown_by


def test_a_file_that_was_joined_with_itself_is_named() -> None:
    found = score(np.tile(normal(60, 0), (2, 1)), normal(100, 1))
    (named,) = (warning for warning in found.warnings if warning.code == "joined_with_itself")
    assert named.numbers == {"set": "human", "times": 2}


@pytest.mark.parametrize("code", ["constant_features", "nearly_constant_features"])
def test_of_features_that_are_equal_since_no_character_is_read_the_characters_are_named(
    apart: MauveResult, code: str
) -> None:
    warnings = tuple(ScoreWarning(each, "", {}) for each in (code, "unseen_characters"))
    found = judged(replace(apart, warnings=warnings, bounds=()), MauveConfig())
    assert (found.verdict, found.verdict_reason) == ("no verdict", "unseen_characters")


def test_layout_is_named_beside_the_difference(apart: MauveResult) -> None:
    found = judged(replace(apart, warnings=(ScoreWarning("wrapping_in_one_set", "", {}),)), MauveConfig())
    assert (found.verdict, found.verdict_reason) == ("different", "layout")


def test_closeness_without_layout_is_that_of_its_bounds_and_says_whether_layout_is_all(
    apart: MauveResult, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_layout, plain = Closeness(0.3, (0.2, 0.4), (0,), 0.01), Closeness(0.8, (0.7, 1.0), (), None)
    by_number = [None, plain, Closeness(0.6, (0.5, 0.7), (0,), 0.02), with_layout]
    monkeypatch.setattr(verdict, "closeness_of", lambda bounds, _: by_number[len(bounds)])
    assert len(apart.bounds) == 3
    layout = replace(apart, warnings=(ScoreWarning("format_differs", "", {}),), bounds_without_layout=apart.bounds[:1])
    for result, expected in (
        (layout, (0.8, (0.7, 1.0), True)),
        (replace(layout, repeats_p_value=1e-5), (0.8, (0.7, 1.0), False)),
        (replace(layout, bounds_without_layout=apart.bounds[1:]), (0.6, (0.5, 0.7), False)),
        (replace(layout, bounds_without_layout=()), (None, None, False)),
        (replace(layout, warnings=()), (None, None, False)),
    ):
        found = judged(result, MauveConfig())
        assert (found.closeness, found.verdict) == (0.3, "different")
        without = found.closeness_without_layout, found.closeness_without_layout_ci, found.by_layout_alone
        assert without == expected


def test_closeness_rests_on_the_first_featurizer_whose_own_is_as_low(apart: MauveResult) -> None:
    values = {"a": 0.5, "b": 0.3, "c": 0.3, "d": None}
    each = {name: replace(apart, closeness=value) for name, value in values.items()}
    for closeness, names in ((0.3, ("b",)), (0.3 + 1e-13, ("b",)), (0.31, (*each,)), (None, (*each,))):
        assert decides(each, closeness) == names


def test_bounds_of_several_featurizers_leave_out_those_that_see_nothing(apart: MauveResult) -> None:
    def named(bounds: tuple[Bound, ...]) -> list[tuple[str, str]]:
        return [(bound.featurizer, bound.kind) for bound in bounds]

    apart = replace(apart, bounds=(apart.bounds[0], apart.bounds[-1]))
    useless = replace(apart, warnings=(ScoreWarning("nearly_constant_features", "", {}),))
    both = [(name, kind) for name in "ab" for kind in ("groups", "classifier")]
    assert named(bounds_of({"a": useless, "b": apart})) == both[2:]
    assert named(bounds_of({"a": useless, "b": useless})) == both
    sees = replace(apart, warnings=(ScoreWarning("format_differs", "", {}),), bounds_without_layout=apart.bounds[1:])
    unknown = replace(sees, bounds_without_layout=())
    assert named(bounds_without_layout({"a": sees, "b": apart})) == both[1:]
    for results in ({"a": sees, "b": unknown}, {"a": unknown, "b": apart}, {"a": apart, "b": apart}):
        assert bounds_without_layout(results) == ()


def openings(*numbers: int) -> np.ndarray:
    return np.array(numbers, dtype=np.uint64)


def side(seed: int, hashes: np.ndarray) -> FeatureSet:
    return FeatureSet(
        normal(len(hashes), seed),
        opening_hashes=hashes,
        text_hashes=np.arange(len(hashes), dtype=np.uint64) + 1000 * np.uint64(seed),
    )


@pytest.mark.slow
def test_rows_that_are_not_aligned_are_found_unless_prompts_were_named() -> None:
    rng = np.random.default_rng(9)
    common, order = rng.normal(size=(80, 40)), np.roll(np.arange(80), 7)
    human, step = (common + 0.4 * rng.normal(size=(80, 40)) for _ in range(2))
    right, wrong = (score(human, model, aligned=True) for model in (step, step[order]))
    assert right.verdict_reason != "rows_not_aligned" and right.pairs_in_step == 1
    assert (wrong.verdict, wrong.verdict_reason) == ("no verdict", "rows_not_aligned")
    named = score(human, step[order], p_groups=np.arange(80), q_groups=np.arange(80))
    assert named.design == "aligned" and named.verdict_reason != "rows_not_aligned"
    opened = np.arange(40)
    sides = (side(seed, openings(*rows)) for seed, rows in enumerate((opened, (opened + 7) % 40)))
    by_openings = compute_mauve(**dict(zip("pq", sides, strict=True)), **FEW, aligned=True)
    assert by_openings.verdict_reason != "rows_not_aligned"  # of features that pair nothing
    undeclared = compute_mauve(p=side(0, openings(*opened)), q=side(1, openings(*((opened + 7) % 40))), **FEW)
    assert (undeclared.design, undeclared.partners) == ("found", 40)


def test_one_prompt_for_all_texts_is_none() -> None:
    human, model = (side(seed, openings(*[5] * 40)) for seed in (0, 1))
    found = [
        compute_mauve(p=human, q=model, **FEW, **more)
        for more in ({}, {"p_groups": ["a"] * 40, "q_groups": ["a"] * 40})
    ]
    assert found[0].verdict == found[1].verdict != "different"
    assert found[0].closeness_ci == found[1].closeness_ci is not None


@pytest.mark.slow
def test_the_order_of_rows_changes_nothing_but_the_published_number() -> None:
    texts = texts_of(60, 0), texts_of(60, 1)
    rng, found = np.random.default_rng(0), []
    for _ in range(4):
        sides = [[side[i] for i in rng.permutation(60)] for side in texts]
        one = compute_mauve(p_text=sides[0], q_text=sides[1], featurize_model_name="ngrams", num_runs=2)
        warnings = sorted(warning.code for warning in one.warnings if not warning.code.startswith("format"))
        found.append((one.verdict, one.verdict_reason, warnings, one.closeness, one.closeness_ci))
    first = found[0]
    assert all(one[:3] == first[:3] for one in found)
    assert all(np.allclose([one[3], *one[4]], [first[3], *first[4]], rtol=0, atol=1e-9) for one in found)


@pytest.mark.more
def test_texts_of_one_word_are_named_as_such() -> None:
    draws = np.random.default_rng(0).integers(60, size=(2, 300))
    human, model = ([f"word{number}" for number in side] for side in draws)
    found = compute_mauve(p_text=human, q_text=model, featurize_model_name="ngrams", knn=False)
    assert (found.design, found.verdict, found.verdict_reason) == ("undeclared", "no verdict", "short_texts")
