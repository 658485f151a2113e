"""The gap taken apart: buckets with their words, their nearest texts and their stability."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from numpy.typing import NDArray

from mauve_metric import Explanation, FeatureSet, MauveResult, compute_mauve, explain
from mauve_metric.clustering.partition import Partition
from mauve_metric.features.text_functions import NgramUse
from mauve_metric.hosts.cli.main import main
from mauve_metric.options import MauveConfig
from mauve_metric.results.explanation import ScoredText
from mauve_metric.scoring import gap
from mauve_metric.scoring.phrases import Readable, repeated_phrases
from mauve_metric.uncertainty.gap_buckets import contributions, noise_p_values

Floats = NDArray[np.float64]


# --- words --------------------------------------------------------------------------------------------------------

TOPICS = ["the ship sails from harbour {} at noon", "a list comprehension number {} makes items", "rain on day {} here"]


# --- the whole ----------------------------------------------------------------------------------------------------


def topics_set(shares: list[float], n: int, seed: int) -> tuple[Floats, list[str]]:
    """Features around three centres and a text of the topic of each."""
    rng = np.random.default_rng(seed)
    topic = rng.choice(3, size=n, p=shares)
    return np.eye(3)[topic] * 3 + 0.1 * rng.normal(size=(n, 3)), [TOPICS[t].format(i) for i, t in enumerate(topic)]


@pytest.fixture(scope="module")
def explanation() -> Explanation:
    p, p_text = topics_set([0.25, 0.65, 0.1], 200, 0)
    q, q_text = topics_set([0.05, 0.65, 0.3], 180, 1)
    return explain(p_features=p, q_features=q, p_text=p_text, q_text=q_text, num_buckets=3, buckets=3, texts=2)


def test_the_score_is_that_of_compute_mauve(explanation: Explanation) -> None:
    p, _ = topics_set([0.25, 0.65, 0.1], 200, 0)
    q, _ = topics_set([0.05, 0.65, 0.3], 180, 1)
    expected = compute_mauve(p_features=p, q_features=q, num_buckets=3)
    assert explanation.result.to_dict() == expected.to_dict()


def test_missed_and_overdone_topics_are_found_with_words_and_texts(explanation: Explanation) -> None:
    sides = {bucket.side: bucket for bucket in explanation.buckets[:2]}
    missed, too_much = sides["missed"], sides["too much"]
    assert any("ship" in text or "harbour" in text for text in missed.words)
    assert any("rain" in text or "day" in text for text in too_much.words)
    assert not missed.noise and not too_much.noise and explanation.buckets[2].noise
    assert missed.p_count > missed.q_count and missed.type_two == missed.contribution and missed.type_one == 0
    for bucket in explanation.buckets:
        assert len(bucket.p_texts) == len(bucket.q_texts) == 2
        assert bucket.overlap == 1 and bucket.other_rank == bucket.rank  # three far centres: every seed finds them
        distances = [near.distance for near in bucket.p_texts]
        assert distances == sorted(distances)
    assert missed.p_texts[0].text is not None and "ship" in missed.p_texts[0].text
    texts = topics_set([0.25, 0.65, 0.1], 200, 0)[1], topics_set([0.05, 0.65, 0.3], 180, 1)[1]
    for bucket in explanation.buckets:
        for of_side, shown in zip(texts, (bucket.p_texts, bucket.q_texts), strict=True):
            assert [near.text for near in shown] == [of_side[near.row] for near in shown]


def test_parts_add_up(explanation: Explanation) -> None:
    assert explanation.gap == pytest.approx(explanation.contributions.sum(), abs=1e-12)
    assert explanation.type_one + explanation.type_two == pytest.approx(explanation.gap, abs=1e-12)
    assert sum(bucket.share for bucket in explanation.buckets) == pytest.approx(1, abs=1e-12)
    assert sum(bucket.p_count for bucket in explanation.buckets) == 200


def test_everything_is_fit_for_json_and_for_reading(explanation: Explanation) -> None:
    values = json.loads(json.dumps(explanation.to_dict(), allow_nan=False))
    assert values["result"]["mauve"] == explanation.result.mauve
    assert values["buckets"][0]["p_texts"][0]["row"] == explanation.buckets[0].p_texts[0].row
    shown = explanation.document().terminal()
    assert "MISSED" in shown and "TOO MUCH" in shown and "harbour" in shown
    assert max(map(len, shown.splitlines()[:-1])) <= 110


def test_features_alone_are_explained_without_words() -> None:
    p, _ = topics_set([0.6, 0.3, 0.1], 60, 0)
    found = explain(p_features=p, q=FeatureSet(p[::-1].copy()), num_buckets=3)
    assert found.buckets[0].words == () and found.buckets[0].p_texts[0].text is None
    assert all(bucket.side == "even" and bucket.noise for bucket in found.buckets) and found.gap == 0
    assert [bucket.share for bucket in found.buckets] == [0, 0, 0]
    assert str(found)


def test_numpy_counts_buckets_too() -> None:
    p, _ = topics_set([0.6, 0.3, 0.1], 60, 0)
    found = explain(p_features=p, q_features=p, num_buckets=3, buckets=np.int8(2), texts=np.uint8(1))
    assert len(found.buckets) == 2 and all(len(bucket.p_texts) == 1 for bucket in found.buckets)


def test_ten_buckets_and_three_texts_of_each_side_are_shown_unless_others_are_asked_for() -> None:
    rows = np.random.default_rng(0).normal(size=(120, 2))
    for more, buckets, texts in (({}, 10, 3), ({"buckets": 2, "texts": 0}, 2, 0)):
        found = explain(p_features=rows[:60], q_features=rows[60:], num_buckets=12, num_runs=1, knn=False, **more)
        assert [len(bucket.p_texts) for bucket in found.buckets] == [texts] * buckets
    with pytest.raises(ValueError, match="texts must be an integer of at least 0, got -1"):
        explain(p_features=rows, q_features=rows, texts=-1)
    with pytest.raises(ValueError, match="features must be in memory to be explained"):
        explain(p_features=iter([rows[:60]]), q_features=iter([rows[60:]]), num_runs=1)


def test_wrong_input() -> None:
    p, text = topics_set([0.6, 0.3, 0.1], 30, 0)
    with pytest.raises(ValueError, match=r"p_text must hold one text for each row of p_features, got 29 for 30"):
        explain(p_features=p, q_features=p, p_text=text[1:])
    with pytest.raises(ValueError, match="p_text holds 1 empty or whitespace-only text of 30"):
        explain(p_features=p, q_features=p, p_text=[*text[1:], ""])
    with pytest.raises(ValueError, match="one of q, q_features"):
        explain(p_features=p)
    with pytest.raises(ValueError, match="buckets must be an integer of at least 1, got 0"):
        explain(p_features=p, q_features=p, buckets=0)
    with pytest.raises(TypeError, match="num_bucket"):
        explain(p_features=p, q_features=p, num_bucket=3)


@pytest.mark.more
def test_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, seed in (("human", 0), ("model", 1)):
        np.save(tmp_path / f"{name}.npy", topics_set([0.4, 0.4, 0.2], 40, seed)[0])
    files = [str(tmp_path / "human.npy"), str(tmp_path / "model.npy")]
    assert main(["explain", *files, "--json", "--buckets", "2", "--num-buckets", "3"]) == 0
    out, err = capsys.readouterr()
    found = json.loads(out)
    assert err == "" and len(found["buckets"]) == 2 and found["result"]["num_buckets"] == 3
    assert main(["explain", *files, "--all", "--plot", str(tmp_path / "gap.svg")]) == 0
    assert any(line.startswith("  closeness ") for line in capsys.readouterr().out.split("\n")[:8])
    assert (tmp_path / "gap.svg").read_text().startswith("<svg")


# --- its parts, by loops ------------------------------------------------------------------------------------------

COUNTS = ([20, 8, 8, 4, 0], [5, 15, 7, 3, 0])  # texts of the buckets: missed, too much, too much, even, none


@pytest.fixture(scope="module")
def scored() -> MauveResult:
    rng = np.random.default_rng(0)
    return compute_mauve(p_features=rng.normal(size=(40, 2)), q_features=rng.normal(size=(30, 2)), num_runs=1)


def test_buckets_are_described_as_loops_over_their_texts_do(
    scored: MauveResult, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(1)
    labels = [np.repeat(np.arange(5), counts) for counts in COUNTS]
    others = [np.where(rng.random(len(side)) < 0.2, rng.integers(5, size=len(side)), 4 - side) for side in labels]
    rows = [np.array([[10.0 * bucket, 0] for bucket in side]) + rng.normal(size=(len(side), 2)) for side in labels]
    decoy = rng.integers(4, size=25)  # another model before this one
    partition = Partition(
        (rows[0], rng.normal(size=(25, 2)), rows[1]),
        ((labels[0], decoy, labels[1]), (others[0], decoy, others[1])),
    )
    texts = [[f"{name} {row} {'so it is ' * row}" for row in range(size)] for name, size in (("p", 40), ("q", 30))]
    readable = Readable.of([texts[0], ["a decoy"] * 25, texts[1]]).pair(0, 2)
    shares = [np.array(counts) / size for counts, size in zip(COUNTS, (40, 30), strict=True)]
    result = replace(
        scored, num_buckets=5, p_labels=labels[0], q_labels=labels[1], p_hist=shares[0], q_hist=shares[1], mauve=0.8
    )
    config = MauveConfig(mauve_scaling_factor=2.0, divergence_curve_discretization_size=11, confidence_level=0.9)
    subgroups = {"even": (np.arange(0, 40, 2), None, np.arange(0, 30, 2)), "last": (None, None, np.array([29]))}

    def compared(_: object, group: NDArray[np.int64], against: NDArray[np.int64], skip: object) -> tuple[object, ...]:
        return sorted(group.tolist()), sorted(against.tolist()), skip is readable.functional

    monkeypatch.setattr(gap, "telling_phrases", compared)
    found = gap.explain_buckets(partition, 2, result, config, readable, 5, 3, subgroups)
    parts = contributions(shares[0], shares[1], 2.0, 11)
    p_values = noise_p_values(np.array(COUNTS[0]), np.array(COUNTS[1]))
    of_others = [np.bincount(side, minlength=5) / len(side) for side in others]
    other_parts = contributions(of_others[0], of_others[1], 2.0, 11).tolist()
    assert [item.bucket for item in found.buckets] == sorted(range(5), key=lambda bucket: -parts[bucket])
    assert (found.gap, found.type_one, found.type_two) == pytest.approx((0.2, parts[1] + parts[2], parts[0]))
    assert found.noise == pytest.approx(sum(part for part, value in zip(parts, p_values, strict=True) if value > 0.1))
    assert found.most_human == () and 0 < found.noise < parts.sum()
    for rank, item in enumerate(found.buckets, start=1):
        bucket, part = item.bucket, parts[item.bucket]
        side = ("missed", "too much", "too much", "even", "even")[bucket]
        assert (item.rank, item.side, item.p_count, item.q_count) == (rank, side, COUNTS[0][bucket], COUNTS[1][bucket])
        assert (item.contribution, item.share) == pytest.approx((part, part / parts.sum()))
        assert (item.type_one, item.type_two) == ((part, 0) if side == "too much" else (0, part))
        assert item.p_value == p_values[bucket] and item.noise == (p_values[bucket] > 0.1)
        both = [
            [{(s, row) for s in (0, 1) for row in np.flatnonzero(run[s] == number)} for number in range(5)]
            for run in (labels, others)
        ]
        jaccard = [len(both[0][bucket] & other) / max(len(both[0][bucket] | other), 1) for other in both[1]]
        match = jaccard.index(max(jaccard))
        assert item.overlap == pytest.approx(max(jaccard))
        assert item.other_rank == 1 + sum(value > other_parts[match] for value in other_parts)
        centre = np.mean([rows[s][row] for s, row in both[0][bucket]] or [[0.0, 0.0]], axis=0)
        away = [[math.dist(row, centre) for row in side_rows] for side_rows in rows]
        order = [sorted(range(len(side_away)), key=side_away.__getitem__) for side_away in away]
        for s, near in enumerate((item.p_texts, item.q_texts)):
            assert [text.row for text in near] == order[s][:3] and near[0].text == texts[s][order[s][0]]
            assert [text.distance for text in near] == pytest.approx([away[s][row] for row in order[s][:3]])
            assert [text.in_bucket for text in near] == [labels[s][row] == bucket for row in order[s][:3]]
        most = max(20, 2 * max(COUNTS[0][bucket], COUNTS[1][bucket]))
        inside = [np.flatnonzero(labels[s] == bucket) + 65 * s for s in (0, 1)]  # the decoys are 40 to 64
        members, everything = {*np.concatenate(inside).tolist()}, [*range(40), *range(65, 95)]
        assert item.words == (sorted(members), sorted({*everything} - members), True)
        assert item.p_words == (inside[0].tolist(), sorted(65 + row for row in order[1][:most]), True)
        assert item.q_words == (inside[1].tolist(), sorted(order[0][:most]), True)
        assert item.repeated == repeated_phrases([texts[1][row - 65] for row in inside[1]])
        counted = [int((labels[s][::2] == bucket).sum()) for s in (0, 1)]
        expected = {"even": (counted[0], counted[1]), "last": (0, int(bucket == 3))}
        assert item.composition == {label: pair for label, pair in expected.items() if any(pair)}
    chosen = gap.explain_buckets(partition, 2, result, config, readable, [2, 0], 0, with_extremes=True)
    assert [item.bucket for item in chosen.buckets] == [2, 0] and chosen.buckets[0].composition == {}
    assert chosen.buckets[0].rank == [item.bucket for item in found.buckets].index(2) + 1
    assert chosen.buckets[0].p_texts == chosen.most_human == ()
    readable = Readable.of([None, ["a decoy"] * 25, texts[1]]).pair(0, 2)
    for item, known in zip(
        gap.explain_buckets(partition, 2, result, config, readable, 5, 3).buckets, found.buckets, strict=True
    ):
        assert item.repeated == known.repeated and item.p_texts[0].text is None
        (words, p_words, q_words) = item.words, item.p_words, item.q_words
        assert (words[0], p_words[0], q_words[1]) == ([row - 40 for row in known.words[0] if row >= 65], [], [])


def test_the_texts_that_a_classifier_is_surest_of_come_once(scored: MauveResult) -> None:
    assert scored.learned is not None
    ranks = np.array([0.2, 0.9, 0.2, 0.5]), np.array([0.7, 0.1, 0.8])
    result = replace(scored, learned=scored.learned._replace(p_ranks=ranks[0], q_ranks=ranks[1]))
    texts = ["a", "b", "a", "c"], ["d d d", "e", "f"]
    found = gap._extremes(result, texts, 2)
    assert [item.row for item in found["most_human"]] == [0, 3] and "ngrams" not in found
    assert [(item.row, item.score, item.text) for item in found["most_model"]] == [(2, 0.8, "f"), (0, 0.7, "d d d")]
    assert [item.row for item in gap._extremes(result, (None, None), 3)["most_human"]] == [0, 2, 3]
    by_ngrams = replace(result, signature_entries=dict(result.signature_entries) | {"featurize_model_name": "ngrams"})
    assert "ngrams" in gap._extremes(by_ngrams, texts, 2)
    for unknown in ((None, texts[1]), (texts[0], None)):
        assert "ngrams" not in gap._extremes(by_ngrams, unknown, 2)
    assert gap._extremes(replace(result, learned=None), texts, 2) == {}


# --- the classifier -----------------------------------------------------------------------------------------------


def test_planted_extreme_texts_come_first() -> None:
    rng = np.random.default_rng(0)
    p, q = rng.normal(size=(80, 4)), rng.normal(size=(70, 4))
    q[:, 0] += 1.5
    p[33, 0], q[44, 0] = -4.5, 6  # far out on either side of the one direction that separates the sets
    names = [f"human {row}" for row in range(80)], [f"model {row}" for row in range(70)]
    found = explain(p_features=p, q_features=q, p_text=names[0], q_text=names[1], texts=3, buckets=1)
    assert [item.text for item in (found.most_human[0], found.most_model[0])] == ["human 33", "model 44"]
    assert [item.row for item in (found.most_human[0], found.most_model[0])] == [33, 44]
    assert len(found.most_human) == len(found.most_model) == 3 and found.ngrams == ()
    low, high = ([item.score for item in side] for side in (found.most_human, found.most_model))
    assert low == sorted(low) and high == sorted(high, reverse=True) and low[-1] < 0.5 < high[-1]
    # a line of a file is counted from 1
    assert "human text 34 (rank 0.0" in found.document().terminal() and "text 45: model 44" in str(found)
    values = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert values["most_model"][0] == {"row": 44, "score": high[0], "text": "model 44"}


@pytest.mark.more
def test_planted_ngrams_are_named_with_the_featurizer_that_sees_them() -> None:
    rng = np.random.default_rng(1)
    words = ["the", "old", "barn", "river", "cold", "and", "so", "left"]
    human, model = ([" ".join(rng.choice(words, size=25)) for _ in range(40)] for _ in range(2))
    model = [text.replace(" and", " & so", 1) + " &\nso" for text in model]
    found = explain(p_text=human, q_text=model, featurize_model_name="ngrams", num_runs=1, buckets=1)
    assert any("&" in use.ngram and use.p_per_1000 == 0 and not use.format for use in found.ngrams)
    assert {use.ngram: use.format for use in found.ngrams}["&⏎"] == "line breaks"
    assert "only the model writes “&⏎”" in str(found) and "format: line breaks" in " ".join(str(found).split())
    assert len(found.most_human) == len(found.most_model) == 3


def test_few_texts_have_no_extremes() -> None:
    p, _ = topics_set([0.6, 0.3, 0.1], 8, 0)
    found = explain(p_features=p, q_features=p, num_buckets=3)
    assert found.most_human == found.most_model == () and "classifier behind" not in str(found)


def test_the_first_screen_shows_what_is_more_than_noise(explanation: Explanation) -> None:
    screen = explanation.first_screen("model against human", "more: --all")
    lines = screen.split("\n")
    assert (
        len(lines) <= 40 and lines[0].startswith("model against human · 200 + 180 texts") and lines[-1] == "more: --all"
    )
    declared = replace(explanation, result=replace(explanation.result, design="aligned"))
    assert declared.first_screen().split("\n")[0].endswith(" · same prompts")
    missed, overdone = screen.split("less than people do:")[1].split("more than people do:")
    assert "ship" in missed and "rain" in overdone and "list" not in missed + overdone  # the third could be noise
    assert "What gives the model away:" in screen and str(explanation) == explanation.first_screen()
    rng = np.random.default_rng(0)
    p, q = rng.normal(size=(200, 3)), rng.normal(size=(200, 3))
    texts = [f"text {row}" for row in range(200)]
    same = explain(p_features=p, q_features=q, p_text=texts, q_text=texts, num_buckets=3)
    quiet = replace(same, ngrams=(), buckets=tuple(replace(one, noise=True) for one in same.buckets))
    quiet = replace(quiet, result=replace(quiet.result, auc_p_value=0.6))
    assert "Nothing here is more than chance would show." in quiet.first_screen()
    assert "What gives" not in quiet.first_screen() and "text 1" not in quiet.first_screen()


def test_the_longest_first_screen_has_forty_lines(explanation: Explanation) -> None:
    bucket = replace(explanation.buckets[0], noise=False)
    sides: tuple[Literal["missed", "too much"], ...] = ("missed", "too much")
    many = replace(
        explanation,
        buckets=tuple(replace(bucket, side=side) for side in sides for _ in range(9)),
        ngrams=(NgramUse("ab", "letters", 0.5, 4.5, 30.0, ""),) * 9,
        result=replace(explanation.result, auc=0.9, auc_p_value=1e-9),
        most_human=(ScoredText(1, -2.0, "word " * 99),) * 9,
        most_model=(ScoredText(2, 2.0, "word " * 99),) * 9,
    )
    lines = many.first_screen("a against b", "more").split("\n")
    assert 25 <= len(lines) <= 40 and max(map(len, lines)) <= 160
