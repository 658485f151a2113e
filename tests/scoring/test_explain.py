"""The gap taken apart: buckets with their words, their nearest texts and their stability."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from numpy.typing import NDArray

from mauve_metric import Explanation, FeatureSet, compute_mauve, explain
from mauve_metric.features.text_functions import NgramUse
from mauve_metric.hosts.cli.main import main
from mauve_metric.results.explanation import ScoredText

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
    assert str(found)


def test_numpy_counts_buckets_too() -> None:
    p, _ = topics_set([0.6, 0.3, 0.1], 60, 0)
    found = explain(p_features=p, q_features=p, num_buckets=3, buckets=np.int8(2), texts=np.uint8(1))
    assert len(found.buckets) == 2 and all(len(bucket.p_texts) == 1 for bucket in found.buckets)


def test_wrong_input() -> None:
    p, text = topics_set([0.6, 0.3, 0.1], 30, 0)
    with pytest.raises(ValueError, match=r"p_text must hold one text for each row of p_features, got 29 for 30"):
        explain(p_features=p, q_features=p, p_text=text[1:])
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
    assert "human text 33 (rank 0.0" in found.document().terminal() and "model 44" in str(found)
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
