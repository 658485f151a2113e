"""N-grams that two sets of texts use differently."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import ttest_ind

from mauve_metric.features.ngram_use import differing_ngrams

WORDS = "the old barn by a river was cold and grey so we left it for the town at noon".split()


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
        (lambda text: text.replace(" the", "  the"), "␣␣", "double blanks"),
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
