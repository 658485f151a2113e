"""Rounds and pairs of a person's own texts, and tables that the commands read."""

from __future__ import annotations

import csv
import io
import random
import re
from dataclasses import replace

import pytest
from visitors import wait_until

from mauve_metric import rank_by_preferences, score_boundary_guesses
from mauve_metric.hosts.space.session.judgings import (
    ANSWERS,
    MOST_JUDGED,
    REASONS,
    Judging,
    Judgings,
    deal,
    pairs_of,
    rounds_of,
    table,
)
from mauve_metric.hosts.space.session.uploads import TextSet


def texts(word: str, rows: int = 40, sentences: int = 12) -> list[str]:
    return [" ".join(f"{word} {row} says {number}." for number in range(sentences)) for row in range(rows)]


def sets(rows: int = 40) -> tuple[TextSet, dict[str, TextSet]]:
    models = {name: TextSet(name, f"{name}.txt", texts(name.capitalize(), rows)) for name in ("small", "large")}
    return TextSet("people", "human.txt", texts("Human", rows)), models


def test_a_round_begins_with_a_person_and_goes_on_with_the_model_of_the_same_row() -> None:
    human, models = sets()
    rounds = rounds_of(human, models)
    assert rounds == rounds_of(human, models)  # others who judge these files get the same
    for this in rounds:
        name, row = this.text.rsplit(" ", 1)
        first = 11 if this.boundary is None else this.boundary
        assert (name == this.model == "human") == (this.boundary is None)
        writers = ["Human"] * (first - 1) + [this.model.capitalize()] * (11 - first)
        assert list(this.sentences) == [f"{who} {int(row) - 1} says {place}." for place, who in enumerate(writers)]
    found = {this.boundary for this in rounds}
    # 80 draws from ten: each is missed with a chance of .9^80 < .0003, and the draws do not change
    assert found == {None, *range(2, 11)}


def test_the_sentences_of_a_prompt_are_the_persons() -> None:
    human = TextSet("people", "human.txt", ["One. Two."] * 30)
    prompts = ["It was late. She left.", "It was late. She left and", "No sentence yet"] * 10
    answers = ["It was late. She left. He stayed. He slept.", " he stayed. He slept.", "No sentence yet. Or two."] * 10
    side = TextSet("m", "m.jsonl", answers, prompts=prompts)
    of_model = [this for this in rounds_of(human, {"m": side}) if this.boundary is not None]
    for this in of_model:
        kind = (int(this.text.split()[1]) - 1) % 3
        if kind == 0:
            assert (this.sentences[2:], this.boundary) == (("He stayed.", "He slept."), 3)
        elif kind == 1:  # the sentence in which the model goes on is the model's
            assert (this.sentences[1:], this.boundary) == (("She left and he stayed.", "He slept."), 2)
        else:  # as without a prompt
            assert this.sentences[0] == "One." and this.boundary in (2, 3)
    assert len(of_model) > 20


def test_a_played_game_is_a_table_that_the_command_reads() -> None:
    judging = deal("ann", *sets())
    expected = []
    while judging.rounds:
        this = judging.rounds[0]
        guess = len(judging.boundaries) % 10 + 2  # 2 to 11, which is "no machine"
        for sentence in range(2, guess):  # the first two are shown together
            ended = judging.guess(machine=False)
            assert (ended is None) == (sentence < 10)
        if guess < 11:
            ended = judging.guess(machine=True, reason=REASONS[guess % 3])
        assert ended is not None and ended[0] is this
        true = this.boundary or 11
        expected.append(5.0 if guess == true else max(5.0 - (guess - true), 0.0) if guess > true else 0.0)
        assert ended[1] == expected[-1]
        judging.begin()
    rows = list(csv.DictReader(io.StringIO(table(judging.boundaries))))
    game = score_boundary_guesses(rows, by="reason", keep_runs=True)
    assert game.total.points == pytest.approx(sum(expected) / len(expected)) and game.total.rounds == len(expected)
    assert set(game.models) == {"small", "large", "human"} and set(game.groups) == {"(none)", *REASONS[:3]}
    assert game.total.players == 1 and game.total.seconds is not None and rows[0]["words"] == "40"


def test_no_cell_of_a_table_is_a_formula() -> None:
    rows = [{"annotator": "=1+1", "model_a": "@x", "model_b": "a;=2", "words": 3, "guess": "none"}]
    assert table(rows).splitlines()[1] == "'=1+1,'@x,a;'=2,3,none"


