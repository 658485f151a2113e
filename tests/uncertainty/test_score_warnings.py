"""Each warning is given above its threshold and not below, has its numbers, and converts to JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from mauve_metric import compute_mauve
from mauve_metric.features.feature_set import Dependence, FeatureSet, Repetition, featurize
from mauve_metric.inputs.fingerprints import Marks, format_numbers
from mauve_metric.measures import frontier
from mauve_metric.measures.groups import Design, GroupCounts, count_groups
from mauve_metric.measures.knn_precision_recall import support_scores
from mauve_metric.uncertainty.score_warnings import (
    GUIDE,
    SEVERE,
    WEIGHTS,
    ScoreWarning,
    bucket_warnings,
    comparison_warnings,
    design_warnings,
    feature_warnings,
    featurizer_warnings,
    origin_warnings,
    quantizer_warnings,
    score_warnings,
    size_warnings,
    text_warnings,
)
from mauve_metric.uncertainty.score_warnings import __file__ as score_warnings_file

Warnings = list[ScoreWarning]


def codes(found: Warnings | tuple[ScoreWarning, ...]) -> list[str]:
    return [warning.code for warning in found]


def side(
    n: int = 100, *, first: int = 0, repeated: int = 0, openings: int | None = None, length: float = 50, **facts: Any
) -> FeatureSet:
    """A set whose texts are the numbers from `first`, the last `repeated` ones copies of the one before."""
    texts = np.arange(first, first + n, dtype=np.uint64)
    if repeated:
        texts[-repeated:] = texts[-repeated - 1]
    opened = texts + np.uint64(10**6)
    if openings is not None:
        opened[:openings] = np.arange(openings) + 10**9
    lengths = np.full(n, length).astype(np.int64)
    return FeatureSet(np.zeros((n, 2)), lengths=lengths, text_hashes=texts, opening_hashes=opened, **facts)


def unseen(share: float) -> FeatureSet:
    """A set whose featurizer cannot see that share of the characters."""
    return side(unseen=np.full(100, share))


def in_language(language: str, texts: int, featurizer: str = "minilm") -> FeatureSet:
    """A set of which so many of 100 texts are in a language."""
    return side(identity={"model": featurizer}, marks=Marks({}, None, 100, {language: texts}))


def written(text: str) -> FeatureSet:
    """A set of one text, many times, by a featurizer without tokens."""
    return FeatureSet(np.zeros((3, 2)), format_numbers=np.array([format_numbers(text)] * 3))


def answers(number: int, **facts: Any) -> FeatureSet:
    """A set of which so many texts answer one prompt."""
    alone = side(**facts)
    opened = np.arange(100, dtype=np.uint64)
    opened[:number] = 0
    return replace(alone, opening_hashes=opened)


def aligned(in_step: float, *, by_rows: bool = True) -> Warnings:
    """The warnings of rows that are declared to be aligned, of whose pairs such a share are in step."""
    declared: dict[str, Any] = {"groups": np.arange(100), "by_rows": by_rows}
    dependence = Dependence("aligned", in_step=in_step)
    return [*text_warnings(side(**declared), side(first=1000, **declared, dependence=dependence))]


def repeating(design: Design = "undeclared", groups: int = 30, **found: Any) -> Warnings:
    """The warnings of a model of which a share repeats itself, in so many groups."""
    codes = np.repeat(np.arange(groups), 2)
    alone = np.full(100 - len(codes), -1)
    facts: dict[str, Any] = {"p_share": 0.0, "q_share": 0.0, "excess": 1e-4, "both": False, **found}
    one = np.full(100, -1)
    repetition = Repetition(units=(one, one), groups=np.concatenate([codes, alone]), **facts)
    return [*text_warnings(side(), side(first=1000, dependence=Dependence(design, repetition=repetition)))]


def prompts(number: int) -> GroupCounts | None:
    rows = np.arange(number)
    return count_groups(rows % 2, rows % 3, rows, rows, 3)


def own_prompts(answers: int) -> GroupCounts | None:
    """Of 60 prompts that the model alone answers, and of 60 human texts."""
    rows = np.repeat(np.arange(60), answers)
    return count_groups(np.arange(60) % 2, rows % 3, np.arange(60), 60 + rows, 3)


def counts(empty: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    one = np.array([5] * 8 + [0] * empty)
    return one, one


def spread(size: float) -> NDArray[Any]:
    """Unit rows but for a spread of that size, of two sets, (2, 40, 6)."""
    rng = np.random.default_rng(0)
    return (np.eye(6)[:1] + size * rng.normal(size=(80, 6))).reshape(2, 40, 6)


MODEL = {"model": "sentence-transformers/all-MiniLM-L6-v2"}
OTHER = side(first=1000)
FLOOR = 1 / 252

# code → (what triggers it, what is just below, numbers in the message)
CASES: dict[str, list[tuple[Callable[[], Warnings], Callable[[], Warnings], list[str]]]] = {
    "few_texts": [(lambda: size_warnings(499, 600, 50), lambda: size_warnings(500, 500, 50), ["499"])],
    "quantizer_not_converged": [
        (lambda: quantizer_warnings(["the training was too short"]), lambda: quantizer_warnings([]), ["too short"])
    ],
    "unequal_sizes": [
        (lambda: size_warnings(600, 1201, 60), lambda: size_warnings(600, 1200, 60), ["600 human", "1201 model"]),
        (lambda: size_warnings(1201, 600, 60), lambda: size_warnings(1200, 600, 60), ["1201 human", "600 model"]),
    ],
    "num_buckets_large": [
        (lambda: size_warnings(500, 500, 101), lambda: size_warnings(500, 500, 100), ["num_buckets=101", "5 texts"]),
        (lambda: size_warnings(3, 9, 4), lambda: size_warnings(3, 9, 2), ["num_buckets=4", "(3)"]),
    ],
    "num_buckets_small": [
        (lambda: size_warnings(5000, 5001, 49), lambda: size_warnings(5000, 5000, 50), ["num_buckets=49", "5000"])
    ],
    "empty_buckets": [(lambda: bucket_warnings(sum(counts(2))), lambda: bucket_warnings(sum(counts(0))), ["2 of 10"])],
    "at_floor": [
        (
            lambda: score_warnings(0.0079, FLOOR, 0.96, 0.01),
            lambda: score_warnings(0.008, FLOOR, 0.96, 0.01),
            ["0.0040"],
        ),
        # a small c has a high floor: c = 1 at ½, where twice the floor would be everything
        (lambda: score_warnings(0.504, 0.5, 0.96, 0.01), lambda: score_warnings(0.51, 0.5, 0.96, 0.01), ["0.5000"]),
    ],
    "above_ceiling": [
        (
            lambda: score_warnings(0.981, FLOOR, 0.96, 0.01),
            lambda: score_warnings(0.98, FLOOR, 0.96, 0.01),
            ["as by chance"],
        )
    ],
    "constant_features": [
        (lambda: feature_warnings(np.ones((3, 2)), np.ones((4, 2))), lambda: feature_warnings(*spread(1.0)), [])
    ],
    "nearly_constant_features": [
        # variance: 5 directions times the squared size, against 1e-8, and 1e-20 in float64
        (
            lambda: feature_warnings(*spread(3e-5).astype(np.float32)),
            lambda: feature_warnings(*spread(1e-4).astype(np.float32)),
            [],
        ),
        (  # float64 that holds what float32 left
            lambda: feature_warnings(*spread(3e-5).astype(np.float32).astype(np.float64)),
            lambda: feature_warnings(*spread(3e-5)),
            [],
        ),
        (lambda: feature_warnings(*spread(3e-11)), lambda: feature_warnings(*spread(1e-10)), []),
    ],
    "one_column": [
        (
            lambda: feature_warnings(np.arange(3.0)[:, None], np.ones((4, 1))),
            lambda: feature_warnings(*spread(1.0)),
            ["one column"],
        )
    ],
    "not_literature_featurizer": [
        (
            lambda: featurizer_warnings(MODEL, None),
            lambda: featurizer_warnings({"model": "openai-community/gpt2-large"}, None),
            ["all-MiniLM-L6-v2", "gpt2-large"],
        ),
        (lambda: featurizer_warnings(None, MODEL), lambda: featurizer_warnings(None, None), ["all-MiniLM-L6-v2"]),
    ],
    "features_without_identity": [
        (
            lambda: origin_warnings(side(from_file=True), side(identity=MODEL, from_file=True)),
            lambda: origin_warnings(side(), side(identity=MODEL, from_file=True)),
            ["human"],
        )
    ],
    "rows_not_aligned": [
        (lambda: aligned(0.2), lambda: [*aligned(0.5), *aligned(0.2, by_rows=False)], ["20.0 %"]),
    ],
    "own_prompts": [
        (
            lambda: repeating(both=True, p_share=0.4, q_share=0.5),
            lambda: [*repeating(q_share=0.5), *repeating("independent", both=True), *repeating("aligned", both=True)],
            [],
        )
    ],
    "repeated_texts": [
        (
            lambda: repeating(q_share=0.11),
            lambda: [*repeating(q_share=0.1), *repeating(q_share=0.5, excess=None), *repeating("prompts", q_share=0.5)],
            ["30"],
        ),
        (lambda: repeating("found", q_share=0.11), lambda: repeating("independent", q_share=0.11), ["30"]),
    ],
    "joined_with_itself": [
        (lambda: repeating(whole=(1, 2)), lambda: repeating(whole=(1, 1)), ["model"]),
        (lambda: repeating(whole=(3, 1)), lambda: repeating(whole=(4, 7)), ["human", "3"]),
    ],
    "dropped_texts": [
        (lambda: text_warnings(side(dropped=3), OTHER), lambda: text_warnings(side(), OTHER), ["3 empty", "human"])
    ],
    "duplicates_within": [
        (
            lambda: text_warnings(side(repeated=2), OTHER),
            lambda: text_warnings(side(repeated=1), OTHER),
            ["2.0 %", "human"],
        ),
        (
            lambda: text_warnings(OTHER, side(repeated=30)),
            lambda: text_warnings(OTHER, side(repeated=1)),
            ["30.0 %", "model"],
        ),
    ],
    "truncated_texts": [
        (
            lambda: text_warnings(OTHER, side(truncated=11)),
            lambda: text_warnings(OTHER, side(truncated=10)),
            ["11.0 %", "model"],
        )
    ],
    "duplicates_between": [
        (
            lambda: text_warnings(side(), side(first=89)),
            lambda: text_warnings(side(), side(first=92)),  # of 8 %, 3 standard errors are .081
            ["11.0 %"],
        ),
        (
            lambda: text_warnings(side(10_000), side(10_000, first=9899)),
            lambda: text_warnings(side(10_000), side(10_000, first=9900)),
            ["1.0 %"],
        ),
        (  # as many human texts are copies of each other: short ones are, by chance
            lambda: text_warnings(side(1000, repeated=49), side(1000, first=800)),
            lambda: text_warnings(side(1000, repeated=129), side(1000, first=720)),
            [],
        ),
    ],
    "prompts_as_answers": [
        (lambda: text_warnings(side(), side(first=80)), lambda: text_warnings(side(), side(first=81)), ["20.0 %"])
    ],
    "unseen_characters": [
        (lambda: text_warnings(OTHER, unseen(0.21)), lambda: text_warnings(OTHER, unseen(0.2)), ["21.0 %", "model"])
    ],
    "some_unseen_characters": [
        (
            lambda: text_warnings(unseen(0.06), OTHER),
            lambda: [*text_warnings(unseen(0.05), OTHER), *text_warnings(unseen(0.3), OTHER)],
            ["6.0 %", "human", "ngrams"],
        )
    ],
    "language_not_read": [
        (
            lambda: text_warnings(OTHER, in_language("Thai", 51)),
            lambda: [
                *text_warnings(OTHER, in_language("Thai", 50)),
                *text_warnings(OTHER, in_language("English", 100)),
                *text_warnings(in_language("Thai", 100, "use"), OTHER),
            ],
            ["model texts are in Thai", "minilm", "'use'"],
        )
    ],
    "shared_prompts": [
        (
            lambda: text_warnings(side(openings=11), side(first=1000, openings=11)),
            lambda: text_warnings(side(openings=10), side(first=1000, openings=10)),
            ["11.0 %"],
        )
    ],
    "precision_with_prompts": [
        (
            lambda: text_warnings(side(openings=11), side(first=1000, openings=11)),
            lambda: text_warnings(side(openings=10), side(first=1000, openings=10)),
            ["precision and recall"],
        )
    ],
    "repeated_prompts": [
        (
            lambda: text_warnings(answers(12), OTHER),
            lambda: [*text_warnings(answers(10), OTHER), *text_warnings(answers(12, groups=np.arange(100)), OTHER)],
            ["12.0 %", "human", "--prompt-field"],
        )
    ],
    "no_interval": [
        (lambda: design_warnings(None, "there are only 9 texts"), lambda: design_warnings(None, None), ["only 9 texts"])
    ],
    "few_prompts": [
        (lambda: design_warnings(prompts(50), None), lambda: design_warnings(prompts(51), None), ["50 prompts"])
    ],
    "uneven_answers": [
        (
            lambda: design_warnings(own_prompts(2), None),
            lambda: design_warnings(prompts(60), None),
            ["1.0 texts", "2.0"],
        )
    ],
    "few_prompts_a_bucket": [
        (
            lambda: design_warnings(prompts(60), None, 31),
            lambda: design_warnings(prompts(60), None, 30),
            ["num_buckets=31", "num_buckets=30"],
        )
    ],
    "short_references": [
        (
            lambda: text_warnings(side(length=6), OTHER),
            lambda: [*text_warnings(side(length=7), OTHER), *text_warnings(OTHER, side(length=6))],
            ["6 tokens or fewer", "multiple choice"],
        ),
        (
            lambda: text_warnings(written("yes or no"), written("It is so, and it was so before.")),
            lambda: text_warnings(written("It is so, and it was so before."), written("yes")),
            ["3 words or fewer"],
        ),
        # scripts without blanks between words
        (
            lambda: text_warnings(written("是的没有问题"), written("是")),
            lambda: text_warnings(written("是的没有问题" * 10), written("是")),
            ["1 words or fewer"],
        ),
    ],
    "length_mismatch": [
        (
            lambda: text_warnings(side(length=50), side(first=1000, length=66)),
            lambda: text_warnings(side(length=50), side(first=1000, length=65)),
            ["50 tokens human", "66 model"],
        ),
        (
            lambda: text_warnings(side(length=66), side(first=1000, length=50)),
            lambda: text_warnings(side(length=65), side(first=1000, length=50)),
            ["66 tokens human", "50 model"],
        ),
    ],
}
FLAT = [(code, *case) for code, cases in CASES.items() for case in cases]


def test_the_cure_of_precision_with_prompts() -> None:
    """Texts off the human ones by a constant, near those of their own prompts: halves of different prompts show it."""
    rng = np.random.default_rng(0)
    prompts = rng.normal(size=(400, 8))
    human, model = (prompts + 0.2 * rng.normal(size=(400, 8)) for _ in range(2))
    human, model = (np.hstack([side, np.full((400, 1), far)]) for side, far in ((human, 0.0), (model, 1.2)))
    shared, cured = support_scores(human, model), support_scores(human[:200], model[200:])
    fair = support_scores(human[:200], human[200:])
    assert shared.precision > cured.precision + 0.15 and fair.precision > cured.precision + 0.15
    assert shared.recall > cured.recall + 0.15


@pytest.mark.parametrize(("code", "above", "below", "named"), FLAT)
def test_speaks_above_the_threshold_only(
    code: str, above: Callable[[], Warnings], below: Callable[[], Warnings], named: list[str]
) -> None:
    found = [warning for warning in above() if warning.code == code]
    assert len(found) == 1
    assert code not in codes(below())
    for part in named:
        assert part in found[0].message
    json.dumps(found[0].numbers, allow_nan=False)


def test_every_code_that_is_written_has_a_case() -> None:
    source = Path(score_warnings_file).read_text(encoding="utf-8").split("def comparison_warnings")[0]
    written = re.findall(r'warn\(\s*"(\w+)"', source) + re.findall(r'warn\("\w+" if .* else "(\w+)"', source)
    assert set(written) == set(CASES)


def test_a_weight_is_that_of_the_code_and_grows_with_the_share() -> None:
    assert set(WEIGHTS) == set(GUIDE)
    assert all(0 < weight <= 1 for weight in WEIGHTS.values())
    assert min(WEIGHTS[code] for code in SEVERE) > WEIGHTS["not_literature_featurizer"]
    (few,), (many,) = (text_warnings(OTHER, unseen(share)) for share in (0.06, 0.15))
    assert 0 < few.weight < many.weight < WEIGHTS[many.code]
    undeclared, _ = text_warnings(side(openings=50), side(first=1000, openings=50))
    known = {"groups": np.arange(100), "dependence": Dependence("aligned")}
    declared, _ = text_warnings(side(openings=50, **known), side(first=1000, openings=50, **known))
    assert declared.weight < 0.2 < undeclared.weight


def test_equal_models_hold_the_same_texts_only_if_they_do() -> None:
    rows, model = np.ones((4, 2)), {"model": "minilm"}
    one, two = (FeatureSet(rows, model, text_hashes=np.arange(4, dtype=np.uint64) + start) for start in (0, 9))
    said = {
        "a and b hold the same texts": (one, one),
        "minilm gives a and b the same features, though their texts differ: take another featurizer": (one, two),
        "a and b hold the same features": (FeatureSet(rows), FeatureSet(rows)),
    }
    for message, (a, b) in said.items():
        (warning,) = comparison_warnings({"a": a, "b": b})
        assert (warning.code, warning.message) == ("equal_models", message)


def test_examples_point_at_the_copies() -> None:
    texts = side(repeated=3)
    (warning,) = text_warnings(texts, OTHER)
    assert warning.numbers == {"share": 0.03, "set": "human", "examples": [97, 98, 99]}
    (between,) = text_warnings(side(), side(first=90))
    assert between.numbers["examples"] == [0, 1, 2, 3, 4]


def test_sets_of_unknown_origin_are_not_judged() -> None:
    assert not [*text_warnings(FeatureSet(np.zeros((5, 2))), FeatureSet(np.zeros((5, 2))))]
    assert not [*text_warnings(side(), FeatureSet(np.zeros((5, 2))))]


def test_the_floor_is_that_of_the_scaling_factor() -> None:
    for c in (0.5, 1.0, 2.0, 5.0, 10.0):
        floor = frontier.mauve_floor(c)
        assert codes(score_warnings(floor, floor, 0.99, 0.01)) == ["at_floor"]
        assert not [*score_warnings((1 + floor) / 2, floor, 0.99, 0.01)]


def test_good_features_give_no_warning() -> None:
    rng = np.random.default_rng(1)
    result = compute_mauve(
        p_features=rng.normal(size=(600, 8)), q_features=rng.normal(0.3, 1, size=(600, 8)), num_runs=1, knn=False
    )
    assert result.warnings == ()


def test_warnings_of_a_result_are_json(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    np.save(tmp_path / "p.npy", rng.normal(size=(30, 4)))
    result = compute_mauve(
        p=FeatureSet.load(tmp_path / "p.npy"), q_features=1e3 + 1e-3 * rng.normal(size=(80, 4)), num_buckets=20
    )
    found = json.loads(json.dumps(result.to_dict(), allow_nan=False))["warnings"]
    assert {"few_texts", "unequal_sizes", "num_buckets_large", "features_without_identity"} <= {
        w["code"] for w in found
    }
    assert all(set(warning) == {"code", "message", "numbers", "weight"} for warning in found)
    assert len(set(codes(result.warnings))) == len(result.warnings)


def bag_of_letters(texts: list[str]) -> NDArray[Any]:
    return np.array([[text.count(letter) for letter in "etaoinshrdlu"] for text in texts], dtype=float) + 0.1


@pytest.mark.slow
def test_texts_good_and_bad() -> None:
    rng = np.random.default_rng(3)
    words = ["".join(rng.choice(list("etaoinshrdlu"), size=5)) for _ in range(200)]

    def texts(n: int, length: int) -> list[str]:
        return [" ".join(rng.choice(words, size=length)) for _ in range(n)]

    def warned(p: list[str], q: list[str]) -> set[str]:
        options: dict[str, Any] = {"featurize_model_name": bag_of_letters, "num_runs": 1, "knn": False}
        return set(codes(compute_mauve(p_text=p, q_text=q, kmeans_num_redo=1, **options).warnings))

    human, other = texts(520, 20), texts(520, 20)
    # equal as far as can be seen: a score above the mean of such scores is no fault of the texts
    always = {"not_literature_featurizer"}
    assert warned(human, other) - {"above_ceiling"} == always
    assert "duplicates_within" in warned(human, other[:500] + other[:20])
    assert "duplicates_between" in warned(human, other[:500] + human[:20])
    prompts = [" ".join(text.split()[:10]) + " " + end for text, end in zip(human, texts(520, 10), strict=True)]
    assert "shared_prompts" in warned(human, prompts)
    assert "dropped_texts" not in warned(human, other)


def test_lengths_and_truncation_of_real_tokens(tiny_gpt2: str) -> None:
    short, long = ([f"{i} ships" + " and a dog" * size for i in range(12)] for size in (0, 40))
    p, q = (
        featurize(texts, featurize_model_name=tiny_gpt2, max_text_length=30, verbose=False) for texts in (short, long)
    )
    found = codes(compute_mauve(p=p, q=q, num_runs=1).warnings)
    assert "length_mismatch" in found and "truncated_texts" in found


@pytest.mark.parametrize("alike", [50, 51])
def test_models_whose_rows_open_alike_look_aligned(alike: int) -> None:
    """More than half of the rows, and neither where groups are declared nor where openings are not known."""
    openings = np.arange(100)
    others = np.where(openings < alike, openings, openings + 1000)
    a = FeatureSet(np.zeros((100, 2)), opening_hashes=openings)
    b = FeatureSet(np.ones((100, 2)), opening_hashes=others)
    assert [warning.code for warning in comparison_warnings({"a": a, "b": b})] == ["rows_look_aligned"] * (alike > 50)
    for models in ([a, replace(b, opening_hashes=None)], [replace(a, opening_hashes=None), b]):
        assert not [*comparison_warnings(dict(zip("ab", models, strict=True)))]
    (warning,) = [*comparison_warnings({"a": a, "c": FeatureSet(np.ones((50, 2)), opening_hashes=openings[:50])})]
    assert warning.code == "unequal_models"
