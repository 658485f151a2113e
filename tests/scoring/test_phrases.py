"""Phrases that tell two sets apart."""

from __future__ import annotations

import numpy as np

from mauve_metric.scoring import phrases

TOPICS = ["the ship sails from harbour {} at noon", "a list comprehension number {} makes items", "rain on day {} here"]


def test_telling_phrases_name_the_topic() -> None:
    texts = [TOPICS[row % 3].format(row) for row in range(60)]
    table = phrases.phrase_table(texts)
    rows = np.arange(60)
    found = phrases.telling_phrases(table, rows[rows % 3 == 0], rows[rows % 3 != 0])
    assert found and all("list" not in phrase and "rain" not in phrase for phrase in found)
    assert any(word in " ".join(found) for word in ("ship", "harbour", "noon"))
    assert phrases.telling_phrases(table, rows[:0], rows) == ()


def test_words_of_a_random_group_are_noise() -> None:
    """At most one of twenty random groups may have a telling phrase; the bound leaves four standard errors."""
    rng, rows = np.random.default_rng(0), np.arange(120)
    texts = [" ".join(f"w{word}" for word in rng.zipf(1.3, 40) % 500) for _ in rows]
    table = phrases.phrase_table(texts)
    groups = [rng.permutation(rows) for _ in range(50)]
    named = sum(bool(phrases.telling_phrases(table, group[:25], group[25:])) for group in groups)
    assert named <= 50 * 0.05 + 4 * (50 * 0.05 * 0.95) ** 0.5


def test_the_table_counts_texts_not_occurrences() -> None:
    table = phrases.phrase_table(["so so so", "so it is", "it is so it is"])
    count = dict(zip(table.phrases, table.count(np.arange(3)).tolist(), strict=True))
    assert count == {"so": 3, "so it": 2, "so it is": 2, "it": 2, "it is": 2, "is": 2}


def test_function_words_are_left_out() -> None:
    table = phrases.phrase_table([f"the word{i % 10} of it" for i in range(40)])
    spelled = {table.phrases[i] for i in np.nonzero(~table.functional(np.arange(40)))[0]}
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


def test_phrases_that_share_half_of_their_words_with_a_better_one_are_left_out() -> None:
    chosen = phrases._without_overlaps(["a b c d", "a b x y", "a z w q", "c d", "e f", "g h", "i j"], 4)
    assert chosen == ("a b c d", "a z w q", "e f", "g h")


def test_telling_phrases_are_ranked_by_their_weighted_log_odds() -> None:
    """Monroe et al. 2008, eq. 15 to 22, with a prior of `PRIOR_TEXTS` texts in the shares of all texts."""
    rng, rows = np.random.default_rng(4), np.arange(600)
    few = rng.uniform(0.02, 0.6, 40)
    rates = np.where(rows[:, None] < 250, few + 0.25, few)
    has_word = rng.random(rates.shape) < rates
    texts = [" . ".join(f"w{word}" for word in np.flatnonzero(row)) for row in has_word]
    y_one, y_two = has_word[:250].sum(axis=0), has_word[250:].sum(axis=0)
    prior = phrases.PRIOR_TEXTS * has_word.mean(axis=0)
    log_odds, variances = [], []
    for y, n in ((y_one, 250), (y_two, 350)):
        holds, lacks = y + prior, n - y + phrases.PRIOR_TEXTS - prior
        log_odds.append(np.log(holds / lacks))
        variances.append(1 / holds + 1 / lacks)
    z = (log_odds[0] - log_odds[1]) / np.sqrt(variances[0] + variances[1])
    expected = [f"w{word}" for word in np.argsort(-z)[:18]]  # all of which are telling
    table = phrases.phrase_table(texts)
    skip = np.array([" " in phrase for phrase in table.phrases])
    assert list(phrases.telling_phrases(table, rows[:250], rows[250:], skip, most=18)) == expected
