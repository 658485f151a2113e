"""The gap taken apart: exact shares, noise marks, words, nearest texts, stability."""

from __future__ import annotations

import json
from math import comb
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from mauve_metric import Explanation, Reference, compute_mauve, explain
from mauve_metric.hosts.cli import main
from mauve_metric.measures import gap
from mauve_metric.measures.frontier import curve_area, divergence_curve
from mauve_metric.texts import phrases
from mauve_metric.uncertainty import buckets

Floats = NDArray[np.float64]


def histograms(seed: int, k: int = 40, n: int = 0) -> tuple[Floats, Floats]:
    """Two random histograms; of n texts each when n > 0, with empty buckets then."""
    rng = np.random.default_rng(seed)
    p, q = rng.dirichlet(np.full(k, 0.3)), rng.dirichlet(np.full(k, 0.3))
    return (rng.multinomial(n, p) / n, rng.multinomial(n, q) / n) if n else (p, q)


# --- contributions ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("c", [0.1, 1.0, 5.0, 40.0])
@pytest.mark.parametrize("points", [2, 25, 200])
def test_contributions_sum_to_the_gap(c: float, points: int) -> None:
    for seed in range(6):
        for n in (0, 100):
            p, q = histograms(seed, n=n)
            parts = gap.contributions(p, q, c, points)
            # 24 nodes a panel leave 1e-14 of quadrature error, and sums of 40 terms as much rounding
            assert parts.sum() == pytest.approx(1 - curve_area(divergence_curve(p, q, c, points)), abs=1e-12)
            assert (parts >= 0).all()


def test_contributions_are_the_slow_integral() -> None:
    """Against a plain midpoint rule with plain formulas."""
    p, q = histograms(3, k=5)
    weights, parts, steps = np.linspace(1e-6, 1 - 1e-6, 25), np.zeros(5), 4000
    for step in range(steps):
        c = 5 * (step + 0.5) / steps
        r = weights[:, None] * p + (1 - weights[:, None]) * q
        t_q, t_p = q * np.log(q / r) - q + r, p * np.log(p / r) - p + r
        x, y = np.exp(-c * t_q.sum(axis=1)), np.exp(-c * t_p.sum(axis=1))
        for j in range(25):
            rise = (y[j + 1] if j < 24 else 1) - (y[j - 1] if j else 0)
            fall = (x[j - 1] if j else 1) - (x[j + 1] if j < 24 else 0)
            parts += 5 / steps * (rise * x[j] * t_q[j] + fall * y[j] * t_p[j]) / 2
    # the midpoint rule errs by h²/24·f'' with h = 5/4000 and f'' of a few tens
    np.testing.assert_allclose(gap.contributions(p, q), parts, atol=1e-5)


def test_contributions_move_with_their_buckets_and_do_not_know_the_sides() -> None:
    p, q = histograms(1)
    order = np.random.default_rng(0).permutation(len(p))
    np.testing.assert_allclose(gap.contributions(p[order], q[order]), gap.contributions(p, q)[order], atol=1e-14)
    np.testing.assert_allclose(gap.contributions(q, p), gap.contributions(p, q), atol=1e-14)


def test_a_bucket_with_equal_shares_adds_nothing() -> None:
    p, q = np.array([0.3, 0.3, 0.4, 0.0]), np.array([0.3, 0.5, 0.2, 0.0])
    parts = gap.contributions(p, q)
    assert parts[0] == parts[3] == 0 and parts[1] > 0 and parts[2] > 0
    assert gap.contributions(p, p).tolist() == [0, 0, 0, 0]


def test_disjoint_sets_make_the_largest_gap() -> None:
    parts = gap.contributions([1.0, 0.0], [0.0, 1.0])
    # the grid of 25 weights adds about 1e-4 to the floor 1/C(10, 5)
    assert parts.sum() == pytest.approx(1 - 1 / comb(10, 5), abs=2e-4)
    assert parts[0] == pytest.approx(parts[1], abs=1e-12)


# --- noise --------------------------------------------------------------------------------------------------------


