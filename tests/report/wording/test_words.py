"""Sentences on results and comparisons: one lead, no winner among equals, no correction of one pair."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mauve_metric import Comparison, MauveResult, compare, compute_mauve
from mauve_metric.report import html_and_images
from mauve_metric.report.wording import words
from mauve_metric.report.wording.verdict_sentence import ranking_sentence
from mauve_metric.runtime.plain_text import excerpt, one_line

QUICK = {"num_buckets": 8, "kmeans_num_redo": 1}


def normal(n: int, seed: int, shift: float = 0.0) -> np.ndarray:
    return shift + np.random.default_rng(seed).normal(size=(n, 4))


HUMAN = normal(80, 0)


@pytest.fixture(scope="module")
def result() -> MauveResult:
    return compute_mauve(p_features=HUMAN, q_features=normal(80, 1, 0.8), num_runs=3, permutations=39, **QUICK)


def of(*models: tuple[int, float], **options: object) -> Comparison:
    sides = {name: normal(80, *model) for name, model in zip("abcdefgh", models, strict=False)}
    return compare(p_features=HUMAN, models=sides, **{"num_runs": 1, **QUICK, **options})


def test_an_end_that_is_not_1_is_not_printed_as_1(result: MauveResult) -> None:
    almost = replace(result, mauve_debiased=0.9, mauve_debiased_ci=(0.6773, 0.9999954))
    for shown in (str(almost), almost.document().terminal()):
        assert "0.999995" in shown and "1.000" not in shown.split("precision")[0]


@pytest.mark.more
def test_models_that_are_not_told_apart_have_no_winner() -> None:
    equal = of((1, 0.5), (1, 0.5))
    for shown in (equal.document().terminal(), equal.to_markdown(), html_and_images.report_page(equal)):
        assert "closest" not in shown and "better" not in shown
        assert "These texts do not tell the models apart." in " ".join(shown.split())
    both = of((1, 0.5), (1, 0.5), (2, 4.0))
    assert [row["rank"] for row in both.document().tables["models"].rows] == [1, 1, 3]
    assert ranking_sentence(both) == "a and b are closest to human text, and cannot be told apart."
    assert ranking_sentence(of((1, 0.0), (2, 4.0))) == "a is closest to human text, as far as these tests see."


def test_a_model_at_1_does_not_make_the_smallest_difference_tiny() -> None:
    equal = of((1, 0.0), (1, 0.0)).smallest_difference
    assert equal is None or equal > 0.02  # None: no interval, no forecast


def test_a_forecast_never_contradicts_what_was_found() -> None:
    pair = of((1, 0.0), (2, 0.3))
    unseen = replace(pair.differences[0], real=False, difference=0.1)
    for needed, wanted in ((50, False), (500, True)):
        said = words.forecast_sentence(replace(pair, differences=(unseen,), texts_needed=needed))
        assert ("it takes about" in said) == wanted
    assert "takes" not in words.forecast_sentence(replace(pair, differences=(unseen,), texts_needed=None))
    doubtful = replace(pair, models=pair.models | {"a": replace(pair.models["a"], verdict="no verdict")})
    assert words.forecast_sentence(doubtful) == ""


@pytest.mark.more
def test_one_model_is_not_the_closest_of_one() -> None:
    alone = of((1, 0.8), permutations=39)
    page = html_and_images.report_page(alone)
    assert (
        "closest" not in page and "of 39 permutations" in page and "<details" not in page.split("<h2>")[0]
    )  # caveats are in sight


def test_p_values_are_a_column_where_there_was_a_test() -> None:
    tested = of((1, 0.8), (2, 0.1), permutations=19)
    assert "p" in [column.title for column in tested.document().tables["models"].columns]
    assert "of 19 permutations" in tested.document().terminal() and ",p_value" in tested.to_csv()
    assert ",p_value" not in of((1, 0.8)).to_csv()


@pytest.mark.more
def test_the_spread_over_seeds_is_in_the_report(result: MauveResult) -> None:
    several = of((1, 0.8), (2, 0.1), num_runs=3)
    page = html_and_images.report_page(several)
    for one in several.models.values():
        assert f"{one.mauve_mean:.4f} ± {one.mauve_std:.4f}, mean and standard deviation of 3 clusterings" in page


def test_buckets_that_another_model_fills_are_not_empty() -> None:
    far = compare(
        p_features=HUMAN[:20], models={"near": normal(20, 1), "far": normal(60, 2, 9.0)}, num_buckets=10, num_runs=1
    )
    near = far.models["near"]
    assert ((near.p_hist + near.q_hist) == 0).any()
    assert all(warning.code != "empty_buckets" for one in far.models.values() for warning in one.warnings)
    few = np.repeat(np.eye(4), 10, axis=0)
    same = compare(p_features=few, models={"x": few, "y": few + 0}, num_buckets=6, num_runs=1)
    assert [who for who, warning in words.collected_warnings(same) if warning.code == "empty_buckets"] == ["all models"]


def lengths(texts: list[str]) -> np.ndarray:
    """A featurizer without a model."""
    return np.array([[len(text), text.count(" ") + 1.0] for text in texts])


def test_severity_is_shown_with_the_codes(result: MauveResult) -> None:
    texts = [f"{number} " * (1 + number % 5) for number in range(27)]
    copies = compute_mauve(p_text=texts, q_text=texts, featurize_model_name=lengths, num_buckets=2)
    assert "prompts_as_answers" in {warning.code for warning in copies.warnings if warning.severe}
    assert not any(warning.severe for warning in result.warnings)


def test_names_and_excerpts_are_cleaned_alike() -> None:
    hostile = " a\tb\x00\u202ec\u200b\n d "
    assert one_line(hostile) == excerpt(hostile) == "a b c d"
