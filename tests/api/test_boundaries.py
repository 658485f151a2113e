"""Rounds of Real or Fake Text become points, and shares of guesses that are right, late or false alarms."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from mauve_metric import score_boundary_guesses


def rounds(n: int = 200) -> list[dict[str, object]]:
    rng = np.random.default_rng(0)
    rows = []
    for number in range(n):
        last = int(rng.integers(0, 10))
        guess = int(np.clip(last + rng.integers(-3, 4), 0, 9))
        model = "human" if last == 9 else ["gpt2", "xl"][number % 2]
        row = {"true_boundary_index": last, "predicted_boundary_index": guess, "model": model}
        rows.append(row | {"annotator": number % 7, "generation": number // 4})
    return rows


def test_every_number_is_what_a_loop_counts() -> None:
    rows = rounds()
    pairs = [(int(str(row["true_boundary_index"])), int(str(row["predicted_boundary_index"]))) for row in rows]
    total = score_boundary_guesses(rows, keep_runs=True).total
    points = [max(5 - (guess - last), 0) if guess >= last else 0 for last, guess in pairs]
    assert total.points == pytest.approx(sum(points) / 200)
    assert total.exact == pytest.approx(sum(last == guess for last, guess in pairs) / 200)
    machine = [(last, guess) for last, guess in pairs if last < 9]
    assert total.eventually == pytest.approx(sum(last <= guess < 9 for last, guess in machine) / len(machine))
    human = [guess for last, guess in pairs if last == 9]
    assert (total.human, total.machine) == (len(human), 200 - len(human))
    assert total.false_alarms == pytest.approx(sum(guess < 9 for guess in human) / len(human))
    assert total.players == 7 and total.ci is not None and total.ci[0] < total.points < total.ci[1]


def test_a_player_who_always_says_no_machine_finds_none() -> None:
    # ten rounds, three of them human: only the two guesses at or after the boundary found the machine's text
    guesses = [3, 5, 2, "none", "none", "none", "none", "none", "none", "none"]
    boundaries = [3, 4, 6, 2, 4, 6, 8, "none", "none", "none"]
    total = score_boundary_guesses(
        [{"boundary": b, "guess": g} for b, g in zip(boundaries, guesses, strict=True)], keep_runs=True
    ).total
    assert (total.eventually, total.machine) == (2 / 7, 7)
    assert score_boundary_guesses([{"boundary": "none", "guess": "none"}]).total.eventually is None


def test_agreement_is_to_find_the_machine_or_to_say_that_there_is_none() -> None:
    rows = rounds(120)
    judged: dict[object, list[tuple[int, int]]] = {}
    for row in rows:
        pair = int(str(row["true_boundary_index"])), int(str(row["predicted_boundary_index"]))
        judged.setdefault(row["generation"], []).append(pair)

    def disagree(one: tuple[int, int], two: tuple[int, int]) -> bool:
        both_found = all(last <= guess < 9 for last, guess in (one, two))
        return not (both_found or one[1] == two[1] == 9)

    every = [pair for pairs in judged.values() for pair in pairs]
    within = [disagree(*pair) for pairs in judged.values() for pair in itertools.permutations(pairs, 2)]
    among = [disagree(*pair) for pair in itertools.permutations(every, 2)]
    alpha = score_boundary_guesses(rows, keep_runs=True).total.alpha
    assert alpha == pytest.approx(1 - np.mean(within) / np.mean(among))  # each text has four judges


def test_models_are_separate_rows_and_human_texts_are_last() -> None:
    game = score_boundary_guesses(rounds(), keep_runs=True)
    assert list(game.models)[-1] == "human" and set(game.models) == {"gpt2", "xl", "human"}
    assert sum(scores.rounds for scores in game.models.values()) == 200
    first, second = list(game.models.values())[:2]
    assert first.points <= second.points
    assert first.false_alarms is None and game.models["human"].machine == 0


def test_runs_of_equal_guesses_are_left_out_and_counted() -> None:
    bored = [{"boundary": 4, "guess": 2, "player": "bored"}] * 5
    awake = [{"boundary": 4, "guess": guess, "player": "awake"} for guess in (4, 5, 4, 4, 4)]
    game = score_boundary_guesses([*bored, *awake])
    assert (game.in_runs, game.total.rounds, game.total.points) == (5, 5, 4.8)
    assert score_boundary_guesses([*bored, *awake], keep_runs=True).total.rounds == 10
    assert "5 rounds are left out" in str(game)
    with pytest.raises(ValueError, match="every guess is in a run of 5 equal ones"):
        score_boundary_guesses(bored)


def test_points_for_an_all_human_text_and_capped_looks() -> None:
    row = {"boundary": "none", "guess": "none", "sentence_seconds": "20 400"}
    assert score_boundary_guesses([row]).total.points == 5.0
    scored = score_boundary_guesses([row], all_human_points=0.0)
    assert scored.total.points == 0.0 and "all_human_points:0" in scored.signature
    assert scored.total.seconds == 70.0  # of 20 and 120
    assert scored.total.ci is None and scored.total.alpha is None


def test_options_are_checked() -> None:
    with pytest.raises(ValueError, match="confidence_level must be a number in"):
        score_boundary_guesses(rounds(), confidence_level=0)
    with pytest.raises(ValueError, match=r"all_human_points must be a number in \[0, 1e\+06\), got -1"):
        score_boundary_guesses(rounds(), all_human_points=-1)
