"""Several featurizers in one call: the first makes the result, and all of them a verdict."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from samples import HUMAN, MODEL, ngrams, texts_of, write_jsonl

from mauve_metric import FeatureSet, MauveResult, compute_mauve, describe, explain, featurize
from mauve_metric.features.row_blocks import ArrayRows
from mauve_metric.hosts.cli.main import main
from mauve_metric.options import FEATURIZER_SETS, MauveConfig
from mauve_metric.scoring.featurizers import joined_sides, judged_together
from mauve_metric.uncertainty.closeness import Bound
from mauve_metric.uncertainty.score_warnings import ScoreWarning

SETS = {"p_text": texts_of(150, 0), "q_text": [f"{text}!" for text in texts_of(150, 1)]}
OPTIONS: dict[str, Any] = {"num_runs": 1, "knn": False, "num_buckets": 4}


def marks(texts: list[str]) -> np.ndarray:
    """Sees the last mark of a text and nothing else, but for some noise."""
    return blind(texts) + 9.0 * np.array([[text.endswith("!")] * 6 for text in texts])


def blind(texts: list[str]) -> np.ndarray:
    """Noise that depends on the text, so that two sets look like draws from one distribution."""
    seeds = [int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") for text in texts]
    return np.stack([np.random.default_rng(seed).normal(3, 1, 6) for seed in seeds])


@pytest.fixture(scope="module")
def result() -> MauveResult:
    return compute_mauve(**SETS, featurizers={"blind": blind, "marks": marks}, **OPTIONS)


@pytest.mark.more
def test_the_first_makes_the_result_and_each_is_its_own_score(result: MauveResult) -> None:
    alone = {
        name: compute_mauve(**SETS, featurize_model_name=one, **OPTIONS)
        for name, one in (("blind", blind), ("marks", marks))
    }
    for name, one in alone.items():
        assert result.by_featurizer[name].to_dict() == one.to_dict()
        assert one.by_featurizer == {} and "by_featurizer" not in one.to_dict()
    more = {"by_featurizer": 0, "together": 0, "signature": 0}
    assert "|featurizers:" in result.signature and "|featurizers:" not in alone["blind"].signature
    judged = ("closeness", "closeness_ci", "verdict", "verdict_reason", "shown_by", "shown_p_value", "texts_needed")
    judged += ("warnings", "closeness_without_layout", "closeness_without_layout_ci", "by_layout_alone")
    more |= dict.fromkeys(judged, 0)
    assert result.to_dict() | more == alone["blind"].to_dict() | more
    assert "blind + marks" in str(result) and "blind + marks" not in str(alone["blind"])


def test_closeness_is_the_lowest_over_all(result: MauveResult) -> None:
    each = [*result.by_featurizer.values()]
    values = [bound.estimates(MauveConfig()).values for one in each for bound in one.bounds]
    assert result.together is not None
    assert result.closeness == min([result.together.mauve_classifier, *(value[0] for value in values if value)])
    # by content and finer by groups, and the classifier, of each; and one classifier of all
    assert (
        len(result.bounds) == len(values) + 1 == 7
        and result.verdict == "different"
        and result.by_featurizer["blind"].verdict != "different"
    )


def test_one_classifier_has_the_features_of_all(result: MauveResult) -> None:
    rows = [np.concatenate([blind(texts), marks(texts)], axis=1) for texts in SETS.values()]
    alone = compute_mauve(p_features=rows[0], q_features=rows[1], **OPTIONS)
    assert result.together is not None and result.auc is not None and result.auc < 0.7 < result.together.auc
    assert result.together.auc == alone.auc and result.together.mauve_classifier == alone.mauve_classifier
    assert "the features of all featurizers: " in " ".join(result.document().terminal().split())


def test_the_verdict_names_the_featurizer_that_alone_sees_a_difference(result: MauveResult) -> None:
    assert result.verdict == "different" and str(result).count("Shown by marks.") == 1
    held = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert held["verdict"] == held["by_featurizer"]["marks"]["verdict"] == "different"
    assert held["by_featurizer"]["blind"]["verdict"] != "different"


def test_features_of_all_are_side_by_side_with_the_groups_of_all() -> None:
    """Rows of the model that answer rows of the human set show in all columns, unless a caller says otherwise."""
    rng = np.random.default_rng(0)
    common, parts = rng.normal(size=(40, 60)), (slice(0, 30), slice(30, 50), slice(50, 60))
    answers = common[::-1] + 0.1 * rng.normal(size=(40, 60))
    sets = [
        [FeatureSet(common[:, part], dropped=number), FeatureSet(answers[:, part])] for number, part in enumerate(parts)
    ]
    for some in (sets, sets[:2]):
        found = joined_sides(some, MauveConfig())
        for side, rows in zip(found, (common, answers), strict=True):
            np.testing.assert_array_equal(side.features, rows[:, : 50 + 10 * (len(some) > 2)])
        assert (found[0].dropped, found[1].design) == (0, "found")
        assert joined_sides(some, MauveConfig(independent=True))[1].design == "independent"
    in_blocks = [replace(side, features=ArrayRows(side.features)) for side in sets[1]]
    assert joined_sides(sets[:1], MauveConfig()) == joined_sides([sets[0], in_blocks], MauveConfig()) == []


def test_layout_counts_where_closeness_rests_on_a_featurizer_that_sees_it() -> None:
    rows = np.random.default_rng(0).normal(size=(60, 3))
    scored = compute_mauve(p_features=rows[:30], q_features=rows[30:], **OPTIONS)

    def part(of_model: int, *codes: str) -> MauveResult:
        """Two buckets of 30 human texts each, and a model with so many of 60 texts in one."""
        human, model = np.arange(60) % 2, (np.arange(60) >= of_model).astype(np.int64)
        bound = Bound("groups", [(human, model)], None, 1e-4)
        (value, _) = bound.estimates(MauveConfig()).values or (None, None)
        plain = (Bound("classifier", [(human, human)], None),) if "format_differs" in codes else ()
        warnings = tuple(ScoreWarning(code, "", {}) for code in codes)
        return replace(scored, closeness=value, bounds=(bound,), warnings=warnings, bounds_without_layout=plain)

    sees, far, near = part(50, "few_texts", "format_differs"), part(55, "few_texts"), part(40, "few_texts")
    for each, codes in (
        ({"near": near, "sees": sees}, ["format_differs", "few_texts"]),
        ({"sees": sees, "near": near}, ["format_differs", "few_texts"]),
        ({"far": far, "sees": sees}, ["few_texts"]),
        ({"far": far, "near": near}, ["few_texts"]),
        ({"sees": sees}, ["few_texts", "format_differs"]),
    ):
        found = judged_together(next(iter(each.values())), each, None, None, MauveConfig())
        assert [warning.code for warning in found.warnings] == codes and found.together is None
        assert found.closeness == min(result.closeness or 0 for result in each.values())
        assert [bound.featurizer for bound in found.bounds] == [*each]
        has_layout = "format_differs" in codes
        assert (found.verdict, found.verdict_reason) == ("different", "layout" if has_layout else None)
        if len(each) > 1 and "sees" in each:
            plain = ["classifier" if name == "sees" else "groups" for name in each]
            assert [(bound.featurizer, bound.kind) for bound in found.bounds_without_layout] == [
                *zip(each, plain, strict=True)
            ]
        assert (found.closeness_without_layout is None) == (not has_layout)


@pytest.mark.more
def test_one_that_cannot_be_used_is_named_and_the_others_run(caplog: pytest.LogCaptureFixture) -> None:
    def broken(texts: list[str]) -> np.ndarray:
        raise RuntimeError("no room\nfor this model")

    def unexpected(texts: list[str]) -> np.ndarray:
        return np.array([{}[text] for text in texts])

    found = compute_mauve(**SETS, featurizers=[marks, broken, "no/such-model", unexpected], **OPTIONS)
    assert [*found.by_featurizer] == [f"{__name__}.marks"]
    missing = [warning for warning in found.warnings if warning.code == "featurizer_missing"]
    assert "no room for this model" in missing[0].message and missing[1].numbers == {"featurizer": "no/such-model"}
    assert "KeyError: " in missing[2].message
    assert sum("featurizer_missing" in record.message for record in caplog.records) == 3
    with pytest.raises(RuntimeError, match="no room"):
        compute_mauve(**SETS, featurizers=[broken, marks], **OPTIONS)


@pytest.mark.more
def test_streams_are_read_once_for_all_and_options_hold_for_all(tiny_gpt2: str, tiny_roberta: str) -> None:
    from transformers import AutoModel, AutoTokenizer

    pair = AutoModel.from_pretrained(tiny_roberta), AutoTokenizer.from_pretrained(tiny_roberta)
    options: dict[str, Any] = {"pooling": "mean", "strip": "whitespace", "text_prefix": "q: ", **OPTIONS}
    found = compute_mauve(
        p_text=(text for text in HUMAN),
        q_text=(text for text in MODEL),
        featurize_model_name=tiny_gpt2,
        featurizers={"pair": pair, "again": tiny_gpt2},
        **options,
    )
    assert [*found.by_featurizer] == [tiny_gpt2, "pair"]  # featurize_model_name leads, and is there once
    expected = compute_mauve(p_text=HUMAN, q_text=MODEL, featurize_model_name=tiny_roberta, **options)
    scores = found.by_featurizer["pair"]
    assert (scores.mauve, scores.mauve_debiased_ci) == (expected.mauve, expected.mauve_debiased_ci)
    assert {"pooling:mean", "dtype:float32", "text_prefix:q: "} <= set(scores.signature.split("|"))


@pytest.mark.parametrize(
    ("sides", "name"),
    [
        (lambda: {"p_features": np.eye(9), "q_text": MODEL}, "p_features"),
        (lambda: {"p_text": HUMAN, "q_tokens": [[1, 2]] * 9}, "q_tokens"),
        (lambda: {"p": FeatureSet(np.eye(9)), "q_text": MODEL}, "p"),
    ],
)
def test_what_one_featurizer_made_is_refused(sides: Callable[[], dict[str, Any]], name: str) -> None:
    with pytest.raises(ValueError, match=f"featurizers needs the texts of both sides, .* {name} holds what one"):
        compute_mauve(**sides(), featurizers=[ngrams, blind])


def test_invalid_featurizers_are_refused() -> None:
    for wrong, said in (([], "at least one"), ([3], "must be a model name"), (["a", "a"], "got 'a' twice")):
        with pytest.raises((TypeError, ValueError), match=said):
            compute_mauve(**SETS, featurizers=wrong)  # type: ignore[arg-type]


@pytest.mark.more
def test_evaluate_takes_several_featurizers(tmp_path: Path, result: MauveResult) -> None:
    from mauve_metric.hosts.evaluate.metric import Mauve

    metric = Mauve(cache_dir=str(tmp_path), featurizers={"blind": blind, "marks": marks}, row_order="qp")
    out = metric.compute(references=SETS["p_text"], predictions=SETS["q_text"], **OPTIONS)
    assert out is not None and out == result.to_dict() and out.verdict == result.verdict
    with pytest.raises(ValueError, match="reference_features holds what one featurizer made"):
        metric.compute(reference_features=np.eye(9), predictions=SETS["q_text"])


@pytest.mark.more
def test_the_shell_takes_the_flag_again(
    tmp_path: Path, tiny_gpt2: str, tiny_roberta: str, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [write_jsonl(tmp_path / name, texts) for name, texts in (("human.jsonl", HUMAN), ("model.jsonl", MODEL))]
    flags = ["--featurize-model-name", tiny_gpt2, "--featurizer", tiny_roberta, "--num-runs", "1", "--no-cache"]
    assert main(["score", *files, *flags, "--quiet", "--signature", "--all"]) == 0
    out, err = capsys.readouterr()
    lines = out.splitlines()
    rows = [line for line in lines if line.strip().startswith((tiny_gpt2, tiny_roberta)) and line.count(" 0.") > 2]
    assert len(rows) == 4 and err == ""  # on the first screen and in the table of all numbers
    assert f"featurize_model_name:{tiny_gpt2}|" in lines[-1]
    assert any(f"! {tiny_roberta}: " in line for line in lines)  # a warning of its own
    with pytest.raises(SystemExit) as stop:
        main(["score", *files, *flags, "-o", str(tmp_path / "out")])
    assert stop.value.code == 2 and "-o takes one --featurizer, got" in capsys.readouterr().err


SMALL: dict[str, Any] = {"p_text": HUMAN, "q_text": MODEL, **OPTIONS}


@pytest.fixture
def standard(monkeypatch: pytest.MonkeyPatch) -> None:
    """A short name for featurizers that need no torch."""
    monkeypatch.setitem(FEATURIZER_SETS, "standard", ("ngrams", "use"))  # type: ignore[arg-type]  # read-only for users


@pytest.fixture(scope="module")
def of_both() -> MauveResult:
    return compute_mauve(**SMALL, featurizers=["ngrams", "use"])


@pytest.mark.parametrize(
    "asked",
    [
        {"featurize_model_name": "standard"},
        {"featurizers": "standard"},
        {"featurizers": ["standard"]},
        {"featurize_model_name": "standard", "featurizers": ["use"]},
    ],
)
@pytest.mark.usefixtures("standard")
def test_a_short_name_stands_for_its_featurizers(asked: dict[str, Any], of_both: MauveResult) -> None:
    assert compute_mauve(**SMALL, **asked).to_dict() == of_both.to_dict()


@pytest.mark.usefixtures("standard")
def test_streams_are_read_once_for_the_featurizers_of_a_short_name(of_both: MauveResult) -> None:
    streams = {"p_text": iter(HUMAN), "q_text": iter(MODEL)}
    streamed = compute_mauve(**SMALL | streams, featurize_model_name="standard")
    assert [*streamed.by_featurizer] == ["ngrams", "use"] and streamed.to_dict() == of_both.to_dict()


def test_a_short_name_is_refused_where_one_featurizer_is_needed() -> None:
    one = (
        r"featurize_model_name must be one featurizer here, got 'standard', which is 'minilm' and 'ngrams': give "
        r"featurize_model_name='minilm' or featurize_model_name='ngrams', each in a call of its own"
    )
    described = partial(describe, HUMAN, {"m": MODEL}, measures="mmd")
    for call in (partial(explain, **SETS), partial(featurize, HUMAN), described):
        with pytest.raises(ValueError, match=one):
            call(featurize_model_name="standard")
    assert describe(HUMAN, {"m": MODEL}, measures="distinct_2", featurize_model_name="standard").models


def test_the_shell_says_what_to_type_for_one_featurizer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = [write_jsonl(tmp_path / "human.jsonl", HUMAN), write_jsonl(tmp_path / "model.jsonl", MODEL)]
    for command in (["explain", *files], ["describe", *files], ["featurize", files[0], "-o", str(tmp_path / "x.npz")]):
        assert main([*command, "--featurizer", "standard"]) == 1
        said = capsys.readouterr().err
        assert "error: --featurizer must be one featurizer here, got 'standard'" in said, said
        assert "give --featurizer minilm or --featurizer ngrams, each in a call of its own" in said, said
    for command, is_offered in (
        ("explain", False),
        ("describe", False),
        ("featurize", False),
        ("baseline", False),
        ("score", True),
    ):
        with pytest.raises(SystemExit):
            main([command, "--help"])
        assert ("'standard'" in capsys.readouterr().out) == is_offered, command