def test_noise_is_the_exact_binomial_test_with_holm() -> None:
    from scipy.stats import binomtest

    rng = np.random.default_rng(0)
    p_counts, q_counts = rng.integers(0, 15, 20), rng.integers(0, 15, 20)
    p_counts[4], q_counts[4], q_counts[7] = 0, 0, 60
    share = p_counts.sum() / (p_counts + q_counts).sum()
    filled = np.nonzero(p_counts + q_counts)[0]
    plain = {i: binomtest(int(p_counts[i]), int(p_counts[i] + q_counts[i]), share).pvalue for i in filled}
    found, worst = buckets.noise_p_values(p_counts, q_counts), 0.0
    for step, bucket in enumerate(sorted(plain, key=lambda i: plain[i])):
        worst = max(worst, min(1.0, (len(plain) - step) * plain[bucket]))
        assert found[bucket] == pytest.approx(worst, abs=1e-12)
    assert found[4] == 1 and found[7] < 1e-3


def test_equal_populations_hardly_ever_have_a_bucket_that_is_not_noise() -> None:
    rng, alarms = np.random.default_rng(1), 0
    for _ in range(40):
        counts = rng.multinomial(300, np.full(30, 1 / 30), size=2)
        alarms += bool((buckets.noise_p_values(counts[0], counts[1]) <= 0.05).any())
    # at most 5 % are expected: 2 of 40, standard deviation 1.4
    assert alarms <= 2 + 3 * 1.4


# --- words --------------------------------------------------------------------------------------------------------

TOPICS = ["the ship sails from harbour {} at noon", "a list comprehension number {} makes items", "rain on day {} here"]


def test_telling_phrases_name_the_topic() -> None:
    texts = [TOPICS[row % 3].format(row) for row in range(60)]
    table = phrases.phrase_table(texts)
    rows = np.arange(60)
    found = phrases.telling_phrases(table, rows[rows % 3 == 0], rows[rows % 3 != 0])
    assert found and all("list" not in phrase and "rain" not in phrase for phrase in found)
    assert any(word in " ".join(found) for word in ("ship", "harbour", "noon"))
    assert phrases.telling_phrases(table, rows[:0], rows) == ()


def test_the_table_counts_texts_not_occurrences() -> None:
    table = phrases.phrase_table(["so so so", "so it is", "it is so it is"])
    count = {table.spell(i): int(n) for i, n in enumerate(table.count(np.arange(3)))}
    assert count == {"so": 3, "so it": 2, "so it is": 2, "it": 2, "it is": 2, "is": 2}


def test_function_words_are_left_out() -> None:
    table = phrases.phrase_table([f"the word{i % 10} of it" for i in range(40)])
    spelled = {table.spell(i) for i in np.nonzero(~table.functional(np.arange(40)))[0]}
    assert spelled == {f"word{i}" for i in range(10)}


def test_repeated_phrases_are_named() -> None:
    assert phrases.repeated_phrases(["he said that it was " * 10, "nothing here repeats at all"])[0] in (
        "he said that",
        "said that it",
        "that it was",
        "it was he",
        "was he said",
    )
    assert phrases.repeated_phrases(["no word of this comes back", ""]) == ()


def test_texts_without_words() -> None:
    table = phrases.phrase_table(["…", "!!"])
    assert len(table.phrases) == 0 and phrases.telling_phrases(table, np.array([0]), np.array([1])) == ()


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
    shown = str(explanation)
    assert "MISSED" in shown and "TOO MUCH" in shown and "harbour" in shown
    assert max(map(len, shown.splitlines()[:-1])) <= 110


def test_features_alone_are_explained_without_words() -> None:
    p, _ = topics_set([0.6, 0.3, 0.1], 60, 0)
    found = explain(p_features=p, q=Reference(p[::-1].copy()), num_buckets=3)
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


def test_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, seed in (("human", 0), ("model", 1)):
        np.save(tmp_path / f"{name}.npy", topics_set([0.4, 0.4, 0.2], 40, seed)[0])
    files = [str(tmp_path / "human.npy"), str(tmp_path / "model.npy")]
    assert main(["explain", *files, "--json", "--buckets", "2", "--num-buckets", "3"]) == 0
    out, err = capsys.readouterr()
    found = json.loads(out)
    assert err == "" and len(found["buckets"]) == 2 and found["result"]["num_buckets"] == 3
    assert main(["explain", *files, "--plot", str(tmp_path / "gap.svg")]) == 0
    assert "of what two human sets reach" in capsys.readouterr().out.split("\n")[0]
    assert (tmp_path / "gap.svg").read_text().startswith("<svg")