def test_rated_pairs_are_a_table_that_the_command_reads() -> None:
    judging = deal("ann", *sets())
    pairs = list(judging.pairs)
    for pair in pairs:
        shown = [re.sub(r" \d+ says.*", "", text).lower() for text in pair.shown]
        assert tuple(shown) == pair.writers and f" {int(pair.text) - 1} says" in pair.shown[0]
        place = pair.writers.index(max(pair.writers, key=["human", "small", "large"].index)) if pair.text != "1" else 0
        judging.rate("1, clearly" if place == 0 else "2, slightly")
    rows = list(csv.DictReader(io.StringIO(table(judging.preferences))))
    found = rank_by_preferences(rows, pseudo_wins=0.5).questions["answer"]
    assert found.judgements == len(pairs) == 120 and found.annotators == 1
    assert [score.model for score in found.models] == ["large", "small", "human"]
    assert len(ANSWERS) == 5 and table([]) == ""


def test_the_order_of_a_pair_is_drawn() -> None:
    human, models = sets()
    first = [pair.writers[0] for pair in pairs_of(human, {"small": models["small"]}, random.Random(1))]
    assert 7 < first.count("human") < 33  # 40 coins: four deviations are 12.6


def test_no_pair_lacks_a_text() -> None:
    human, models = sets(3)
    short = replace(models["small"], texts=[" ", *models["small"].texts[1:]])
    assert [pair.text for pair in pairs_of(human, {"small": short}, random.Random(1))] == ["2", "3"]


def test_rounds_end_after_enough_texts_and_unusable_texts_are_an_error() -> None:
    judging = deal("ann", *sets(300))
    assert len(judging.rounds) == len(judging.pairs) == MOST_JUDGED
    with pytest.raises(ValueError, match="no row has a sentence by a person with one by the model after it"):
        deal("ann", TextSet("p", "p.txt", [""]), {"m": TextSet("m", "m.txt", ["One."])})


def test_judgements_are_kept_when_the_next_files_come_and_nothing_is_asked_twice() -> None:
    first = deal("ann", *sets(3))
    asked = {(this.text, this.model) for this in first.rounds}
    first.guess(machine=True)
    first.rate("1, clearly")
    again = deal("ann", *sets(3), first.boundaries, first.preferences)
    assert again.boundaries == first.boundaries and again.preferences == first.preferences
    row = first.boundaries[0]
    assert {(this.text, this.model) for this in again.rounds} == asked - {(row["text"], row["model"])}
    assert len(again.pairs) == len(first.pairs) == 8
    for row in (*first.boundaries, *first.preferences):
        assert row["file"] == "human.txt, small.txt, large.txt" and str(row["date"]).startswith("20")
    assert len(deal("ben", *sets(3), first.boundaries, first.preferences).rounds) == len(asked)
    while again.rounds:
        again.guess(machine=True)
    while again.pairs:
        again.rate("no difference")
    with pytest.raises(ValueError, match="all texts of these files are judged by this name already"):
        deal("ann", *sets(3), again.boundaries, again.preferences)


def test_no_judge_takes_the_place_of_another() -> None:
    one = deal("ann", *sets(3))
    judgings = Judgings(100 * one.size, 200 * one.size)
    keys = [judgings.put(deal(f"judge {number}", *sets(3))) for number in range(100)]
    with pytest.raises(ValueError, match=r"the texts of 100 other judges take all the 0 MB .* try again later"):
        judgings.put(deal("one more", *sets(3)))
    assert [getattr(judgings.get(key), "rater", None) for key in keys] == [f"judge {number}" for number in range(100)]
    new = judgings.put(one, instead=keys[0])
    assert judgings.get(keys[0]) is None and judgings.get(new) is one
    short = Judgings(one.size, one.size, lifetime=0.05)
    key = short.put(one)
    wait_until(lambda: not short._all)
    assert short.get(key) is None


def test_one_client_cannot_take_the_room_of_all_judges() -> None:
    def judge(client: str) -> Judging:
        return replace(deal("ann", *sets(3)), client=client)

    size = judge("").size
    judgings = Judgings(10 * size, 3 * size)
    keys = [judgings.put(judge("192.0.2.1")) for _ in range(3)]
    with pytest.raises(ValueError, match=r"the texts of 3 other judges at your address take all .* try again later"):
        judgings.put(judge("192.0.2.1"))
    judgings.put(judge("192.0.2.1"), instead=keys[0])
    judgings.put(judge("192.0.2.2"))
    with pytest.raises(ValueError, match="at your address take all"):  # by what its browser says that it judged
        judgings.put(replace(judge("192.0.2.3"), boundaries=[{"text": "x" * 4 * size}]))


def test_columns_of_earlier_versions_stay_in_the_table() -> None:
    assert table([{"text": "1"}, {"text": "2", "file": "a"}]).split("\r\n") == ["text,file", "1,", "2,a", ""]
