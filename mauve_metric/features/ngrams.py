"""Features of texts without a model: hashed counts of neighbouring letters and of neighbouring kinds of words.

Where a sentence encoder sees topics and no grammar, these see spelling, capitals, small words and their order.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence

import numpy as np

from mauve_metric.arrays import Array, Hashes

COLUMNS = 512  # of each half of a row
KEPT_LETTERS = 3  # words up to here are themselves, longer ones only "a long word": grammar is in the short ones
LETTERS_WEIGHT = 1.5  # of the letters' half; the words' half is 1
REVISION = "v1"  # in signatures and stored features: to change with what makes the rows

_WORD = re.compile(r"\w+|[^\w\s]")
START, END = "\x02", "\x03"


def ngram_features(texts: Sequence[str]) -> Array:
    """One row a text: pairs of neighbouring characters, and pairs of neighbouring kinds of words.

    A word of at most three letters and a mark are kinds of their own; of a longer word only counts whether it begins
    with a capital letter, and of a number that it is one. Each pair is hashed to one of 512 columns with a sign, the
    square roots of its count are added up there, and each half of the row is brought to a length of its own: signed
    hashing is a sparse random projection, which keeps inner products (Weinberger et al. 2009, section 3). Nothing is
    learned, so that the same text has the same row everywhere. It is for languages with spaces between words.

    Returns:
        Features, shape (n, 1024), float32; rows of the length √(1.5² + 1).

    >>> ngram_features(["The cat sat on the mat.", "the cat sat on the mat."]).shape
    (2, 1024)
    """
    rows = np.empty((len(texts), 2 * COLUMNS), dtype=np.float32)
    for row, text in zip(rows, texts, strict=True):
        row[:COLUMNS] = LETTERS_WEIGHT * _hash_pairs(_letters(text))
        row[COLUMNS:] = _hash_pairs(_kinds(text))
    return rows


def _letters(text: str) -> Hashes:
    """A number for each character, with marks for the two ends."""
    points = np.frombuffer(f"{START}{text}{END}".encode("utf-32-le", "surrogatepass"), dtype="<u4")
    return points.astype(np.uint64)


def _kinds(text: str) -> Hashes:
    """A number for each word's kind, with marks for the two ends."""
    kinds = [START, *kinds_of(text), END]
    return np.array([zlib.crc32(name.encode("utf-8", "surrogatepass")) for name in kinds], dtype=np.uint64)


def kinds_of(text: str) -> list[str]:
    """The kinds of the words and marks of a text, in order.

    >>> kinds_of("The cats: 12")
    ['The', 'long', ':', '0']
    """
    return list(map(kind, _WORD.findall(text)))


def kind(word: str) -> str:
    """Return the class of a word or mark.

    >>> [kind(word) for word in ("the", "London", "walked", "1984", ",")]
    ['the', 'Long', 'long', '0', ',']
    """
    if word[0].isdigit():
        return "0"
    if len(word) <= KEPT_LETTERS or not word[0].isalnum():
        return word
    return "Long" if word[0].isupper() else "long"


def _hash_pairs(items: Hashes) -> Array:
    """Counts of pairs of neighbours, hashed to columns with a sign: a row of length one."""
    pairs, counts = np.unique(_mix(_mix(items[:-1]) + items[1:]), return_counts=True)
    weights = np.where(pairs >> np.uint64(63), np.sqrt(counts), -np.sqrt(counts))
    row = np.bincount((pairs % np.uint64(COLUMNS)).astype(np.intp), weights=weights, minlength=COLUMNS)
    length = float(np.linalg.norm(row))
    return row / length if length > 0 else row  # signs may cancel out in the shortest of texts


def _mix(values: Hashes) -> Hashes:
    """Each number's bits well mixed: the last step of SplitMix64 (Steele et al. 2014)."""
    values = values + np.uint64(0x9E3779B97F4A7C15)
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))
