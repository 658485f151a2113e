"""Features of neighbouring letters and kinds of words: differences they detect, and equality on all machines."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
from scipy.stats import ttest_ind

from mauve_metric.features import text_functions
from mauve_metric.features.text_functions import COLUMNS, LETTERS_WEIGHT, differing_ngrams, kind, ngram_features

TEXT = "The old man walked to the sea, and 3 boats came in."
WORDS = "the old barn by a river was cold and grey so we left it for the town at noon".split()


def halves(text: str) -> tuple[np.ndarray, np.ndarray]:
    (row,) = ngram_features([text])
    return row[:COLUMNS], row[COLUMNS:]


def test_each_half_has_its_length_and_the_order_of_texts_is_kept() -> None:
    rows = ngram_features([TEXT, "a", TEXT, "\ud800 ?"])
    assert rows.shape == (4, 2 * COLUMNS) and rows.dtype == np.float32
    assert np.allclose(np.linalg.norm(rows[:, :COLUMNS], axis=1), LETTERS_WEIGHT)
    assert np.allclose(np.linalg.norm(rows[:, COLUMNS:], axis=1), 1)
    assert np.array_equal(rows[0], rows[2]) and not np.array_equal(rows[0], rows[1])
    assert ngram_features([]).shape == (0, 2 * COLUMNS)


@pytest.mark.parametrize("characters", [1, 60, 2**16])
def test_a_row_does_not_depend_on_the_texts_that_are_hashed_with_it(
    characters: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = ["", TEXT, "a", TEXT[::-1], "a" * 300, TEXT, " ", "b a"]
    alone = np.concatenate([ngram_features([text]) for text in texts])
    monkeypatch.setattr(text_functions, "_CHARACTERS_A_BLOCK", characters)
    assert np.array_equal(ngram_features(texts), alone)


def test_the_rows_are_the_same_on_every_machine() -> None:
    """A change here makes stored features another featurizer's: then `REVISION` must change, too."""
    (row,) = ngram_features([TEXT])
    content = ",".join(f"{column}:{value:.4f}" for column, value in enumerate(row) if value)
    assert hashlib.sha256(content.encode()).hexdigest()[:16] == "80143e9d099d75bc"


def test_the_words_half_sees_order_and_capitals_and_no_spelling_of_long_words() -> None:
    _, words = halves(TEXT)
    assert np.array_equal(halves(TEXT.replace("walked", "galloped"))[1], words)
    assert np.array_equal(halves(TEXT.replace("3", "412"))[1], words)
    for other in (
        TEXT.replace("to the sea", "the to sea"),
        TEXT.replace("The", "the"),
        TEXT.replace("walked", "Walked"),
    ):
        assert not np.array_equal(halves(other)[1], words)


def test_the_letters_half_sees_spelling() -> None:
    letters, _ = halves(TEXT)
    assert not np.array_equal(halves(TEXT.replace("walked", "wlaked"))[0], letters)


def test_the_projection_keeps_inner_products() -> None:
    """Signed hashing: texts without a common pair are about at a right angle, those with half of them are not."""
    rng = np.random.default_rng(0)
    alphabets = ["abcdefgh", "ijklmnop"]
    first, second = (["".join(rng.choice(list(letters), 300)) for _ in range(20)] for letters in alphabets)
    both = [one + two for one, two in zip(first, second, strict=True)]
    rows = {name: ngram_features(texts)[:, :COLUMNS] for name, texts in {"1": first, "2": second, "12": both}.items()}
    apart = np.einsum("ij,ij->i", rows["1"], rows["2"]) / LETTERS_WEIGHT**2
    shared = np.einsum("ij,ij->i", rows["1"], rows["12"]) / LETTERS_WEIGHT**2
    assert abs(apart.mean()) < 0.15 < 0.6 < shared.mean() < 0.8


@pytest.mark.parametrize(("word", "expected"), [("Ä", "Ä"), ("élan", "long"), ("²x", "0"), ("…", "…"), ("_", "_")])
def test_kinds_of_unusual_words(word: str, expected: str) -> None:
    assert kind(word) == expected


def sentences(n: int, seed: int) -> list[str]:
    """Texts of thirty random words."""
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(WORDS, size=30)) for _ in range(n)]


def test_a_planted_ngram_is_found_with_its_rates_and_statistic() -> None:
    human = sentences(80, 0)
    model = [text.replace(" barn", " 7 barn", 1) + " 7" for text in sentences(60, 1)]
    found = differing_ngrams(human, model)
    by_name = {(use.kind, use.ngram): use for use in found}
    assert found[0].t > 0 and ("7" in found[0].ngram or "[number]" in found[0].ngram)
    planted = by_name["letters", "␣7"]
    count = sum(text.count(" 7") for text in model)
    assert planted.p_per_1000 == 0 and planted.format == ""
    assert planted.q_per_1000 == pytest.approx(1000 * count / sum(len(text) + 1 for text in model), rel=1e-12)
    shares = [[(text.count(" 7") / (len(text) + 1)) ** 0.5 for text in side] for side in (human, model)]
    # 1e-12 is added to the squared standard error
    assert planted.t == pytest.approx(ttest_ind(shares[1], shares[0], equal_var=False).statistic, rel=1e-3)
    assert ("words", "[number] long") not in by_name and ("words", "[number] [long word]") in by_name


def test_equal_sets_have_no_such_ngrams() -> None:
    # each of 40 pairs of sets has a chance of at most 5 % a kind to list one, 10 % in all: 4 are expected, and 4
    # standard errors more are 12
    listed = sum(bool(differing_ngrams(sentences(20, 2 * seed), sentences(20, 2 * seed + 1))) for seed in range(40))
    assert listed <= 12


@pytest.mark.parametrize(
    ("change", "ngram", "what"),
    [
        (lambda text: text.replace(" the", "\n\nthe"), "⏎⏎", "line breaks"),
        (lambda text: text.replace(" the", "  the"), "␣␣", "double or unusual blanks"),
        (lambda text: text.replace(" the", " **the**"), "**", "Markdown"),
        (lambda text: text + " ", "␣[end]", "blanks at the ends"),
        (lambda text: text.replace(" the", " ’the"), "’t", "curly quotes"),
        (lambda text: text.replace(" the", " , the"), "␣,", "blanks before marks"),
    ],
)
def test_format_is_called_format(change: object, ngram: str, what: str) -> None:
    assert callable(change)
    model = [change(text) for text in sentences(40, 3)]
    found = {use.ngram: use.format for use in differing_ngrams(sentences(40, 2), model)}
    assert found.get(ngram) == what


def test_one_text_of_a_side_is_too_few() -> None:
    assert differing_ngrams(["a"], ["b", "c"]) == ()
