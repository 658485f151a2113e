"""Copies from a corpus against sets of windows by brute force, and corpora in every kind of file."""

from __future__ import annotations

import random
from itertools import chain

import numpy as np
import pytest

from mauve_metric.duplicates import memorisation as module
from mauve_metric.duplicates.corpus import CorpusText
from mauve_metric.duplicates.memorisation import Memorisation, memorisation


def texts_of(seed: int, count: int, longest: int = 30, letters: int = 4) -> list[str]:
    rng = random.Random(seed)
    return [" ".join(rng.choice("abcdefgh"[:letters]) for _ in range(rng.randrange(longest))) for _ in range(count)]


def naive(generations: list[str], corpus: list[str], length: int) -> list[list[bool]]:
    known = {
        tuple(words[start : start + length])
        for words in map(str.split, corpus)
        for start in range(len(words) - length + 1)
    }
    marks = []
    for words in map(str.split, generations):
        mark = [False] * len(words)
        for start in range(len(words) - length + 1):
            if tuple(words[start : start + length]) in known:
                mark[start : start + length] = [True] * length
        marks.append(mark)
    return marks


def marks_of(found: Memorisation, generations: list[str]) -> list[list[bool]]:
    marks = [[False] * len(text.split()) for text in generations]
    for (text, start, end), _ in found.spans:
        marks[text][start:end] = [True] * (end - start)
    return marks


@pytest.mark.parametrize("at_once", [1, 37, 1 << 20])
@pytest.mark.parametrize("length", [1, 3, 6])
def test_copies_as_by_brute_force(length: int, at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_AT_ONCE", at_once)
    for seed in range(8):
        generations, corpus = texts_of(seed, 6), texts_of(seed + 50, 12, letters=5)
        found, expected = memorisation(generations, iter(corpus), length), naive(generations, corpus, length)
        assert marks_of(found, generations) == expected
        assert found.rate == pytest.approx(np.mean(list(chain.from_iterable(expected))))
        assert found.shares.tolist() == pytest.approx([np.mean(mark) if mark else 0 for mark in expected])
        assert (found.corpus_texts, found.corpus_tokens) == (12, sum(len(text.split()) for text in corpus))


def test_each_passage_has_its_place() -> None:
    generations = ["x a b c d x", "e f g h"]
    corpus = ["nothing here", "a b c d", "a b c d", "d e f g h e f g h"]
    found = memorisation(generations, corpus, length=3)
    assert [(tuple(span), where) for span, where in found.spans] == [((0, 1, 5), "text 2"), ((1, 0, 4), "text 4")]


@pytest.mark.parametrize("at_once", [1, 5, 1 << 20])
def test_a_running_text_goes_on_and_others_do_not(at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_AT_ONCE", at_once)
    parts = [CorpusText("q a b", "one"), CorpusText("c d", "two", goes_on=True), CorpusText("e f g", "three")]
    found = memorisation(["a b c d e f"], parts, length=4)
    assert [(tuple(span), where) for span, where in found.spans] == [((0, 0, 4), "one")]
    assert (found.corpus_texts, found.corpus_tokens) == (2, 8)


def test_a_place_without_a_name() -> None:
    assert memorisation(["a b c"], [CorpusText("x", "one"), CorpusText("a b c", "")], length=3).rate == 1


def test_tokens_of_a_tokenizer() -> None:
    found = memorisation(["abcde"], ["xbcdy"], length=3, split=lambda text: [ord(letter) for letter in text])
    assert found.rate == 0.6


def test_bad_input() -> None:
    with pytest.raises(TypeError, match="got a single text: 'a b'"):
        memorisation(["a"], "a b", length=1)
    with pytest.raises(ValueError, match="the longest one has 2"):
        memorisation(["a b"], ["a b"])
    with pytest.raises(ValueError, match="corpus holds no texts"):
        memorisation(["a b"], [], length=1)
    with pytest.raises(ValueError, match="length must be at least 1, got 0"):
        memorisation(["a b"], ["a"], length=0)
