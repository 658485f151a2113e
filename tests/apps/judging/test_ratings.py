"""Ratings become mean scores with intervals, groups and correlations."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mauve_metric import rank_by_preferences

Row = dict[str, Any]


def ratings(rng: np.random.Generator, annotators: int = 12, items: int = 15, spread: float = 0.7) -> list[Row]:
    """Ratings of three models of true quality 3, 2.5 and 2 by annotators and of items that differ from each other."""
    of_annotators, of_items = rng.normal(0, spread, annotators), rng.normal(0, spread, items)
    rows = []
    for model, quality in (("a", 3.0), ("b", 2.5), ("c", 2.0)):
        for who in range(annotators):
            for item in rng.choice(items, 5, replace=False):
                value = quality + of_annotators[who] + of_items[item] + rng.normal(0, 0.5)
                rows.append({"model": model, "annotator": f"w{who}", "item": f"i{item}", "score": value})
    return rows


def test_scores_are_means_and_differences_those_of_means() -> None:
    rows = ratings(np.random.default_rng(0))
    question = rank_by_preferences(rows).questions["score"]
    means = {name: np.mean([row["score"] for row in rows if row["model"] == name]) for name in "abc"}
    assert {score.model: score.score for score in question.models} == pytest.approx(means)
    assert [score.model for score in question.models] == sorted(means, key=lambda name: -means[name])
    (first, *_) = question.differences
    assert first.difference == pytest.approx(means[first.a] - means[first.b])
    assert (question.annotators, question.items, question.judgements, question.ties) == (12, 15, 180, None)


@pytest.mark.more
def test_intervals_allow_for_annotators_and_items() -> None:
    """Coverage of 95 % intervals of a mean over other annotators and items: .88 leaves four standard errors."""
    rng = np.random.default_rng(1)
    hits, naive = 0, 0
    for _ in range(120):
        rows = ratings(rng)
        alone = [{key: row[key] for key in ("model", "score")} for row in rows]
        for taken, given in ((True, rows), (False, alone)):
            (score,) = (one for one in rank_by_preferences(given).questions["score"].models if one.model == "a")
            assert score.ci is not None
            hit = score.ci[0] <= 3.0 <= score.ci[1]
            hits, naive = hits + (hit and taken), naive + (hit and not taken)
    assert hits >= 0.88 * 120 and naive < 0.75 * 120


def test_one_row_a_model_has_means_without_intervals_and_lower_turns_the_order(tmp_path: Path) -> None:
    path = tmp_path / "people.json"
    people = {name: {"errors": float(number), "fluency": 3.0 - number} for number, name in enumerate("abcde")}
    path.write_text(json.dumps(people), encoding="utf-8")
    judgement = rank_by_preferences(
        path, {"mine": dict(zip("abcde", range(5), strict=True))}, better={"errors": "lower"}
    )
    errors, fluency = judgement.questions["errors"], judgement.questions["fluency"]
    assert [score.model for score in errors.models] == [score.model for score in fluency.models] == [*"abcde"]
    assert errors.models[0].ci is None and errors.differences[0].ci is None
    assert errors.agreement[0].correlation == fluency.agreement[0].correlation == -1.0
    assert judgement.rank_sums == {name: 2.0 * (number + 1) for number, name in enumerate("abcde")}
    assert "No intervals: one number a model." in str(judgement) and "lower is better" in str(judgement)


def test_equal_ratings_of_a_model_have_the_interval_of_all() -> None:
    rows = [{"model": "a", "score": 5}] * 4 + [{"model": "b", "score": value} for value in (1, 2, 3, 4)]
    best = rank_by_preferences(rows).questions["score"].models[0]
    assert best.model == "a" and best.ci is not None and best.ci[1] - best.ci[0] > 1


def test_groups_are_scored_by_themselves_and_one_that_cannot_be_is_named() -> None:
    rows = [row | {"domain": "news" if row["item"] < "i3" else "wiki"} for row in ratings(np.random.default_rng(2))]
    judgement = rank_by_preferences(rows, by="domain")
    news = judgement.questions["score, news"]
    alone = rank_by_preferences([row for row in rows if row["domain"] == "news"]).questions["score"]
    assert news.models == alone.models and news.group == "news"
    assert [*judgement.questions] == ["score", "score, news", "score, wiki"] and len(judgement.rank_sums) == 3
    assert {row["group"] for row in judgement.document().tables["models"].rows} == {None, "news", "wiki"}
    pairs = [{"winner": w, "loser": x, "domain": d} for w, x, d in ("ab1", "ba1", "ab2")]
    judged = rank_by_preferences(pairs, by="domain")
    assert [*judged.questions] == ["winner", "winner, 1"]
    assert "never lost" in judged.failed_groups["winner, 2"] and "No scores of winner, 2" in str(judged)
