"""Signatures: every value of every option comes back from the text."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from changed_options import CHANGES
from hypothesis import given
from hypothesis import strategies as st
from samples import HUMAN, MODEL
from strategies import ANYTHING

from mauve_metric import MauveResult, compare, compute_mauve
from mauve_metric.features.feature_set import FeatureSet
from mauve_metric.options import STRIP, VERBATIM, MauveConfig, config_fields
from mauve_metric.results.signature import format_signature, parse_signature, signature_entries, signature_options

PLACES = ["7", "1e5", "None", "True", '"', '"a"', "a|b:c\\", "Instruct: find it\nQuery: ", " ", "\u2028", "C:\\model"]
VALUES = ANYTHING | st.sampled_from(PLACES) | st.text(min_size=1) | st.lists(st.sampled_from(STRIP))


@pytest.mark.parametrize("name", config_fields())
@given(value=VALUES)
def test_an_option_survives(name: str, value: Any) -> None:
    try:
        taken = getattr(MauveConfig(**{name: value}), name)
    except (TypeError, ValueError):
        taken = CHANGES[name]
    if taken is not None:  # unset options are not in a signature
        again = signature_options(parse_signature(format_signature({name: taken, "n_p": 5})))
        assert getattr(MauveConfig(**{name: again[name]}), name) == taken  # type: ignore[arg-type]


@pytest.mark.parametrize("name", VERBATIM)
def test_what_looks_like_a_number_stays_the_text_that_it_is(name: str) -> None:
    assert parse_signature(f"{name}:7|seed:7") == {name: "7", "seed": 7}


def test_the_versions_are_those_of_the_packages_that_made_the_score() -> None:
    side = FeatureSet(np.random.default_rng(0).normal(size=(9, 2)))
    of_texts = replace(side, identity={"model": "some", "revision": "1"})
    numeric, encoding = ["faiss-cpu", "numpy"], ["torch", "transformers"]
    for features, quantizer, packages in (
        (side, "kmeans", numeric),
        (side, "classifier", [*numeric, "torch"]),
        (of_texts, "kmeans", [*numeric, *encoding]),
    ):
        entries = signature_entries(features, features, MauveConfig(quantizer=quantizer))  # type: ignore[arg-type]
        assert [*entries][-len(packages) - 1 :] == [*packages, "mauve_metric"]
        assert set(encoding) & set(entries) == set(encoding) & set(packages)


def test_no_prefix_is_not_the_preset_of_the_featurizer() -> None:
    assert signature_options({"featurize_model_name": "e5-base-v2"})["text_prefix"] == ""
    assert "text_prefix" not in signature_options({"featurize_model_name": "e5-base-v2"}, texts=False)


@functools.cache
def usual() -> MauveResult:
    return compute_mauve(**small_sets())


def small_sets() -> dict[str, Any]:
    rng = np.random.default_rng(0)
    return {"p_features": rng.normal(size=(60, 6)), "q_features": rng.normal(0.5, size=(60, 6))}


KMEANS = [  # options of other quantizers have no part in the published setting
    name
    for name, item in config_fields().items()
    if item.metadata["stage"] != "featurize" and item.metadata["of"] in (None, "kmeans")
]


@pytest.mark.parametrize("name", KMEANS)
def test_the_published_setting_is_the_default_of_every_option_that_can_move_mauve(name: str) -> None:
    fast: dict[str, Any] = {"drmm_steps": 2} if CHANGES[name] == "drmm" else {}
    changed = compute_mauve(**small_sets(), **fast, **{name: CHANGES[name]})
    assert usual().is_published_setting
    if name in ("seed", "row_order"):  # the literature has no one value of these
        assert changed.is_published_setting
    elif changed.is_published_setting:
        assert changed.mauve == usual().mauve


def test_as_many_buckets_as_by_default_are_the_published_setting() -> None:
    found = [compute_mauve(**small_sets(), num_buckets=k).is_published_setting for k in (6, 2)]
    assert found == [True, False]
    grid = compute_mauve(**small_sets(), divergence_curve_discretization_size=3)
    assert not grid.is_published_setting


def test_other_groups_have_another_signature_and_names_of_groups_do_not_matter() -> None:
    rng = np.random.default_rng(0)
    sets: dict[str, Any] = {"p_features": rng.normal(size=(40, 3)), "q_features": rng.normal(size=(40, 3))}
    few: dict[str, Any] = {"num_runs": 1, "knn": False, "num_buckets": 4}

    def signed(p_groups: Sequence[object] | None, q_groups: Sequence[object] | None, **options: Any) -> str:
        return compute_mauve(**sets, p_groups=p_groups, q_groups=q_groups, **options, **few).signature

    rows, shuffled, pairs = np.arange(40), rng.permutation(40), np.arange(40) // 2
    designs = (rows, rows), (rows, shuffled), (pairs, pairs), (pairs, pairs[shuffled]), (None, pairs)
    signatures = [signed(*(None if codes is None else codes.tolist() for codes in pair)) for pair in designs]
    assert len({*signatures}) == len(designs)
    assert signatures[0] == signed(None, None, aligned=True) and "|groups:" not in signatures[0]
    assert signatures[2] == signed(*[[f"prompt {39 - code}" for code in pairs]] * 2)
    compared = compare(p_features=sets["p_features"], models={"m": sets["q_features"]}, aligned=True, **few)
    assert "|groups:" not in compared.signature
    for p_groups, q_groups in designs[2:4]:
        found = compare(
            p_features=sets["p_features"],
            models={"m": sets["q_features"]},
            p_groups=p_groups.tolist(),
            q_groups={"m": q_groups.tolist()},
            **few,
        )
        alone = signed(p_groups.tolist(), q_groups.tolist())
        assert found.own["m"].signature == alone and found.signature_entries["groups"] in alone


def test_the_signature_names_every_featurizer_and_follows_from_the_features_of_all() -> None:
    def lengths(texts: list[str]) -> np.ndarray:
        return np.array([[len(text), text.count(" ")] for text in texts], dtype=float)

    def reversed_lengths(texts: list[str]) -> np.ndarray:
        return lengths(texts)[:, ::-1] ** 2

    reversed_lengths.__qualname__ = lengths.__qualname__
    sets: dict[str, Any] = {"p_text": HUMAN, "q_text": MODEL, "num_runs": 1, "knn": False}
    one, other = (
        compute_mauve(**sets, featurizers={"a": "ngrams", "b": second}) for second in (lengths, reversed_lengths)
    )
    alone = compute_mauve(**sets, featurize_model_name="ngrams")
    entries = parse_signature(one.signature)
    assert str(entries["featurizers"]).startswith("ngrams,") and one.signature != other.signature
    assert one.by_featurizer["a"].signature == alone.signature != one.signature
    compared = compare(HUMAN, {"m": MODEL}, featurizers={"a": "ngrams", "b": lengths}, num_runs=1, knn=False)
    for signature in (compared.signature, compared.models["m"].signature):
        assert parse_signature(signature)["featurizers"] == entries["featurizers"]
