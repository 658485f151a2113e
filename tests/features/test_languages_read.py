"""Sets in twelve languages: the note names the featurizer that reads them, which sees what is wrong with them."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Any

import pytest
from scripts import TEXTS

from mauve_metric import FeatureSet, compute_mauve
from mauve_metric.report.wording.verdict_sentence import notes_of
from mauve_metric.uncertainty.score_warnings import ScoreWarning, text_warnings

READER = {
    **dict.fromkeys(("de", "fr", "ru", "ar", "tr", "ko", "zh", "ja", "th"), "use"),
    "hi": "ngrams",
    "el": "ngrams",
}
OPTIONS: dict[str, Any] = {"num_runs": 1, "knn": False}
CODES = ("unseen_characters", "some_unseen_characters", "language_not_read")


def said(language: str, featurizer: str) -> list[ScoreWarning]:
    side = FeatureSet.from_texts(random.Random(1).sample(TEXTS[language], 20), featurize_model_name=featurizer)
    return [warning for warning in text_warnings(side, side) if warning.code in CODES]


@pytest.mark.slow
@pytest.mark.parametrize("language", TEXTS)
def test_the_featurizer_that_reads_a_language_is_named(language: str) -> None:
    reader = READER.get(language)
    for featurizer in ("minilm", "use", "ngrams"):
        warnings = said(language, featurizer)
        if reader is None or featurizer == reader or (featurizer == "ngrams" and language not in ("zh", "ja", "th")):
            assert warnings == []
        else:
            (warning,) = warnings
            assert warning.message.endswith(f"featurize_model_name='{reader}'")


@pytest.mark.more
def test_the_language_is_kept_with_the_features(tmp_path: Path) -> None:
    made = FeatureSet.from_texts(TEXTS["el"][:30], featurize_model_name="use").save(tmp_path / "el.npz")
    stored = FeatureSet.load(made)
    assert stored.marks is not None and stored.marks.language == "Greek"
    (warning,) = (it for it in text_warnings(stored, stored) if it.code in CODES)
    assert (
        warning.message
        == "most human texts are in Greek, for which use is not made: take featurize_model_name='ngrams'"
    )


@pytest.mark.slow
def test_the_first_screen_names_it() -> None:
    for language in ("th", "zh"):
        texts = random.Random(2).sample(TEXTS[language], 120)
        out = compute_mauve(
            p_text=texts[:60], q_text=texts[60:], featurize_model_name="minilm", verbose=False, **OPTIONS
        )
        assert out.verdict == "no verdict" and out.verdict_reason == "unseen_characters"
        assert notes_of(out)[0] == "take featurize_model_name='use' for these texts" and "ngrams" not in str(out)


@pytest.mark.slow
@pytest.mark.parametrize("language", TEXTS)
def test_its_reader_tells_equal_halves_from_shuffled_characters(language: str) -> None:
    rng = random.Random(0)
    # without capitals and ends of sentences, which would make the shuffled texts a set of another layout
    texts = [re.sub("[.।。]", "", text.lower()) for text in rng.sample(TEXTS[language], 200)]
    p, q = texts[:100], texts[100:]
    shuffled = ["".join(rng.sample(text, len(text))) for text in q]
    reader = READER.get(language, "use")
    equal = compute_mauve(p_text=p, q_text=q, featurize_model_name=reader, verbose=False)
    wrong = compute_mauve(p_text=p, q_text=shuffled, featurize_model_name=reader, verbose=False)
    assert equal.closeness_ci is not None and equal.closeness_ci[1] > 0.9  # not far from like human
    assert wrong.verdict == "different" and wrong.closeness is not None and wrong.closeness < 0.1
