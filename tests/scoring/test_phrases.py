"""Phrases that tell two sets apart."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.stats import hypergeom

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


@pytest.mark.filterwarnings("error")
def test_the_table_counts_texts_not_occurrences() -> None:
    table = phrases.phrase_table(["so so so", "so it is", "it is so it is"])
    count = dict(zip(table.phrases, table.count(np.arange(3)).tolist(), strict=True))
    assert count == {"so": 3, "so it": 2, "so it is": 2, "it": 2, "it is": 2, "is": 2}
    assert table.phrases == ("is", "it", "so", "it is", "so it", "so it is")
    assert phrases.phrase_table(["a b c d"] * 2).phrases[-2:] == ("a b c", "b c d")


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
    assert phrases._without_overlaps(["a b c", "a x y"], 4) == ("a b c", "a x y")


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


def table_of(counts: dict[str, tuple[int, int]], size: int = 50) -> phrases.PhraseTable:
    """Two groups of texts, of which so many of each hold a phrase."""
    rows = np.arange(2 * size)[:, None]
    inside, outside = np.array([*counts.values()]).T
    holds = np.where(rows < size, rows < inside, rows - size < outside)
    return phrases.PhraseTable(tuple(counts), csr_array(holds.astype(np.int64)))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ((50, 22), (39, 13)),  # with a prior of nine texts the second would be before the first
        ((44, 11), (50, 14)),  # of eleven
        ((50, 36), (46, 32)),  # with one text more that holds the phrase
        ((14, 0), (18, 4)),  # with one less
        ((44, 34), (50, 42)),  # if at least one text lacked it
    ],
)
def test_the_prior_weighs_as_ten_texts(first: tuple[int, int], second: tuple[int, int]) -> None:
    table = table_of({"b": second, "a": first})
    assert phrases.telling_phrases(table, np.arange(50), np.arange(50, 100)) == ("a", "b")


def test_two_texts_are_a_group_and_six_phrases_are_named() -> None:
    few, others = table_of({"z": (2, 0), "all": (50, 50), "none": (0, 0)}), np.arange(50, 100)
    with np.errstate(all="raise"):
        assert phrases.telling_phrases(few, np.arange(2), others) == ("z",)
        assert phrases.telling_phrases(table_of({"z": (1, 0)}), np.arange(2), others) == ("z",)  # 2 / 52 < 0.05
        assert phrases.telling_phrases(few, np.arange(1), others) == ()
        assert phrases.telling_phrases(few, np.arange(2), others[:0]) == ()
    eight = table_of({letter: (50 - number, 0) for number, letter in enumerate("abcdefgh")})
    assert phrases.telling_phrases(eight, np.arange(50), others) == (*"abcdef",)


@pytest.mark.parametrize("seed", range(6))
def test_significant_phrases_are_those_of_fishers_test_with_tarones_correction(seed: int) -> None:
    """By loops over the phrases: of the smallest K such that at most K phrases can reach LEVEL / K."""
    rng = np.random.default_rng(seed)
    size, texts = int(rng.integers(4, 30)), int(rng.integers(35, 60))
    totals = rng.integers(0, texts // 2, 60)
    counts = np.array([rng.integers(max(0, total + size - texts), min(total, size) + 1) for total in totals])
    skip = rng.random(60) < 0.2
    tested = [phrase for phrase in range(60) if totals[phrase] and not skip[phrase]]
    least = [hypergeom.sf(min(totals[phrase], size) - 1, texts, totals[phrase], size) for phrase in tested]
    smallest = next(k for k in range(1, 61) if sum(value <= 0.05 / k for value in least) <= k)
    expected = np.zeros(60, dtype=bool)
    for phrase in tested:
        expected[phrase] = hypergeom.sf(counts[phrase] - 1, texts, totals[phrase], size) <= 0.05 / smallest
    found = phrases._significant(counts, totals, size, texts, skip)
    np.testing.assert_array_equal(found, expected)
    assert expected.any()
    assert not phrases._significant(counts, totals, size, texts, np.ones(60, dtype=bool)).any()


@pytest.mark.parametrize(("number", "is_last_seen"), [(19, True), (20, False)])
def test_ten_phrases_are_looked_at_for_each_that_may_be_named(number: int, is_last_seen: bool) -> None:
    counts = {f"w a{phrase:02}": (50, 0) for phrase in range(number)} | {"z": (40, 0)}
    found = phrases.telling_phrases(table_of(counts), np.arange(50), np.arange(50, 100), most=2)
    assert found == ("w a00", *["z"] * is_last_seen)
    texts = [f"w a{phrase:02} w a{phrase:02} w a{phrase:02} w" for phrase in range(2 * number + is_last_seen)]
    assert phrases.repeated_phrases([*texts, "x y z " * 3], most=2)[1:] == ("x y z",) * is_last_seen


def test_phrases_that_repeat_are_ordered_by_how_often_and_then_by_the_alphabet() -> None:
    texts = ["d e f " * 3, "g h i " * 4, "a b c " * 3, "j k l " * 3]
    assert phrases.repeated_phrases(texts) == ("g h i", "a b c", "d e f")
    assert [phrases.repeated_phrases(["m n o " * times]) for times in (2, 3)] == [(), ("m n o",)]


@pytest.mark.parametrize(
    ("text", "wanted", "spans"),
    [
        ("a b c d", ["a b", "b c"], [(0, 5)]),  # they overlap
        ("a b c d", ["a b c", "b"], [(0, 5)]),
        ("a b c d e", ["a", "c d", "d e"], [(0, 1), (4, 9)]),
        ("a b c d", ["a", "b", "d"], [(0, 1), (2, 3), (6, 7)]),
        ("a b c d", ["a", "a b"], [(0, 3)]),
        ("a b c d", ["…", ""], []),
        ("a b c d", ["B, c"], [(2, 5)]),
        ("İ a b", ["A b"], [(2, 5)]),  # the first letter is two in lower case
    ],
)
def test_spans_of_phrases(text: str, wanted: list[str], spans: list[tuple[int, int]]) -> None:
    assert phrases.phrase_spans(text, wanted) == spans


def test_a_word_of_more_than_three_tenths_of_the_texts_is_a_function_word_at_the_ends_of_phrases() -> None:
    table = table_of({"often": (4, 0), "seldom": (3, 0), "often so": (1, 0), "so often": (1, 0), "so often so": (1, 0)})
    assert table.functional(np.arange(10)).tolist() == [True, False, True, True, False]
    assert table.functional(np.arange(0)).tolist() == [False] * 5


def test_the_first_set_whose_texts_are_known_says_what_a_function_word_is() -> None:
    human, model = ["the ship"] * 4 + ["rain falls"] * 3 + ["none"] * 3, ["rain falls"] * 5
    read = phrases.Readable.of([None, human, model])
    assert read.starts == (0, 0, 10)
    assert [phrase for phrase, skip in zip(read.table.phrases, read.functional, strict=True) if skip] == [
        "ship",
        "the",
        "the ship",
    ]
    pair = read.pair(1, 2)
    assert pair.texts == (human, model) and pair.starts == (0, 10) and pair.table is read.table
