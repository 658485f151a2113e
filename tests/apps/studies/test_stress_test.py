"""StressTest tests of featurizers: what is seen follows from what the featurizer looks at."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mauve_metric import StressTest, compute_mauve, stress_test
from mauve_metric.apps.studies.stress_test import chosen_perturbations

pytestmark = pytest.mark.more

RNG = np.random.default_rng(0)
WORDS = np.array("sea ship sail cake cream road tree house river stone cloud green small quick slow old".split())
TEXTS = [
    f"{' '.join(RNG.choice(WORDS, 12)).capitalize()}. Then {' '.join(RNG.choice(WORDS, 10))}. "
    f"{' '.join(RNG.choice(WORDS, 9)).capitalize()} at the end."
    for _ in range(160)
]


def bag_of_words(texts: list[str]) -> list[list[float]]:
    """Counts of words: blind to case and order."""
    return [[1.0, *(text.lower().count(word) for word in WORDS.tolist())] for text in texts]


def shape_of_text(texts: list[str]) -> list[list[float]]:
    """Length and capitals: blind to words and order."""
    return [[1.0, len(text) / 50, 3 * sum(letter.isupper() for letter in text)] for text in texts]


def broken(texts: list[str]) -> list[list[float]]:
    raise OSError("no such model")


OPTIONS: dict[str, Any] = {"cache": False, "num_runs": 1, "kmeans_num_redo": 1}
ERRORS = "truncated,words_shuffled,lower_case,languages_mixed"


@pytest.fixture(scope="module")
def found() -> StressTest:
    return stress_test(
        TEXTS,
        featurizers={"bag": bag_of_words, "broken": broken, "shape": shape_of_text},
        perturbations=f"{ERRORS},numbers_changed",
        strengths=[1, 0.25],
        **OPTIONS,
    )


@pytest.mark.slow
def test_a_featurizer_detects_only_errors_in_the_text_it_counts(found: StressTest) -> None:
    bag, shape = found.featurizers["bag"], found.featurizers["shape"]
    assert bag.unseen == ("words_shuffled", "lower_case") and shape.unseen == ("words_shuffled",)
    # the same under every seed that was tried; the corrected p-values of what is seen are at most .008, of the rest .48
    assert bag.smallest_seen("truncated") == shape.smallest_seen("truncated") == 0.25
    assert shape.smallest_seen("lower_case") == 0.25
    # a bag of words is the same bag in any order: the very features of the other half, and so its very score
    for score in bag.perturbations["words_shuffled"]:
        assert (score.closeness, score.ci, score.changed) == (bag.equal.closeness, bag.equal.ci, 1.0)
    assert bag.equal.closeness > 0.8 > bag.perturbations["truncated"][-1].closeness


@pytest.mark.slow
def test_failed_tests_are_named_and_the_others_are_complete(
    found: StressTest, caplog: pytest.LogCaptureFixture
) -> None:
    assert list(found.featurizers) == ["bag", "shape"] and found.failed == {"broken": "no such model"}
    assert list(found.left_out) == ["numbers_changed"] and "changes only 0%" in found.left_out["numbers_changed"]
    assert (found.n_reference, found.n_perturbed) == (80, 80)
    assert [warning.code for warning in found.warnings] == ["few_texts_to_perturb"]
    with pytest.raises(OSError, match="no such model"):
        stress_test(TEXTS, featurizers=broken, perturbations="typos", **OPTIONS)
    said = "; ".join(f"{name}: no such model" for name in "abcd")  # the whole reason of each
    with pytest.raises(ValueError, match=f"none of the featurizers can be used: {said}"):
        stress_test(TEXTS, featurizers=dict.fromkeys("abcd", broken), perturbations="typos", **OPTIONS)
    with caplog.at_level(logging.INFO, logger="mauve_metric.apps.studies.stress_test"):
        stress_test(TEXTS, featurizers={"bag": bag_of_words}, perturbations="typos", strengths=[1], **OPTIONS)
    assert "bag: 1 sets of 80 texts, about 1 second to featurize" in caplog.text


def test_the_json_has_the_keys_that_are_promised(found: StressTest) -> None:
    said = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    truncated = said["featurizers"]["bag"]["truncated"]
    assert truncated["strengths"] == [0.25, 1.0] and truncated["smallest_seen"] == 0.25
    assert len(truncated["closeness"]) == 2 and all(
        low <= value <= high for value, (low, high) in zip(truncated["closeness"], truncated["ci"], strict=True)
    )
    assert said["featurizers"]["bag"]["words_shuffled"]["smallest_seen"] is None
    assert said["unseen"]["bag"] == ["words_shuffled", "lower_case"] and "broken" in said["failed"]
    assert "strengths:0.25,1|" in said["signatures"]["bag"]


def test_tables_and_figure_say_the_same(found: StressTest) -> None:
    lines = str(found).splitlines()
    row = next(line.split() for line in lines if "lower_case" in line)
    assert row[1] == "=" and "–" in row
    assert any("bag does not see, at this size: words_shuffled, lower_case." in line for line in lines)
    assert "No scores of broken: no such model." in str(found) and "smallest strength seen" in str(found)
    csv = found.to_csv().splitlines()
    assert csv[0].startswith("featurizer,perturbation,strength,closeness,low,high,p_value,seen")
    assert len(csv) == 1 + 2 * (1 + 4 * 2) and csv[1].startswith("bag,equal,0.0,")
    assert found.to_markdown().count("| truncated |") == 3 and found.to_latex().count("\\toprule") == 3
    drawn = found.plot().to_dict()
    assert len(drawn["hconcat"]) == 2 and "bag does not see words_shuffled, lower_case" in drawn["description"]
    cells = drawn["datasets"][drawn["hconcat"][0]["data"]["name"]]
    assert [cell["shown"][0] for cell in cells if cell["error"] == "words_shuffled"] == ["=", "="]


def test_an_error_that_only_the_classifier_sees_counts_as_seen() -> None:
    """Groups follow ten wide columns; the error moves a narrow one. By groups .98 to 1, by classifier .02."""
    numbers = {text.lower(): row for text, row in zip(TEXTS, RNG.normal(size=(len(TEXTS), 11)), strict=True)}

    def features(texts: list[str]) -> np.ndarray:
        return np.array(
            [[*numbers[text.lower()][:10], numbers[text.lower()][10] / 20 + 0.3 * text.islower()] for text in texts]
        )

    found = stress_test(TEXTS, featurizers=features, perturbations="lower_case", strengths=[1], **OPTIONS)
    ((score,),) = next(iter(found.featurizers.values())).perturbations.values()
    human, model = features(TEXTS[::2]), features([text.lower() for text in TEXTS[1::2]])
    groups = compute_mauve(p_features=human, q_features=model, num_runs=1).mauve_debiased
    assert score.seen and score.closeness < 0.1 and groups is not None and groups > 0.8


@pytest.mark.slow
def test_equal_sets_are_told_apart_as_rarely_as_promised() -> None:
    """20 runs at level 0.95: one with anything seen is expected, with a standard deviation of 1; four of them are 5."""

    def noise(texts: list[str]) -> list[list[float]]:
        rng = np.random.default_rng(len(texts[0]) + ord(texts[-1][3]) + sum(map(len, texts)))
        return rng.normal(size=(len(texts), 4)).tolist()

    runs = [
        stress_test(TEXTS, featurizers=noise, perturbations="truncated,typos", strengths=[1], seed=seed, **OPTIONS)
        for seed in range(20)
    ]
    seen = sum(len(next(iter(run.featurizers.values())).unseen) < 2 for run in runs)
    assert seen <= 5


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: stress_test(TEXTS[:39]), "p_text must hold at least 40 texts, .* got 39"),
        (
            lambda: stress_test(["word"] * 50, featurizers=bag_of_words, perturbations="truncated"),
            "too short to be given",
        ),
        (lambda: stress_test(TEXTS, perturbations="typo"), "none called 'typo' .did you mean 'typos'"),
        (lambda: stress_test(TEXTS, perturbations=[]), "perturbations must name at least one error"),
        (lambda: stress_test(TEXTS, strengths=[0, 1]), "strengths must be numbers above 0 and up to 1, got 0"),
        (lambda: stress_test(TEXTS, strengths=0.5), "must be a list of numbers above 0 and up to 1, got 0.5"),
        (lambda: stress_test(TEXTS, featurizers=["minilm", "minilm"]), "got 'minilm' twice"),
        (lambda: stress_test(TEXTS, featurizers=[]), "at least one featurizer"),
        (lambda: stress_test(TEXTS, permutations=100), "permutations must be at least 2400 .* got 100"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def test_wrong_types_are_refused() -> None:
    wrong: dict[str, list[object]] = {"strengths": ["1", 1, np.array(3)], "perturbations": [3], "featurizers": [3]}
    for options in ({name: value} for name, values in wrong.items() for value in values):
        with pytest.raises(TypeError, match=f"^{next(iter(options))}"):
            stress_test(TEXTS, **options)  # type: ignore[arg-type]
    assert chosen_perturbations("Noise-Early, typos") == ("noise_early", "typos")
