"""Features of neighbouring letters and kinds of words: differences they detect, and equality on all machines."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from mauve_metric.features.ngrams import COLUMNS, LETTERS_WEIGHT, kind, ngram_features

TEXT = "The old man walked to the sea, and 3 boats came in."


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
