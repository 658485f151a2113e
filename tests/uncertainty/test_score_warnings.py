"""Each warning is given above its threshold and not below, has its numbers, and converts to JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
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
    few_texts_a_bucket,
    origin_warnings,
    partition_warnings,
    quantizer_warnings,
    scale_warnings,
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
    return side(unseen=(np.arange(100) < 100 * share) * 1.0)


def in_language(language: str, texts: int, featurizer: str = "minilm") -> FeatureSet:
    """A set of which so many of 100 texts are in a language."""
    return side(identity={"model": featurizer}, marks=Marks({}, None, 100, {language: texts}))


ROWS = np.random.default_rng(1).normal(size=(40, 8)).astype(np.float32)
SHORT, UNIT = ROWS.astype(np.float16), ROWS / np.linalg.norm(ROWS, axis=1, keepdims=True)
ROUNDED = {
    "whole numbers": ROWS.round(),
    "1 decimal": ROWS.round(1),
    "2 decimals": ROWS.round(2),
    "4 decimals": ROWS.round(4),
    "float16": SHORT.astype(np.float32),
    "bfloat16": (ROWS.view(np.uint32) >> 16 << 16).view(np.float32),
}


def written(text: str) -> FeatureSet:
    """A set of one text, many times, by a featurizer without tokens."""
    return FeatureSet(np.zeros((3, 2)), format_numbers=np.array([format_numbers(text)] * 3))


def in_pairs(number: int) -> FeatureSet:
    """A set of 1000 texts of which so many occur twice."""
    texts = np.concatenate([np.repeat(np.arange(number), 2), np.arange(number, 1000 - number)]).astype(np.uint64)
    return replace(side(1000), text_hashes=texts)


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


def own_prompts(answers: int, human: int = 60) -> GroupCounts | None:
    """Of 60 prompts that the model alone answers, each as often, and of human texts of other prompts."""
    rows, texts = np.repeat(np.arange(60), answers), np.arange(2 * human) // 2
    return count_groups(texts % 2, rows % 3, texts, human + rows, 3)


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
        (lambda: size_warnings(2, 9, 3), lambda: size_warnings(1, 9, 2), ["num_buckets=3", "(2)"]),
        (lambda: size_warnings(4, 9, 4), lambda: size_warnings(4, 9, 2), ["num_buckets=4 leaves fewer"]),
        (lambda: size_warnings(14, 20, 3), lambda: size_warnings(15, 20, 3), ["num_buckets=3"]),
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
        (  # float64 beside float32
            lambda: feature_warnings(spread(3e-5)[0], spread(3e-5)[1].astype(np.float32)),
            lambda: feature_warnings(spread(1e-4)[0], spread(1e-4)[1].astype(np.float32)),
            [],
        ),
        (  # rows whose squares are 0 and infinite
            lambda: feature_warnings(*spread(3e-11) * np.array([1e-200, 1e200])[:, None, None]),
            lambda: feature_warnings(*spread(1e-10) * np.array([1e-200, 1e200])[:, None, None]),
            [],
        ),
    ],
    "rounded_features": [
        (partial(feature_warnings, ROWS, rounded), partial(feature_warnings, rounded, rounded), ["model set", name])
        for name, rounded in ROUNDED.items()
    ]
    + [  # zeros count on neither side, and arrays in two formats are read in the shorter one
        (lambda: feature_warnings(np.maximum(ROUNDED["float16"], 0), ROWS), lambda: feature_warnings(ROWS, SHORT), []),
        (
            lambda: feature_warnings(ROUNDED["2 decimals"], ROWS),
            lambda: feature_warnings(ROWS, np.maximum(ROWS, 0)),
            [],
        ),
    ],
    "scaled_features": [
        (lambda: scale_warnings(ROWS, UNIT), lambda: scale_warnings(UNIT, UNIT[::-1]), ["1 in the model"]),
        (lambda: scale_warnings(UNIT, 1.02 * UNIT), lambda: scale_warnings(UNIT, 1.0005 * UNIT), []),
        (
            lambda: scale_warnings(3.01 * ROWS, ROWS),
            lambda: scale_warnings(2.99 * ROWS, ROWS),
            ["were both scaled alike"],
        ),
        (lambda: scale_warnings(ROWS, ROWS * np.float64(1e300)), lambda: scale_warnings(0 * ROWS, 0 * ROWS), []),
        (lambda: scale_warnings(9 * ROWS[:20], ROWS), lambda: scale_warnings(9 * ROWS[:19], ROWS), []),
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
            ["11.0 %", "30 groups"],
        ),
        (lambda: repeating("found", q_share=0.11), lambda: repeating("independent", q_share=0.11), ["30 groups"]),
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
        ),
        (  # cut to the length of the other set, as was asked
            lambda: text_warnings(OTHER, side(truncated=11, identity=MODEL)),
            lambda: text_warnings(OTHER, side(truncated=11, identity=MODEL | {"match_lengths": "truncate"})),
            [],
        ),
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
        (  # of 5 % that are pairs, 8.4 % differ by 3 standard errors of both shares
            lambda: text_warnings(in_pairs(25), side(1000, first=891)),
            lambda: text_warnings(in_pairs(25), side(1000, first=892)),
            ["8.4 %"],
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
        ),
        (
            lambda: text_warnings(answers(12, dependence=Dependence("undeclared")), OTHER),
            lambda: text_warnings(answers(12, dependence=Dependence("independent")), OTHER),
            [],
        ),
        (  # two prompts, and one; of unknown texts
            lambda: text_warnings(replace(side(), text_hashes=None, opening_hashes=np.arange(100) % 2), OTHER),
            lambda: text_warnings(answers(100), OTHER),
            ["100.0 %"],
        ),
        (lambda: text_warnings(answers(12), OTHER), lambda: text_warnings(side(repeated=30), OTHER), []),  # copies
        (  # two answers each
            lambda: text_warnings(replace(side(), opening_hashes=np.arange(100) // 2), OTHER),
            lambda: text_warnings(replace(side(), opening_hashes=np.maximum(np.arange(100), 9)), OTHER),
            ["100.0 %"],
        ),
    ],
    "no_interval": [
        (lambda: design_warnings(None, "there are only 9 texts"), lambda: design_warnings(None, None), ["only 9 texts"])
    ],
    "few_prompts": [
        (lambda: design_warnings(prompts(50), None), lambda: design_warnings(prompts(51), None), ["50 prompts"])
    ],
    "uneven_answers": [
        (
            lambda: design_warnings(own_prompts(4), None),
            lambda: design_warnings(prompts(60), None),
            ["2.0 texts", "4.0"],
        )
    ],
    "few_prompts_a_bucket": [
        (
            lambda: design_warnings(prompts(60), None, 31),
            lambda: design_warnings(prompts(60), None, 30),
            ["num_buckets=31", "num_buckets=30"],
        ),
        (
            lambda: design_warnings(prompts(11), None, 6),
            lambda: design_warnings(prompts(11), None, 5),
            ["num_buckets=5 would"],
        ),
        (
            lambda: design_warnings(own_prompts(2, 40), None, 21),
            lambda: design_warnings(own_prompts(2, 40), None, 20),
            ["num_buckets=20 would"],
        ),
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
        (
            lambda: text_warnings(written("a b c d"), written("a b c d e f")),
            lambda: text_warnings(written("a b c d e f"), written("a b c d e f")),
            ["4 words or fewer"],
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
    assert many.weight == pytest.approx(WEIGHTS[many.code] * (1 + 0.15) / 2)  # half of it for a share of next to 0
    (sizes,) = size_warnings(499, 600, 40)
    assert sizes.weight == WEIGHTS[sizes.code]
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
    unknown = [("a and b hold the same features", pair) for pair in ((FeatureSet(rows), one), (one, FeatureSet(rows)))]
    for message, (a, b) in [*said.items(), *unknown]:
        (warning,) = comparison_warnings({"a": a, "b": b})
        assert (warning.code, warning.message) == ("equal_models", message)


def test_examples_point_at_the_copies() -> None:
    for repeated, examples in ((3, [97, 98, 99]), (7, [93, 94, 95, 96, 97])):
        (warning,) = text_warnings(side(repeated=repeated), OTHER)
        assert warning.numbers == {"share": repeated / 100, "set": "human", "examples": examples}
    (between,) = text_warnings(side(), side(first=90))
    assert between.numbers["examples"] == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(
    ("equal", "moved", "code"),
    [
        (30, 0, None),  # equal answers to one prompt
        (30, 1, "prompts_as_answers"),  # to another prompt
        (91, 0, "prompts_as_answers"),  # one file, given twice
        (90, 0, None),
    ],
)
def test_equal_answers_to_one_declared_prompt_are_no_copies(equal: int, moved: int, code: str | None) -> None:
    human = side(groups=np.arange(100), openings=100)
    texts = np.where(np.arange(100) < equal, human.text_hashes, np.arange(100) + 5000).astype(np.uint64)
    declared: dict[str, Any] = {"openings": 100, "groups": np.arange(100), "dependence": Dependence("aligned")}
    model = replace(side(**declared), text_hashes=np.roll(texts, moved))
    assert [found for found in codes([*text_warnings(human, model)]) if "prompts_as" in found] == (
        [code] if code else []
    )
    alone = replace(model, groups=None, dependence=None)
    assert "prompts_as_answers" in codes([*text_warnings(replace(human, groups=None), alone)])


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


def test_common_buckets_are_coarse_where_a_score_on_own_ones_is_lower_by_a_tenth() -> None:
    (warning,) = partition_warnings({"a": (0.8, 0.69), "b": (0.8, 0.71), "c": (0.1, 0.3)})
    assert warning.code == "coarse_common_buckets"
    assert warning.numbers == {"model": "a", "mauve": 0.8, "mauve_own": 0.69}


@pytest.mark.parametrize(
    ("p", "q", "is_few"),
    [([5, 5, 0], [4, 7, 0], False), ([5, 4, 0], [4, 7, 0], True), ([9, 1, 0], [9, 0, 1], True)],
)
def test_texts_are_few_by_the_buckets_that_hold_some(p: list[int], q: list[int], is_few: bool) -> None:
    """Fewer than five of the smaller set for each."""
    assert few_texts_a_bucket(np.array(p), np.array(q)) is is_few


def test_the_variance_of_features_is_that_of_their_directions() -> None:
    """Whatever the lengths of rows are; rows of zeros have no direction, and no length to divide by."""
    rows = (spread(3e-5).reshape(80, 6) + np.ones(6)) * np.geomspace(1e-3, 1e3, 80)[:, None]
    directions = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    (warning,) = feature_warnings(*np.split(rows.astype(np.float32), 2))
    expected = float(((directions - directions.mean(axis=0)) ** 2).sum() / 80)
    assert warning.numbers["variance"] == pytest.approx(expected, rel=1e-3)
    with np.errstate(over="raise", divide="raise", invalid="raise"):
        for scale in (1e-250, 1e250):
            assert not [*feature_warnings(*scale * spread(1.0))]
        p, q = spread(1.0)
        assert not [*feature_warnings(np.concatenate([p, np.zeros((3, 6))]), q)]
