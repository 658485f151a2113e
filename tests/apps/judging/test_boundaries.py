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


def test_players_agree_if_both_find_the_machine_or_both_say_no_machine() -> None:
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


def test_accuracy_is_the_share_of_right_verdicts() -> None:
    rows = rounds()
    total = score_boundary_guesses(rows, keep_runs=True).total
    pairs = [(int(str(row["true_boundary_index"])), int(str(row["predicted_boundary_index"]))) for row in rows]
    right = [guess == 9 if last == 9 else last <= guess < 9 for last, guess in pairs]
    assert total.accuracy == pytest.approx(np.mean(right))
    assert total.accuracy_ci is not None and total.accuracy_ci[0] < total.accuracy < total.accuracy_ci[1]
    # without players: Wilson's interval of 3 in 10 at 95 %
    guesses = [4, 4, 4, *[3] * 7]
    alone = score_boundary_guesses([{"boundary": 4, "guess": guess} for guess in guesses]).total
    assert alone.accuracy_ci == pytest.approx((0.1078, 0.6032), abs=1e-4)


def test_rounds_are_grouped_by_a_column() -> None:
    rows = [row | {"reason": ["grammar", ""][number % 2], "words": number} for number, row in enumerate(rounds())]
    game = score_boundary_guesses(rows, keep_runs=True, by="reason")
    assert list(game.groups) == ["(none)", "grammar"] and "by:reason|" in game.signature
    assert game.groups["grammar"].points == score_boundary_guesses(rows[::2], keep_runs=True).total.points
    game = score_boundary_guesses(rows, keep_runs=True, by="words")
    assert list(game.groups) == ["0 to 39", "40 to 79", "80 to 119", "120 to 159", "160 to 199"]
    assert game.groups["80 to 119"].points == score_boundary_guesses(rows[80:120], keep_runs=True).total.points
    assert "Rounds by words: 5 groups" in str(game) and game.to_csv("groups").count("\n") == 6
    assert game.to_dict()["groups"]["0 to 39"]["rounds"] == 40
    with pytest.raises(ValueError, match=r"by must be .round. or a column of guesses, .*, got 'colour'"):
        score_boundary_guesses(rows, by="colour")
    assert score_boundary_guesses(rows).groups == {}


def test_experience_is_the_number_of_rounds_that_a_player_had_played() -> None:
    played = [("a", 3), ("b", 4), ("a", 4), ("a", 6), ("b", 11)]  # the boundary is 4
    rows = [{"boundary": 4, "guess": guess, "player": player} for player, guess in played]
    game = score_boundary_guesses(rows, by="round")
    assert {name: scores.points for name, scores in game.groups.items()} == {"1": 2.5, "2": 2.5, "3": 3.0}
    assert list(score_boundary_guesses([row | {"round": "late"} for row in rows], by="round").groups) == ["late"]


def test_two_players_agree_where_both_found_the_machine_or_named_none() -> None:
    said = {"a": [4, 5, "none", 3, "none"], "b": [9, 3, "none", 2], "c": ["none"]}
    boundaries = [4, 4, 4, 4, "none"]
    rows = [
        {"boundary": boundaries[text], "guess": guess, "player": player, "text": f"t{text}"}
        for player, guesses in said.items()
        for text, guess in enumerate(guesses)
    ]
    pairs = {(pair.a, pair.b): pair for pair in score_boundary_guesses(rows).pairs}
    # t0 both found it, t1 only a, t2 both named none, t3 both too early, which is no common verdict
    assert (pairs["a", "b"].agreement, pairs["a", "b"].texts) == (0.5, 4)
    assert pairs["a", "b"].ci == pytest.approx((0.15, 0.85), abs=1e-3)  # Wilson's of 2 in 4
    assert pairs["a", "c"].agreement == 0 and pairs["a", "c"].ci is None and len(pairs) == 3
    assert score_boundary_guesses([{key: row[key] for key in ("boundary", "guess")} for row in rows]).pairs == ()


def test_an_empty_guess_is_no_answer() -> None:
    for empty in (None, "", float("nan")):
        with pytest.raises(ValueError, match="or none, in column 'guess', got ''"):
            score_boundary_guesses([{"boundary": 4, "guess": empty}])


def test_options_are_checked() -> None:
    with pytest.raises(ValueError, match="confidence_level must be a number in"):
        score_boundary_guesses(rounds(), confidence_level=0)
    with pytest.raises(ValueError, match=r"all_human_points must be a number in \[0, 1e\+06\), got -1"):
        score_boundary_guesses(rounds(), all_human_points=-1)
