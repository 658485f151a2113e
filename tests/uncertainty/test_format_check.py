"""Sets that format alone separates are named with the strongest number."""

from __future__ import annotations

import numpy as np
from sklearn.metrics import roc_auc_score

from mauve_metric import compute_mauve
from mauve_metric.results.wording.answer import opening
from mauve_metric.texts.fingerprints import FORMATS, format_numbers
from mauve_metric.uncertainty.format_check import check_format, format_warnings

WORDS = "a model writes one long line of words and a person breaks what was said into short ones".split()


def _texts(number: int, between: str, seed: int) -> list[str]:
    rng = np.random.default_rng(seed)
    return [between.join(" ".join(rng.choice(WORDS, 6)) for _ in range(5)) for _ in range(number)]


def _ngrams(texts: list[str]) -> np.ndarray:
    return np.array([[text.count(mark) for mark in "abcdeilnorst "] for text in texts], dtype=float)


def test_the_warning_on_line_breaks_names_the_option_that_removes_it() -> None:
    human, model = _texts(60, " ", 0), _texts(60, "\n", 1)
    raw = compute_mauve(p_text=human, q_text=model, featurize_model_name=_ngrams)
    assert raw.format_aucs is not None and raw.format_aucs["line_breaks"] > 0.99
    (warning,) = [item for item in raw.warnings if item.code == "format_differs"]
    assert "line breaks alone with AUC 1.00" in warning.message and "--strip line_breaks" in warning.message
    assert "Mind the format first: the AUC of line breaks alone is 1" in opening(raw)
    cured = compute_mauve(p_text=human, q_text=model, featurize_model_name=_ngrams, strip="line_breaks")
    assert cured.format_auc is not None and cured.format_auc < 0.7
    assert "format_differs" not in [item.code for item in cured.warnings]
    assert raw.auc is not None and cured.auc is not None and raw.auc > cured.auc + 0.15


def test_the_auc_of_one_number_is_that_of_the_number_itself() -> None:
    texts = [_texts(100, "", 2), [text.replace("a", "A", index % 3) for index, text in enumerate(_texts(100, "", 3))]]
    p, q = (np.array([format_numbers(text) for text in side]) for side in texts)
    found = check_format(p, q, None, 0)
    assert found is not None
    column = list(FORMATS).index("capitals")
    raw = roc_auc_score(np.repeat([0, 1], 100), np.r_[p[:, column], q[:, column]])
    assert abs(found.each["capitals"] - raw) < 0.05  # of folds in place of all texts
    assert found.strongest == "capitals"


def test_equal_formats_and_unknown_texts_give_no_warning() -> None:
    p, q = (np.array([format_numbers(text) for text in _texts(80, " ", seed)]) for seed in (4, 5))
    assert not [*format_warnings(check_format(p, q, None, 0))]
    assert check_format(None, q, None, 0) is None and check_format(p[:9], q, None, 0) is None
    features = np.random.default_rng(0).normal(size=(40, 3))
    assert compute_mauve(p_features=features, q_features=features[::-1]).format_auc is None
