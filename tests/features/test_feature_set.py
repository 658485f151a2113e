"""Saved features: complete, with the identity of their model, without the texts, and never mixed with others."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from samples import texts_of

from mauve_metric import FeatureSet, compare, compute_mauve, describe, explain, featurize
from mauve_metric.hosts.cli import main as cli
from mauve_metric.options import MauveConfig, _warn_of_ignored
from mauve_metric.results.result import MauveResult

SMALL: dict[str, Any] = {"num_buckets": 4, "knn": False, "num_runs": 1, "kmeans_num_redo": 1}
FORMATS = ["npz", "npy", "parquet"]


HUMAN, MODEL = texts_of(30, 0), texts_of(25, 1)


@pytest.fixture
def human(tiny_gpt2: str) -> FeatureSet:
    return FeatureSet.from_texts(HUMAN, featurize_model_name=tiny_gpt2)


def assert_same(found: FeatureSet, expected: FeatureSet) -> None:
    """Every bit and every fact."""
    assert found.features.dtype == expected.features.dtype and found.features.shape == expected.features.shape
    assert found.features.tobytes() == expected.features.tobytes()
    assert found.identity == expected.identity
    assert (found.truncated, found.dropped, len(found)) == (expected.truncated, expected.dropped, len(expected))
    for name in ("lengths", "text_hashes", "opening_hashes"):
        one, other = getattr(found, name), getattr(expected, name)
        assert (one is None) == (other is None)
        if one is not None:
            assert one.dtype == other.dtype
            np.testing.assert_array_equal(one, other)


def codes(result: MauveResult) -> list[str]:
    return [warning.code for warning in result.warnings]


@pytest.mark.parametrize("function", [describe, compare])
def test_a_set_is_taken_in_the_place_of_texts_and_an_array_is_told_its_own(function: Any) -> None:
    rows = np.random.default_rng(0).normal(size=(60, 3))
    more: dict[str, Any] = {"models": {"a": rows[30:]}} | ({"measures": "precision"} if function is describe else {})
    by_place, by_name = function(FeatureSet(rows), **more), function(p=FeatureSet(rows), **more)
    assert by_place.to_dict() | {"seconds": None} == by_name.to_dict() | {"seconds": None}
    with pytest.raises(TypeError, match="p_text must hold strings only, got numbers: give features as p_features="):
        function(rows, **more)


# --- what it holds ------------------------------------------------------------------------------------------------


def test_from_texts(tiny_gpt2: str) -> None:
    found = FeatureSet.from_texts(
        ["ships " * 20, " ", *HUMAN], featurize_model_name=tiny_gpt2, max_text_length=15, empty_texts="drop"
    )
    assert len(found) == 31 and found.features.shape == (31, 32) and found.features.dtype == np.float32
    assert found.dropped == 1 and found.truncated >= 1 and not found.from_file
    assert found.lengths is not None and found.lengths[0] == 15 == found.lengths.max()
    assert found.identity is not None
    assert dict(found.identity) | {"revision": "", "tokenizer": ""} == {
        "model": tiny_gpt2, "pooling": "last", "max_text_length": "15", "dtype": "float32", "revision": "",
        "tokenizer": "",
    }  # fmt: skip
    assert len(found.identity["revision"]) == 64 and len(found.identity["tokenizer"]) == 12


def test_the_featurizer_is_the_second_argument() -> None:
    texts = [f"Number {number}, then." for number in range(20)]
    named = featurize(texts, featurize_model_name="ngrams", verbose=False)
    assert np.array_equal(featurize(texts, "ngrams", verbose=False).features, named.features)
    with pytest.raises(TypeError, match="the featurizer twice"):
        featurize(texts, "ngrams", featurize_model_name="ngrams")


def test_an_unknown_option_is_refused(tiny_gpt2: str) -> None:
    with pytest.raises(TypeError, match=r"unknown option 'poolin' \(did you mean 'pooling'\?\)"):
        FeatureSet.from_texts(HUMAN, featurize_model_name=tiny_gpt2, poolin="mean")


# --- files --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("ending", FORMATS)
def test_round_trip(tiny_gpt2: str, tmp_path: Path, ending: str, dtype: str) -> None:
    made = FeatureSet.from_texts(
        ["", *HUMAN], featurize_model_name=tiny_gpt2, dtype=dtype, max_text_length=12, empty_texts="drop"
    )
    assert made.truncated > 0
    path = made.save(tmp_path / f"human.{ending}")
    assert path == tmp_path / f"human.{ending}"
    loaded = FeatureSet.load(str(path))
    assert_same(loaded, made)
    assert loaded.from_file
    sidecar = [f"human.{ending}.json"] if ending == "npy" else []
    assert sorted(file.name for file in tmp_path.iterdir() if file.is_file()) == sorted([path.name, *sidecar])


@pytest.mark.parametrize("ending", FORMATS)
def test_round_trip_of_bare_features(tmp_path: Path, ending: str) -> None:
    rows = np.asfortranarray(np.random.default_rng(0).normal(size=(5, 3)).astype(np.float32))
    path = FeatureSet(rows).save(tmp_path / f"rows.{ending.upper()}")
    loaded = FeatureSet.load(path)
    np.testing.assert_array_equal(loaded.features, rows)
    assert loaded.identity is None and loaded.lengths is None and loaded.text_hashes is None


# --- scores -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", [None, *FORMATS])
def test_the_score_is_that_of_the_texts(tiny_gpt2: str, tmp_path: Path, human: FeatureSet, ending: str | None) -> None:
    options = {"featurize_model_name": tiny_gpt2, **SMALL}
    expected = compute_mauve(p_text=HUMAN, q_text=MODEL, **options)
    kept = human if ending is None else FeatureSet.load(human.save(tmp_path / f"human.{ending}"))
    if ending is not None:  # a file chooses no model
        with pytest.raises(ValueError, match=r"name the model .*: pass featurize_model_name="):
            compute_mauve(p=kept, q_text=MODEL, **SMALL)
    for found in (
        compute_mauve(p=human, q_text=MODEL, **SMALL),  # the model is the reference's
        compute_mauve(p=kept, q_text=MODEL, **options),
        compute_mauve(p=kept, q=FeatureSet.from_texts(MODEL, featurize_model_name=tiny_gpt2), **SMALL),
    ):
        assert found.mauve == expected.mauve and found.signature == expected.signature
        assert codes(found) == codes(expected)
        formats = {} if ending is None else {"format_auc": None, "format_aucs": None}  # which no file holds
        assert found.to_dict() | formats == expected.to_dict() | formats
    swapped = compute_mauve(q=kept, p_text=MODEL, **options)
    np.testing.assert_array_equal(
        swapped.divergence_curve, compute_mauve(p_text=MODEL, q_text=HUMAN, **options).divergence_curve
    )


@pytest.mark.more
def test_texts_follow_the_reference(tiny_gpt2: str) -> None:
    own = {"featurize_model_name": tiny_gpt2, "pooling": "mean", "dtype": "float64", "max_text_length": 7}
    kept = FeatureSet.from_texts(HUMAN, **own)
    found = compute_mauve(p=kept, q_text=MODEL, **SMALL)
    assert found.to_dict() == compute_mauve(p_text=HUMAN, q_text=MODEL, **own, **SMALL).to_dict()
    assert "pooling:mean" in found.signature and "dtype:float64" in found.signature
    assert "max_text_length:7|" in found.signature
    ids = [[1, 2, 3], [4, 5]] * 5
    tokens = compute_mauve(p=kept, q_tokens=ids, **SMALL)
    assert tokens.mauve == compute_mauve(p_text=HUMAN, q_tokens=ids, **own, **SMALL).mauve


@pytest.mark.parametrize(
    ("options", "difference"),
    [
        ({"pooling": "mean"}, "pooling last and mean"),
        ({"dtype": "float64"}, "dtype float32 and float64"),
        ({"max_text_length": 9}, "max_text_length 96 and 9"),
        ({"featurize_model_name": "tiny_roberta"}, "revision .* and .*, tokenizer .* and "),
    ],
)
def test_features_of_two_kinds_are_not_mixed(
    human: FeatureSet, request: pytest.FixtureRequest, options: dict[str, Any], difference: str
) -> None:
    if "featurize_model_name" in options:
        options = {"featurize_model_name": request.getfixturevalue(options["featurize_model_name"])}
    message = f"the two sets were featurized differently .*: {difference}"
    with pytest.raises(ValueError, match=message):
        compute_mauve(p=human, q_text=MODEL, **options, **SMALL)
    assert human.identity is not None
    other = FeatureSet.from_texts(MODEL, **{"featurize_model_name": human.identity["model"], **options})
    with pytest.raises(ValueError, match=message):
        compute_mauve(p=human, q=other, **SMALL)


def test_features_of_two_functions_are_not_mixed() -> None:
    human = FeatureSet.from_texts(HUMAN, featurize_model_name=_letters)
    assert human.identity is not None and human.identity["model"].endswith("_letters")
    with pytest.raises(ValueError, match=r"featurized differently .*_letters.*_vowels"):
        compute_mauve(p=human, q_text=MODEL, featurize_model_name=_vowels, **SMALL)
    found = compute_mauve(p=human, q_text=MODEL, featurize_model_name=_letters, **SMALL)
    assert found.mauve == compute_mauve(p_text=HUMAN, q_text=MODEL, featurize_model_name=_letters, **SMALL).mauve


def _letters(texts: list[str]) -> NDArray[np.float64]:
    return np.array([[text.count(letter) for letter in "abcde"] for text in texts], dtype=np.float64)


def _vowels(texts: list[str]) -> NDArray[np.float64]:
    return np.array([[text.count(letter) for letter in "aeiou"] for text in texts], dtype=np.float64)


def test_facts_of_the_reference_reach_the_result(tiny_gpt2: str, tmp_path: Path) -> None:
    made = FeatureSet.from_texts(
        ["", *HUMAN, HUMAN[0]], featurize_model_name=tiny_gpt2, max_text_length=9, empty_texts="drop"
    )
    kept = FeatureSet.load(made.save(tmp_path / "human.parquet"))
    options = {"featurize_model_name": tiny_gpt2, **SMALL}
    found = compute_mauve(p=kept, q_text=[*HUMAN, *MODEL], **options)
    assert (found.p_dropped, found.p_truncated) == (1, made.truncated) and found.p_truncated > 0
    assert {"dropped_texts", "duplicates_within", "truncated_texts"} <= set(codes(found))
    assert "prompts_as_answers" in codes(found)


def test_features_from_a_file_without_identity_are_a_warning(tiny_gpt2: str, human: FeatureSet, tmp_path: Path) -> None:
    path = human.save(tmp_path / "human.npy")
    options = {"featurize_model_name": tiny_gpt2, **SMALL}
    assert "features_without_identity" not in codes(compute_mauve(p=FeatureSet.load(path), q_text=MODEL, **options))
    (tmp_path / "human.npy.json").unlink()
    unknown = FeatureSet.load(path)
    found = compute_mauve(p=unknown, q=human, **SMALL)
    (warning,) = (warning for warning in found.warnings if warning.code == "features_without_identity")
    assert "human features" in warning.message and warning.numbers == {"sets": ["human"]}
    both = compute_mauve(p=unknown, q=unknown, **SMALL)
    (warning,) = (warning for warning in both.warnings if warning.code == "features_without_identity")
    assert warning.numbers == {"sets": ["human", "model"]}
    # arrays are the caller's own
    raw = compute_mauve(p_features=human.features, q_features=human.features, **SMALL)
    assert "features_without_identity" not in codes(raw)
    assert compute_mauve(p=FeatureSet(human.features), q=FeatureSet(human.features), **SMALL).warnings == raw.warnings


@pytest.mark.more
def test_shell_ships_features_without_texts(tiny_gpt2: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    human, model = tmp_path / "human.jsonl", tmp_path / "model.jsonl"
    for path, texts in ((human, HUMAN), (model, MODEL)):
        path.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    name, small = ["--featurize-model-name", tiny_gpt2], ["--num-buckets", "4", "--no-cache", "--json", "--quiet"]
    assert cli.main(["score", str(human), str(model), *name, *small]) == 0
    expected = json.loads(capsys.readouterr().out)
    for ending in FORMATS:
        shipped = tmp_path / f"human.{ending}"
        assert cli.main(["featurize", str(human), "-o", str(shipped), *name]) == 0
        assert capsys.readouterr().out == ""
        assert cli.main(["score", str(shipped), str(model), *name, *small]) == 0
        formats = {"format_auc": None, "format_aucs": None}  # which no file holds
        assert json.loads(capsys.readouterr().out) == expected | formats
    (tmp_path / "human.npy.json").unlink()
    assert cli.main(["score", str(tmp_path / "human.npy"), str(model), *name, *small]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["mauve"] == expected["mauve"]
    assert "features_without_identity" in [warning["code"] for warning in found["warnings"]]
    assert cli.main(["score", str(tmp_path / "human.npz"), str(model), *name, "--pooling", "mean", *small]) == 1
    assert "featurized differently" in capsys.readouterr().err
    assert cli.main(["score", str(tmp_path / "human.npz"), str(model), *small]) == 1
    assert "pass --featurizer" in capsys.readouterr().err


@pytest.mark.parametrize("value", ["human.npz", np.ones((3, 2)), {"features": np.ones((3, 2))}])
def test_what_is_no_reference_is_refused(value: Any) -> None:
    with pytest.raises(TypeError, match=r"p must be a mauve_metric\.FeatureSet, got"):
        compute_mauve(p=value, q_features=np.ones((3, 2)))


def test_broken_features_in_a_reference_are_refused() -> None:
    rows = np.ones((4, 2))
    rows[2, 1] = np.nan
    with pytest.raises(ValueError, match="must be finite: 1 row holds NaN or infinity, the first is row 2"):
        compute_mauve(p=FeatureSet(rows), q_features=np.ones((4, 2)))


def test_defaults_are_those_of_the_config(human: FeatureSet) -> None:
    assert human.identity is not None
    assert human.identity["dtype"] == MauveConfig().dtype


# --- files that are not what they seem ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("identity", "message"),
    [
        ({"revision": "1"}, "must name its model, got {'revision': '1'}"),
        ({}, "must name its model, got {}"),
        ({"model": 3}, "must map names to texts"),
        (["model"], "must map names to texts"),
        ({"model": "x", "max_text_length": "long"}, "must have a number as max_text_length, got 'long'"),
    ],
)
def test_an_identity_that_names_no_model_is_refused(identity: Any, message: str, tmp_path: Path) -> None:
    rows = np.random.default_rng(0).normal(size=(20, 3))
    with pytest.raises(ValueError, match=f"^the identity of the features {message}"):
        compute_mauve(p=FeatureSet(rows, identity=identity), q_features=rows, **SMALL)
    path = FeatureSet(rows, identity={"model": "x"}).save(tmp_path / "human.npy")
    sidecar = tmp_path / "human.npy.json"
    sidecar.write_text(json.dumps(json.loads(sidecar.read_text()) | {"identity": identity}))
    with pytest.raises(ValueError, match=message):
        FeatureSet.load(path)


# --- what a file may choose ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", ["/anywhere/model", "~/model", "nobody/no-model", "gpt2", "module.function"])
def test_a_file_chooses_no_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: str) -> None:
    asked: list[str] = []
    monkeypatch.setattr("mauve_metric.features.feature_set.load_encoder", lambda name, **options: asked.append(name))
    rows = np.random.default_rng(0).normal(size=(30, 4))
    path = FeatureSet(rows, {"model": model, "pooling": "mean", "dtype": "float32"}).save(tmp_path / "human.npz")
    for side in ({"p": FeatureSet.load(path), "q_text": MODEL}, {"p_text": HUMAN, "q": FeatureSet.load(path)}):
        with pytest.raises(ValueError, match=f"pass featurize_model_name='{model}'"):
            compute_mauve(**side, **SMALL)  # type: ignore[arg-type]
    assert asked == []
    assert compute_mauve(p=FeatureSet.load(path), q=FeatureSet.load(path), **SMALL).mauve == 1  # nothing to load


@pytest.mark.more
def test_a_file_of_a_built_in_featurizer_is_followed(minilm: str, tmp_path: Path) -> None:
    path = FeatureSet.from_texts(HUMAN, featurize_model_name=minilm, max_text_length=8).save(tmp_path / "human.npz")
    found = compute_mauve(p=FeatureSet.load(path), q_text=MODEL, **SMALL)
    assert (
        found.mauve == compute_mauve(p=FeatureSet.load(path), q_text=MODEL, featurize_model_name=minilm, **SMALL).mauve
    )
    assert "minilm" in found.signature


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        *((name, 5, "None, or a whole number for each of 20 texts, got 5") for name in ("lengths", "text_hashes")),
        ("opening_hashes", "abc", "None, or a whole number for each of 20 texts, got 'abc'"),
        ("lengths", [1, 2], "None, or a whole number for each of 20 texts, got 2"),
        ("lengths", [1.5] * 20, "None, or a whole number for each of 20 texts"),
        ("text_hashes", ["a"] * 20, "None, or a whole number for each of 20 texts"),
        ("groups", np.zeros((20, 2), dtype=int), "None, or a whole number for each of 20 texts"),
        ("format_numbers", [[1], [2, 3]], "None, or numbers for each of 20 texts"),
        ("truncated", "x", "an integer of at least 0, got 'x'"),
        ("truncated", -1, "an integer of at least 0, got -1"),
        ("truncated", 21, "at most the 20 texts that there are, got 21"),
        ("lengths", [-3] * 20, "numbers of at least 0, got "),
        ("dropped", None, "an integer of at least 0, got None"),
        ("stripped", 5, "a dict of numbers by the names of rules, got 5"),
        ("stripped", {1: 2}, "a dict of numbers by the names of rules"),
        ("origin", 5, "a str or None, got 5"),
        ("marks", {}, "a Marks or None"),
        ("text_hashes", [-1] * 20, "None, or a whole number for each of 20 texts"),
        ("lengths", np.ma.array([1] * 20, mask=[True] + [False] * 19), "None, or a whole number for each of 20 texts"),
        ("format_numbers", np.ones((20, 3)), "None, or numbers for each of 20 texts"),
        ("unseen", np.ones((20, 2)), "None, or numbers for each of 20 texts"),
        ("unseen_formats", 3, "a set of names or None, got 3"),
        ("unseen_formats", "capitals", "a set of names or None, got 'capitals'"),
        ("dependence", 3, "a Dependence or None, got 3"),
        ("content_keys", [1.0], "None, or numbers for each of 20 texts, got 1"),
        ("features", ["a text"], "an array of numbers, got dtype"),
        ("features", [[1.0], [2.0, 3.0]], "one array"),
        ("features", np.zeros(3), "shape"),
        ("features", np.array([["a"]]), "an array of numbers, got dtype"),
    ],
)
def test_what_is_known_of_features_is_checked_with_its_name(field: str, value: Any, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{field} must (be|have) {message}"):
        FeatureSet(**{"features": np.zeros((20, 3)), field: value})


@pytest.mark.parametrize("form", ["list", "tensor", "with gradient", "frame", "rows of tensors", "column of rows"])
def test_features_in_any_form_are_an_array(form: str, tmp_path: Path) -> None:
    rows = np.random.default_rng(0).normal(size=(20, 3))
    import pandas
    import torch

    tensor = torch.tensor(rows)
    forms: dict[str, Any] = {"list": rows.tolist(), "tensor": tensor, "with gradient": torch.nn.Parameter(tensor)}
    forms |= {"frame": pandas.DataFrame(rows), "rows of tensors": [*tensor]}
    forms["column of rows"] = pandas.Series([*rows]).to_numpy()  # an array of arrays
    features, expected = FeatureSet(forms[form]), FeatureSet(rows)
    assert len(features) == 20 and features.digest == expected.digest
    np.testing.assert_allclose(features.row_keys, expected.row_keys, rtol=1e-12)  # by the layout in memory
    np.testing.assert_array_equal(features.of_rows(np.array([3, 1])).features, rows[[3, 1]])


def test_what_is_known_of_each_text_may_be_a_list(tmp_path: Path) -> None:
    rows = np.random.default_rng(0).normal(size=(20, 3))
    given = FeatureSet(rows, {"model": "x"}, lengths=list(range(20)), text_hashes=list(range(20)))  # type: ignore[arg-type]
    loaded = FeatureSet.load(given.save(tmp_path / "human.npz"))
    assert loaded.lengths is not None and loaded.lengths.tolist() == list(range(20))
    assert compute_mauve(p=given, q=loaded, num_buckets=3).mauve == 1


@pytest.mark.parametrize("path", [5, None, b"human.npz", [], "", 3.5])
def test_a_path_that_is_none_is_named(path: Any) -> None:
    for call in (FeatureSet.load, FeatureSet(np.zeros((20, 3))).save):
        with pytest.raises(ValueError, match=r"^path must be the name of a file, got "):
            call(path)


def test_characters_and_formats_without_a_token_are_known_with_and_without_the_cache(tmp_path: Path) -> None:
    texts = ["1 🚀 went up.", "1 🍕 went up.", "你好世界今天天气很好", "It went UP."]
    fresh, cached = (featurize(texts, featurize_model_name="minilm", cache=tmp_path, verbose=False) for _ in range(2))
    for found in (fresh, cached):
        assert found.unseen is not None and found.unseen[0] == found.unseen[1] == pytest.approx(1 / 9)
        assert found.unseen[2] > 0.2 and found.unseen[3] == 0
        layout = {"line_breaks", "double_blanks", "outer_blanks", "capitals", "punctuation_blanks"}
        assert found.unseen_formats == layout
    assert fresh.unseen is not None and cached.unseen is not None
    np.testing.assert_array_equal(fresh.unseen, cached.unseen)
    found = featurize(texts, featurize_model_name="ngrams")
    assert found.unseen is None and found.unseen_formats == frozenset()
    fresh.save(tmp_path / "features.npz")
    loaded = FeatureSet.load(tmp_path / "features.npz")
    assert loaded.unseen_formats == fresh.unseen_formats and loaded.unseen is not None


@pytest.mark.parametrize("numbers", [[20], [-1], "abc", [0.5], [True] * 20, None, [], np.arange(0)])
def test_numbers_of_no_texts_are_refused(numbers: Any) -> None:
    with pytest.raises(ValueError, match=r"^numbers must be one whole number or more, each from 0 to 19, got "):
        FeatureSet(np.zeros((20, 3)), lengths=np.arange(20)).of_rows(numbers)


def test_options_that_features_were_not_made_with_are_named(caplog: pytest.LogCaptureFixture) -> None:
    _warn_of_ignored.cache_clear()
    made = {"featurize_model_name": "ngrams", "strip": "capitals"}
    sides = {name: FeatureSet.from_texts(texts, **made) for name, texts in (("p", HUMAN), ("q", MODEL))}
    compute_mauve(**sides, **SMALL, **made)  # as they were made
    assert "no effect with the features" not in caplog.text
    compute_mauve(**sides, **SMALL, featurize_model_name="minilm", strip="quotes", max_text_length=9, pooling="auto")
    said = "featurize_model_name='minilm', strip='quotes', max_text_length=9"
    assert f"no effect with the features, which are made already: {said}" in caplog.messages


@pytest.mark.parametrize("form", [FeatureSet, np.asarray])
def test_options_of_texts_beside_features_alone_are_named(form: Any, caplog: pytest.LogCaptureFixture) -> None:
    _warn_of_ignored.cache_clear()
    sides = {
        name: form(rows) for name, rows in zip("pq", np.random.default_rng(0).normal(size=(2, 20, 3)), strict=True)
    }
    names = {name: name if form is FeatureSet else f"{name}_features" for name in sides}
    given = {names[name]: side for name, side in sides.items()}
    compute_mauve(**given, **SMALL, empty_texts="drop", prompts=["Once"])
    said = "empty_texts='drop', prompts='1 texts'"
    assert f"no effect with the features, which are made already: {said}" in caplog.messages
    explain(**given, p_text=[*"abcdefghijklmnopqrst"], **SMALL, empty_texts="drop")
    assert sum("no effect" in message for message in caplog.messages) == 1
