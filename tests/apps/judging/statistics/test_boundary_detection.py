"""Real or Fake Text: points and baselines by hand, agreement against Krippendorff's own examples."""

from __future__ import annotations

import numpy as np
import pytest

from mauve_metric.apps.judging.statistics.boundary_detection import (
    boundary_points,
    chance_points,
    in_runs,
    krippendorff_alpha,
)


def test_points_are_those_of_the_rule() -> None:
    for boundary in range(2, 12):
        for guess in range(2, 12):
            expected = 0 if guess < boundary else max(5 - (guess - boundary), 0)
            assert boundary_points([boundary], [guess]).tolist() == [expected]


def test_a_right_guess_of_no_machine_earns_what_is_asked_for() -> None:
    assert boundary_points([11, 11, 4], [11, 10, 4], all_human_points=0.0).tolist() == [0.0, 0.0, 5.0]


def test_strategies_without_reading_get_130_and_150() -> None:
    # 5·10 + 4·9 + 3·8 + 2·7 + 1·6 = 130 of 100 pairs; (1 + 2 + 3 + 4 + 5)/10
    assert chance_points(range(2, 12)) == pytest.approx((1.30, 1.50), abs=1e-12)


@pytest.mark.parametrize(
    ("boundary", "guess", "said"),
    [
        ([1], [4], "boundary must be whole numbers from 2 to 11"),
        ([4], [12], "guess must be whole numbers from 2 to 11 .* got 12"),
        ([4.5], [4], "boundary must be whole numbers"),
        ([4, 5], [4], "same length, got 2 and 1"),
        ([], [], "at least one"),
    ],
)
def test_what_is_no_sentence_is_refused(boundary: list[float], guess: list[float], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        boundary_points(boundary, guess)


# --- agreement ----------------------------------------------------------------------------------------------------


def alpha_of(rows: list[str]) -> float:
    """Of observers, one row each, a dot where one did not judge."""
    found = [(value, unit) for row in rows for unit, value in enumerate(row.split()) if value != "."]
    return krippendorff_alpha([value for value, _ in found], [unit for _, unit in found])


def test_agreement_is_krippendorffs() -> None:
    # Krippendorff 2011, "Computing Krippendorff's alpha-reliability", examples A and C
    assert alpha_of(["0 1 0 0 0 0 0 0 1 0", "1 1 1 0 0 1 0 0 0 0"]) == pytest.approx(0.095, abs=5e-4)
    several = [
        "1 2 3 3 2 1 4 1 2 . . .",
        "1 2 3 3 2 2 4 1 2 5 . 3",
        ". 3 3 3 2 3 4 2 2 5 1 .",
        "1 2 3 3 2 4 4 1 2 5 1 .",
    ]
    assert alpha_of(several) == pytest.approx(0.743, abs=5e-4)


def test_agreement_of_all_and_of_chance() -> None:
    assert krippendorff_alpha([0, 0, 1, 1], ["a", "a", "b", "b"]) == 1.0
    rng = np.random.default_rng(0)
    found = krippendorff_alpha(rng.integers(0, 2, 20_000), np.repeat(np.arange(5_000), 4))
    assert abs(found) < 0.03  # 30 000 pairs: a standard error of 0.006
    with pytest.raises(ValueError, match="same text"):
        krippendorff_alpha([0, 1], [0, 1])
    with pytest.raises(ValueError, match="not defined"):
        krippendorff_alpha([1, 1], [0, 0])


# --- rounds -------------------------------------------------------------------------------------------------------


def test_runs_are_found_player_by_player() -> None:
    guess = [3, 3, 3, 7, 3, 7, 3, 7, 7, 7]
    players = ["a", "a", "a", "b", "a", "b", "a", "b", "b", "a"]
    expected = [True, True, True, False, True, False, True, False, False, False]
    assert in_runs(guess, players, length=5).tolist() == expected  # b: four in a row; a: five and one


@pytest.mark.parametrize("sentences", [2, 4, 10])
@pytest.mark.parametrize("all_human", [0.0, 5.0, 2.5])
def test_chance_points_are_the_mean_over_all_guesses(sentences: int, all_human: float) -> None:
    boundary = np.random.default_rng(0).integers(2, sentences + 2, size=30)
    means = [
        boundary_points(boundary, [guess] * 30, sentences, all_human_points=all_human).mean()
        for guess in range(2, sentences + 2)
    ]
    found = chance_points(boundary, sentences, all_human_points=all_human)
    np.testing.assert_allclose(found, (np.mean(means), means[-1]), rtol=1e-12)


def test_chance_points_of_a_very_long_text() -> None:
    assert chance_points([2], 1_000_000) == (15 / 1_000_000, 0.0)


def test_runs_of_many_players_are_those_of_a_loop() -> None:
    rng = np.random.default_rng(1)
    players, guess = rng.integers(0, 6, size=200), rng.integers(2, 4, size=200)
    expected = np.zeros(200, dtype=bool)
    for player in range(6):
        own = [number for number in range(200) if players[number] == player]
        for start in range(len(own) - 2):
            if len({guess[number] for number in own[start : start + 3]}) == 1:
                expected[own[start : start + 3]] = True
    assert 0 < expected.sum() < 200
    assert in_runs(guess, players, length=3).tolist() == expected.tolist()
    assert in_runs([], []).tolist() == []
